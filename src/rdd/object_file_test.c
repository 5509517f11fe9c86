/* Tests object files: rows of every type round-trip, also in splits, and damage is an error that names the file. */
#include "rdd/object_file.h"

#include "base/error.h"
#include "base/mem.h"
#include "rdd/pipeline/op.h"
#include "store/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

static char local[48], path[64];

static int setup(void **state)
{
        snprintf(local, sizeof(local), "/tmp/object_file_test.%d", getpid());
        snprintf(path, sizeof(path), "file:%s", local);
        return 0;
}

static int teardown(void **state)
{
        unlink(local);
        page_pool_trim();
        return 0;
}

static void done(int r, struct fst_error *error)
{
        if (r < 0)
                fail_msg("%s", error_message(error));
}

/* Writes @n pairs (number, that many bytes modulo @most) in batches of odd sizes. */
static void write_pairs(uint32_t n, uint32_t most)
{
        struct fst_error error = FST_ERROR_INIT;
        struct object_writer *w = object_writer_new();
        _cleanup_free_ char *text = mem_alloc(most + 1);
        int64_t keys[FST_BATCH_ROWS];
        fst_bytes values[FST_BATCH_ROWS];
        memset(text, 'v', most);
        done(object_writer_open(w, path, FST_PAIR(I64, BYTES), &error), &error);
        for (uint32_t at = 0; at < n;) {
                fst_batch batch = {.type = FST_PAIR(I64, BYTES), .key.i64 = keys, .value.bytes = values};
                for (uint32_t i = 0; i < 77 && at < n; i++, at++) {
                        keys[i] = at;
                        values[i] = (fst_bytes){text, at % most};
                        batch.rows++;
                }
                done(object_writer_write(w, &batch, &error), &error);
        }
        done(object_writer_close(w, &error), &error);
        assert_int_equal(object_writer_rows(w), n);
        object_writer_free(w);
}

/* Reads a split whose first row has number @first and counts its rows. Returns 0 or the error. */
static int read_pairs(uint64_t start, uint64_t length, int64_t first, uint32_t most, uint32_t *rows,
                      struct fst_error *error)
{
        struct object_reader *r = object_reader_new();
        struct input_split split = {.path = path, .start = start, .length = length};
        fst_batch batch = {0};
        const void *stable;
        size_t size;
        *rows = 0;
        int e = object_reader_open(r, &split, FST_PAIR(I64, BYTES), error);
        while (e == 0 && (e = object_reader_next(r, &batch, &stable, &size, error)) == 0 && batch.rows > 0)
                for (uint32_t i = 0; i < batch.rows; i++) {
                        int64_t at = first + *rows;
                        assert_int_equal(batch.key.i64[i], at);
                        assert_int_equal(batch.value.bytes[i].len, at % most);
                        const char *data = batch.value.bytes[i].data;
                        assert_true(data >= (const char *)stable);
                        assert_true(data + batch.value.bytes[i].len <= (const char *)stable + size);
                        (*rows)++;
                }
        object_reader_free(r);
        return e;
}

static uint64_t file_size(void)
{
        FILE *f = fopen(local, "r");
        assert_non_null(f);
        fseek(f, 0, SEEK_END);
        uint64_t size = (uint64_t)ftell(f);
        fclose(f);
        return size;
}

static void round_trips_rows(void **state)
{
        static const uint32_t counts[] = {0, 1, 1000, 30000};
        struct fst_error error = FST_ERROR_INIT;
        for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
                uint32_t rows;
                write_pairs(counts[c], 100);
                done(object_file_check(path, FST_PAIR(I64, BYTES), &error), &error);
                done(read_pairs(0, file_size(), 0, 100, &rows, &error), &error);
                assert_int_equal(rows, counts[c]);
        }
        /* Rows larger than a page. */
        uint32_t rows;
        write_pairs(7, 1000001);
        done(read_pairs(0, file_size(), 0, 1000001, &rows, &error), &error);
        assert_int_equal(rows, 7);
        assert_true(file_size() < 100000);
}

static void splits_share_a_file(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        write_pairs(30000, 100);
        uint64_t size = file_size();
        static const uint64_t steps[] = {1 << 20, 10000, 4099, 777};
        for (size_t s = 0; s < ARRAY_SIZE(steps); s++) {
                uint32_t all = 0, rows;
                int some = 0;
                for (uint64_t at = 0; at < size; at += steps[s]) {
                        done(read_pairs(at, MIN(steps[s], size - at), all, 100, &rows, &error), &error);
                        all += rows;
                        some += rows > 0;
                }
                assert_int_equal(all, 30000);
                assert_true(steps[s] > size || some > 3);
        }
}

