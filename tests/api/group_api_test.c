/* Tests groups of a key's values: group_by_key, group_by, flat_map_groups, cogroup, here and with lineage from the
 * wire. Cases follow Spark's PairRDDFunctionsSuite. */
#include "api/pair_fixture.h"

/* A list of I64 as one number: two digits for each element in order, after the key. */
static int64_t digits_of_list(fst_task *task, int64_t key, fst_bytes list)
{
        int64_t x, digits = key;
        for (fst_list l = fst_list_of(list, FST_I64); fst_list_next(&l, &x);)
                digits = digits * 100 + x;
        return digits;
}

static void group_by_key_gives_lists(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = PAIRS(sc, 2, 1001, 1002, 1003, 2001);
        fst_rdd *groups = fst_group_by_key(pairs);
        EXPECT(fst_map(groups, digits_of_list, FST_I64), 201, 1010203);
        assert_int_equal(fst_rdd_partitions(groups), 2);
        assert_non_null(groups->partitioner);

        /* duplicates, negative keys, more partitions than keys */
        EXPECT(fst_map(fst_group_by_key(PAIRS(sc, 2, 1001, 1001)), digits_of_list, FST_I64), 10101);
        fst_rdd *many = fst_group_by_key_n(pairs, 10);
        EXPECT(fst_map(many, digits_of_list, FST_I64), 201, 1010203);
        assert_int_equal(fst_rdd_partitions(many), 10);

        /* A grouped RDD has a partitioner: neither it nor a joined RDD with as many partitions is shuffled again. */
        assert_int_equal(shuffles_until(fst_group_by_key(groups), groups), 0);
        assert_int_equal(shuffles_until(fst_reduce_by_key_n(many, fst_fn_first, 10), many), 0);
        expect_none(fst_group_by_key(fst_filter(pairs, never)));
}

static int64_t even(fst_task *task, int64_t x)
{
        return x % 2;
}

static int64_t value_mod_2(fst_task *task, int64_t key, int64_t value)
{
        return value % 2;
}

static int64_t digits_of_pairs(fst_task *task, int64_t key, fst_bytes list)
{
        int64_t k, v, digits = key + 5;
        for (fst_list l = fst_list_of(list, FST_PAIR(I64, I64)); fst_list_next(&l, &k, &v);)
                digits = digits * 100 + k * 10 + v;
        return digits;
}

static int text_key(fst_task *task, fst_bytes key, fst_bytes value, fst_out *out)
{
        fst_emit(out, key);
        return 0;
}

/* Checks the key of each element and adds up check_texts. INT64_MIN: a wrong element. */
static int64_t sum_of_texts(fst_task *task, fst_bytes key, fst_bytes list)
{
        int64_t total = 0;
        fst_bytes k, v;
        fst_list l = fst_list_of(list, FST_PAIR(BYTES, BYTES));
        while (fst_list_next(&l, &k, &v)) {
                if (!fst_bytes_equal(k, key))
                        return INT64_MIN;
                total += check_texts(task, k, v);
        }
        return fst_list_status(&l) ? INT64_MIN : total;
}

static void groups_rows_by_computed_key(void **state)
{
        fst_context *sc = *state;
        EXPECT(fst_map(fst_group_by(fst_range_n(sc, 0, 5, 1), even, FST_I64), digits_of_list, FST_I64), 204, 10103);
        fst_rdd *pairs = PAIRS(sc, 1, 1001, 2002, 3003);
        EXPECT(fst_map(fst_group_by(pairs, value_mod_2, FST_I64), digits_of_pairs, FST_I64), 522, 61133);
        fst_rdd *texts = fst_map(fst_range_n(sc, 0, 1000, 3), to_texts, FST_PAIR(BYTES, BYTES));
        fst_rdd *sums = fst_map(fst_group_by_n(texts, text_key, FST_BYTES, 2), sum_of_texts, FST_I64);
        int64_t total, n;
        assert_int_equal(fst_reduce(sums, fst_fn_sum, &total), 0);
        assert_int_equal(total, 999 * 1000 / 2);
        assert_int_equal(fst_count(sums, &n), 0);
        assert_int_equal(n, 7);
        /* As in Spark: as many partitions as the rows' partitioner has. */
        assert_int_equal(fst_rdd_partitions(fst_group_by(fst_partition_by(pairs, 5), value_mod_2, FST_I64)), 5);
}

/* the key and its first two values */
static int first_two(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        int64_t a = 0, b = 0;
        if (fst_next(values, &a))
                (void)fst_next(values, &b);
        fst_emit(out, key * 10000 + a * 100 + b);
        return 0;
}

