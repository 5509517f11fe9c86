/*
 * Sums a cached RDD.   spark-submit cached_sum.c NUMBERS SLICES ROUNDS
 *
 * The first job caches NUMBERS 64-bit numbers in SLICES partitions. Then ROUNDS jobs sum them with fst_fn_sum. A line
 * "read: SECONDS" is the time of one such job.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

#include "clock.h"

static int64_t spread(fst_task *task, int64_t i)
{
        return i * 3;
}

int main(int argc, char **argv)
{
        if (argc != 4) {
                fprintf(stderr, "usage: cached_sum NUMBERS SLICES ROUNDS\n");
                return 2;
        }
        fst_context *sc = fst_context_new("cached sum");
        int64_t n = atoll(argv[1]), count = 0, sum = 0;
        fst_rdd *kept = fst_cache(fst_map(fst_range_n(sc, 0, n, atoi(argv[2])), spread, FST_I64));
        int r = fst_count(kept, &count);

        for (int i = 0; i < atoi(argv[3]) && r == 0; i++) {
                double start = now();
                r = fst_reduce(kept, fst_fn_sum, &sum);
                printf("read: %.6f\n", now() - start);
        }
        printf("sum %lld of %lld\n", (long long)sum, (long long)count);
        int e = fst_context_stop(sc);
        return r ? r : e;
}
