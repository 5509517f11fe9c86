/* Tests the store of a history server: logs, status cores, limits, damage, two servers. */
#include "history/history_store.h"

#include "base/error.h"
#include "base/mem.h"
#include "unit/temp_dir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct history_store *test_store_open(const char *name, int64_t max_bytes, const char *limits)
{
        struct history_store *s = NULL;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *dir = temp_dir_path(name);
        assert_int_equal(history_store_open(dir, max_bytes, limits, &s, &error), 0);
        error_deinit(&error);
        return s;
}

static struct event_log_info test_store_log(const char *path, uint64_t size)
{
        struct event_log_info log = {
                .path = mem_strdup(path), .name = mem_strdup("n"), .is_complete = true, .size = size, .modified_ms = 7};
        vec_push(&log.files, (struct event_log_file){.path = mem_strdup(path), .number = 3});
        return log;
}

static void test_store_put(struct history_store *s, const char *path, uint64_t size)
{
        struct event_log_info log = test_store_log(path, size);
        struct history_info info = {.app_id = "app", .app_name = "it's", .start_ms = 1, .end_ms = 2, .has_ended = true};
        history_store_put_log(s, "dir", &log, &info, 9);
        event_log_deinit(&log);
}

enum { PIECE = 400000 };

/* Stores a core in pieces. Returns false if it has no room. */
static bool test_store_begin_core(struct history_store *s, const char *path, uint64_t size, size_t bytes, char fill)
{
        struct event_log_info log = test_store_log(path, size);
        bool has_room = history_store_begin_snapshot(s, &log, NULL, bytes);
        event_log_deinit(&log);
        _cleanup_free_ char *piece = mem_alloc(PIECE);
        memset(piece, fill, PIECE);
        for (size_t at = 0; has_room && at < bytes; at += PIECE)
                assert_true(history_store_put_piece(s, piece, MIN(bytes - at, (size_t)PIECE)));
        return has_room;
}

static void test_store_put_core(struct history_store *s, const char *path, uint64_t size, size_t bytes, char fill)
{
        if (test_store_begin_core(s, path, size, bytes, fill))
                history_store_end_snapshot(s, true);
}

/* Returns the size of the stored core, or -1. Its bytes are all the same. */
static int64_t test_store_core(struct history_store *s, const char *path, uint64_t size)
{
        struct event_log_info log = test_store_log(path, size);
        size_t n, bytes = 0;
        bool found = history_store_open_snapshot(s, &log, NULL, 0);
        event_log_deinit(&log);
        if (!found)
                return -1;
        char fill = 0;
        for (const char *piece; (piece = history_store_get_piece(s, &n)); bytes += n) {
                if (!bytes)
                        fill = piece[0];
                assert_int_equal(piece[0], fill);
                assert_memory_equal(piece, piece + 1, n - 1);
        }
        history_store_leave_snapshot(s);
        return (int64_t)bytes;
}

static void test_store_count(void *owner, const char *dir, struct event_log_info *files, struct history_info *info,
                             int64_t updated_ms)
{
        int *n = owner;
        ++*n;
        assert_string_equal(dir, "dir");
        assert_int_equal(updated_ms, 9);
        assert_int_equal(files->files.data[0].number, 3);
        assert_string_equal(info->app_name, "it's");
        assert_null(info->attempt_id);
        assert_true(info->has_ended);
        event_log_deinit(files);
        history_info_deinit(info);
}

static int test_store_logs(struct history_store *s)
{
        int n = 0;
        history_store_each(s, test_store_count, &n);
        return n;
}

static void test_keeps_logs_and_cores(void **state)
{
        struct history_store *s = test_store_open("keep", 1 << 30, "1 2");
        test_store_put(s, "/a", 10);
        test_store_put(s, "/b", 10);
        test_store_put(s, "/a", 11);
        test_store_put_core(s, "/a", 11, 2500000, 'x');
        test_store_put_core(s, "/a", 11, 1500000, 'y');
        history_store_close(s);
        s = test_store_open("keep", 1 << 30, "1 2");
        assert_int_equal(test_store_logs(s), 2);
        assert_int_equal(test_store_core(s, "/a", 11), 1500000);
        assert_int_equal(test_store_core(s, "/a", 12), -1); /* the log has grown */
        assert_int_equal(test_store_core(s, "/b", 10), -1);
        history_store_forget(s, "/a");
        assert_int_equal(test_store_logs(s), 1);
        assert_int_equal(test_store_core(s, "/a", 11), -1);
        history_store_close(s);
}

