/* Tests broadcast joins through the public interface: their rows are those of a join with a shuffle, and the large side
 * is not shuffled. Runs with tasks as threads, and in processes that get the lineage from the wire. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "rdd/rdd.h"

#include <inttypes.h>
#include <math.h>

/* ---------------------------------------------------------------------------------------------------- functions */

struct point {
        int64_t x, y, z;
};

static int with_i64(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 50, x);
        return 0;
}

static int with_f64(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 50 == 0 ? -0.0 : x % 50 == 1 ? NAN : (double)(x % 50), (double)x);
        return 0;
}

static int with_bytes(fst_task *task, int64_t x, fst_out *out)
{
        char key[64], value[16];
        snprintf(key, sizeof(key), "%0*" PRId64, (int)(x % 50 + 1), x % 50);
        snprintf(value, sizeof(value), "%" PRId64, x);
        fst_emit(out, fst_bytes_of(key), fst_bytes_of(value));
        return 0;
}

static int with_struct(fst_task *task, int64_t x, fst_out *out)
{
        struct point key = {x % 50, 0, 1}, value = {x, x, x};
        fst_emit(out, &key, &value);
        return 0;
}

static int64_t number(fst_bytes text)
{
        int64_t x = 0;
        for (size_t i = 0; i < text.len; i++)
                x = 10 * x + text.data[i] - '0';
        return x;
}

#define SUM(left, right) ((left)*1000003 + (right))

static int inner_i64(fst_task *task, int64_t key, int64_t l, int64_t r, fst_out *out)
{
        fst_emit(out, SUM(l, r) + key);
        return 0;
}

static int outer_i64(fst_task *task, int64_t key, int64_t l, const int64_t *r, fst_out *out)
{
        fst_emit(out, SUM(l, r ? *r : -1) + key);
        return 0;
}

static int right_i64(fst_task *task, int64_t key, const int64_t *l, int64_t r, fst_out *out)
{
        fst_emit(out, SUM(l ? *l : -1, r) + key);
        return 0;
}

static int outer_f64(fst_task *task, double key, double l, const double *r, fst_out *out)
{
        fst_emit(out, SUM((int64_t)l, r ? (int64_t)*r : -1) + (isnan(key) ? -5 : (int64_t)key));
        return 0;
}

static int outer_bytes(fst_task *task, fst_bytes key, fst_bytes l, const fst_bytes *r, fst_out *out)
{
        fst_emit(out, SUM(number(l), r ? number(*r) : -1) + (int64_t)key.len);
        return 0;
}

static int outer_struct(fst_task *task, const void *key, const void *l, const void *r, fst_out *out)
{
        const struct point *left = l, *right = r;
        fst_emit(out, SUM(left->y, right ? right->z : -1) + ((const struct point *)key)->x);
        return 0;
}

/* -------------------------------------------------------------------------------------------------------- joins */

enum { LARGE = 3000, SMALL = 70 };

static void expect_equal(fst_rdd *a, fst_rdd *b)
{
        fst_iter *rows[2];
        int64_t x = 0, y = 0, n = 0;
        assert_int_equal(fst_collect(fst_sort_by(a, fst_fn_identity, FST_I64, FST_ASCENDING), &rows[0]), 0);
        assert_int_equal(fst_collect(fst_sort_by(b, fst_fn_identity, FST_I64, FST_ASCENDING), &rows[1]), 0);
        for (; fst_next(rows[0], &x); n++) {
                assert_true(fst_next(rows[1], &y));
                assert_int_equal(x, y);
        }
        assert_false(fst_next(rows[1], &y));
        assert_true(n > 0);
}

#define SIDES(map, type)                                                                                               \
        fst_rdd *large = fst_map(fst_range_n(sc, 0, LARGE, 3), map, type);                                             \
        fst_rdd *small = fst_map(fst_range_n(sc, 20, SMALL, 2), map, type)

static void joins_as_a_join_with_a_shuffle(void **state)
{
        fst_context *sc = *state;
        {
                SIDES(with_i64, FST_PAIR(I64, I64));
                expect_equal(fst_broadcast_join(large, small, inner_i64, FST_I64),
                             fst_join_n(large, small, inner_i64, FST_I64, 4));
                expect_equal(fst_broadcast_left_outer_join(large, fst_partition_by(small, 2), outer_i64, FST_I64),
                             fst_left_outer_join_n(large, small, outer_i64, FST_I64, 4));
        }
        {
                SIDES(with_f64, FST_PAIR(F64, F64));
                expect_equal(fst_broadcast_left_outer_join(large, small, outer_f64, FST_I64),
                             fst_left_outer_join_n(large, small, outer_f64, FST_I64, 4));
        }
        {
                SIDES(with_bytes, FST_PAIR(BYTES, BYTES));
                expect_equal(fst_broadcast_left_outer_join(large, small, outer_bytes, FST_I64),
                             fst_left_outer_join_n(large, small, outer_bytes, FST_I64, 4));
        }
        {
                const fst_type type = fst_type_pair(FST_FIXED(sizeof(struct point)), FST_FIXED(sizeof(struct point)));
                SIDES(with_struct, type);
                expect_equal(fst_broadcast_left_outer_join(large, small, outer_struct, FST_I64),
                             fst_left_outer_join_n(large, small, outer_struct, FST_I64, 4));
        }
}

