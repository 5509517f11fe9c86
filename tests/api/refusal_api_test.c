/* Tests that invalid calls are rejected with a message that names the mistake. */
#include "base/mem.h"
#include "api/api_fixture.h"
#include "unit/temp_dir.h"

#include <signal.h>
#include <sys/resource.h>

struct small {
        int64_t x;
};

struct wide {
        int64_t x, y;
};

static int narrow_setup(void **state)
{
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

static int make_small(fst_task *task, int64_t x, fst_out *out)
{
        struct small made = {x};
        fst_emit(out, &made);
        return 0;
}

static int add_small(fst_task *task, void *total, const void *x)
{
        ((struct small *)total)->x += ((const struct small *)x)->x;
        return 0;
}

static int64_t same(fst_task *task, int64_t x)
{
        return x;
}

static int pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, x);
        return 0;
}

static int64_t key(fst_task *task, int64_t x, int64_t y)
{
        return x;
}

static void rejects_result_struct_of_another_size(void **state)
{
        fst_rdd *rows = fst_map(fst_range_n(*state, 0, 100, 3), make_small, FST_FIXED(sizeof(struct small)));
        struct small total;
        struct wide wide = {1, 2};
        struct {
                char byte;
        } little;
        assert_int_equal(fst_reduce(rows, add_small, &total), 0);
        assert_int_equal(total.x, 4950);
        assert_refused(fst_reduce(rows, add_small, &wide), -EINVAL,
                       "reduce gives FIXED of 8 bytes, but the variable has 16 bytes");
        assert_int_equal(wide.x, 1);
        struct {
                char bytes[3];
        } three;
        assert_refused(fst_reduce(rows, add_small, &three), -EINVAL, "but the variable has 3 bytes");
        assert_refused(fst_reduce(rows, add_small, &little), -EINVAL, "reduce gives FIXED");
}

struct large {
        int64_t x, y, z;
};

static int emit_small(fst_task *task, int64_t x, fst_out *out)
{
        struct small made = {x};
        const void *unchecked = &(struct wide){x, x};
        if (*(const int *)fst_captured(task) == 0)
                fst_emit(out, &made);
        else
                fst_emit(out, unchecked);
        return 0;
}

static int emit_small_value(fst_task *task, int64_t x, fst_out *out)
{
        struct small made = {x};
        fst_emit(out, x, &made);
        return 0;
}

/* Emits an array: its whole size counts as the row's, not that of an element. */
static int emit_array(fst_task *task, int64_t x, fst_out *out)
{
        struct small made[2] = {{x}, {x}};
        fst_emit(out, made);
        return 0;
}

static int pair_of_row(fst_task *task, const void *row, fst_out *out)
{
        fst_emit(out, row, 1);
        return 0;
}

static int read_large(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t n = 0;
        for (const struct large *row; fst_next(rows, &row);)
                n++;
        fst_emit(out, n);
        return 0;
}

static int emit_two_pieces(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit_pieces(out, fst_bytes_of("two pieces"), ' ');
        return 0;
}

static void rejects_pieces_of_another_type_or_number(void **state)
{
        fst_rdd *rows = fst_range_n(*state, 0, 10, 2);
        int64_t n;
        assert_refused(fst_count(fst_flat_map(rows, emit_two_pieces, FST_PAIR(BYTES, I64)), &n) < 0, true,
                       "emits BYTES where its operator declares PAIR(BYTES, I64) (refusal_api_test.c:");
        assert_refused(fst_count(fst_map(rows, emit_two_pieces, FST_BYTES), &n) < 0, true, "emitted 10 rows for 5");
        assert_int_equal(fst_count(fst_flat_map(rows, emit_two_pieces, FST_BYTES), &n), 0);
        assert_int_equal(n, 20);
}

