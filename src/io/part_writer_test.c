/* Tests that rows of every type and size print as in Spark's saveAsTextFile. */
#include "io/part_writer.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

static char local[48], path[64];

static int make_path(void **state)
{
        snprintf(local, sizeof(local), "/tmp/part_writer_test.%d", getpid());
        snprintf(path, sizeof(path), "file:%s", local);
        return 0;
}

static int remove_path(void **state)
{
        unlink(local);
        return 0;
}

static void read_back(struct buf *b)
{
        char chunk[65536];
        FILE *f = fopen(local, "r");
        assert_non_null(f);
        for (size_t n; (n = fread(chunk, 1, sizeof(chunk), f)) > 0;)
                buf_append(b, chunk, n);
        fclose(f);
}

static void assert_printed(const fst_batch *batch, const char *want)
{
        _cleanup_(buf_deinit) struct buf got = BUF_INIT;
        struct part_writer *w = part_writer_new();
        assert_int_equal(part_writer_open(w, path, PART_TEXT, NULL), 0);
        assert_int_equal(part_writer_write(w, batch, NULL), 0);
        assert_int_equal(part_writer_close(w, NULL), 0);
        assert_int_equal(part_writer_rows(w), batch->rows);
        assert_int_equal(part_writer_bytes(w), strlen(want));
        part_writer_free(w);
        read_back(&got);
        assert_string_equal(buf_text(&got), want);
}

static void test_types(void **state)
{
        fst_bytes words[] = {fst_bytes_of("one"), {NULL, 0}, fst_bytes_of("two words")};
        int64_t counts[] = {1, -20, INT64_MIN};
        double shares[] = {0.5, 2, -INFINITY};
        unsigned char fixed[] = {0, 1, 0xfe, 0xff, 0x10, 0x7f};

        assert_printed(&(fst_batch){.rows = 3, .type = FST_BYTES, .key.bytes = words}, "one\n\ntwo words\n");
        assert_printed(&(fst_batch){.rows = 3, .type = FST_I64, .key.i64 = counts}, "1\n-20\n-9223372036854775808\n");
        assert_printed(&(fst_batch){.rows = 3, .type = FST_F64, .key.f64 = shares}, "0.5\n2.0\n-Infinity\n");
        assert_printed(&(fst_batch){.rows = 2, .type = FST_FIXED(3), .key.fixed = (char *)fixed}, "0001fe\nff107f\n");
        assert_printed(&(fst_batch){.rows = 2, .type = FST_PAIR(BYTES, I64), .key.bytes = words, .value.i64 = counts},
                       "(one,1)\n(,-20)\n");
        assert_printed(&(fst_batch){.rows = 2, .type = FST_PAIR(F64, BYTES), .key.f64 = shares, .value.bytes = words},
                       "(0.5,one)\n(2.0,)\n");
        assert_printed(&(fst_batch){.rows = 0, .type = FST_I64}, "");
}

/* Rows of about the buffer's size and larger. */
static void test_sizes(void **state)
{
        size_t most = (size_t)3 << 20;
        char *text = malloc(most);
        uint64_t seed = 3;

        memset(text, 'x', most);
        for (int pair = 0; pair <= 1; pair++) {
                _cleanup_(buf_deinit) struct buf want = BUF_INIT, got = BUF_INIT;
                struct part_writer *w = part_writer_new();
                assert_int_equal(part_writer_open(w, path, PART_TEXT, NULL), 0);
                for (int i = 0; i < 60; i++) {
                        fst_bytes rows[4];
                        int64_t values[4] = {0, 1, 2, 3};
                        for (int k = 0; k < 4; k++) {
                                seed = seed * 6364136223846793005u + 1442695040888963407u;
                                size_t size = (size_t)(seed >> 33) % (i % 3 == 0 ? 100 : i % 3 == 1 ? 300000 : most);
                                if (i < 5)
                                        size = ((size_t)1 << 20) - 8 + (size_t)(i * 4 + k);
                                rows[k] = (fst_bytes){text, size};
                                text[size / 2] ^= 1;
                                buf_puts(&want, pair ? "(" : "");
                                buf_append(&want, text, size);
                                if (pair)
                                        buf_printf(&want, ",%d)", k);
                                buf_putc(&want, '\n');
                                fst_batch one = {.rows = 1,
                                                 .type = pair ? FST_PAIR(BYTES, I64) : FST_BYTES,
                                                 .key.bytes = &rows[k],
                                                 .value.i64 = &values[k]};
                                assert_int_equal(part_writer_write(w, &one, NULL), 0);
                        }
                }
                assert_int_equal(part_writer_close(w, NULL), 0);
                assert_int_equal(part_writer_bytes(w), want.len);
                part_writer_free(w);
                read_back(&got);
                assert_int_equal(got.len, want.len);
                assert_memory_equal(got.data, want.data, want.len);
        }
        free(text);
}

