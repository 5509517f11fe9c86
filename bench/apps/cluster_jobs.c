/*
 * Measures, in the driver, the costs of driver and executors as processes.
 *
 *      spark-submit cluster_jobs.c empty_tasks TASKS ROUNDS    jobs of empty tasks, of which one in 10,000 fails once
 *      spark-submit cluster_jobs.c jobs JOBS                   jobs of one task, one after the other, on the same RDD
 *      spark-submit cluster_jobs.c first_result                one job; prints the clock when main runs and when the
 *                                                              result is there
 *      spark-submit cluster_jobs.c idle                        no job; ends when its input does
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "clock.h"

static int nothing(fst_task *task, int64_t i)
{
        if (i % 10000 == 9999 && fst_task_attempt(task) == 0)
                return fst_fail(task, "task %lld fails once, on purpose", (long long)i);
        return 0;
}

static double cpu_seconds(int who)
{
        struct rusage used;
        getrusage(who, &used);
        return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
               (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) / 1e6;
}

static void empty_tasks(fst_context *sc, int tasks, int rounds)
{
        for (int i = 0; i < rounds; i++) {
                double start = now(), cpu = cpu_seconds(RUSAGE_SELF);
                if (fst_foreach(fst_range_n(sc, 0, tasks, tasks), nothing))
                        return;
                printf("rate: %.0f tasks/s\n", tasks / (now() - start));
                printf("driver: %.4f us/task\n", (cpu_seconds(RUSAGE_SELF) - cpu) / tasks * 1e6);
        }
}

static int compare(const void *a, const void *b)
{
        double x = *(const double *)a, y = *(const double *)b;
        return (x > y) - (x < y);
}

/* The first tenth warms up. */
static void jobs(fst_context *sc, int n)
{
        fst_rdd *one = fst_range_n(sc, 0, 1, 1);
        double *took = calloc((size_t)n, sizeof(*took));
        int64_t count;
        for (int i = -n / 10; took && i < n; i++) {
                double start = now();
                if (fst_count(one, &count) || count != 1)
                        break;
                if (i >= 0)
                        took[i] = now() - start;
                if (i == n - 1) {
                        qsort(took, (size_t)n, sizeof(*took), compare);
                        printf("jobs: %d, median %.4f ms, p99 %.4f ms\n", n, took[n / 2] * 1e3,
                               took[(size_t)n * 99 / 100] * 1e3);
                }
        }
        free(took);
}

static void first_result(fst_context *sc)
{
        int64_t count;
        if (fst_count(fst_range_n(sc, 0, 1000, 2), &count) == 0)
                printf("result: %lld at %.6f\n", (long long)count, now());
}

static void idle(void)
{
        while (getchar() != EOF)
                ;
}

int main(int argc, char **argv)
{
        const char *mode = argc > 1 ? argv[1] : "";
        int n = argc > 2 ? atoi(argv[2]) : 0, rounds = argc > 3 ? atoi(argv[3]) : 0;
        if (strcmp(mode, "first_result") == 0)
                printf("main at %.6f\n", now());
        fst_context *sc = fst_context_new("cluster jobs");

        if (strcmp(mode, "empty_tasks") == 0)
                empty_tasks(sc, n, rounds);
        else if (strcmp(mode, "jobs") == 0)
                jobs(sc, n);
        else if (strcmp(mode, "first_result") == 0)
                first_result(sc);
        else if (strcmp(mode, "idle") == 0)
                idle();
        else
                fprintf(stderr, "cluster_jobs: no such mode: %s\n", mode);
        int r = fst_context_stop(sc);
        if (strcmp(mode, "empty_tasks") == 0) /* it waited for the ends of all tasks */
                printf("executors: %.4f us/task\n", cpu_seconds(RUSAGE_CHILDREN) / ((double)n * rounds) * 1e6);
        return r;
}
