/* Tests every operator and action with RDDs without rows, and without partitions (a directory without files). Cases
 * follow Spark's RDDSuite and PairRDDFunctionsSuite. */
#include "base/mem.h"
#include "base/fs.h"
#include "api/api_fixture.h"
#include "driver/backend/wire_fixture.h"
#include "unit/temp_dir.h"

#include <sys/stat.h>

struct world {
        fst_context *sc;
        char dir[TEMP_DIR_SIZE];
        fst_rdd *none[2]; /* PAIR(I64, I64): partitions without rows; no partitions */
        fst_rdd *some;    /* (1, 1), (2, 2) */
};

static int twice(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, x);
        return 0;
}

static int of_line(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_emit(out, 7, 7);
        return 0;
}

static int text_of(fst_task *task, int64_t key, int64_t value, fst_out *out)
{
        fst_emit(out, "row");
        return 0;
}

static int set_up(void **state)
{
        static struct world w;
        w = (struct world){.sc = api_context("local[2]", NULL)};
        temp_dir_new(w.dir);
        _cleanup_free_ char *empty = mem_printf("%s/empty", w.dir);
        mkdir(empty, 0755);
        w.none[0] = fst_map(fst_range_n(w.sc, 5, 5, 3), twice, FST_PAIR(I64, I64));
        w.none[1] = fst_map(fst_text_file(w.sc, empty), of_line, FST_PAIR(I64, I64));
        w.some = fst_map(fst_range_n(w.sc, 1, 3, 2), twice, FST_PAIR(I64, I64));
        *state = &w;
        return 0;
}

static int tear_down(void **state)
{
        struct world *w = *state;
        fst_context_stop(w->sc); /* the first action that had no rows to reduce */
        remove_tree(w->dir);
        return 0;
}

static int64_t rows_of(fst_rdd *rdd)
{
        fst_iter *rows;
        const fst_batch *batch;
        int64_t n = -1, collected = 0;
        assert_int_equal(fst_count(rdd, &n), 0);
        assert_int_equal(fst_collect(rdd, &rows), 0);
        while (fst_next_batch(rows, &batch))
                collected += batch->rows;
        assert_int_equal(collected, n);
        return n;
}

static void union_of_no_rdds_has_no_rows(void **state)
{
        struct world *w = *state;
        fst_rdd *none = fst_union_all(w->sc, NULL, 0), *twice_none[] = {none, none};
        assert_int_equal(rows_of(none), 0);
        assert_int_equal(fst_rdd_partitions(none), 0);
        assert_int_equal(rows_of(fst_reduce_by_key(fst_map(none, of_line, FST_PAIR(I64, I64)), fst_fn_sum)), 0);
        assert_int_equal(rows_of(fst_union(none, fst_map(w->some, text_of, FST_BYTES))), 2);
        assert_int_equal(rows_of(fst_union_all(w->sc, twice_none, 2)), 0);
}

/* --------------------------------------------------------------------------------------------------- the functions */

static bool yes(fst_task *task, int64_t key, int64_t value)
{
        return true;
}

static int64_t sum_of(fst_task *task, int64_t key, int64_t value)
{
        return key + value;
}

static int inner(fst_task *task, int64_t key, int64_t l, int64_t r, fst_out *out)
{
        fst_emit(out, l + r);
        return 0;
}

static int left(fst_task *task, int64_t key, int64_t l, const int64_t *r, fst_out *out)
{
        fst_emit(out, r ? -1 : l);
        return 0;
}

static int right(fst_task *task, int64_t key, const int64_t *l, int64_t r, fst_out *out)
{
        fst_emit(out, l ? -1 : r);
        return 0;
}

static int full(fst_task *task, int64_t key, const int64_t *l, const int64_t *r, fst_out *out)
{
        fst_emit(out, l && r ? -1 : l ? *l : *r);
        return 0;
}

static int sizes(fst_task *task, int64_t key, fst_iter *a, fst_iter *b, fst_out *out)
{
        int64_t x, n = 0;
        while (fst_next(a, &x))
                n++;
        while (fst_next(b, &x))
                n++;
        fst_emit(out, n);
        return 0;
}

static int first_of(fst_task *task, int64_t key, fst_iter *values, fst_out *out)
{
        int64_t x;
        if (fst_next(values, &x))
                fst_emit(out, key, x);
        return 0;
}

static int pass(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t key, value;
        while (fst_next(rows, &key, &value))
                fst_emit(out, key, value);
        return fst_iter_status(rows);
}

static int64_t add(fst_task *task, int64_t so_far, int64_t key)
{
        return so_far + key;
}

/* ------------------------------------------------------------------------------------------------------- the cases */

