/* Tests that every line of a file is in exactly one split, for all line ends, cuts, buffer sizes and batch sizes. */
#include "io/text_reader.h"

#include "base/buf.h"
#include "base/error.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[64];
static char local[40];

static int make_path(void **state)
{
        snprintf(local, sizeof(local), "/tmp/text_reader_test.%d", getpid());
        snprintf(path, sizeof(path), "file:%s", local);
        return 0;
}

static int remove_path(void **state)
{
        unlink(local);
        return 0;
}

static void write_file(const void *data, size_t size)
{
        FILE *f = fopen(local, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(data, 1, size, f), size);
        assert_int_equal(fclose(f), 0);
}

static uint64_t seed;

static uint32_t random_below(uint32_t n)
{
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        return (uint32_t)((seed >> 33) % n);
}

/* A plain reference: each line followed by '|'. */
static void reference(const char *data, size_t size, struct buf *out)
{
        size_t i = 0;
        bool bom = size >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0;
        if (bom && size == 3)
                return;
        i = bom ? 3 : 0;
        while (i < size) {
                size_t end = i;
                while (end < size && data[end] != '\n' && data[end] != '\r')
                        end++;
                buf_append(out, data + i, end - i);
                buf_putc(out, '|');
                if (end < size)
                        end += data[end] == '\r' && end + 1 < size && data[end + 1] == '\n' ? 2 : 1;
                i = end;
        }
}

static void read_split(struct text_reader *r, const struct input_split *split, uint32_t max, struct buf *out)
{
        struct fst_error error = FST_ERROR_INIT;
        fst_bytes lines[300];
        uint32_t n;
        const char *stable;
        size_t stable_size;
        uint64_t sum = 0;

        assert_int_equal(text_reader_open(r, split, &error), 0);
        for (;;) {
                assert_int_equal(text_reader_next(r, lines, max, &n, &stable, &stable_size, &error), 0);
                if (n == 0)
                        break;
                assert_true(n <= max);
                for (uint32_t i = 0; i < n; i++) {
                        assert_true(lines[i].data >= stable);
                        assert_true(lines[i].data + lines[i].len <= stable + stable_size);
                        for (size_t k = 0; k < TEXT_READER_SLACK; k++)
                                sum += (unsigned char)lines[i].data[lines[i].len + k];
                        buf_append(out, lines[i].data, lines[i].len);
                        buf_putc(out, '|');
                }
        }
        /* After the end, further calls return the end again. */
        assert_int_equal(text_reader_next(r, lines, max, &n, NULL, NULL, &error), 0);
        assert_int_equal(n, 0);
        assert_true(sum != 1);
        error_deinit(&error);
}

static void check(const char *data, size_t size, const uint64_t *cuts, size_t n_cuts, size_t buffer, uint32_t max)
{
        _cleanup_(buf_deinit) struct buf want = BUF_INIT, got = BUF_INIT;
        struct text_reader *r = text_reader_new(buffer);

        reference(data, size, &want);
        for (size_t i = 0; i <= n_cuts; i++) {
                uint64_t start = i == 0 ? 0 : cuts[i - 1], end = i == n_cuts ? size : cuts[i];
                struct input_split split = {.path = path, .start = start, .length = end - start};
                read_split(r, &split, max, &got);
        }
        text_reader_free(r);
        if (strcmp(buf_text(&want), buf_text(&got)) != 0)
                fail_msg("buffer %zu, max %u, %zu cuts, seed %llu:\nwant %s\ngot  %s", buffer, max, n_cuts,
                         (unsigned long long)seed, buf_text(&want), buf_text(&got));
}

/* Every single cut, and cuts everywhere, of small texts that have all edge cases. */
static void test_each_cut(void **state)
{
        static const char *const texts[] = {
                "",       "a",          "\n",       "\r",       "\r\n",           "\n\r",
                "a\nb",   "a\r\nb\r\n", "a\rb\r",   "\r\r\n\n", "ab\r\n\r\ncd",   "\xef\xbb\xbf",
                "a\r\rb", "\n\n\n",     "ab\ncd\n", "a\r\n\rc", "\xef\xbb\xbf\n", "\xef\xbb\xbfx\r\ny",
        };
        for (size_t t = 0; t < sizeof(texts) / sizeof(*texts); t++) {
                size_t size = strlen(texts[t]);
                write_file(texts[t], size);
                check(texts[t], size, NULL, 0, 0, 300);
                uint64_t all[64];
                size_t n_all = 0;
                for (uint64_t cut = 1; cut < size; cut++) {
                        check(texts[t], size, &cut, 1, 0, 300);
                        check(texts[t], size, &cut, 1, 1, 1);
                        all[n_all++] = cut;
                }
                check(texts[t], size, all, n_all, 0, 300);
                check(texts[t], size, all, n_all, 1, 1);
        }
}

