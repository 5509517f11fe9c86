/*
 * Runs one operator on generated numbers.
 *                                      spark-submit pairs.c join LEFT RIGHT PARTITIONS
 *                                      spark-submit pairs.c group_by_key PAIRS KEYS PARTITIONS
 *                                      spark-submit pairs.c distinct NUMBERS - PARTITIONS
 *                                      spark-submit pairs.c reduce_by_key PAIRS - PARTITIONS
 *
 * Prints "job: SECONDS" and the result as "total: ROWS SUM". generator.h defines the numbers.
 */
#include <firesteel/firesteel.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "generator.h"

static int make_left(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, left_key(i, *(const int64_t *)fst_captured(task)), i);
        return 0;
}

static int make_right(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, 2 * i, right_value(2 * i));
        return 0;
}

static int both(fst_task *task, int64_t key, int64_t left, int64_t right, fst_out *out)
{
        fst_emit(out, left ^ right);
        return 0;
}

static int make_skewed(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, skewed_key(i, *(const int64_t *)fst_captured(task)), i);
        return 0;
}

static int64_t make_twice(fst_task *task, int64_t i)
{
        return twice(i, *(const int64_t *)fst_captured(task));
}

static int make_twice_pair(fst_task *task, int64_t i, fst_out *out)
{
        fst_emit(out, twice(i, *(const int64_t *)fst_captured(task)), i);
        return 0;
}

static int take_sum(fst_task *task, void *so_far, int64_t key, int64_t sum)
{
        total_add(so_far, 1, group_digest(key, 1, (uint64_t)sum));
        return 0;
}

static int take_number(fst_task *task, void *so_far, int64_t x)
{
        total_add(so_far, 1, (uint64_t)x);
        return 0;
}

static int take_group(fst_task *task, void *so_far, int64_t key, fst_bytes values)
{
        uint64_t sum = 0;
        fst_list list = fst_list_of(values, FST_I64);
        for (int64_t x; fst_list_next(&list, &x);)
                sum += (uint64_t)x;
        total_add(so_far, 1, group_digest(key, (int64_t)fst_list_count(values, FST_I64), sum));
        return fst_list_status(&list);
}

static int add(fst_task *task, void *so_far, const void *other)
{
        const struct total *total = other;
        total_add(so_far, total->rows, total->sum);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc != 5)
                return fprintf(stderr, "usage: pairs join|group_by_key|distinct|reduce_by_key ROWS KEYS PARTITIONS\n"), 2;
        int64_t n = atoll(argv[2]), keys = atoll(argv[3]);
        int partitions = atoi(argv[4]), r = -1;
        struct total none = {0}, all = {0};
        fst_context *sc = fst_context_new(argv[1]);
        fst_rdd *rows = fst_range_n(sc, 0, n, partitions);
        double start = now();

        if (strcmp(argv[1], "join") == 0) {
                fst_rdd *left = fst_map(rows, FST_WITH(make_left, keys), FST_PAIR(I64, I64));
                fst_rdd *right = fst_map(fst_range_n(sc, 0, keys, partitions), make_right, FST_PAIR(I64, I64));
                r = fst_aggregate(fst_join_n(left, right, both, FST_I64, partitions), &none, take_number, add, &all);
        } else if (strcmp(argv[1], "group_by_key") == 0) {
                fst_rdd *pairs = fst_map(rows, FST_WITH(make_skewed, keys), FST_PAIR(I64, I64));
                r = fst_aggregate(fst_group_by_key_n(pairs, partitions), &none, take_group, add, &all);
        } else if (strcmp(argv[1], "distinct") == 0) {
                fst_rdd *numbers = fst_map(rows, FST_WITH(make_twice, n), FST_I64);
                r = fst_aggregate(fst_distinct_n(numbers, partitions), &none, take_number, add, &all);
        } else if (strcmp(argv[1], "reduce_by_key") == 0) {
                fst_rdd *pairs = fst_map(rows, FST_WITH(make_twice_pair, n), FST_PAIR(I64, I64));
                r = fst_aggregate(fst_reduce_by_key_n(pairs, fst_fn_sum, partitions), &none, take_sum, add, &all);
        }
        printf("job: %.4f\n", now() - start);
        printf("total: %" PRId64 " %" PRIu64 "\n", all.rows, all.sum);
        int e = fst_context_stop(sc);
        return r ? r : e;
}