static void rejects_row_structs_of_another_size(void **state)
{
        fst_context *sc = *state;
        fst_rdd *rows = fst_range_n(sc, 0, 10, 2);
        fst_rdd *arrays = fst_map(rows, emit_array, FST_FIXED(sizeof(struct wide)));
        const struct large *large = NULL;
        const struct wide *wide = NULL;
        const void *any;
        struct small key = {1};
        fst_iter *all;
        int64_t n, x = 0;
        int mode = 0;
        assert_refused(fst_count(fst_map(rows, FST_WITH(emit_small, mode), FST_FIXED(sizeof(struct wide))), &n) < 0, true,
                       "emits FIXED(8) where its operator declares FIXED(16) (refusal_api_test.c:");
        mode = 1;
        assert_int_equal(fst_count(fst_map(rows, FST_WITH(emit_small, mode), FST_FIXED(sizeof(struct wide))), &n), 0);
        assert_refused(fst_count(fst_map(rows, emit_small_value, FST_PAIR(I64, FIXED(sizeof(struct wide)))), &n) < 0, true,
                       "emits PAIR(I64, FIXED(8)) where its operator declares PAIR(I64, FIXED(16))");
        assert_refused(fst_count(fst_map_partitions(arrays, read_large, FST_I64), &n) < 0, true,
                       "the rows are FIXED(16), but read_large in unit_tests reads them with fst_next into variables for "
                       "FIXED(24) (refusal_api_test.c:");
        assert_int_equal(fst_collect(arrays, &all), 0);
        assert_refused(fst_next(all, &large), false,
                       "SparkContext: the rows are FIXED(16), but fst_next was given variables for FIXED(24) "
                       "(refusal_api_test.c:");
        assert_int_equal(fst_iter_status(all), -EINVAL);
        assert_int_equal(fst_collect(arrays, &all), 0);
        assert_true(fst_next(all, &wide) && wide->y == 0);
        assert_true(fst_next(all, &any));
        assert_refused(fst_next(all, &x), false, "the rows are FIXED(16), but fst_next was given variables for I64");
        assert_refused(fst_next((fst_iter *)NULL, &x), false, "was given NULL instead of rows");
        fst_rdd *pairs = fst_map(arrays, pair_of_row, FST_PAIR(FIXED(sizeof(struct wide)), I64));
        assert_refused(fst_lookup(pairs, &key, &all), -EINVAL, "the given key is a struct of 8 bytes");
}

static void rejects_invalid_types(void **state)
{
        fst_rdd *rows = fst_range_n(*state, 0, 10, 2);
        int64_t n;
        assert_refused(fst_count(fst_map(rows, make_small, FST_FIXED(0)), &n), -EINVAL, "FIXED(0)");
        assert_refused(fst_count(fst_flat_map(rows, make_small, FST_FIXED(FST_FIXED_MAX + 1)), &n), -EINVAL,
                       "FIXED(65537) as the row: structs may have 65536 bytes at most (FST_FIXED_MAX)");
        assert_refused(fst_count(fst_map(rows, pair, FST_PAIR(I64, FIXED(0))), &n), -EINVAL, "FIXED(0) as the value");
        assert_refused(fst_count(fst_map(rows, same, ((fst_type){.key = 9, .key_size = 8})), &n), -EINVAL,
                       "kind is 9, which is not a valid kind");
        assert_refused(fst_count(fst_map(rows, same, ((fst_type){.key = FST_KIND_I64})), &n), -EINVAL,
                       "the row is I64 of 0 bytes");
        assert_refused(fst_count(fst_map(rows, same, ((fst_type){0})), &n), -EINVAL, "not a valid kind");
}

static int pair_of_line(fst_task *task, fst_bytes line, fst_out *out)
{
        fst_emit(out, 1, 1);
        return 0;
}

static int join_i64(fst_task *task, int64_t key, int64_t left, int64_t right, fst_out *out)
{
        fst_emit(out, key, left + right);
        return 0;
}

static int pair_of_small(fst_task *task, int64_t x, fst_out *out)
{
        struct small made = {x};
        fst_emit(out, &made, x);
        return 0;
}

static int pair_of_wide(fst_task *task, int64_t x, fst_out *out)
{
        struct wide made = {x, x};
        fst_emit(out, &made, x);
        return 0;
}