/* Records that fit, that fill the buffer exactly, and runs that are written directly. */
static void test_records(void **state)
{
        static const uint32_t sizes[][2] = {{1, 0}, {100, 0}, {8, 8}, {10, 90}, {65536, 65536}};
        static char bytes[1024 * 140];
        for (size_t i = 0; i < sizeof(bytes); i++)
                bytes[i] = (char)(i * 7 + i / 251);
        for (size_t s = 0; s < ARRAY_SIZE(sizes); s++) {
                _cleanup_(buf_deinit) struct buf want = BUF_INIT, got = BUF_INIT;
                uint32_t key = sizes[s][0], value = sizes[s][1];
                fst_batch batch = {.type = value ? fst_type_pair(FST_FIXED(key), FST_FIXED(value)) : FST_FIXED(key),
                                   .key.fixed = bytes,
                                   .value.fixed = bytes + 1};
                struct part_writer *w = part_writer_new();
                uint32_t most = (uint32_t)(sizeof(bytes) - 1) / MAX(key, value);
                uint64_t rows = 0;
                assert_int_equal(part_writer_open(w, path, PART_RECORDS, NULL), 0);
                for (uint32_t n = 0; n < 40; n++, rows += batch.rows) {
                        batch.rows = MIN(n * n, most);
                        assert_int_equal(part_writer_write(w, &batch, NULL), 0);
                        for (size_t i = 0; i < batch.rows; i++) {
                                buf_append(&want, bytes + i * key, key);
                                buf_append(&want, bytes + 1 + i * value, value);
                        }
                }
                assert_int_equal(part_writer_close(w, NULL), 0);
                assert_int_equal(part_writer_bytes(w), want.len);
                assert_int_equal(part_writer_rows(w), rows);
                part_writer_free(w);
                read_back(&got);
                assert_int_equal(got.len, want.len);
                assert_memory_equal(got.data, want.data, want.len);
        }
}

/* Cuts @text into lines of up to @most bytes and writes all lines but each @skip-th, in batches. */
static void write_lines(struct part_writer *w, char *text, size_t size, size_t most, unsigned skip, struct buf *want)
{
        static fst_bytes lines[1024];
        uint64_t seed = most + skip;
        fst_batch batch = {.type = FST_BYTES, .key.bytes = lines};
        unsigned line = 0;
        for (size_t at = 0; at < size; line++) {
                seed = seed * 6364136223846793005u + 1442695040888963407u;
                size_t length = MIN((size_t)(seed >> 33) % (most + 1), size - at - 1);
                text[at + length] = line % 97 == 5 ? 'x' : '\n'; /* what follows a row may not be its end */
                if (!skip || line % skip) {
                        lines[batch.rows++] = (fst_bytes){text + at, length};
                        buf_append(want, text + at, length);
                        buf_putc(want, '\n');
                }
                at += length + 1;
                if (batch.rows < 1024 && at < size)
                        continue;
                assert_int_equal(part_writer_write(w, &batch, NULL), 0);
                batch.rows = 0;
        }
}

/* Lines as a text reader returns them, of which large pieces are written directly. */
static void test_lines_of_a_buffer(void **state)
{
        static const size_t most[] = {0, 10, 300, 3000, 40000, 400000};
        static const unsigned skips[] = {0, 2, 13};
        size_t size = (size_t)3 << 20;
        char *text = malloc(size);
        for (size_t i = 0; i < size; i++)
                text[i] = (char)('a' + i % 26);
        for (size_t m = 0; m < ARRAY_SIZE(most); m++)
                for (size_t s = 0; s < ARRAY_SIZE(skips); s++) {
                        _cleanup_(buf_deinit) struct buf want = BUF_INIT, got = BUF_INIT;
                        struct part_writer *w = part_writer_new();
                        assert_int_equal(part_writer_open(w, path, PART_TEXT, NULL), 0);
                        write_lines(w, text, most[m] ? size : 5000, most[m], skips[s], &want);
                        assert_int_equal(part_writer_bytes(w), want.len);
                        assert_int_equal(part_writer_close(w, NULL), 0);
                        assert_int_equal(part_writer_bytes(w), want.len);
                        part_writer_free(w);
                        read_back(&got);
                        assert_int_equal(got.len, want.len);
                        assert_memory_equal(got.data, want.data, want.len);
                }
        free(text);
}

/* A direct write that the limit of the file size cuts short, and then refuses. */
static void test_reports_error_of_direct_write(void **state)
{
        struct rlimit before, limit;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_(buf_deinit) struct buf want = BUF_INIT;
        char *text = malloc(400000);
        memset(text, 'x', 400000);
        fst_bytes rows[2] = {{text, 200000}, {text + 200000, 200000}};
        fst_batch batch = {.rows = 2, .type = FST_BYTES, .key.bytes = rows};
        struct part_writer *w = part_writer_new();
        signal(SIGXFSZ, SIG_IGN);
        getrlimit(RLIMIT_FSIZE, &before);
        limit = before;
        limit.rlim_cur = 300001;
        setrlimit(RLIMIT_FSIZE, &limit);
        assert_int_equal(part_writer_open(w, path, PART_TEXT, NULL), 0);
        int r = part_writer_write(w, &batch, &error), again = part_writer_write(w, &batch, NULL);
        setrlimit(RLIMIT_FSIZE, &before);
        signal(SIGXFSZ, SIG_DFL);
        assert_int_equal(r, -EFBIG);
        assert_int_equal(again, -EFBIG);
        _cleanup_free_ char *message = mem_printf("writing %s: File too large", path);
        assert_string_equal(error_message(&error), message);
        part_writer_free(w);
        read_back(&want);
        assert_int_equal(want.len, 300001);
        error_deinit(&error);
        free(text);
}

static void test_cannot_create(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct part_writer *w = part_writer_new();
        assert_true(part_writer_open(w, "file:/dev/null/x", PART_TEXT, &error) < 0);
        assert_non_null(strstr(error_message(&error), "file:/dev/null"));
        assert_int_equal(part_writer_open(w, path, PART_TEXT, &error), 0);
        part_writer_abandon(w);
        assert_int_equal(part_writer_close(w, &error), 0);
        part_writer_free(w);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_types),
                cmocka_unit_test(test_sizes),
                cmocka_unit_test(test_records),
                cmocka_unit_test(test_lines_of_a_buffer),
                cmocka_unit_test(test_reports_error_of_direct_write),
                cmocka_unit_test(test_cannot_create),
        };
        return cmocka_run_group_tests(tests, make_path, remove_path);
}
