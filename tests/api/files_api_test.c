/* Tests files of all kinds as RDDs: whole files, records of fixed length, object files of every type. */
#include "base/mem.h"
#include "base/fs.h"
#include "api/api_fixture.h"
#include "unit/temp_dir.h"

#include <string.h>
#include <sys/stat.h>

struct point {
        int32_t x, y;
};

static int folder_setup(void **state)
{
        return temp_dir_make(state);
}

static int folder_teardown(void **state)
{
        temp_dir_remove(NULL);
        return 0;
}

static int setup(void **state)
{
        if (folder_setup(state))
                return -1;
        *state = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        return 0;
}

static int teardown(void **state)
{
        folder_teardown(state);
        return api_teardown(state);
}

/* Valid for the last four calls. */
static const char *path_of(const char *name)
{
        static char paths[4][80];
        static int next;
        char *path = paths[next++ % 4];
        snprintf(path, sizeof(paths[0]), "%s/%s", temp_dir, name);
        return path;
}

static void write_file(const char *name, const void *data, size_t size)
{
        FILE *f = fopen(path_of(name), "w");
        assert_non_null(f);
        assert_int_equal(fwrite(data, 1, size, f), size);
        assert_int_equal(fclose(f), 0);
}

static bool is(fst_bytes bytes, const char *text)
{
        return bytes.len == strlen(text) && memcmp(bytes.data, text, bytes.len) == 0;
}

static void reads_whole_files(void **state)
{
        char large[300000];
        memset(large, 'z', sizeof(large));
        assert_int_equal(mkdir(path_of("in"), 0777), 0);
        write_file("in/a", "one\ntwo\n", 8);
        write_file("in/b", large, sizeof(large));
        write_file("in/c", "", 0);
        write_file("in/_hidden", "x", 1);
        fst_iter *rows;
        fst_bytes name = {0}, content = {0};
        for (int binary = 0; binary < 2; binary++) {
                fst_rdd *files = binary ? fst_binary_files(*state, path_of("in"))
                                        : fst_whole_text_files_n(*state, path_of("in"), 1);
                assert_int_equal(fst_rdd_partitions(files), binary ? 1 : 2);
                assert_int_equal(fst_collect(files, &rows), 0);
                assert_true(fst_next(rows, &name, &content));
                _cleanup_free_ char *path = mem_printf("file:%s", path_of("in/a"));
                assert_true(is(name, path));
                assert_true(is(content, "one\ntwo\n"));
                assert_true(fst_next(rows, &name, &content));
                assert_int_equal(content.len, sizeof(large));
                assert_memory_equal(content.data, large, sizeof(large));
                assert_true(fst_next(rows, &name, &content));
                assert_int_equal(content.len, 0);
                assert_memory_equal(name.data + name.len - 2, "/c", 2);
                assert_false(fst_next(rows, &name, &content));
        }
        assert_refused(fst_collect(fst_whole_text_files(*state, path_of("none")), &rows), -ENOENT,
                       "Input path does not exist: file:/tmp/firesteel-unit-");
        assert_refused(fst_collect(fst_binary_files(*state, ""), &rows), -EINVAL,
                       "Can not create a Path from an empty string");
}

/* Content may be read long after its row, in any stage. */
static int length(fst_task *task, fst_bytes name, fst_bytes content, fst_out *out)
{
        fst_emit(out, name, (int64_t)content.len);
        return 0;
}

static void shuffles_whole_files(void **state)
{
        fst_iter *rows;
        fst_bytes name;
        int64_t n, all = 0;
        assert_int_equal(mkdir(path_of("many"), 0777), 0);
        for (int i = 0; i < 50; i++) {
                char file[32];
                snprintf(file, sizeof(file), "many/%02d", i);
                write_file(file, "0123456789012345678901234567890123456789012345678", (size_t)i);
        }
        fst_rdd *files = fst_whole_text_files_n(*state, path_of("many"), 4);
        fst_rdd *sorted = fst_sort_by_key(files, FST_DESCENDING);
        assert_int_equal(fst_collect(fst_map(sorted, length, FST_PAIR(BYTES, I64)), &rows), 0);
        for (int i = 50; fst_next(rows, &name, &n); all++)
                assert_int_equal(n, --i);
        assert_int_equal(all, 50);
}

static int64_t sum_of(fst_task *task, const void *record)
{
        struct point p;
        memcpy(&p, record, sizeof(p));
        return (int64_t)p.x + p.y;
}

