/* Tests joins that spread heavy keys, through the public interface: their rows are those of an ordinary join, and no
 * partition is much larger than the others. Runs with tasks as threads, and in processes that get the lineage from the
 * wire. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "rdd/rdd.h"

#include <inttypes.h>
#include <math.h>

enum { ROWS = 3000, FEW = 40, PARTITIONS = 6 };

/* ---------------------------------------------------------------------------------------------------- functions */

struct point {
        int64_t x, y, z;
};

/* Two of three rows have key 7. */
static int64_t skewed_key(int64_t x)
{
        return x % 3 ? 7 : x % 50;
}

/* A skewed side of unknown size, which is not broadcast. */
static int heavy_i64(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, skewed_key(x), x);
        return 0;
}

static int light_i64(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, x);
        return 0;
}

static int alike_i64(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, skewed_key(x), 5);
        return 0;
}

static int heavy_f64(fst_task *task, int64_t x, fst_out *out)
{
        int64_t key = skewed_key(x);
        fst_emit(out, key == 7 ? (x % 2 ? -0.0 : 0.0) : key == 8 ? NAN : (double)key, (double)x);
        return 0;
}

static int light_f64(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x == 7 ? 0.0 : x == 8 ? NAN : (double)x, (double)x);
        return 0;
}

static int heavy_bytes(fst_task *task, int64_t x, fst_out *out)
{
        char key[64], value[16];
        snprintf(key, sizeof(key), "%0*" PRId64, (int)(skewed_key(x) + 1), skewed_key(x));
        snprintf(value, sizeof(value), "%" PRId64, x);
        fst_emit(out, fst_bytes_of(key), fst_bytes_of(value));
        return 0;
}

static int light_bytes(fst_task *task, int64_t x, fst_out *out)
{
        char key[64], value[16];
        snprintf(key, sizeof(key), "%0*" PRId64, (int)(x + 1), x);
        snprintf(value, sizeof(value), "%" PRId64, x);
        fst_emit(out, fst_bytes_of(key), fst_bytes_of(value));
        return 0;
}

static int heavy_struct(fst_task *task, int64_t x, fst_out *out)
{
        struct point key = {skewed_key(x), 0, 1}, value = {x, x, x};
        fst_emit(out, &key, &value);
        return 0;
}

static int light_struct(fst_task *task, int64_t x, fst_out *out)
{
        struct point key = {x, 0, 1}, value = {x, x, x};
        fst_emit(out, &key, &value);
        return 0;
}

#define SUM(left, right) ((left)*1000003 + (right))

static int inner_i64(fst_task *task, int64_t key, int64_t l, int64_t r, fst_out *out)
{
        fst_emit(out, SUM(l, r) + key);
        return 0;
}

static int left_i64(fst_task *task, int64_t key, int64_t l, const int64_t *r, fst_out *out)
{
        fst_emit(out, SUM(l, r ? *r : -1) + key);
        return 0;
}

static int right_i64(fst_task *task, int64_t key, const int64_t *l, int64_t r, fst_out *out)
{
        fst_emit(out, SUM(l ? *l : -1, r) + key);
        return 0;
}

static int left_f64(fst_task *task, double key, double l, const double *r, fst_out *out)
{
        fst_emit(out, SUM((int64_t)l, r ? (int64_t)*r : -1) + (isnan(key) ? -5 : (int64_t)key));
        return 0;
}

static int64_t number(fst_bytes text)
{
        int64_t x = 0;
        for (size_t i = 0; i < text.len; i++)
                x = 10 * x + text.data[i] - '0';
        return x;
}

static int left_bytes(fst_task *task, fst_bytes key, fst_bytes l, const fst_bytes *r, fst_out *out)
{
        fst_emit(out, SUM(number(l), r ? number(*r) : -1) + (int64_t)key.len);
        return 0;
}

static int left_struct(fst_task *task, const void *key, const void *l, const void *r, fst_out *out)
{
        const struct point *left = l, *right = r;
        fst_emit(out, SUM(left->y, right ? right->z : -1) + ((const struct point *)key)->x);
        return 0;
}

/* -------------------------------------------------------------------------------------------------------- joins */

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

static uint32_t heavy_keys_of(const fst_rdd *joined, enum join_side side)
{
        const struct heavy_keys *heavy = &joined->parents[side]->shuffle.partitioner.heavy;
        assert_true(joined->cogroup.ready);
        assert_true(heavy->n == 0 || heavy->keys[0].spread == side);
        return heavy->n;
}

static fst_rdd *rows_of(fst_context *sc, fst_fn f, fst_type type, int64_t n)
{
        return fst_flat_map_at(fst_range_n(sc, 0, n, 3), f, type, FST_HERE("flat_map"));
}

