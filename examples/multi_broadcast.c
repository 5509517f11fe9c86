/*
 * Broadcasts two arrays. Each task returns their lengths.
 *                                                         spark-submit multi_broadcast.c [SLICES [NUMBERS]]
 *
 * Spark's MultiBroadcastTest: a captured struct holds both handles.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

struct shared {
        fst_broadcast a, b;
};

static int numbers_seen(fst_task *task, int64_t i, fst_out *out)
{
        const struct shared *shared = fst_captured(task);
        fst_bytes a = fst_broadcast_value(task, shared->a), b = fst_broadcast_value(task, shared->b);
        fst_emit(out, a.len / sizeof(int), b.len / sizeof(int));
        return 0;
}

int main(int argc, char **argv)
{
        int slices = argc > 1 ? atoi(argv[1]) : 2;
        int n = argc > 2 ? atoi(argv[2]) : 1000000;
        int *numbers = n > 0 ? malloc((size_t)n * sizeof(int)) : NULL;
        if (slices < 1 || !numbers)
                return fprintf(stderr, "usage: multi_broadcast [SLICES [NUMBERS]]\n"), 2;
        for (int i = 0; i < n; i++)
                numbers[i] = i;

        fst_context *sc = fst_context_new("Multi-Broadcast Test");
        struct shared shared = {fst_broadcast_bytes(sc, numbers, (size_t)n * sizeof(int)),
                                fst_broadcast_bytes(sc, numbers, (size_t)n * sizeof(int))};
        fst_type sizes = FST_PAIR(I64, I64);
        fst_iter *rows;
        int64_t a, b;
        free(numbers); /* fst_broadcast copied them */
        if (fst_collect(fst_map(fst_range_n(sc, 1, 11, slices), FST_WITH(numbers_seen, shared), sizes), &rows) == 0)
                while (fst_next(rows, &a, &b))
                        printf("(%" PRId64 ",%" PRId64 ")\n", a, b);
        return fst_context_stop(sc);
}
