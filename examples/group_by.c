/*
 * Groups random pairs by key and counts the keys.
 *                            spark-submit group_by.c [MAPPERS [PAIRS [VALUE_SIZE [REDUCERS]]]]
 *
 * Spark's GroupByTest: each of MAPPERS partitions makes PAIRS pairs of an int and VALUE_SIZE bytes.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

struct sizes {
        int pairs, value;
};

/* Keys are 0 … 2^31 - 1, so few of them are equal. */
static int random_pairs(fst_task *task, int64_t mapper, fst_out *out)
{
        const struct sizes *sizes = fst_captured(task);
        size_t words = (size_t)sizes->value / 8 + 1;
        uint64_t *value = malloc(words * 8);
        if (!value)
                return fst_fail(task, "no memory for a value of %d bytes", sizes->value);
        for (int i = 0; i < sizes->pairs; i++) {
                for (size_t at = 0; at < words; at++)
                        value[at] = fst_random_u64(task);
                fst_emit(out, fst_random_u64(task) >> 33, ((fst_bytes){(const char *)value, (size_t)sizes->value}));
        }
        free(value);
        return 0;
}

int main(int argc, char **argv)
{
        int mappers = argc > 1 ? atoi(argv[1]) : 2;
        struct sizes sizes = {argc > 2 ? atoi(argv[2]) : 1000, argc > 3 ? atoi(argv[3]) : 1000};
        int reducers = argc > 4 ? atoi(argv[4]) : mappers;
        if (mappers < 1 || sizes.pairs < 0 || sizes.value < 0 || reducers < 1)
                return fprintf(stderr, "usage: group_by [MAPPERS [PAIRS [VALUE_SIZE [REDUCERS]]]]\n"), 2;

        fst_context *sc = fst_context_new("GroupBy Test");
        fst_rdd *each = fst_range_n(sc, 0, mappers, mappers);
        fst_rdd *pairs = fst_cache(fst_flat_map(each, FST_WITH(random_pairs, sizes), FST_PAIR(I64, BYTES)));
        int64_t n;
        if (fst_count(pairs, &n) == 0 && /* makes and caches all pairs before they are grouped */
            fst_count(fst_group_by_key_n(pairs, reducers), &n) == 0)
                printf("%" PRId64 "\n", n);
        return fst_context_stop(sc);
}
