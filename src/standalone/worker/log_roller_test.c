/* Rolled files have each printed line exactly once, in order. */
#include "standalone/worker/log_roller.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/fs.h"
#include "base/string_prefix.h"
#include "base/string_list.h"
#include "conf/conf.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#define LINE 1000

static struct log_rolling read_rolling(const char *const settings[][2], size_t n)
{
        struct log_rolling rolling;
        _cleanup_(conf_deinit) struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        conf_init(&conf);
        for (size_t i = 0; i < n; i++) {
                _cleanup_free_ char *key = mem_printf("spark.executor.logs.rolling.%s", settings[i][0]);
                conf_set(&conf, key, settings[i][1]);
        }
        if (log_rolling_read(&conf, &rolling, &error))
                fail_msg("%s", error_message(&error));
        return rolling;
}

static void test_settings(void **state)
{
        (void)state;
        struct log_rolling r = read_rolling(NULL, 0);
        assert_int_equal(r.strategy, ROLL_NEVER);
        r = read_rolling(
                (const char *const[][2]){{"strategy", "size"}, {"maxSize", "100000"}, {"maxRetainedFiles", "3"}}, 3);
        assert_int_equal(r.strategy, ROLL_BY_SIZE);
        assert_int_equal(r.size, 100000);
        assert_int_equal(r.retained, 3);
        assert_false(r.compress);
        r = read_rolling((const char *const[][2]){{"strategy", "size"}, {"maxSize", "10"}}, 2);
        assert_int_equal(r.size, 81920);
        r = read_rolling((const char *const[][2]){{"strategy", "size"}, {"maxSize", "1m"}}, 2);
        assert_int_equal(r.strategy, ROLL_NEVER);
        r = read_rolling((const char *const[][2]){{"strategy", "time"}}, 1);
        assert_int_equal(r.strategy, ROLL_BY_TIME);
        assert_int_equal(r.interval, 86400000);
        assert_string_equal(r.suffix, "--%Y-%m-%d");
        r = read_rolling((const char *const[][2]){{"strategy", "time"}, {"time.interval", "hourly"}}, 2);
        assert_int_equal(r.interval, 3600000);
        r = read_rolling((const char *const[][2]){{"strategy", "time"}, {"time.interval", "7"}}, 2);
        assert_int_equal(r.interval, 60000);
        r = read_rolling((const char *const[][2]){{"strategy", "time"}, {"time.interval", "weekly"}}, 2);
        assert_int_equal(r.strategy, ROLL_NEVER);
        r = read_rolling((const char *const[][2]){{"strategy", "yes"}}, 1);
        assert_int_equal(r.strategy, ROLL_NEVER);
}

/* Prints @lines numbered lines while the loop runs, then finishes. */
static void print_lines(const struct log_rolling *rolling, const char *path, int lines)
{
        uv_loop_t loop;
        struct log_roller *roller;
        int fd;
        char line[LINE + 1];
        uv_loop_init(&loop);
        assert_int_equal(log_roller_new(&loop, rolling, path, &roller, &fd, NULL), 0);
        for (int i = 0; i < lines; i++) {
                snprintf(line, sizeof(line), "%0*d\n", LINE - 1, i);
                assert_int_equal(write_all(fd, line, LINE), 0);
                uv_run(&loop, UV_RUN_NOWAIT);
        }
        close(fd);
        log_roller_finish(roller);
        uv_run(&loop, UV_RUN_DEFAULT);
        assert_int_equal(uv_loop_close(&loop), 0);
}

static int by_name(const void *a, const void *b)
{
        const char *one = *(char *const *)a, *other = *(char *const *)b;
        _cleanup_free_ char *bare = mem_strndup(one, strlen(one) - (text_ends_with(one, ".gz") ? 3 : 0));
        _cleanup_free_ char *other_bare = mem_strndup(other, strlen(other) - (text_ends_with(other, ".gz") ? 3 : 0));
        return strcmp(bare, other_bare);
}

/* Lists the rolled files of @name, oldest first, then the file itself. */
static void list_files(const char *name, struct string_list *out)
{
        DIR *d = opendir(temp_dir);
        size_t n = strlen(name);
        assert_non_null(d);
        for (struct dirent *e; (e = readdir(d));)
                if (strncmp(e->d_name, name, n) == 0 && e->d_name[n])
                        string_list_take(out, mem_printf("%s/%s", temp_dir, e->d_name));
        closedir(d);
        if (out->len)
                qsort(out->data, out->len, sizeof(*out->data), by_name);
        string_list_take(out, mem_printf("%s/%s", temp_dir, name));
}