static void test_core_of_a_growing_log_has_a_position(void **state)
{
        const struct event_log_position first = {.number = 3, .text = 40, .head = 9, .checksum = UINT64_MAX - 1},
                                        second = {.number = 4, .text = 7, .head = 9, .checksum = 5};
        struct event_log_position found;
        struct history_store *s = test_store_open("growing", 1 << 30, "1 2");
        struct event_log_info log = test_store_log("/a", 50);
        assert_false(history_store_find_position(s, &log, &found));
        test_store_put_core(s, "/a", 50, 10, 'x');
        assert_false(history_store_find_position(s, &log, &found)); /* it is of a complete log */
        const struct event_log_position *positions[] = {&first, &second};
        for (size_t i = 0; i < ARRAY_SIZE(positions); i++) {
                assert_true(history_store_begin_snapshot(s, &log, positions[i], 3));
                assert_true(history_store_put_piece(s, "abc", 3));
                history_store_end_snapshot(s, true);
                log.size += 100;
        }
        history_store_close(s);
        s = test_store_open("growing", 1 << 30, "1 2");
        assert_true(history_store_find_position(s, &log, &found));
        assert_memory_equal(&found, &second, sizeof(found));
        assert_false(history_store_open_snapshot(s, &log, &first, 0));
        assert_false(history_store_open_snapshot(s, &log, NULL, 0));
        assert_true(history_store_open_snapshot(s, &log, &second, 0));
        size_t size;
        assert_memory_equal(history_store_get_piece(s, &size), "abc", 3);
        history_store_leave_snapshot(s);
        history_store_forget(s, "/a");
        assert_false(history_store_find_position(s, &log, &found));
        history_store_close(s);
        event_log_deinit(&log);
}

static void test_broken_off_core_leaves_the_old_one(void **state)
{
        struct history_store *s = test_store_open("broken", 1 << 30, "");
        test_store_put_core(s, "/a", 1, 1000000, 'x');
        assert_true(test_store_begin_core(s, "/a", 2, 900000, 'y'));
        history_store_end_snapshot(s, false);
        assert_int_equal(test_store_core(s, "/a", 1), 1000000);
        assert_int_equal(test_store_core(s, "/a", 2), -1);
        test_store_put_core(s, "/a", 2, 900000, 'y');
        assert_int_equal(test_store_core(s, "/a", 2), 900000);
        history_store_close(s);
}

static void test_other_limits_hide_cores(void **state)
{
        struct history_store *s = test_store_open("limits", 1 << 30, "1 2");
        test_store_put_core(s, "/a", 11, 100, 'x');
        history_store_close(s);
        s = test_store_open("limits", 1 << 30, "3 4");
        assert_int_equal(test_store_core(s, "/a", 11), -1);
        test_store_put_core(s, "/a", 11, 50, 'x');
        assert_int_equal(test_store_core(s, "/a", 11), 50);
        history_store_close(s);
}

static void test_cores_beyond_the_limit_are_dropped(void **state)
{
        struct history_store *s = test_store_open("room", 1000, "");
        test_store_put_core(s, "/a", 1, 600, 'x');
        test_store_put_core(s, "/b", 1, 300, 'x');
        test_store_put_core(s, "/c", 1, 700, 'x');
        assert_int_equal(test_store_core(s, "/c", 1), 700);
        assert_int_equal(test_store_core(s, "/a", 1), -1);
        test_store_put_core(s, "/d", 1, 1001, 'x'); /* never has room, and drops nothing */
        assert_int_equal(test_store_core(s, "/d", 1), -1);
        assert_int_equal(test_store_core(s, "/c", 1), 700);
        history_store_close(s);
}

static void test_damaged_database_is_replaced(void **state)
{
        struct history_store *s = test_store_open("damage", 1 << 20, "");
        test_store_put(s, "/a", 1);
        history_store_close(s);
        free(temp_dir_write("damage/history.sqlite", "This is not a database, but long enough to be taken for one.\n"
                                                     "This is not a database, but long enough to be taken for one.\n"));
        s = test_store_open("damage", 1 << 20, "");
        assert_int_equal(test_store_logs(s), 0);
        test_store_put(s, "/a", 1);
        assert_int_equal(test_store_logs(s), 1);
        history_store_close(s);
}

/* SQLite's header has the size of pages, big-endian, at byte 16. */
static void test_new_store_has_pages_for_long_reads(void **state)
{
        unsigned char header[18] = {0};
        history_store_close(test_store_open("pages", 1 << 20, ""));
        _cleanup_free_ char *path = temp_dir_path("pages/history.sqlite");
        FILE *file = fopen(path, "r");
        assert_non_null(file);
        assert_int_equal(fread(header, 1, sizeof(header), file), sizeof(header));
        fclose(file);
        assert_int_equal(header[16] << 8 | header[17], 32768);
}

static void test_second_server_is_refused(void **state)
{
        struct history_store *s = test_store_open("twice", 1 << 20, ""), *second = NULL;
        struct fst_error error = FST_ERROR_INIT;
        _cleanup_free_ char *dir = temp_dir_path("twice");
        test_store_put(s, "/a", 1);
        assert_int_equal(history_store_open(dir, 1 << 20, "", &second, &error), -EBUSY);
        assert_non_null(strstr(error_message(&error), "another history server"));
        error_deinit(&error);
        assert_int_equal(test_store_logs(s), 1);
        history_store_close(s);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_keeps_logs_and_cores),
                cmocka_unit_test(test_core_of_a_growing_log_has_a_position),
                cmocka_unit_test(test_broken_off_core_leaves_the_old_one),
                cmocka_unit_test(test_other_limits_hide_cores),
                cmocka_unit_test(test_cores_beyond_the_limit_are_dropped),
                cmocka_unit_test(test_damaged_database_is_replaced),
                cmocka_unit_test(test_new_store_has_pages_for_long_reads),
                cmocka_unit_test(test_second_server_is_refused),
        };
        return cmocka_run_group_tests(tests, temp_dir_make, temp_dir_remove);
}
