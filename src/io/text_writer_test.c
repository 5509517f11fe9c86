/* Rows print as Spark's saveAsTextFile prints them, of every type and size. */
#include "io/text_writer.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char local[48], path[64];

static int make_path(void **state)
{
        snprintf(local, sizeof(local), "/tmp/text_writer_test.%d", getpid());
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
        struct text_writer *w = text_writer_new();
        assert_int_equal(text_writer_open(w, path, NULL), 0);
        assert_int_equal(text_writer_write(w, batch, NULL), 0);
        assert_int_equal(text_writer_close(w, NULL), 0);
        assert_int_equal(text_writer_rows(w), batch->rows);
        assert_int_equal(text_writer_bytes(w), strlen(want));
        text_writer_free(w);
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

/* Rows around and above the size of the buffer. */
static void test_sizes(void **state)
{
        size_t most = (size_t)3 << 20;
        char *text = malloc(most);
        uint64_t seed = 3;

        memset(text, 'x', most);
        for (int pair = 0; pair <= 1; pair++) {
                _cleanup_(buf_deinit) struct buf want = BUF_INIT, got = BUF_INIT;
                struct text_writer *w = text_writer_new();
                assert_int_equal(text_writer_open(w, path, NULL), 0);
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
                                assert_int_equal(text_writer_write(w, &one, NULL), 0);
                        }
                }
                assert_int_equal(text_writer_close(w, NULL), 0);
                assert_int_equal(text_writer_bytes(w), want.len);
                text_writer_free(w);
                read_back(&got);
                assert_int_equal(got.len, want.len);
                assert_memory_equal(got.data, want.data, want.len);
        }
        free(text);
}

static void test_cannot_create(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct text_writer *w = text_writer_new();
        assert_true(text_writer_open(w, "file:/dev/null/x", &error) < 0);
        assert_non_null(strstr(error_message(&error), "file:/dev/null"));
        assert_int_equal(text_writer_open(w, path, &error), 0);
        text_writer_abandon(w);
        assert_int_equal(text_writer_close(w, &error), 0);
        text_writer_free(w);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_types),
                cmocka_unit_test(test_sizes),
                cmocka_unit_test(test_cannot_create),
        };
        return cmocka_run_group_tests(tests, make_path, remove_path);
}