static void round_trips_every_type(void **state)
{
        struct object_point {
                int32_t x, y;
        } points[] = {{1, 2}, {3, 4}};
        double numbers[] = {0.5, -1};
        static const int64_t counts[] = {3, 4};
        fst_batch batches[] = {
                {.type = FST_F64, .rows = 2, .key.f64 = numbers},
                {.type = FST_FIXED(sizeof(struct object_point)), .rows = 2, .key.fixed = (char *)points},
                {.type = {.key = FST_KIND_FIXED,
                          .key_size = sizeof(struct object_point),
                          .value = FST_KIND_I64,
                          .value_size = 8},
                 .rows = 2,
                 .key.fixed = (char *)points,
                 .value.i64 = (int64_t *)counts},
        };
        struct fst_error error = FST_ERROR_INIT;
        struct object_writer *w = object_writer_new();
        struct object_reader *r = object_reader_new();
        for (size_t i = 0; i < ARRAY_SIZE(batches); i++) {
                fst_batch got = {0};
                const void *stable;
                size_t size;
                done(object_writer_open(w, path, batches[i].type, &error), &error);
                done(object_writer_write(w, &batches[i], &error), &error);
                done(object_writer_close(w, &error), &error);
                assert_int_equal(object_writer_bytes(w), file_size());
                struct input_split split = {.path = path, .length = file_size()};
                done(object_reader_open(r, &split, batches[i].type, &error), &error);
                done(object_reader_next(r, &got, &stable, &size, &error), &error);
                assert_int_equal(got.rows, 2);
                assert_memory_equal(got.key.fixed, batches[i].key.fixed, 2 * batches[i].type.key_size);
                done(object_reader_next(r, &got, &stable, &size, &error), &error);
                assert_int_equal(got.rows, 0);
                assert_int_equal(object_reader_open(r, &split, FST_BYTES, &error), -EINVAL);
                assert_non_null(strstr(error_message(&error), "not of BYTES"));
                assert_non_null(strstr(error_message(&error), path));
        }
        object_writer_free(w);
        object_writer_free(NULL);
        object_reader_free(r);
        object_reader_free(NULL);
        error_deinit(&error);
}

static void set_content(const void *data, size_t size)
{
        FILE *f = fopen(local, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(data, 1, size, f), size);
        fclose(f);
}

static void reports_damage_with_the_path(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        char bytes[20000];
        uint32_t rows;
        write_pairs(600, 100);
        FILE *f = fopen(local, "r");
        size_t size = fread(bytes, 1, sizeof(bytes), f);
        fclose(f);
        assert_true(size > 1000);
        assert_true(size < sizeof(bytes));
        /* Damages one byte at a time. */
        for (size_t at = 0; at < size; at += at < 120 || at > size - 120 ? 1 : 61) {
                bytes[at] ^= 0x40;
                set_content(bytes, size);
                bytes[at] ^= 0x40;
                int r = read_pairs(0, size, 0, 100, &rows, &error);
                if (r == 0 && rows == 600)
                        continue; /* other lz4 data for the same rows */
                if (r != (at >= 4 && at < 8 ? -ENOTSUP : -EBADMSG))
                        fail_msg("byte %zu of %zu: %d", at, size, r);
                assert_non_null(strstr(error_message(&error), path));
        }
        /* Truncates at every position. */
        for (size_t at = 0; at < size; at += 37) {
                set_content(bytes, at);
                assert_int_equal(read_pairs(0, size, 0, 100, &rows, &error), -EBADMSG);
                assert_non_null(strstr(error_message(&error), path));
        }
        set_content(bytes, size);
        bytes[4] = 2;
        set_content(bytes, size);
        assert_int_equal(read_pairs(0, size, 0, 100, &rows, &error), -ENOTSUP);
        assert_non_null(strstr(error_message(&error), "of version 2, but this firesteel reads version 1"));
        static const char text[] = "just some text that is not an object file, however long it is, and it is long";
        set_content(text, sizeof(text));
        assert_int_equal(read_pairs(0, sizeof(text), 0, 100, &rows, &error), -EBADMSG);
        assert_non_null(strstr(error_message(&error), "is not an object file"));
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(round_trips_rows),
                cmocka_unit_test(splits_share_a_file),
                cmocka_unit_test(round_trips_every_type),
                cmocka_unit_test(reports_damage_with_the_path),
        };
        return cmocka_run_group_tests(tests, setup, teardown);
}