static int join_fixed(fst_task *task, const void *key, int64_t left, int64_t right, fst_out *out)
{
        fst_emit(out, left + right);
        return 0;
}

static int f64_pair(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, (double)x, x);
        return 0;
}

static int pair_f64(fst_task *task, int64_t x, fst_out *out)
{
        fst_emit(out, x, (double)x);
        return 0;
}

static void rejects_joins_and_unions_of_other_types(void **state)
{
        fst_context *sc = *state;
        fst_rdd *rows = fst_range(sc, 0, 10), *pairs = fst_map(rows, pair, FST_PAIR(I64, I64));
        fst_rdd *f64 = fst_map(rows, f64_pair, FST_PAIR(F64, I64)),
                *to_f64 = fst_map(rows, pair_f64, FST_PAIR(I64, F64));
        fst_rdd *small = fst_map(rows, pair_of_small, FST_PAIR(FIXED(sizeof(struct small)), I64));
        fst_rdd *wide = fst_map(rows, pair_of_wide, FST_PAIR(FIXED(sizeof(struct wide)), I64));
        fst_rdd *missing = fst_text_file(sc, "/no/such/file"),
                *lost = fst_map(missing, pair_of_line, FST_PAIR(I64, I64));
        fst_type type = FST_PAIR(I64, I64);
        int64_t n = 0;

        assert_refused(fst_count(fst_union(rows, pairs), &n), -EINVAL, "the rows are I64 and PAIR(I64, I64)");
        assert_refused(fst_count(fst_union(small, wide), &n), -EINVAL, "structs have different sizes");
        assert_refused(fst_count(fst_union(pairs, lost), &n), -ENOENT, "/no/such/file");
        assert_refused(fst_count(fst_join(rows, pairs, join_i64, type), &n), -EINVAL,
                       "join needs pairs on both sides, but the rows are I64 and PAIR(I64, I64)");
        assert_refused(fst_count(fst_join(pairs, rows, join_i64, type), &n), -EINVAL, "join needs pairs");
        assert_refused(fst_count(fst_join(pairs, f64, join_i64, type), &n), -EINVAL, "keys of one type");
        assert_refused(fst_count(fst_join(small, wide, join_fixed, FST_I64), &n), -EINVAL, "different sizes");
        assert_refused(fst_count(fst_join(to_f64, pairs, join_i64, type), &n), -EINVAL,
                       "join_i64 takes PAIR(I64, I64) on the left, but the rows are PAIR(I64, F64): the values differ");
        assert_refused(fst_count(fst_join(pairs, to_f64, join_i64, type), &n), -EINVAL, "on the right");
        assert_refused(fst_count(fst_join(pairs, pairs, pair, type), &n), -EINVAL,
                       "pair is not a function that join can call");
        assert_refused(fst_count(fst_map(pairs, join_i64, type), &n), -EINVAL, "join_i64 is not a function that map");
        assert_refused(fst_count(fst_map(pairs, join_i64, FST_F64), &n), -EINVAL,
                       "so it must be double join_i64(fst_task *, int64_t, int64_t) (see");
        assert_refused(fst_count(fst_reduce_by_key(pairs, join_i64), &n), -EINVAL, "join_i64 does not combine");
        assert_refused(fst_count(fst_join_n(pairs, pairs, join_i64, type, -1), &n), -EINVAL,
                       "Number of partitions cannot be negative");
        assert_refused(fst_count(fst_join(pairs, pairs, join_i64, FST_FIXED(0)), &n), -EINVAL, "FIXED(0)");
        assert_refused(fst_count(fst_join(pairs, pairs, join_i64, FST_I64), &n), -EIO,
                       "join emits PAIR(I64, I64) where its operator declares I64");
        assert_refused(fst_count(fst_join(pairs, lost, join_i64, type), &n), -ENOENT, "/no/such/file");
        assert_refused(fst_count(fst_join_n(lost, pairs, join_i64, type, 3), &n), -ENOENT, "/no/such/file");
}