static int none(fst_task *task, int64_t x, fst_out *out)
{
        return 0;
}

static void joins_an_empty_small_side(void **state)
{
        fst_context *sc = *state;
        fst_rdd *large = fst_map(fst_range_n(sc, 0, LARGE, 3), with_i64, FST_PAIR(I64, I64));
        fst_rdd *empty = fst_flat_map(fst_range_n(sc, 0, 10, 2), none, FST_PAIR(I64, I64));
        int64_t n = -1;
        assert_int_equal(fst_count(fst_broadcast_join(large, empty, inner_i64, FST_I64), &n), 0);
        assert_int_equal(n, 0);
        assert_int_equal(fst_count(fst_broadcast_left_outer_join(large, empty, outer_i64, FST_I64), &n), 0);
        assert_int_equal(n, LARGE);
}

/* The small side is collected once, however many actions there are, and again after the result was released. */
static void collects_the_small_side_once(void **state)
{
        fst_context *sc = *state;

        SIDES(with_i64, FST_PAIR(I64, I64));
        fst_rdd *joined = fst_broadcast_join(large, small, inner_i64, FST_I64);
        int64_t n, id = -1;
        assert_int_equal(joined->lineage.n_deps, 1);
        assert_int_equal(fst_rdd_partitions(joined), 3);
        assert_false(joined->broadcast_join.ready);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(fst_count(joined, &n), 0);
                assert_true(joined->broadcast_join.ready);
                assert_int_equal(joined->broadcast_join.small.rows, SMALL - 20);
                assert_true(i == 0 || id == joined->broadcast_join.small.variable);
                id = joined->broadcast_join.small.variable;
        }
        fst_release(joined);
        assert_int_equal(fst_count(large, &n), 0); /* after it the cleaner runs */
        assert_int_equal(joined->broadcast_join.small.variable, 0);
}

/* ----------------------------------------------------------------------------------------------------- the choice */

static int several(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x % 50, x);
        fst_emit(out, x % 50 + 1, x);
        return 0;
}

static void broadcasts_a_side_that_lineage_bounds(void **state)
{
        fst_context *sc = *state;
        fst_type type = FST_PAIR(I64, I64);
        SIDES(with_i64, type);
        fst_rdd *rows = fst_flat_map(fst_range_n(sc, 0, LARGE, 3), several, type); /* of unknown number */
        fst_rdd *many = fst_map(fst_range_n(sc, 0, 1 << 20, 3), with_i64, type);   /* 16 MiB */
        int64_t keys[] = {1, 2, 3};
        const struct {
                fst_rdd *rdd;
                enum rdd_op op;
        } cases[] = {
                {fst_join(rows, small, inner_i64, FST_I64), RDD_BROADCAST_JOIN},
                {fst_join(small, rows, inner_i64, FST_I64), RDD_BROADCAST_JOIN},
                {fst_join(many, small, inner_i64, FST_I64), RDD_BROADCAST_JOIN},
                {fst_join(rows, fst_parallelize_pairs(sc, keys, keys, 3), inner_i64, FST_I64), RDD_BROADCAST_JOIN},
                {fst_join(rows, fst_reduce_by_key(small, fst_fn_sum), inner_i64, FST_I64), RDD_BROADCAST_JOIN},
                {fst_left_outer_join(rows, small, outer_i64, FST_I64), RDD_BROADCAST_JOIN},
                {fst_right_outer_join(small, rows, right_i64, FST_I64), RDD_BROADCAST_JOIN},
                {fst_left_outer_join(small, rows, outer_i64, FST_I64), RDD_COGROUP}, /* all small rows take part */
                {fst_right_outer_join(rows, small, right_i64, FST_I64), RDD_COGROUP},
                {fst_join(large, small, inner_i64, FST_I64), RDD_COGROUP}, /* both are small */
                {fst_join(rows, many, inner_i64, FST_I64), RDD_COGROUP},
                {fst_join(rows, rows, inner_i64, FST_I64), RDD_COGROUP},
                {fst_join_n(rows, small, inner_i64, FST_I64, 2), RDD_COGROUP},
                {fst_join(fst_partition_by(rows, 3), small, inner_i64, FST_I64), RDD_COGROUP}, /* is not shuffled */
        };
        for (size_t i = 0; i < ARRAY_SIZE(cases); i++)
                assert_int_equal(cases[i].rdd->op, cases[i].op);
        expect_equal(cases[1].rdd, fst_join_n(small, rows, inner_i64, FST_I64, 4));
        expect_equal(cases[6].rdd, fst_right_outer_join_n(small, rows, right_i64, FST_I64, 4));
}

