/*
 * The sum of 0 … N-1, with a shuffle.   pieces N
 *
 * The first attempt of the first partition after the shuffle never ends: the test kills its executor.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int by_remainder(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, i % 16, i);
        return 0;
}

static int64_t wait_at_first(fst_task *task, int64_t key, int64_t sum)
{
        bool waits = task->info.attempt == 0 && task->info.stage_attempt == 0 && fst_task_partition(task) == 0;
        while (waits && !fst_task_interrupted(task))
                usleep(10000);
        return sum;
}

int main(int argc, char **argv)
{
        int64_t sum;
        if (argc != 2) {
                fprintf(stderr, "usage: pieces N\n");
                return 2;
        }
        fst_context *sc = fst_context_new("pieces");
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, atoll(argv[1]), 4), by_remainder, FST_PAIR(I64, I64));
        fst_rdd *sums = fst_map(fst_reduce_by_key_n(pairs, fst_fn_sum, 4), wait_at_first, FST_I64);
        if (fst_reduce(sums, fst_fn_sum, &sum) == 0)
                printf("The sum is %lld\n", (long long)sum);
        return fst_context_stop(sc);
}
