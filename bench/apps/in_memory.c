/*
 * Runs one operator on rows that are cached before, and caches its result.
 *                                      spark-submit in_memory.c sum ROWS KEYS ROUNDS
 *                                      spark-submit in_memory.c join LEFT RIGHT ROUNDS
 *                                      spark-submit in_memory.c sort ROWS - ROUNDS
 *                                      spark-submit in_memory.c words ROWS WORDS ROUNDS
 *
 * Prints "round: SECONDS" for each round, and of the last one "total: ROWS SUM". engines/columns.py has the same rows.
 */
#include <firesteel/firesteel.h>

#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "generator.h"

enum { PARTITIONS = 8 };

static int make_pair(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, below(mix((uint64_t)i), *(const int64_t *)fst_captured(task)), i);
        return 0;
}

static int make_right(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, i, (int64_t)mix((uint64_t)i));
        return 0;
}

static int64_t make_number(fst_task *task, int64_t i)
{
        return (int64_t)mix((uint64_t)i);
}

/* Few words are frequent. A word has 3 to 12 digits. */
static int make_word(fst_task *task, int64_t i, fst_out *out)
{
        int64_t words = *(const int64_t *)fst_captured(task);
        uint64_t random = mix((uint64_t)i);
        int64_t word = below(random, words) * below(random << 32, words) / words;
        char digits[17];
        snprintf(digits, sizeof(digits), "%016llx", (unsigned long long)mix((uint64_t)word));
        fst_bytes text = {digits, 3 + (size_t)(word % 10)};
        fst_emit(out, text, 1);
        return 0;
}

static int join_values(fst_task *task, int64_t key, int64_t left, int64_t right, fst_out *out)
{
        fst_emit(out, key, left ^ right);
        return 0;
}

static int take_pair(fst_task *task, void *so_far, int64_t key, int64_t value)
{
        total_add(so_far, 1, (uint64_t)value);
        return 0;
}

static int take_number(fst_task *task, void *so_far, int64_t x)
{
        total_add(so_far, 1, (uint64_t)x);
        return 0;
}

static int take_word(fst_task *task, void *so_far, fst_bytes word, int64_t count)
{
        total_add(so_far, 1, (uint64_t)count);
        return 0;
}

static int total_merge(fst_task *task, void *so_far, const void *other)
{
        const struct total *total = other;
        total_add(so_far, total->rows, total->sum);
        return 0;
}

/* Caches an RDD. Returns the seconds that it took, negative if it failed. */
static double cache_rows(fst_rdd *rdd)
{
        int64_t rows;
        double start = now();
        fst_cache(rdd);
        return fst_count(rdd, &rows) ? -1 : now() - start;
}

int main(int argc, char **argv)
{
        if (argc != 5)
                return fprintf(stderr, "usage: in_memory sum|join|sort|words ROWS KEYS ROUNDS\n"), 2;
        const char *mode = argv[1];
        int64_t rows = atoll(argv[2]), keys = atoll(argv[3]);
        fst_context *sc = fst_context_new(mode);
        fst_rdd *indexes = fst_range_n(sc, 0, rows, PARTITIONS), *in, *right = NULL;
        bool sort = strcmp(mode, "sort") == 0, words = strcmp(mode, "words") == 0, join = strcmp(mode, "join") == 0;
        if (sort)
                in = fst_map(indexes, make_number, FST_I64);
        else if (words)
                in = fst_flat_map(indexes, FST_WITH(make_word, keys), FST_PAIR(BYTES, I64));
        else
                in = fst_flat_map(indexes, FST_WITH(make_pair, keys), FST_PAIR(I64, I64));
        if (join)
                right = fst_flat_map(fst_range_n(sc, 0, keys, PARTITIONS), make_right, FST_PAIR(I64, I64));
        if (cache_rows(in) < 0 || (right && cache_rows(right) < 0))
                return fst_context_stop(sc);
        for (int round = atoi(argv[4]); round > 0; round--) {
                fst_rdd *out = sort    ? fst_sort_by(in, fst_fn_identity, FST_I64, FST_ASCENDING)
                               : right ? fst_join(in, right, join_values, FST_PAIR(I64, I64))
                                       : fst_reduce_by_key(in, fst_fn_sum);
                double took = cache_rows(out);
                if (took < 0)
                        break;
                printf("round: %.3f\n", took);
                struct total none = {0}, all = {0};
                if (round == 1 && (sort    ? fst_aggregate(out, &none, take_number, total_merge, &all)
                                   : words ? fst_aggregate(out, &none, take_word, total_merge, &all)
                                           : fst_aggregate(out, &none, take_pair, total_merge, &all)) == 0)
                        printf("total: %" PRId64 " %" PRIu64 "\n", all.rows, all.sum);
                fst_unpersist(out);
                fst_release(out); /* and its shuffle */
        }
        return fst_context_stop(sc);
}
