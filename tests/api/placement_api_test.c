/*
 * Tests partitioners: the partition of each row, operators that keep the partitioner, the shuffles that this saves, and
 * even partitions. Cases follow Spark's RDDSuite and PairRDDFunctionsSuite for partitioners, union, coalesce and
 * repartition.
 */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "driver/backend/wire_fixture.h"
#include "rdd/rdd.h"

/* ------------------------------------------------------------------------------------------------------- helpers */

static int set_up(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

/* The number of shuffles between @rdd and @from; -1: @from is not an ancestor. */
static int shuffles_until(const fst_rdd *rdd, const fst_rdd *from)
{
        int most = rdd == from ? 0 : -1;
        for (int i = 0; i < rdd->n_parents && rdd != from; i++)
                most = MAX(most, shuffles_until(rdd->parents[i], from));
        return most < 0 || rdd == from ? most : most + (rdd->op == RDD_SHUFFLED);
}

static int keyed(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, x * 10);
        return 0;
}

static int by_last_digit(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 10, x % 10);
        return 0;
}

static fst_rdd *pairs_of(fst_context *sc, int64_t from, int64_t to, int partitions)
{
        return fst_map(fst_range_n(sc, from, to, partitions), keyed, FST_PAIR(I64, I64));
}

static int64_t fold_pair(fst_task *task, int64_t key, int64_t value)
{
        return key * 1000 + value;
}

/*
 * The rows of each partition as text: "0 1 2|3|" has three partitions, of which the last is empty. At most 1,000 rows.
 */
static char *told(fst_rdd *rdd)
{
        static char text[8192];
        size_t at = 0;
        fst_iter *rows;
        fst_bytes list = {0};
        text[0] = 0;
        assert_int_equal(fst_collect(fst_glom(rdd), &rows), 0);
        for (int partition = 0; fst_next(rows, &list); partition++) {
                int64_t x, n = 0;
                if (partition > 0)
                        text[at++] = '|';
                text[at] = 0;
                for (fst_list l = fst_list_of(list, FST_I64); fst_list_next(&l, &x); n++)
                        at += (size_t)snprintf(text + at, sizeof(text) - at, n ? " %lld" : "%lld", (long long)x);
                assert_true(at < sizeof(text) - 32);
        }
        return text;
}
#define assert_told(rdd, want) assert_string_equal(told(rdd), (want))

static fst_rdd *folded(fst_rdd *pairs)
{
        return fst_map(pairs, fold_pair, FST_I64);
}

static int64_t count_of(fst_rdd *rdd)
{
        int64_t n = -1;
        assert_int_equal(fst_count(rdd, &n), 0);
        return n;
}

/* ---------------------------------------------------------------------------------------- preserved partitioners */

static bool any(fst_task *task, int64_t key, int64_t value)
{
        return true;
}

static int64_t same(fst_task *task, int64_t value)
{
        return value;
}

static int once(fst_task *task, int64_t value, fst_out *out)
{
        fst_emit(out, value);
        return 0;
}

static int odd_last(fst_task *task, int64_t key, int partitions)
{
        return (int)(key % 2) * (partitions - 1);
}

static void operators_without_new_keys_keep_the_partitioner(void **state)
{
        fst_rdd *pairs = pairs_of(*state, 0, 20, 3);
        fst_rdd *placed[] = {fst_partition_by(pairs, 4), fst_sort_by_key_n(pairs, FST_ASCENDING, 4),
                             fst_partition_by_function(pairs, 4, odd_last)};
        for (size_t i = 0; i < ARRAY_SIZE(placed); i++) {
                fst_rdd *p = placed[i];
                fst_rdd *kept[] = {
                        fst_filter(p, any),
                        fst_map_values(p, same, FST_I64),
                        fst_flat_map_values(p, once, FST_I64),
                        fst_sample(p, true, 1.0, 1),
                        fst_sample(p, false, 1.0, 1),
                        fst_sort_within_partitions(p, FST_DESCENDING),
                        fst_distinct(p),
                        fst_reduce_by_key(p, fst_fn_sum),
                        fst_group_by_key(p),
                        fst_subtract_by_key(p, pairs),
                };
                for (size_t k = 0; k < ARRAY_SIZE(kept); k++) {
                        if (kept[k]->partitioner != p->partitioner || shuffles_until(kept[k], p) != 0)
                                fail_msg("%zu of %zu: %d shuffles", k, i, shuffles_until(kept[k], p));
                        assert_int_equal(fst_rdd_partitions(kept[k]), 4);
                }
                assert_null(fst_map(p, fold_pair, FST_I64)->partitioner);
                assert_null(fst_keys(p)->partitioner);
                assert_null(fst_repartition(p, 4)->partitioner);
        }
}

