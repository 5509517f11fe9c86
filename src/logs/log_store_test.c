/* Stored logs: reading with gaps and doubles, and removal of old applications. */
#include "logs/log_store.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "io/fs/file_systems.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static const struct file_system *fs;

static char *store_path(const char *name)
{
        return mem_printf("file:%s/%s", temp_dir, name);
}

static int text_sink(void *owner, const char *data, size_t n)
{
        buf_append(owner, data, n);
        return 0;
}

static void store_piece(const char *path, const char *output, uint64_t start, const char *text)
{
        char name[LOG_PIECE_NAME];
        log_piece_name(output, (struct piece_range){start, start + strlen(text)}, name);
        assert_int_equal(log_store_write(fs, path, name, text, strlen(text), NULL), 0);
}

static void pieces_are_read_in_order(void **state)
{
        _cleanup_free_ char *app = store_path("app"), *ten = store_path("app/executor-10"),
                            *two = store_path("app/executor-2");
        _cleanup_(stored_logs_deinit) struct stored_logs logs = {0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        uint64_t at = 0;
        assert_int_equal(file_system_of(app, &fs, NULL), 0);
        store_piece(ten, "stdout", 0, "x");
        store_piece(two, "stderr", 0, "one ");
        store_piece(two, "stderr", 0, "one two ");
        store_piece(two, "stderr", 4, "two ");
        store_piece(two, "stderr", 20, "three");
        assert_int_equal(log_store_write(fs, two, LOG_STORE_INDEX, "{}", 2, NULL), 0);
        assert_int_equal(log_store_list(fs, app, &logs, NULL), 0);
        assert_int_equal(logs.list.len, 2);
        assert_string_equal(logs.list.data[0].process, "executor-2");
        assert_int_equal(logs.list.data[0].pieces.len, 4);
        assert_int_equal(log_store_read(fs, app, &logs.list.data[0], &at, UINT64_MAX, text_sink, &text, NULL), 0);
        assert_string_equal(buf_text(&text), "one two [bytes 8 to 19 are missing]\nthree");
        assert_int_equal(at, 25);
        assert_int_equal(log_store_read(fs, app, &logs.list.data[0], &at, UINT64_MAX, text_sink, &text, NULL), 0);
        assert_int_equal(text.len, 41);
        _cleanup_free_ char *nowhere = store_path("nowhere");
        _cleanup_(stored_logs_deinit) struct stored_logs none = {0};
        assert_int_equal(log_store_list(fs, nowhere, &none, NULL), -ENOENT);
}

/* A piece that another process is writing has fewer bytes than its name says. */
static void an_unfinished_piece_is_read_so_far(void **state)
{
        _cleanup_free_ char *app = store_path("half"), *process = store_path("half/driver");
        _cleanup_(stored_logs_deinit) struct stored_logs logs = {0};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        uint64_t at = 0;
        assert_int_equal(
                log_store_write(fs, process, "stderr.00000000000000000000-00000000000000000100", "abc", 3, NULL), 0);
        assert_int_equal(log_store_list(fs, app, &logs, NULL), 0);
        assert_int_equal(log_store_read(fs, app, &logs.list.data[0], &at, UINT64_MAX, text_sink, &text, NULL), 0);
        assert_string_equal(buf_text(&text), "abc");
        assert_int_equal(at, 3);
}

static void old_applications_are_removed(void **state)
{
        _cleanup_free_ char *dir = store_path("dir"), *old = store_path("dir/old/driver"),
                            *kept = store_path("dir/kept/driver"), *mine = store_path("dir/mine/driver"),
                            *other = store_path("dir/other/data");
        _cleanup_free_ char *old_path = temp_dir_path("dir/old"), *mine_path = temp_dir_path("dir/mine"),
                            *kept_path = temp_dir_path("dir/kept"), *other_path = temp_dir_path("dir/other");
        struct stat st;
        assert_int_equal(log_store_write(fs, old, LOG_STORE_INDEX, "{}", 2, NULL), 0);
        assert_int_equal(log_store_write(fs, mine, LOG_STORE_INDEX, "{}", 2, NULL), 0);
        assert_int_equal(log_store_write(fs, other, "valuable", "{}", 2, NULL), 0);
        assert_int_equal(stat(old_path, &st), 0);
        const int64_t now = (int64_t)st.st_mtim.tv_sec * 1000;
        assert_int_equal(log_store_clean(fs, dir, "mine", 60000, now + 30000, NULL), 0);
        assert_int_equal(access(old_path, F_OK), 0);
        assert_int_equal(log_store_clean(fs, dir, "mine", 60000, now + 100000, NULL), 0);
        assert_int_not_equal(access(old_path, F_OK), 0);
        assert_int_equal(access(mine_path, F_OK), 0);
        assert_int_equal(access(other_path, F_OK), 0); /* it is not of an application */
        assert_int_equal(log_store_write(fs, kept, LOG_STORE_INDEX, "{}", 2, NULL), 0);
        assert_int_equal(log_store_clean(fs, dir, "mine", 60000, now + 30000, NULL), 0);
        assert_int_equal(access(kept_path, F_OK), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(pieces_are_read_in_order),
                cmocka_unit_test(an_unfinished_piece_is_read_so_far),
                cmocka_unit_test(old_applications_are_removed),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