static void keeps_the_number_of_partitions(void **state)
{
        struct world *w = *state;
        static const int64_t nothing[1];
        assert_int_equal(fst_rdd_partitions(w->none[0]), 3);
        assert_int_equal(fst_rdd_partitions(w->none[1]), 0);
        assert_int_equal(fst_rdd_partitions(fst_parallelize_n(w->sc, nothing, 0, 4)), 4);
        assert_int_equal(fst_rdd_partitions(fst_union(w->none[0], w->none[1])), 3);
        assert_int_equal(fst_rdd_partitions(fst_union(w->none[1], w->none[1])), 0);
        assert_int_equal(fst_rdd_partitions(fst_coalesce(w->none[1], 2)), 0);
        assert_int_equal(fst_rdd_partitions(fst_repartition(w->none[1], 2)), 2);
        assert_int_equal(fst_rdd_partitions(fst_cartesian(fst_keys(w->none[1]), fst_keys(w->some))), 0);
        assert_int_equal(fst_rdd_partitions(fst_partition_by(w->none[1], 4)), 4);
}

static void actions_return_empty_results(void **state)
{
        struct world *w = *state;
        for (int i = 0; i < 2; i++) {
                fst_rdd *none = w->none[i], *keys = fst_keys(none);
                int64_t n = -1, x, zero = 17;
                double sum = -1;
                bool empty = false;
                fst_iter *rows;
                fst_map *map;
                assert_int_equal(rows_of(none), 0);
                assert_int_equal(fst_is_empty(none, &empty), 0);
                assert_true(empty);
                assert_int_equal(fst_reduce(keys, fst_fn_sum, &x), -ENODATA);
                assert_int_equal(fst_tree_reduce(keys, fst_fn_sum, 2, &x), -ENODATA);
                assert_int_equal(fst_first(keys, &x), -ENODATA);
                assert_int_equal(fst_min(keys, &x), -ENODATA);
                assert_int_equal(fst_fold(keys, &zero, fst_fn_max, &x), 0);
                assert_int_equal(x, 17);
                zero = 0;
                assert_int_equal(fst_aggregate(keys, &zero, add, fst_fn_sum, &x), 0);
                assert_int_equal(x, 0);
                assert_int_equal(fst_tree_aggregate(keys, &zero, add, fst_fn_sum, 3, &x), 0);
                assert_int_equal(x, 0);
                assert_int_equal(fst_sum(keys, &sum), 0);
                assert_true(sum == 0);
                assert_int_equal(fst_take(keys, 5, &rows), 0);
                assert_false(fst_next(rows, &x));
                assert_int_equal(fst_top(keys, 5, &rows), 0);
                assert_false(fst_next(rows, &x));
                assert_int_equal(fst_take_ordered(keys, 5, &rows), 0);
                assert_false(fst_next(rows, &x));
                assert_int_equal(fst_take_sample(keys, true, 5, 1, &rows), 0);
                assert_false(fst_next(rows, &x));
                assert_int_equal(fst_to_local_iterator(keys, &rows), 0);
                assert_false(fst_next(rows, &x));
                assert_int_equal(fst_iter_status(rows), 0);
                assert_int_equal(fst_lookup(none, 5, &rows), 0);
                assert_false(fst_next(rows, &x));
                assert_int_equal(fst_count_by_key(none, &map), 0);
                assert_int_equal(fst_map_count(map), 0);
                assert_int_equal(fst_collect_as_map(none, &map), 0);
                assert_int_equal(fst_map_count(map), 0);
                assert_int_equal(fst_count_approx_distinct(none, 0.05, &n), 0);
                assert_int_equal(n, 0);
        }
}

static void transformations_yield_no_rows(void **state)
{
        struct world *w = *state;
        for (int i = 0; i < 2; i++) {
                fst_rdd *none = w->none[i], *keys = fst_keys(none);
                const int64_t zero = 0;
                double weights[] = {1, 1};
                fst_rdd *splits[2];
                fst_random_split(none, weights, 2, 1, splits);
                fst_rdd *made[] = {
                        fst_filter(none, yes),
                        fst_map(none, sum_of, FST_I64),
                        fst_map_partitions(none, pass, FST_PAIR(I64, I64)),
                        fst_values(none),
                        fst_key_by(none, sum_of, FST_I64),
                        fst_reduce_by_key(none, fst_fn_sum),
                        fst_fold_by_key_n(none, &zero, fst_fn_sum, 3),
                        fst_group_by_key(none),
                        fst_flat_map_groups(none, first_of, FST_PAIR(I64, I64)),
                        fst_partition_by(none, 4),
                        fst_partition_by_range(none, 4, FST_ASCENDING),
                        fst_sort_by_key(none, FST_ASCENDING),
                        fst_sort_by(none, sum_of, FST_I64, FST_DESCENDING),
                        fst_sort_within_partitions(none, FST_ASCENDING),
                        fst_repartition(none, 3),
                        fst_coalesce(none, 1),
                        fst_distinct(none),
                        fst_sample(none, true, 2.0, 1),
                        splits[0],
                        splits[1],
                        fst_zip_with_index(none),
                        fst_zip_with_unique_id(none),
                        fst_zip(keys, keys),
                        fst_cartesian(keys, keys),
                        fst_cartesian(keys, fst_keys(w->some)),
                        fst_cartesian(fst_keys(w->some), keys),
                        fst_subtract(none, w->some),
                        fst_intersection(none, w->some),
                        fst_intersection(w->some, none),
                        fst_subtract_by_key(none, w->some),
                        fst_union(none, none),
                };
                for (size_t k = 0; k < ARRAY_SIZE(made); k++)
                        if (rows_of(made[k]) != 0)
                                fail_msg("%zu of what is made of %s", k, i ? "no partitions" : "no rows");
        }
}