/* SPARK-32384: an RDD with the right partitioner is not shuffled to be sorted. */
static void sorts_by_partitioned_keys_with_one_shuffle(void **state)
{
        fst_rdd *pairs = pairs_of(*state, 0, 100, 3), *placed = fst_partition_by(pairs, 4);
        fst_rdd *sorted = fst_repartition_and_sort_within_partitions(placed, 4, FST_ASCENDING);
        assert_int_equal(shuffles_until(sorted, placed), 0);
        assert_int_equal(shuffles_until(fst_repartition_and_sort_within_partitions(placed, 5, FST_ASCENDING), placed),
                         1);
        assert_int_equal(count_of(sorted), 100);

        static const int64_t keys[] = {0, 3, 2, 0, 3, 1}, values[] = {5, 8, 6, 8, 8, 3};
        fst_rdd *six = fst_parallelize_pairs_n(*state, keys, values, 6, 2);
        assert_told(folded(fst_sort_within_partitions(fst_partition_by_function(six, 2, odd_last), FST_ASCENDING)),
                    "5 8 2006|1003 3008 3008");
}

static void finds_distinct_rows_of_sorted_rdd(void **state)
{
        fst_rdd *rows = fst_map(fst_range_n(*state, 1, 101, 10), by_last_digit, FST_PAIR(I64, I64));
        fst_rdd *sorted = fst_sort_by_key(rows, FST_ASCENDING), *other = fst_distinct_n(sorted, 5);
        assert_ptr_equal(fst_distinct(sorted)->partitioner, sorted->partitioner);
        assert_ptr_not_equal(other->partitioner, sorted->partitioner);
        assert_int_equal(count_of(fst_distinct(sorted)), 10);
        assert_int_equal(count_of(other), 10);
}

/* Rows are compared as a whole: a partitioner of pairs only gives the number of partitions of the result. */
static void subtract_takes_partitioners_number_of_partitions(void **state)
{
        fst_rdd *pairs = pairs_of(*state, 0, 20, 3), *placed = fst_partition_by_function(pairs, 4, odd_last);
        fst_rdd *left = fst_subtract(placed, pairs_of(*state, 5, 100, 9));
        assert_int_equal(fst_rdd_partitions(left), 4);
        assert_null(left->partitioner);
        assert_int_equal(count_of(left), 5);
        /* The same key with another value stays. */
        fst_rdd *others = fst_map(fst_range_n(*state, 0, 20, 2), by_last_digit, FST_PAIR(I64, I64));
        assert_int_equal(count_of(fst_subtract(placed, others)), 19); /* (0, 0) is in both */
        assert_int_equal(count_of(fst_subtract(placed, fst_map_values(placed, same, FST_I64))), 0);
}

/* ---------------------------------------------------------------------------------------------------------- union */

static void unions_by_partition(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = fst_partition_by_function(pairs_of(sc, 1, 5, 1), 2, odd_last),
                *b = fst_partition_by_function(pairs_of(sc, 5, 9, 1), 2, odd_last);
        fst_rdd *both = fst_union(a, b), *one = fst_union_all(sc, &a, 1);
        assert_told(folded(a), "2020 4040|1010 3030");
        assert_told(folded(b), "6060 8080|5050 7070");
        assert_told(folded(both), "2020 4040 6060 8080|1010 3030 5050 7070");
        assert_told(folded(one), "2020 4040|1010 3030");
        assert_ptr_equal(both->partitioner, a->partitioner);
        assert_ptr_equal(one->partitioner, a->partitioner);

        /* If one has no partitioner, first or last: all partitions, one RDD after the other. */
        fst_rdd *loose = pairs_of(sc, 9, 10, 1), *mixed[] = {fst_union(a, loose), fst_union(loose, a)};
        assert_told(folded(mixed[0]), "2020 4040|1010 3030|9090");
        assert_told(folded(mixed[1]), "9090|2020 4040|1010 3030");
        assert_null(mixed[0]->partitioner);
        assert_null(mixed[1]->partitioner);
}

/* ----------------------------------------------------------------------------------------- coalesce, repartition */

static void coalesces_neighbouring_partitions(void **state)
{
        fst_rdd *ten = fst_range_n(*state, 1, 11, 10);
        assert_told(fst_coalesce(ten, 2), "1 2 3 4 5|6 7 8 9 10");
        assert_told(fst_coalesce(ten, 3), "1 2 3|4 5 6|7 8 9 10");
        assert_told(fst_coalesce(ten, 10), "1|2|3|4|5|6|7|8|9|10");
        assert_told(fst_coalesce(ten, 20), "1|2|3|4|5|6|7|8|9|10");
        int64_t n;
        assert_refused(fst_count(fst_coalesce(ten, 0), &n), -EINVAL, "Number of partitions must be positive");
        /* A shuffle before coalesce keeps the earlier work parallel, and can increase the number of partitions. */
        fst_rdd *dealt = fst_repartition(ten, 20);
        assert_int_equal(shuffles_until(dealt, ten), 1);
        assert_int_equal(fst_rdd_partitions(dealt), 20);
        assert_int_equal(count_of(dealt), 10);
}

static int64_t constant(fst_task *task, int64_t x)
{
        return 1;
}