#define SIDES(heavy_f, light_f, type)                                                                                  \
        fst_rdd *heavy = rows_of(sc, FST_FN(heavy_f), type, ROWS);                                                     \
        fst_rdd *light = rows_of(sc, FST_FN(light_f), type, FEW)

static void joins_as_an_ordinary_join(void **state)
{
        fst_context *sc = *state;
        {
                SIDES(heavy_i64, light_i64, FST_PAIR(I64, I64));
                fst_rdd *joined = fst_skewed_join_n(heavy, light, inner_i64, FST_I64, PARTITIONS);
                expect_equal(joined, fst_join_n(heavy, light, inner_i64, FST_I64, 4));
                assert_int_equal(heavy_keys_of(joined, JOIN_LEFT), 1);
                joined = fst_skewed_join_n(light, heavy, inner_i64, FST_I64, PARTITIONS);
                expect_equal(joined, fst_join_n(light, heavy, inner_i64, FST_I64, 4));
                assert_int_equal(heavy_keys_of(joined, JOIN_RIGHT), 1);
                joined = fst_skewed_left_outer_join_n(heavy, light, left_i64, FST_I64, PARTITIONS);
                expect_equal(joined, fst_left_outer_join_n(heavy, light, left_i64, FST_I64, 4));
                assert_int_equal(heavy_keys_of(joined, JOIN_LEFT), 1);
                joined = fst_skewed_right_outer_join_n(light, heavy, right_i64, FST_I64, PARTITIONS);
                expect_equal(joined, fst_right_outer_join_n(light, heavy, right_i64, FST_I64, 4));
                assert_int_equal(heavy_keys_of(joined, JOIN_RIGHT), 1);
        }
        {
                SIDES(heavy_f64, light_f64, FST_PAIR(F64, F64));
                expect_equal(fst_skewed_left_outer_join_n(heavy, light, left_f64, FST_I64, PARTITIONS),
                             fst_left_outer_join_n(heavy, light, left_f64, FST_I64, 4));
        }
        {
                SIDES(heavy_bytes, light_bytes, FST_PAIR(BYTES, BYTES));
                expect_equal(fst_skewed_left_outer_join_n(heavy, light, left_bytes, FST_I64, PARTITIONS),
                             fst_left_outer_join_n(heavy, light, left_bytes, FST_I64, 4));
        }
        {
                const fst_type type = fst_type_pair(FST_FIXED(sizeof(struct point)), FST_FIXED(sizeof(struct point)));
                SIDES(heavy_struct, light_struct, type);
                expect_equal(fst_skewed_left_outer_join_n(heavy, light, left_struct, FST_I64, PARTITIONS),
                             fst_left_outer_join_n(heavy, light, left_struct, FST_I64, 4));
        }
}

/* The rows of one key are a product. */
static void joins_two_skewed_sides(void **state)
{
        fst_context *sc = *state;
        SIDES(heavy_i64, heavy_i64, FST_PAIR(I64, I64));
        expect_equal(fst_skewed_join_n(heavy, light, inner_i64, FST_I64, PARTITIONS),
                     fst_join_n(heavy, light, inner_i64, FST_I64, 4));
        expect_equal(fst_skewed_join_n(light, light, inner_i64, FST_I64, PARTITIONS),
                     fst_join_n(light, light, inner_i64, FST_I64, 4));
        fst_rdd *joined = fst_skewed_left_outer_join_n(light, heavy, left_i64, FST_I64, PARTITIONS);
        expect_equal(joined, fst_left_outer_join_n(light, heavy, left_i64, FST_I64, 4));
        assert_int_equal(heavy_keys_of(joined, JOIN_LEFT), 0); /* its right rows must stay together */
}

/* A heavy key that the other side does not have. */
static void passes_on_missing_rows_once(void **state)
{
        fst_context *sc = *state;
        fst_rdd *heavy = rows_of(sc, FST_FN(heavy_i64), FST_PAIR(I64, I64), ROWS);
        fst_rdd *none = rows_of(sc, FST_FN(light_i64), FST_PAIR(I64, I64), 7); /* keys 0 … 6 */
        expect_equal(fst_skewed_left_outer_join_n(heavy, none, left_i64, FST_I64, PARTITIONS),
                     fst_left_outer_join_n(heavy, none, left_i64, FST_I64, 4));
        expect_equal(fst_skewed_right_outer_join_n(none, heavy, right_i64, FST_I64, PARTITIONS),
                     fst_right_outer_join_n(none, heavy, right_i64, FST_I64, 4));
}

/* ------------------------------------------------------------------------------------------------------- balance */

static int count_rows(fst_task *task, int partition, fst_iter *rows, fst_out *out)
{
        int64_t x, n = 0;
        while (fst_next(rows, &x))
                n++;
        fst_emit(out, n);
        return 0;
}