static void keeps_rows_of_the_other_side(void **state)
{
        struct world *w = *state;
        for (int i = 0; i < 2; i++) {
                fst_rdd *none = w->none[i], *grouped = fst_reduce_by_key(none, fst_fn_sum);
                assert_int_equal(rows_of(fst_union(none, w->some)), 2);
                assert_int_equal(rows_of(fst_subtract(w->some, none)), 2);
                assert_int_equal(rows_of(fst_subtract_by_key(w->some, none)), 2);
                assert_int_equal(rows_of(fst_join(w->some, none, inner, FST_I64)), 0);
                assert_int_equal(rows_of(fst_right_outer_join(w->some, none, right, FST_I64)), 0);
                fst_rdd *both[] = {
                        fst_left_outer_join(w->some, none, left, FST_I64),
                        fst_right_outer_join(none, w->some, right, FST_I64),
                        fst_full_outer_join(w->some, none, full, FST_I64),
                        fst_full_outer_join(grouped, w->some, full, FST_I64),
                        fst_cogroup(w->some, none, sizes, FST_I64),
                        fst_cogroup(grouped, w->some, sizes, FST_I64),
                };
                for (size_t k = 0; k < ARRAY_SIZE(both); k++) {
                        int64_t sum = 0;
                        assert_int_equal(rows_of(both[k]), 2);
                        assert_int_equal(fst_reduce(both[k], fst_fn_sum, &sum), 0);
                        assert_int_equal(sum, k < 4 ? 3 : 2);
                }
                /*
                 * As in Spark: a cogroup of an RDD without partitions and others has as many partitions as the others.
                 */
                assert_true(fst_rdd_partitions(fst_cogroup(grouped, w->some, sizes, FST_I64)) > 0);
        }
}

static void writes_and_reads_empty_files(void **state)
{
        struct world *w = *state;
        for (int i = 0; i < 2; i++) {
                _cleanup_free_ char *text = mem_printf("%s/text-%d", w->dir, i);
                _cleanup_free_ char *objects = mem_printf("%s/objects-%d", w->dir, i);
                _cleanup_free_ char *done = mem_printf("%s/_SUCCESS", text);
                assert_int_equal(fst_save_as_text_file(w->none[i], text), 0);
                assert_int_equal(access(done, F_OK), 0);
                assert_int_equal(rows_of(fst_text_file(w->sc, text)), 0);
                assert_int_equal(fst_save_as_object_file(w->none[i], objects), 0);
                assert_int_equal(rows_of(fst_object_file(w->sc, objects, FST_PAIR(I64, I64))), 0);
        }
}

static void persists_empty_rdds(void **state)
{
        struct world *w = *state;
        assert_int_equal(fst_set_checkpoint_dir(w->sc, w->dir), 0);
        for (int i = 0; i < 2; i++) {
                int partitions = i ? 0 : 3;
                fst_rdd *kept[] = {fst_cache(fst_filter(w->none[i], yes)), fst_checkpoint(fst_filter(w->none[i], yes)),
                                   fst_local_checkpoint(fst_filter(w->none[i], yes))};
                for (int k = 0; k < 3; k++) {
                        assert_false(fst_is_checkpointed(kept[k]));
                        assert_int_equal(rows_of(kept[k]), 0);
                        assert_int_equal(fst_is_checkpointed(kept[k]), k > 0);
                        assert_int_equal(fst_rdd_partitions(kept[k]), partitions);
                        assert_int_equal(rows_of(kept[k]), 0);
                }
        }
}

#define CASES                                                                                                          \
        cmocka_unit_test(keeps_the_number_of_partitions), cmocka_unit_test(actions_return_empty_results),                  \
                cmocka_unit_test(transformations_yield_no_rows), cmocka_unit_test(keeps_rows_of_the_other_side),          \
                cmocka_unit_test(writes_and_reads_empty_files), cmocka_unit_test(persists_empty_rdds),             \
                cmocka_unit_test(union_of_no_rdds_has_no_rows)

int main(void)
{
        const struct CMUnitTest here[] = {CASES}, by_way_of_the_wire[] = {CASES};
        int failed = cmocka_run_group_tests_name("here", here, set_up, tear_down);
        local_backend_set_probe(&by_wire);
        failed += cmocka_run_group_tests_name("by way of the wire", by_way_of_the_wire, set_up, tear_down);
        local_backend_set_probe(NULL);
        return failed;
}