/* Each partition has the average number of rows, give or take one for each input partition. */
static void repartitions_evenly(void **state)
{
        static const struct {
                int rows, from, to;
        } cases[] = {{1000, 10, 2}, {100, 10, 20}, {20000, 20, 100}, {1000, 250, 128}};
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
                int rows = cases[i].rows, to = cases[i].to;
                fst_rdd *ones = fst_map(fst_range_n(*state, 0, rows, cases[i].from), constant, FST_I64);
                fst_rdd *dealt = fst_repartition(ones, to);
                fst_iter *lists;
                fst_bytes list = {0};
                int64_t total = 0, partitions = 0;
                assert_int_equal(fst_collect(fst_glom(dealt), &lists), 0);
                for (; fst_next(lists, &list); partitions++) {
                        size_t n = fst_list_count(list, FST_I64);
                        assert_in_range(n, 1, rows / to + cases[i].from);
                        total += (int64_t)n;
                }
                assert_int_equal(partitions, to);
                assert_int_equal(total, rows);
        }
}

/* SPARK-4019: partitions without rows have results, too. */
static void handles_mostly_empty_partitions(void **state)
{
        assert_int_equal(count_of(fst_repartition(fst_range_n(*state, 0, 10, 1000), 2001)), 10);
        fst_iter *rows;
        int64_t x, sum = 0;
        assert_int_equal(fst_collect(fst_repartition(fst_range_n(*state, 0, 10, 1000), 2001), &rows), 0);
        while (fst_next(rows, &x))
                sum += x;
        assert_int_equal(sum, 45);
}

/* SPARK-48656 */
static void rejects_too_many_partitions(void **state)
{
        int64_t n;
        fst_rdd *many = fst_range_n(*state, 0, 65536, 65536);
        assert_refused(fst_count(fst_cartesian(many, many), &n), -EINVAL, "partitions");
}

/* ------------------------------------------------------------------------------------------------- default places */

static int sum_of(fst_task *task, int64_t key, int64_t l, int64_t r, fst_out *out)
{
        fst_emit(out, key, l + r);
        return 0;
}

static void largest_rdd_gives_number_of_partitions(void **state)
{
        fst_rdd *a = pairs_of(*state, 0, 4, 2), *many = pairs_of(*state, 0, 4, 2000);
        assert_int_equal(fst_rdd_partitions(fst_join(a, many, sum_of, FST_PAIR(I64, I64))), 2000);
        assert_int_equal(fst_rdd_partitions(fst_join(many, a, sum_of, FST_PAIR(I64, I64))), 2000);
        fst_rdd *placed = fst_partition_by(a, 2000), *joined = fst_join(a, placed, sum_of, FST_PAIR(I64, I64));
        assert_int_equal(fst_rdd_partitions(joined), 2000);
        assert_int_equal(shuffles_until(joined, placed), 0);
        assert_told(folded(fst_coalesce(fst_sort_by_key_n(joined, FST_ASCENDING, 1), 1)), "0 1020 2040 3060");
}

static int minus_one(fst_task *task, int64_t key, int partitions)
{
        return key == 11 ? -1 : (int)(key % partitions);
}

/* "lookup with bad partitioner" of PairRDDFunctionsSuite. */
static void reports_partitions_out_of_range(void **state)
{
        fst_rdd *placed = fst_partition_by_function(pairs_of(*state, 0, 10, 2), 3, minus_one);
        fst_iter *values;
        int64_t x;
        assert_int_equal(fst_lookup(placed, 4, &values), 0);
        assert_true(fst_next(values, &x) && x == 40 && !fst_next(values, &x));
        assert_int_equal(fst_lookup(placed, 12, &values), 0);
        assert_false(fst_next(values, &x));
        assert_refused(fst_lookup(placed, 11, &values), -EINVAL, "partition -1");
}

#define CASES                                                                                                          \
        cmocka_unit_test(operators_without_new_keys_keep_the_partitioner),                                                 \
                cmocka_unit_test(sorts_by_partitioned_keys_with_one_shuffle), cmocka_unit_test(finds_distinct_rows_of_sorted_rdd),   \
                cmocka_unit_test(subtract_takes_partitioners_number_of_partitions),                                         \
                cmocka_unit_test(unions_by_partition), cmocka_unit_test(coalesces_neighbouring_partitions),     \
                cmocka_unit_test(repartitions_evenly), cmocka_unit_test(handles_mostly_empty_partitions),           \
                cmocka_unit_test(largest_rdd_gives_number_of_partitions), cmocka_unit_test(reports_partitions_out_of_range)

int main(void)
{
        const struct CMUnitTest here[] = {CASES, cmocka_unit_test(rejects_too_many_partitions)};
        const struct CMUnitTest by_way_of_the_wire[] = {CASES};
        int failed = cmocka_run_group_tests_name("here", here, set_up, api_teardown);
        local_backend_set_probe(&by_wire);
        failed += cmocka_run_group_tests_name("by way of the wire", by_way_of_the_wire, set_up, api_teardown);
        local_backend_set_probe(NULL);
        return failed;
}