static int64_t largest_partition(fst_rdd *joined)
{
        int64_t largest = -1;
        assert_int_equal(fst_max(fst_map_partitions_with_index(joined, count_rows, FST_I64), &largest), 0);
        return largest;
}

static void balances_partitions(void **state)
{
        fst_context *sc = *state;
        SIDES(heavy_i64, light_i64, FST_PAIR(I64, I64));
        fst_rdd *alike = rows_of(sc, FST_FN(alike_i64), FST_PAIR(I64, I64), ROWS);
        int64_t total;
        fst_rdd *joined = fst_skewed_join_n(heavy, light, inner_i64, FST_I64, PARTITIONS);
        assert_int_equal(fst_count(joined, &total), 0);
        assert_int_equal(fst_rdd_partitions(joined), PARTITIONS);
        assert_true(largest_partition(fst_join_n(heavy, light, inner_i64, FST_I64, PARTITIONS)) > total * 2 / 3);
        assert_true(largest_partition(joined) < total * 2 / PARTITIONS);
        /* equal values are spread by their map partitions */
        joined = fst_skewed_join_n(alike, light, inner_i64, FST_I64, PARTITIONS);
        assert_true(largest_partition(joined) < total / 2);
        assert_null(joined->partitioner);
        assert_null(fst_preserves_partitioning(joined)->partitioner);
}

/* ---------------------------------------------------------------------------------------------------- the choice */

static void splits_if_the_key_says_so(void **state)
{
        fst_context *sc = api_context("local[2]", "spark.firesteel.join.splitHeavyKeys", "true", NULL);
        SIDES(heavy_i64, light_i64, FST_PAIR(I64, I64));
        fst_rdd *joined = fst_join(heavy, light, inner_i64, FST_I64);
        expect_equal(joined, fst_join_n(heavy, light, inner_i64, FST_I64, 4));
        assert_int_equal(heavy_keys_of(joined, JOIN_LEFT), 1);
        assert_int_equal(fst_rdd_partitions(joined), 3);
        assert_int_equal(fst_join_n(heavy, light, inner_i64, FST_I64, 4)->cogroup.spread, 0);
        assert_int_equal(fst_join(fst_partition_by(heavy, 4), light, inner_i64, FST_I64)->cogroup.spread, 0);
        assert_int_equal(fst_context_stop(sc), 0);
}

static void leaves_other_joins_alone(void **state)
{
        fst_context *sc = *state;
        SIDES(heavy_i64, light_i64, FST_PAIR(I64, I64));
        fst_rdd *small = fst_map(fst_range_n(sc, 0, FEW, 2), light_i64, FST_PAIR(I64, I64));
        assert_int_equal(fst_join(heavy, light, inner_i64, FST_I64)->cogroup.spread, 0);
        assert_int_equal(fst_skewed_join_n(heavy, light, inner_i64, FST_I64, 1)->cogroup.spread, 0);
        assert_int_equal(fst_skewed_join(heavy, small, inner_i64, FST_I64)->op, RDD_BROADCAST_JOIN);
        assert_int_equal(fst_skewed_join_n(heavy, small, inner_i64, FST_I64, 2)->op, RDD_COGROUP);
}

static void rejects_joins_that_do_not_fit(void **state)
{
        fst_context *sc = *state;
        int64_t n;
        SIDES(heavy_i64, light_i64, FST_PAIR(I64, I64));
        assert_refused(fst_count(fst_skewed_join(heavy, fst_range(sc, 0, 5), inner_i64, FST_I64), &n), -EINVAL,
                       "skewed_join needs pairs on both sides");
        assert_refused(fst_count(fst_skewed_join_n(heavy, light, inner_i64, FST_I64, -1), &n), -EINVAL,
                       "Number of partitions cannot be negative");
        assert_refused(fst_count(fst_skewed_left_outer_join(heavy, light, inner_i64, FST_I64), &n), -EINVAL,
                       "it may be missing");
        assert_refused(fst_count(fst_skewed_right_outer_join(heavy, light, left_i64, FST_I64), &n), -EINVAL,
                       "it may be missing");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(joins_as_an_ordinary_join, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(joins_two_skewed_sides, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(passes_on_missing_rows_once, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(balances_partitions, api_setup, api_teardown),
                cmocka_unit_test(splits_if_the_key_says_so),
                cmocka_unit_test_setup_teardown(leaves_other_joins_alone, api_setup, api_teardown),
                cmocka_unit_test_setup_teardown(rejects_joins_that_do_not_fit, api_setup_loud, api_teardown),
        };
        const struct CMUnitTest of_processes[] = {
                cmocka_unit_test_setup_teardown(joins_as_an_ordinary_join, api_setup_workers, api_teardown),
        };
        int failed = cmocka_run_group_tests(of_processes, NULL, NULL);
        return failed + cmocka_run_group_tests(tests, NULL, NULL);
}
