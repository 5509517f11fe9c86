/*
 * Measures how fast tasks are scheduled.   spark-submit empty_tasks.c TASKS ROUNDS
 *
 * Each round is a job of TASKS empty tasks. One task in 10,000 fails at its first attempt and is retried, so use
 * local[N,2]: with local[N], a round of 10,000 tasks or more fails.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int nothing(fst_task *task, int64_t i)
{
        if (i % 10000 == 9999 && fst_task_attempt(task) == 0)
                return fst_fail(task, "task %" PRId64 " fails once, on purpose", i);
        return 0;
}

static double seconds(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
        int tasks = argc > 1 ? atoi(argv[1]) : 0, rounds = argc > 2 ? atoi(argv[2]) : 0;
        if (tasks < 1 || rounds < 1) {
                fprintf(stderr, "usage: empty_tasks TASKS ROUNDS\n");
                return 2;
        }
        fst_context *sc = fst_context_new("empty tasks");
        for (int i = 0; i < rounds; i++) {
                double start = seconds();
                if (fst_foreach(fst_range_n(sc, 0, tasks, tasks), nothing))
                        break;
                printf("rate: %.0f tasks/s\n", tasks / (seconds() - start));
        }
        return fst_context_stop(sc);
}