static void rejects_pairs_where_one_column_is_needed(void **state)
{
        fst_rdd *pairs = fst_map(fst_range_n(*state, 0, 10, 2), pair, FST_PAIR(I64, I64));
        int64_t n;
        assert_refused(fst_count(fst_map_values(pairs, same, FST_PAIR(I64, I64)), &n), -EINVAL,
                       "map_values takes the type of the new values only, but was given PAIR(I64, I64)");
        assert_refused(fst_count(fst_map_values(pairs, same, ((fst_type){0})), &n), -EINVAL, "map_values");
        assert_refused(fst_count(fst_sort_by(pairs, key, FST_PAIR(I64, I64), FST_ASCENDING), &n), -EINVAL,
                       "sort_by takes the type of the keys only, but was given PAIR(I64, I64)");
        assert_int_equal(fst_count(fst_map_values(pairs, same, FST_I64), &n), 0);
        assert_int_equal(n, 10);
}

static int text_of(fst_task *task, int64_t x, fst_out *out)
{
        char text[100];
        snprintf(text, sizeof(text), "%099lld", (long long)(x * 7919 % 1000000007));
        fst_emit(out, text, x);
        return 0;
}

static int give_first(fst_task *task, fst_iter *a, fst_iter *b, fst_out *out)
{
        int64_t x;
        if (fst_next(a, &x))
                fst_emit(out, x);
        return fst_iter_status(b);
}

static void rejects_null_rdd(void **state)
{
        fst_context *sc = *state;
        fst_rdd *rows = fst_range_n(sc, 0, 10, 2), *pairs = fst_map(rows, pair, FST_PAIR(I64, I64));
        fst_rdd *none = NULL, *some[] = {rows, none};
        fst_type type = FST_PAIR(I64, I64);
        fst_iter *answer = NULL;
        int64_t n = 7;

        assert_refused(fst_count(none, &n), -EINVAL, "count was given NULL instead of an RDD");
        assert_refused(fst_collect(none, &answer), -EINVAL, "collect was given NULL");
        assert_refused(fst_count(fst_map(none, same, FST_I64), &n), -EINVAL, "map was given NULL");
        assert_refused(fst_count(fst_map_values(none, same, FST_I64), &n), -EINVAL, "map_values was given NULL");
        assert_refused(fst_count(fst_union(rows, none), &n), -EINVAL, "union was given NULL");
        assert_refused(fst_count(fst_union_all(sc, some, 2), &n), -EINVAL, "union was given NULL");
        assert_refused(fst_count(fst_zip_partitions(none, rows, give_first, FST_I64), &n), -EINVAL, "zip_partitions");
        assert_refused(fst_count(fst_join(pairs, none, join_i64, type), &n), -EINVAL, "join was given NULL");
        assert_refused(fst_count(fst_join(none, pairs, join_i64, type), &n), -EINVAL, "join was given NULL");
        assert_refused(fst_count(fst_reduce_by_key(none, fst_fn_sum), &n), -EINVAL, "reduce_by_key was given NULL");
        assert_refused(fst_count(fst_cache(none), &n), -EINVAL, "persist was given NULL");
        assert_refused(fst_count(fst_checkpoint(none), &n), -EINVAL, "checkpoint was given NULL");
        assert_refused(fst_count(fst_rdd_set_name(none, "none"), &n), -EINVAL, "set_name was given NULL");
        assert_refused(fst_save_as_text_file(none, "/no/such/place"), -EINVAL, "save_as_text_file was given NULL");
        assert_int_equal(fst_rdd_partitions(none), -EINVAL);
        assert_non_null(strstr(fst_to_debug_string(none), "was given NULL"));
        assert_int_equal(fst_rdd_id(none), -EINVAL);
        assert_int_equal(fst_rdd_storage_level(none), FST_STORAGE_NONE);
        struct fst_storage_info info = {.cached_partitions = 7};
        assert_int_equal(fst_get_storage_info(none, &info), -EINVAL);
        assert_int_equal(info.cached_partitions, 7);
        assert_int_equal(fst_rdd_partitioner(none), FST_NO_PARTITIONER);
        assert_false(fst_rdd_same_partitioner(fst_partition_by(pairs, 2), none));
        assert_int_equal(fst_rdd_type(none).key, FST_KIND_BYTES);
        assert_false(fst_is_checkpointed(none));
        assert_null(fst_checkpoint_file(none));
        fst_release(none);
        fst_unpersist(none);
        assert_int_equal(n, 7);
        assert_null(answer);
}

