/*
 * Measures how long a broadcast takes.     spark-submit broadcast_test.c [SLICES [NUMBERS [BLOCK_SIZE]]]
 *
 * Spark's BroadcastTest: broadcasts an array three times. Defaults: 2 partitions, 1,000,000 int, pieces of 4096 KiB.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static int64_t numbers_seen(fst_task *task, int64_t i)
{
        fst_bytes numbers = fst_broadcast_value(task, *(const fst_broadcast *)fst_captured(task));
        return (int64_t)(numbers.len / sizeof(int));
}

static double milliseconds(void)
{
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
        int slices = argc > 1 ? atoi(argv[1]) : 2;
        int n = argc > 2 ? atoi(argv[2]) : 1000000;
        int *numbers = n > 0 ? malloc((size_t)n * sizeof(int)) : NULL;
        if (slices < 1 || !numbers)
                return fprintf(stderr, "usage: broadcast_test [SLICES [NUMBERS [BLOCK_SIZE]]]\n"), 2;
        for (int i = 0; i < n; i++)
                numbers[i] = i;

        fst_conf *conf = fst_conf_new();
        fst_conf_set(conf, "spark.app.name", "Broadcast Test");
        fst_conf_set(conf, "spark.broadcast.blockSize", argc > 3 ? argv[3] : "4096");
        fst_context *sc = fst_context_new_conf(conf);
        for (int i = 0; i < 3; i++) {
                printf("Iteration %d\n===========\n", i);
                double start = milliseconds();
                fst_broadcast shared = fst_broadcast_bytes(sc, numbers, (size_t)n * sizeof(int));
                fst_rdd *sizes = fst_map(fst_range_n(sc, 1, 11, slices), FST_WITH(numbers_seen, shared), FST_I64);
                fst_iter *rows;
                int64_t size;
                if (fst_collect(sizes, &rows))
                        break;
                while (fst_next(rows, &size))
                        printf("%" PRId64 "\n", size);
                printf("Iteration %d took %.0f milliseconds\n", i, milliseconds() - start);
                fst_broadcast_destroy(sc, shared);
        }
        free(numbers);
        return fst_context_stop(sc);
}