/* Reads all of them. Gzread reads plain files as well. */
static void read_files(const struct string_list *files, struct buf *out)
{
        char piece[8192];
        for (size_t i = 0; i < files->len; i++) {
                gzFile f = gzopen(files->data[i], "rb");
                assert_non_null(f);
                for (int n; (n = gzread(f, piece, sizeof(piece))) > 0;)
                        buf_append(out, piece, (size_t)n);
                gzclose(f);
        }
}

static void check_lines(const struct buf *text, int first, int last)
{
        assert_int_equal(text->len, (size_t)(last - first) * LINE);
        for (int i = first; i < last; i++)
                assert_int_equal(atoi(text->data + (size_t)(i - first) * LINE), i);
}

static void test_by_size(void **state)
{
        (void)state;
        struct log_rolling rolling = {.strategy = ROLL_BY_SIZE, .size = 81920};
        _cleanup_free_ char *path = mem_printf("%s/stdout", temp_dir);
        _cleanup_(string_list_deinit) struct string_list files = {0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        print_lines(&rolling, path, 400);
        list_files("stdout", &files);
        assert_true(files.len >= 5);
        assert_true(files.len <= 8); /* 400 kB in files of 16 to 80 kB */
        assert_non_null(strstr(files.data[0], "/stdout--20"));
        read_files(&files, &text);
        check_lines(&text, 0, 400);
}

static void test_compressed_and_retained(void **state)
{
        (void)state;
        struct log_rolling rolling = {.strategy = ROLL_BY_SIZE, .size = 81920, .retained = 2, .compress = true};
        _cleanup_free_ char *path = mem_printf("%s/stderr", temp_dir);
        _cleanup_(string_list_deinit) struct string_list files = {0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        print_lines(&rolling, path, 400);
        list_files("stderr", &files);
        assert_int_equal(files.len, 3);
        for (int i = 0; i < 2; i++)
                assert_non_null(strstr(files.data[i], ".gz"));
        read_files(&files, &text);
        check_lines(&text, 400 - (int)(text.len / LINE), 400);
}

/* An existing file is kept, and no file is rolled before the interval is over. */
static void test_by_time(void **state)
{
        (void)state;
        struct log_rolling rolling = {.strategy = ROLL_BY_TIME, .interval = 86400000000, .suffix = "--%Y"};
        _cleanup_free_ char *path = mem_printf("%s/timed", temp_dir);
        _cleanup_(string_list_deinit) struct string_list files = {0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        print_lines(&rolling, path, 2);
        print_lines(&rolling, path, 3);
        list_files("timed", &files);
        assert_int_equal(files.len, 1);
        read_files(&files, &text);
        assert_int_equal(text.len, 5 * LINE);
        /* An interval so short that each piece exceeds it. Equal names get numbers. */
        rolling.interval = 1;
        _cleanup_(string_list_deinit) struct string_list more = {0};
        for (int i = 0; i < 3; i++) {
                usleep(3000);
                print_lines(&rolling, path, 1);
        }
        list_files("timed", &more);
        assert_true(more.len >= 1);
        buf_reset(&text);
        read_files(&more, &text);
        assert_int_equal(text.len, 8 * LINE);
}

static void test_no_file(void **state)
{
        (void)state;
        struct log_rolling rolling = {.strategy = ROLL_BY_SIZE, .size = 81920};
        struct fst_error error = FST_ERROR_INIT;
        struct log_roller *roller;
        uv_loop_t loop;
        int fd;
        uv_loop_init(&loop);
        assert_int_equal(log_roller_new(&loop, &rolling, "/nowhere/stdout", &roller, &fd, &error), -ENOENT);
        assert_non_null(strstr(error_message(&error), "/nowhere/stdout"));
        error_deinit(&error);
        assert_int_equal(uv_loop_close(&loop), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_settings),
                cmocka_unit_test(test_by_size),
                cmocka_unit_test(test_compressed_and_retained),
                cmocka_unit_test(test_by_time),
                cmocka_unit_test(test_no_file),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