static void reads_records_as_structs(void **state)
{
        enum { N = 200000 };
        struct point *points = new_array(struct point, N);
        int64_t expected = 0, sum, n;
        for (int i = 0; i < N; i++) {
                points[i] = (struct point){i, 2 * i};
                expected += 3L * i;
        }
        write_file("points", points, N * sizeof(*points));
        free(points);
        fst_context *sc = api_context("local[2]", "spark.log.level", "ERROR", NULL);
        fst_rdd *records = fst_binary_records(sc, path_of("points"), sizeof(struct point));
        assert_int_equal(fst_rdd_type(records).key_size, sizeof(struct point));
        assert_int_equal(fst_count(records, &n), 0);
        assert_int_equal(n, N);
        assert_int_equal(fst_reduce(fst_map(records, sum_of, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, expected);
        /* 1.6 MB in blocks of 1 MB, which end at records. */
        fst_context_stop(sc);
        sc = api_context("local[2]", "spark.log.level", "ERROR", "spark.hadoop.fs.local.block.size", "1000003", NULL);
        records = fst_binary_records(sc, path_of("points"), sizeof(struct point));
        assert_int_equal(fst_rdd_partitions(records), 2);
        assert_int_equal(fst_reduce(fst_map(records, sum_of, FST_I64), fst_fn_sum, &sum), 0);
        assert_int_equal(sum, expected);
        write_file("broken", "12345", 5);
        assert_refused(fst_count(fst_binary_records(sc, path_of("broken"), 2), &n), -EINVAL,
                       "broken has 5 bytes, which is not a whole number of records of 2 bytes");
        assert_refused(fst_count(fst_binary_records(sc, path_of("broken"), 0), &n), -EINVAL, "FIXED");
        fst_context_stop(sc);
}

static int count_rows(fst_task *task, fst_iter *rows, fst_out *out)
{
        int64_t n = 0, key, value;
        while (fst_next(rows, &key, &value))
                n++;
        fst_emit(out, n);
        return 0;
}

static int by_x(fst_task *task, const void *record, fst_out *out)
{
        struct point p;
        memcpy(&p, record, sizeof(p));
        fst_emit(out, (int64_t)p.x, (int64_t)p.y);
        return 0;
}

/* A sample of the file's blocks gives the bounds. The order is right, and partitions have similar sizes. */
static void sorts_records_by_a_sample(void **state)
{
        enum { N = 500000, PARTITIONS = 4 };
        struct point *points = new_array(struct point, N);
        fst_iter *rows;
        int64_t key, value, last = -1, n = 0;
        for (int i = 0; i < N; i++) {
                int64_t x = (int64_t)i * 7919 % N;
                points[i] = (struct point){(int32_t)x, (int32_t)x + 1};
        }
        write_file("unsorted", points, N * sizeof(*points));
        free(points);
        fst_rdd *records = fst_binary_records(*state, path_of("unsorted"), sizeof(struct point));
        fst_rdd *sorted = fst_sort_by_key_n(fst_map(records, by_x, FST_PAIR(I64, I64)), FST_ASCENDING, PARTITIONS);
        assert_int_equal(fst_collect(sorted, &rows), 0);
        for (; fst_next(rows, &key, &value); n++) {
                assert_true(key == last + 1 && value == key + 1);
                last = key;
        }
        assert_int_equal(n, N);
        fst_rdd *counts = fst_map_partitions(sorted, count_rows, FST_I64);
        assert_int_equal(fst_collect(counts, &rows), 0);
        while (fst_next(rows, &n))
                assert_in_range(n, N / PARTITIONS / 2, N / PARTITIONS * 2);
}

static int as_point(fst_task *task, int64_t i, fst_out *out)
{
        struct point p = {(int32_t)i, (int32_t)-i};
        char text[32];
        snprintf(text, sizeof(text), "row %lld", (long long)i);
        fst_emit(out, text, &p);
        return 0;
}

static int as_record(fst_task *task, int64_t i, fst_out *out)
{
        struct point p = {(int32_t)i, (int32_t)-i};
        fst_emit(out, &p);
        return 0;
}

static int64_t by_number(fst_task *task, const void *record)
{
        return ((const struct point *)record)->x;
}

static int as_text(fst_task *task, int64_t n, const void *record, fst_out *out)
{
        fst_emit(out, n, "text");
        return 0;
}

static void round_trips_object_files(void **state)
{
        enum { N = 30000 };
        fst_type type = FST_PAIR(BYTES, FIXED(sizeof(struct point)));
        fst_rdd *rows = fst_map(fst_range_n(*state, 0, N, 3), as_point, type);
        fst_iter *found;
        fst_bytes text;
        const void *record;
        int64_t n = 0;
        assert_int_equal(fst_save_as_object_file(rows, path_of("objects")), 0);
        assert_int_equal(access(path_of("objects/_SUCCESS"), F_OK), 0);
        assert_int_equal(access(path_of("objects/part-00002"), F_OK), 0);
        fst_rdd *again = fst_object_file(*state, path_of("objects"), type);
        assert_int_equal(fst_rdd_partitions(again), 3);
        assert_int_equal(fst_collect(again, &found), 0);
        for (; fst_next(found, &text, &record); n++) {
                char expected[32];
                struct point p;
                snprintf(expected, sizeof(expected), "row %lld", (long long)n);
                assert_true(is(text, expected));
                memcpy(&p, record, sizeof(p));
                assert_true(p.x == n && p.y == -n);
        }
        assert_int_equal(n, N);
        /* Several partitions for each file. */
        again = fst_object_file_n(*state, path_of("objects"), type, 20);
        assert_true(fst_rdd_partitions(again) >= 20);
        assert_int_equal(fst_count(again, &n), 0);
        assert_int_equal(n, N);
        assert_refused(fst_save_as_object_file(rows, path_of("objects")), -EEXIST, "already exists");
        assert_refused(fst_count(fst_object_file(*state, path_of("objects"), FST_I64), &n), -EINVAL,
                       "part-00000 has rows of PAIR(BYTES, FIXED(8)), not of I64");
        write_file("text", "this is text, and more of it than a header has", 46);
        assert_refused(fst_count(fst_object_file(*state, path_of("text"), FST_I64), &n), -EBADMSG,
                       "text is not an object file");
        assert_int_equal(truncate(path_of("objects/part-00001"), 1000), 0);
        assert_refused(fst_count(fst_object_file(*state, path_of("objects"), type), &n), -EIO,
                       "part-00001 is damaged: it is truncated");
}

/* Pairs are written as a struct of both. A configuration that compresses files does not compress records. */
static void round_trips_records(void **state)
{
        enum { N = 30000 };
        struct record {
                int64_t n;
                struct point p;
        } expected;
        fst_context *sc = api_context("local[2]", "spark.log.level", "ERROR",
                                      "spark.hadoop.mapreduce.output.fileoutputformat.compress", "true", NULL);
        fst_rdd *pairs = fst_key_by(fst_map(fst_range_n(sc, 0, N, 3), as_record, FST_FIXED(sizeof(struct point))),
                                    by_number, FST_I64);
        fst_iter *found;
        const void *row;
        int64_t n = 0;
        assert_int_equal(fst_save_as_binary_records(pairs, path_of("records")), 0);
        assert_int_equal(access(path_of("records/_SUCCESS"), F_OK), 0);
        assert_int_equal(access(path_of("records/part-00002"), F_OK), 0);
        assert_int_equal(fst_collect(fst_binary_records(sc, path_of("records"), sizeof(expected)), &found), 0);
        for (; fst_next(found, &row); n++) {
                expected = (struct record){n, {(int32_t)n, (int32_t)-n}};
                assert_memory_equal(row, &expected, sizeof(expected));
        }
        assert_int_equal(n, N);
        assert_refused(fst_save_as_binary_records(pairs, path_of("records")), -EEXIST, "already exists");
        assert_refused(fst_save_as_binary_records(fst_text_file(sc, path_of("records")), path_of("other")), -EINVAL,
                       "rows that are BYTES have no fixed length: map them to FIXED");
        assert_refused(fst_save_as_binary_records(fst_map(pairs, as_text, FST_PAIR(I64, BYTES)), path_of("other")),
                       -EINVAL, "rows that are PAIR(I64, BYTES) have no fixed length");
        assert_refused(fst_save_as_binary_records(pairs, ""), -EINVAL, "save_as_binary_records needs a path");
        assert_int_not_equal(access(path_of("other"), F_OK), 0);
        fst_context_stop(sc);
}

static void compresses_saved_files(void **state)
{
        int64_t n;
        fst_rdd *numbers = fst_range_n(*state, 0, 1000, 2);
        assert_int_equal(fst_save_as_text_file_codec(numbers, path_of("packed"), "BZip2Codec"), 0);
        assert_int_equal(access(path_of("packed/part-00001.bz2"), F_OK), 0);
        assert_int_equal(fst_count(fst_text_file(*state, path_of("packed")), &n), 0);
        assert_int_equal(n, 1000);
        assert_refused(fst_save_as_text_file_codec(numbers, path_of("other"), "zip"), -EINVAL,
                       "compression codec zip is not available for files");
        assert_int_not_equal(access(path_of("other"), F_OK), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(reads_whole_files),         cmocka_unit_test(shuffles_whole_files),
                cmocka_unit_test(sorts_records_by_a_sample), cmocka_unit_test(round_trips_object_files),
                cmocka_unit_test(compresses_saved_files),
        };
        const struct CMUnitTest own_context[] = {
                cmocka_unit_test(reads_records_as_structs),
                cmocka_unit_test(round_trips_records),
        };
        int failed = cmocka_run_group_tests(tests, setup, teardown);
        return failed + cmocka_run_group_tests(own_context, folder_setup, folder_teardown);
}