static void rejects_null_function_array_and_path(void **state)
{
        fst_context *sc = *state;
        fst_rdd *rows = fst_range_n(sc, 0, 10, 2);
        int64_t (*no_function)(fst_task *, int64_t) = NULL;
        const int64_t *no_array = NULL, some[] = {1};
        int64_t n = 0;

        assert_refused(fst_count(fst_map(rows, no_function, FST_I64), &n), -EINVAL, "no_function is NULL");
        assert_refused(fst_count(fst_parallelize(sc, no_array, 3), &n), -EINVAL,
                       "parallelize was given NULL instead of an array of 3 rows");
        assert_refused(fst_count(fst_parallelize(sc, some, SIZE_MAX / 4), &n), -EOVERFLOW, "no array can be that large");
        assert_int_equal(fst_count(fst_parallelize(sc, no_array, 0), &n), 0);
        assert_refused(fst_add_file(sc, NULL), -EINVAL, "add_file failed: it was given NULL");

        int was = api_listen();
        fst_broadcast none = fst_broadcast_bytes(sc, NULL, 10);
        _cleanup_free_ char *heard = api_heard(was);
        assert_int_equal(none.id, 0);
        assert_non_null(strstr(heard, "NULL instead of 10 bytes"));
        assert_int_not_equal(fst_broadcast_bytes(sc, NULL, 0).id, 0);
        assert_int_equal(fst_count(rows, NULL), 0); /* computes the RDD without a result */
}

/* A limit on file sizes simulates a full disk. */
static void reports_full_disk_with_path(void **state)
{
        char dir[TEMP_DIR_SIZE];
        temp_dir_new(dir);
        fst_context *sc = api_context("local[2]", "spark.log.level", "ERROR", "spark.driver.memory", "32m",
                                      "spark.memory.fraction", "0.1", "spark.local.dir", dir, NULL);
        fst_rdd *rows = fst_map(fst_range_n(sc, 0, 300000, 4), text_of, FST_PAIR(BYTES, I64));
        struct rlimit before, small = {.rlim_cur = 200000};
        int64_t n;
        getrlimit(RLIMIT_FSIZE, &before);
        small.rlim_max = before.rlim_max;
        signal(SIGXFSZ, SIG_IGN);
        setrlimit(RLIMIT_FSIZE, &small);
        fst_rdd *all[] = {fst_partition_by(rows, 8), fst_reduce_by_key(rows, fst_fn_sum),
                          fst_sort_by_key(rows, FST_ASCENDING)};
        for (size_t i = 0; i < ARRAY_SIZE(all); i++) {
                int was = api_listen();
                int r = fst_count(all[i], &n);
                _cleanup_free_ char *heard = api_heard(was);
                assert_true(r < 0);
                if (!strstr(heard, dir) || !strstr(heard, "File too large"))
                        fail_msg("neither path nor reason are in: %s", heard);
        }
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, SIG_DFL);
        fst_context_stop(sc);
        rmdir(dir);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rejects_result_struct_of_another_size),
                cmocka_unit_test(rejects_pieces_of_another_type_or_number),
                cmocka_unit_test(rejects_row_structs_of_another_size),
                cmocka_unit_test(rejects_invalid_types),
                cmocka_unit_test(rejects_joins_and_unions_of_other_types),
                cmocka_unit_test(rejects_pairs_where_one_column_is_needed),
                cmocka_unit_test(rejects_null_rdd),
                cmocka_unit_test(rejects_null_function_array_and_path),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(reports_full_disk_with_path),
        };
        int failed = cmocka_run_group_tests(tests, narrow_setup, api_teardown);
        return failed + cmocka_run_group_tests(own_context, NULL, NULL);
}
