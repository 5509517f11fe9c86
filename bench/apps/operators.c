/*
 * Runs one operator on generated rows of 96 bytes, for data that is larger than memory.
 *                      spark-submit operators.c cogroup|join|distinct|group_by_key|cartesian|sort_by ROWS PARTITIONS
 *
 * Prints "job: SECONDS" and the result as "total: ROWS SUM". sort_by also prints whether the rows were in order.
 * generator.h defines the rows. A pair has a key of 8 bytes and a value of 96 bytes.
 */
#include <firesteel/firesteel.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "generator.h"

/* Totals, and whether the rows came in the order of their first words. */
struct sorted {
        struct total total;
        int64_t first, last, unordered;
};

static fst_bytes bytes_of(const uint64_t *words)
{
        return (fst_bytes){(const char *)words, ROW};
}

static int make_row(fst_task *task, int64_t i, fst_out *out)
{
        uint64_t words[WORDS];
        row_make(i, words);
        fst_emit(out, bytes_of(words));
        return 0;
}

static int make_twice(fst_task *task, int64_t i, fst_out *out)
{
        return make_row(task, i % (*(const int64_t *)fst_captured(task) / 2), out);
}

static int make_left(fst_task *task, int64_t i, fst_out *out)
{
        uint64_t words[WORDS];
        row_make(i, words);
        fst_emit(out, large_left_key(i, *(const int64_t *)fst_captured(task)), bytes_of(words));
        return 0;
}

static int make_right(fst_task *task, int64_t i, fst_out *out)
{
        uint64_t words[WORDS];
        row_make(~i, words);
        fst_emit(out, large_right_key(i, *(const int64_t *)fst_captured(task)), bytes_of(words));
        return 0;
}

static int make_grouped(fst_task *task, int64_t i, fst_out *out)
{
        uint64_t words[WORDS];
        row_make(i, words);
        fst_emit(out, large_group_key(i, *(const int64_t *)fst_captured(task)), bytes_of(words));
        return 0;
}

static int both(fst_task *task, int64_t key, fst_bytes left, fst_bytes right, fst_out *out)
{
        fst_emit(out, joined_digest(key, row_digest(left.data), row_digest(right.data)));
        return 0;
}

static int together(fst_task *task, int64_t key, fst_iter *left, fst_iter *right, fst_out *out)
{
        int64_t rows = 0;
        uint64_t sum = 0;
        fst_bytes row;
        for (; fst_next(left, &row); rows++)
                sum += row_digest(row.data);
        for (; fst_next(right, &row); rows++)
                sum += 3 * row_digest(row.data);
        fst_emit(out, (int64_t)group_digest(key, rows, sum));
        return 0;
}

static int64_t first_word(fst_task *task, fst_bytes row)
{
        int64_t word;
        memcpy(&word, row.data, sizeof(word));
        return word;
}

static int take_number(fst_task *task, void *so_far, int64_t x)
{
        total_add(so_far, 1, (uint64_t)x);
        return 0;
}

static int take_row(fst_task *task, void *so_far, fst_bytes row)
{
        total_add(so_far, 1, row_digest(row.data));
        return 0;
}

static int take_group(fst_task *task, void *so_far, int64_t key, fst_bytes values)
{
        uint64_t sum = 0;
        int64_t rows = 0;
        fst_list list = fst_list_of(values, FST_BYTES);
        for (fst_bytes row; fst_list_next(&list, &row); rows++)
                sum += row_digest(row.data);
        total_add(so_far, 1, group_digest(key, rows, sum));
        return fst_list_status(&list);
}

static int take_product(fst_task *task, void *so_far, int64_t number, fst_bytes row)
{
        total_add(so_far, 1, (uint64_t)number * row_digest(row.data));
        return 0;
}

static int take_sorted(fst_task *task, void *so_far, fst_bytes row)
{
        struct sorted *sorted = so_far;
        int64_t word = first_word(task, row);
        if (sorted->total.rows == 0)
                sorted->first = word;
        else if (word < sorted->last)
                sorted->unordered++;
        sorted->last = word;
        total_add(&sorted->total, 1, row_digest(row.data));
        return 0;
}

static int add(fst_task *task, void *so_far, const void *other)
{
        const struct total *total = other;
        total_add(so_far, total->rows, total->sum);
        return 0;
}

/* Partitions are combined in their order. */
static int add_sorted(fst_task *task, void *so_far, const void *other)
{
        struct sorted *a = so_far;
        const struct sorted *b = other;
        if (b->total.rows == 0)
                return 0;
        if (a->total.rows == 0)
                a->first = b->first;
        else if (b->first < a->last)
                a->unordered++;
        a->unordered += b->unordered;
        a->last = b->last;
        total_add(&a->total, b->total.rows, b->total.sum);
        return 0;
}

int main(int argc, char **argv)
{
        if (argc != 4)
                return fprintf(stderr, "usage: operators OPERATOR ROWS PARTITIONS\n"), 2;
        const char *operator= argv[1];
        int64_t n = atoll(argv[2]);
        int partitions = atoi(argv[3]), r = -1;
        fst_type row = FST_BYTES, pair = FST_PAIR(I64, BYTES);
        struct total none = {0};
        struct sorted unsorted = {0}, all = {0};
        fst_context *sc = fst_context_new(operator);
        fst_rdd *numbers = fst_range_n(sc, 0, n, partitions), *rows = fst_map(numbers, make_row, row);
        fst_rdd *left = fst_map(fst_range_n(sc, 0, n - n / 4, partitions), FST_WITH(make_left, n), pair);
        fst_rdd *right = fst_map(fst_range_n(sc, 0, n / 4, partitions), FST_WITH(make_right, n), pair);
        double start = now();

        if (strcmp(operator, "cogroup") == 0)
                r = fst_aggregate(fst_cogroup_n(left, right, together, FST_I64, partitions), &none, take_number, add,
                                  &all.total);
        else if (strcmp(operator, "join") == 0)
                r = fst_aggregate(fst_join_n(left, right, both, FST_I64, partitions), &none, take_number, add,
                                  &all.total);
        else if (strcmp(operator, "distinct") == 0)
                r = fst_aggregate(fst_distinct_n(fst_map(numbers, FST_WITH(make_twice, n), row), partitions), &none,
                                  take_row, add, &all.total);
        else if (strcmp(operator, "group_by_key") == 0)
                r = fst_aggregate(fst_group_by_key_n(fst_map(numbers, FST_WITH(make_grouped, n), pair), partitions),
                                  &none, take_group, add, &all.total);
        else if (strcmp(operator, "cartesian") == 0)
                r = fst_aggregate(fst_cartesian(fst_range_n(sc, 1, 1 + FACTORS, 2), rows), &none, take_product, add,
                                  &all.total);
        else if (strcmp(operator, "sort_by") == 0)
                r = fst_aggregate(fst_sort_by_n(rows, first_word, FST_I64, FST_ASCENDING, partitions), &unsorted,
                                  take_sorted, add_sorted, &all);
        printf("job: %.4f\n", now() - start);
        printf("total: %" PRId64 " %" PRIu64 "%s\n", all.total.rows, all.total.sum,
               all.unordered ? " NOT IN ORDER" : "");
        int e = fst_context_stop(sc);
        return r ? r : e;
}