static void a_threshold_of_zero_broadcasts_nothing(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.firesteel.join.broadcastThreshold", "0", NULL);
        fst_rdd *rows = fst_flat_map(fst_range_n(sc, 0, LARGE, 3), several, FST_PAIR(I64, I64));
        fst_rdd *small = fst_map(fst_range_n(sc, 0, SMALL, 2), with_i64, FST_PAIR(I64, I64));
        fst_rdd *empty = fst_map(fst_range_n(sc, 0, 0, 2), with_i64, FST_PAIR(I64, I64));
        assert_int_equal(fst_join(rows, small, inner_i64, FST_I64)->op, RDD_COGROUP);
        assert_int_equal(fst_join(rows, empty, inner_i64, FST_I64)->op, RDD_COGROUP);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void shuffles_a_side_that_a_job_may_not_return(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.driver.maxResultSize", "1k", NULL);
        fst_rdd *rows = fst_flat_map(fst_range_n(sc, 0, LARGE, 3), several, FST_PAIR(I64, I64));
        fst_rdd *small = fst_map(fst_range_n(sc, 20, SMALL, 2), with_i64, FST_PAIR(I64, I64)); /* 800 bytes */
        fst_rdd *joined = fst_join(rows, small, inner_i64, FST_I64);
        int64_t n = 0;
        assert_int_equal(joined->op, RDD_COGROUP);
        assert_int_equal(fst_count(joined, &n), 0);
        assert_int_equal(n, 2 * LARGE - LARGE / 50); /* each but the rows of key 50 */
        assert_int_equal(fst_context_stop(sc), 0);
}

/* An RDD that has another on 2 ** 40 ways, and a range of more rows than INT64_MAX. */
static void bounds_only_lineages_of_few_operators(void **state)
{
        fst_context *sc = *state;
        fst_type type = FST_PAIR(I64, I64);
        fst_rdd *rows = fst_flat_map(fst_range_n(sc, 0, LARGE, 3), several, type);
        fst_rdd *all = fst_map(fst_range_n(sc, INT64_MIN, INT64_MAX, 2), with_i64, type);
        fst_rdd *doubled = fst_map(fst_range_n(sc, 0, 0, 2), with_i64, type);
        for (int i = 0; i < 40; i++)
                doubled = fst_coalesce(fst_union(doubled, doubled), 2);
        assert_int_equal(fst_join(rows, doubled, inner_i64, FST_I64)->op, RDD_COGROUP);
        assert_int_equal(fst_join(rows, all, inner_i64, FST_I64)->op, RDD_COGROUP);
}

/* ------------------------------------------------------------------------------------------------------- failures */

static void rejects_joins_that_do_not_fit(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        SIDES(with_i64, FST_PAIR(I64, I64));
        assert_refused(fst_count(fst_broadcast_join(large, fst_range(sc, 0, 5), inner_i64, FST_I64), &n), -EINVAL,
                       "broadcast_join needs pairs on both sides");
        assert_refused(fst_count(fst_broadcast_join(large, small, outer_i64, FST_I64), &n), -EINVAL,
                       "it is never missing");
        assert_refused(fst_count(fst_broadcast_left_outer_join(large, small, inner_i64, FST_I64), &n), -EINVAL,
                       "it may be missing");
}

static void fails_if_the_small_side_is_too_large(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.log.level", "ERROR", "spark.driver.maxResultSize", "1k", NULL);
        fst_rdd *large = fst_map(fst_range_n(sc, 0, LARGE, 3), with_i64, FST_PAIR(I64, I64));
        int64_t n;
        assert_refused(fst_count(fst_broadcast_join(large, large, inner_i64, FST_I64), &n), -EIO,
                       "is bigger than spark.driver.maxResultSize (1024 bytes): use fst_join, which shuffles both sides");
        fst_context_stop(sc);
        sc = api_context("local[1]", "spark.log.level", "ERROR", "spark.driver.memory", "32m", "spark.memory.fraction",
                         "0.1", NULL);
        large = fst_map(fst_range_n(sc, 0, 200000, 3), with_i64, FST_PAIR(I64, I64));
        assert_refused(fst_count(fst_broadcast_join(large, large, inner_i64, FST_I64), &n), -EIO,
                       "the table of a broadcast join needs");
        fst_context_stop(sc);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(joins_as_a_join_with_a_shuffle, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(joins_an_empty_small_side, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(collects_the_small_side_once, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(broadcasts_a_side_that_lineage_bounds, api_setup, api_teardown),
                cmocka_unit_test(a_threshold_of_zero_broadcasts_nothing),
                cmocka_unit_test(shuffles_a_side_that_a_job_may_not_return),
                cmocka_unit_test_setup_teardown(bounds_only_lineages_of_few_operators, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(rejects_joins_that_do_not_fit, api_setup_loud, api_teardown),
                cmocka_unit_test(fails_if_the_small_side_is_too_large),
        };
        const struct CMUnitTest of_processes[] = {
                cmocka_unit_test_setup_teardown(joins_as_a_join_with_a_shuffle, api_setup_workers, api_teardown),
        };
        int failed = cmocka_run_group_tests(of_processes, NULL, NULL);
        return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