static void test_random(void **state)
{
        static const uint32_t maxima[] = {1, 2, 63, 64, 65, 128, 300};
        char *data = malloc(20000);

        seed = 1;
        for (int round = 0; round < 1500; round++) {
                size_t size = random_below(round % 10 ? 700 : 20000);
                uint32_t ends = 2 + random_below(100), kind = random_below(4);
                for (size_t i = 0; i < size; i++) {
                        bool end = random_below(ends) == 0;
                        data[i] = (char)('a' + i % 26);
                        if (end && kind == 0)
                                data[i] = '\n';
                        else if (end && kind == 1 && i + 1 < size)
                                memcpy(data + i++, "\r\n", 2);
                        else if (end)
                                data[i] = random_below(2) ? '\r' : '\n';
                }
                if (size > 3 && random_below(4) == 0)
                        memcpy(data, "\xef\xbb\xbf", 3);
                write_file(data, size);
                uint64_t cuts[8];
                size_t n_cuts = 0;
                uint64_t at = 0;
                while (n_cuts < 8 && size > 1 && random_below(5)) {
                        at += 1 + random_below((uint32_t)size);
                        if (at >= size)
                                break;
                        cuts[n_cuts++] = at;
                }
                size_t buffer = 64 + random_below(500);
                check(data, size, cuts, n_cuts, buffer, maxima[random_below(7)]);
        }
        free(data);
}

static void test_long_line(void **state)
{
        size_t size = (size_t)3 << 20;
        char *data = malloc(size);
        memset(data, 'x', size);
        data[size / 2] = '\n';
        write_file(data, size);
        uint64_t cuts[] = {10, size / 2 - 1, size / 2, size / 2 + 1, size - 1};
        for (size_t i = 0; i < 5; i++)
                check(data, size, &cuts[i], 1, 0, 300);
        check(data, size, cuts, 5, 64, 3);
        free(data);
}

/* The sample has complete lines from the whole split, about as many bytes as requested, and none twice. */
static void test_sample(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        FILE *f = fopen(local, "w");
        for (int i = 0; i < 200000; i++)
                fprintf(f, "%010d\n", i);
        fclose(f);

        struct text_reader *r = text_reader_new(0);
        struct input_split split = {.path = path, .start = 1100005, .length = 1000000};
        assert_int_equal(text_reader_open(r, &split, &error), 0);
        text_reader_sample(r, 100000);
        fst_bytes lines[256];
        uint32_t n, total = 0;
        long last = -1, first = -1;
        while (text_reader_next(r, lines, 256, &n, NULL, NULL, &error) == 0 && n > 0) {
                for (uint32_t i = 0; i < n; i++) {
                        assert_int_equal(lines[i].len, 10);
                        long x = strtol(lines[i].data, NULL, 10);
                        assert_true(x > last);
                        last = x;
                        if (first < 0)
                                first = x;
                }
                total += n;
        }
        assert_true(first >= 100001);
        assert_true(first < 100010);
        assert_true(last > 175000);
        assert_true(last <= 190910);
        assert_true(total * 11 > 90000);
        assert_true(total * 11 < 140000);
        assert_true(text_reader_bytes(r) < 300000);
        text_reader_free(r);
}

static void test_missing(void **state)
{
        struct fst_error error = FST_ERROR_INIT;
        struct text_reader *r = text_reader_new(0);
        struct input_split split = {.path = "file:/nowhere/x", .length = 1};
        assert_int_equal(text_reader_open(r, &split, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "file:/nowhere/x"));
        split.path = "file:/tmp";
        assert_int_equal(text_reader_open(r, &split, &error), -EISDIR);
        fst_bytes line;
        uint32_t n = 7;
        assert_int_equal(text_reader_next(r, &line, 1, &n, NULL, NULL, &error), 0);
        assert_int_equal(n, 0);
        text_reader_free(r);
        error_deinit(&error);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_each_cut), cmocka_unit_test(test_random),  cmocka_unit_test(test_long_line),
                cmocka_unit_test(test_sample),   cmocka_unit_test(test_missing),
        };
        return cmocka_run_group_tests(tests, make_path, remove_path);
}