static void streams_values_of_a_group(void **state)
{
        fst_context *sc = *state;
        fst_rdd *pairs = PAIRS(sc, 3, 1001, 2007, 1002, 1003, 3009);
        EXPECT(fst_flat_map_groups(pairs, first_two, FST_I64), 10102, 20700, 30900);
        assert_int_equal(fst_rdd_partitions(fst_flat_map_groups_n(pairs, first_two, FST_I64, 7)), 7);
}

struct tally {
        int64_t rows, sum;
};

static int tally_group(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        struct tally t = {0};
        fst_bytes x;
        while (fst_next(values, &x)) {
                t.rows++;
                t.sum += (int64_t)x.len;
        }
        fst_emit(out, key, &t);
        return fst_iter_status(values);
}

static int skewed(fst_task *task, int64_t x, fst_out *out)
{
        char bytes[400];
        memset(bytes, 'a' + (int)(x % 20), sizeof(bytes));
        fst_emit(out, x % 50 == 0 ? x % 8 : 3, ((fst_bytes){bytes, (size_t)(x % 400)}));
        return 0;
}

/* 10 MB of one key in a task with about 5 MB. */
static void reads_group_larger_than_memory(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.driver.memory", "32m", "spark.memory.fraction", "0.3",
                                      "spark.log.level", "ERROR", NULL);
        fst_rdd *pairs = fst_map(fst_range_n(sc, 0, 50000, 3), skewed, FST_PAIR(I64, BYTES));
        fst_iter *rows;
        const void *at;
        int64_t key, n = 0, total = 0;
        assert_int_equal(fst_collect(fst_flat_map_groups(pairs, tally_group,
                                                         fst_type_pair(FST_I64, FST_FIXED(sizeof(struct tally)))),
                                     &rows),
                         0);
        while (fst_next(rows, &key, &at)) {
                struct tally t;
                memcpy(&t, at, sizeof(t));
                assert_int_equal(t.rows, key == 3 ? 49000 : 250);
                n++;
                total += t.sum;
        }
        assert_int_equal(n, 5);
        assert_int_equal(total, 50000 / 400 * (399 * 400 / 2));
        assert_refused(fst_count(fst_group_by_key(pairs), &n), -EIO,
                       "fst_flat_map_groups reads them one after another");
        fst_context_stop(sc);
}

/* --------------------------------------------------------------------------------------------------------- cogroup */

static int four_sides(fst_task *task, int64_t key, fst_iter *const *groups, fst_out *out)
{
        digits_of_sides(key, groups, 4, out);
        return 0;
}

static void cogroups_keys_of_all_sides(void **state)
{
        fst_context *sc = *state;
        fst_rdd *a = PAIRS(sc, 2, 1001, 1002, 2001, 3001), *b = PAIRS(sc, 3, 1011, 2012, 2013, 4014);
        EXPECT(fst_cogroup(a, b, both_sides, FST_I64), 30199, 49914, 101029911, 201991213);
        fst_rdd *all[] = {a, b, PAIRS(sc, 1, 1021), PAIRS(sc, 2, 4031, 5032)};
        EXPECT(fst_cogroup_all(sc, all, 3, three_sides, FST_I64), 301999999, 499149999, 2019912139999, 101029911992199);
        EXPECT(fst_cogroup_all(sc, all, 4, four_sides, FST_I64), 30199999999, 59999993299, 4991499993199,
               201991213999999, 10102991199219999);
        assert_int_equal(fst_rdd_partitions(fst_cogroup(a, b, both_sides, FST_I64)), 3);
        assert_refused(fst_count(fst_cogroup_all(sc, all, 0, three_sides, FST_I64), &(int64_t){0}), -EINVAL,
                       "a cogroup needs at least one RDD");
        fst_rdd *many[20];
        for (int i = 0; i < 20; i++)
                many[i] = a;
        assert_refused(fst_count(fst_cogroup_all(sc, many, 20, three_sides, FST_I64), &(int64_t){0}), -EINVAL,
                       "takes 1 to 16 RDDs");
}

int main(void)
{
        const struct CMUnitTest cases[] = {
                cmocka_unit_test_setup_teardown(group_by_key_gives_lists, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(groups_rows_by_computed_key, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(streams_values_of_a_group, loud_setup, api_teardown),
                cmocka_unit_test_setup_teardown(cogroups_keys_of_all_sides, loud_setup, api_teardown),
        };
        const struct CMUnitTest more[] = {
                cmocka_unit_test(reads_group_larger_than_memory),
        };
        return pair_cases_run(cases, ARRAY_SIZE(cases), more, ARRAY_SIZE(more));
}
