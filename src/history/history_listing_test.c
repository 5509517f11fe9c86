/* Tests what is read, listed, forgotten and deleted, in given and in random worlds. */
#include "history/history_listing.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>

#include <cmocka.h>

static struct history_listing listing;

static int test_listing_begin(void **state)
{
        history_listing_init(&listing, &(struct history_listing_options){.max_age_ms = 1000});
        return 0;
}

static int test_listing_end(void **state)
{
        history_listing_deinit(&listing);
        return 0;
}

/* A single log; one whose name ends with ".inprogress" is not complete. */
static struct event_log_info test_log(const char *path, uint64_t size, int64_t modified_ms)
{
        struct event_log_info log = {.path = mem_strdup(path),
                                     .name = mem_strdup(path),
                                     .is_complete = !text_ends_with(path, EVENT_LOG_IN_PROGRESS),
                                     .size = size,
                                     .modified_ms = modified_ms};
        vec_push(&log.files,
                 (struct event_log_file){.path = mem_strdup(path), .size = size, .modified_ms = modified_ms});
        return log;
}

static void test_see(const char *path, uint64_t size, int64_t modified_ms, int64_t now_ms)
{
        struct event_log_info log = test_log(path, size, modified_ms);
        history_listing_see(&listing, 0, &log, now_ms);
}

static void test_read(const char *path, const char *id, const char *attempt, int64_t start_ms, int64_t end_ms)
{
        struct history_info info = {.app_id = mem_strdup(id),
                                    .attempt_id = mem_strdup_if(attempt),
                                    .start_ms = start_ms,
                                    .end_ms = end_ms,
                                    .has_ended = end_ms >= 0};
        history_listing_read(&listing, path, HISTORY_LOG_HAS_APPLICATION, &info);
}

/* The waiting actions as text: "read a, forget b". The caller owns it. */
static char *test_actions(void)
{
        static const char *const names[] = {"read", "grew", "forget", "delete", "compact"};
        struct history_action action;
        char *text = mem_strdup("");
        while (history_listing_next(&listing, &action)) {
                char *more = mem_printf("%s%s%s %s", text, *text ? ", " : "", names[action.type], action.path);
                free(text);
                text = more;
        }
        return text;
}

static void test_expect_actions(const char *expected)
{
        _cleanup_free_ char *text = test_actions();
        assert_string_equal(text, expected);
}

/* The attempts as text: "a/1 b". The caller owns it. */
static char *test_attempts(const char *id)
{
        struct history_log_list list = {0};
        char *text = mem_strdup("");
        history_listing_attempts(&listing, id, &list);
        for (size_t i = 0; i < list.len; i++) {
                const struct history_info *info = &list.data[i]->info;
                char *more = mem_printf("%s%s%s%s%s", text, *text ? " " : "", info->app_id, info->attempt_id ? "/" : "",
                                        info->attempt_id ? info->attempt_id : "");
                free(text);
                text = more;
        }
        vec_deinit(&list);
        return text;
}

static void test_expect_attempts(const char *id, const char *expected)
{
        _cleanup_free_ char *text = test_attempts(id);
        assert_string_equal(text, expected);
}

static void test_reads_new_logs_newest_first(void **state)
{
        history_listing_begin_scan(&listing, 0);
        test_see("a", 5, 100, 1000);
        test_see("b", 5, 300, 1000);
        test_see("c.inprogress", 5, 200, 1000);
        history_listing_end_scan(&listing, 0);
        test_expect_actions("read b, read c.inprogress, read a");
        assert_true(history_listing_is_pending(&listing));
        test_read("a", "app-1", NULL, 1, 10);
        test_read("b", "app-2", NULL, 1, 20);
        test_read("c.inprogress", "app-3", NULL, 1, -1);
        assert_false(history_listing_is_pending(&listing));
        test_expect_attempts(NULL, "app-2 app-1 app-3");
        assert_int_equal(history_listing_find(&listing, "a")->updated_ms, 100);
        assert_int_equal(history_listing_find(&listing, "c.inprogress")->updated_ms, 1000);
        /* Nothing has changed. */
        history_listing_begin_scan(&listing, 0);
        test_see("a", 5, 100, 2000);
        test_see("b", 5, 300, 2000);
        test_see("c.inprogress", 6, 210, 2000);
        history_listing_end_scan(&listing, 0);
        test_expect_actions("grew c.inprogress, read c.inprogress");
        test_expect_attempts(NULL, "app-2 app-1 app-3");
}

static void test_change_while_a_log_is_read_reads_it_again(void **state)
{
        history_listing_begin_scan(&listing, 0);
        test_see("a", 5, 100, 1000);
        history_listing_end_scan(&listing, 0);
        test_expect_actions("read a");
        history_listing_begin_scan(&listing, 0);
        test_see("a", 6, 100, 1000);
        history_listing_end_scan(&listing, 0);
        test_expect_actions("");
        test_read("a", "app-1", NULL, 1, 10);
        test_expect_actions("read a");
        /* It goes away meanwhile. */
        history_listing_begin_scan(&listing, 0);
        history_listing_end_scan(&listing, 0);
        test_expect_actions("");
        test_expect_attempts(NULL, "app-1");
        test_read("a", "app-1", NULL, 1, 10);
        test_expect_actions("forget a");
        test_expect_attempts(NULL, "");
        assert_false(history_listing_is_pending(&listing));
}

static void test_renamed_log_is_one_attempt(void **state)
{
        history_listing_begin_scan(&listing, 0);
        test_see("a_1", 5, 100, 1000);
        test_see("a_2.inprogress", 5, 100, 1000);
        test_see("a_2", 6, 100, 1000);
        history_listing_end_scan(&listing, 0);
        test_read("a_1", "a", "1", 1, 10);
        test_read("a_2.inprogress", "a", "2", 20, -1);
        test_read("a_2", "a", "2", 20, 30);
        test_expect_attempts("a", "a/2 a/1");
        test_expect_attempts("b", "");
        struct history_log_list list = {0};
        history_listing_attempts(&listing, "a", &list);
        assert_string_equal(list.data[0]->files.path, "a_2");
        vec_deinit(&list);
}

static void test_log_without_application_is_read_again_after_a_change(void **state)
{
        history_listing_begin_scan(&listing, 0);
        test_see("a", 5, 100, 1000);
        history_listing_end_scan(&listing, 0);
        history_listing_read(&listing, "a", HISTORY_LOG_IS_OTHER, NULL);
        test_expect_attempts(NULL, "");
        test_expect_actions("read a");
        history_listing_begin_scan(&listing, 0);
        test_see("a", 5, 100, 1000);
        history_listing_end_scan(&listing, 0);
        test_expect_actions("");
        history_listing_begin_scan(&listing, 0);
        test_see("a", 9, 100, 1000);
        history_listing_end_scan(&listing, 0);
        test_expect_actions("read a");
        history_listing_read(&listing, "nothing", HISTORY_LOG_IS_OTHER, NULL); /* unknown ones are ignored */
}

static void test_restored_logs_are_read_only_after_a_change(void **state)
{
        struct event_log_info same = test_log("a", 5, 100), grown = test_log("b", 5, 100);
        struct history_info one = {.app_id = mem_strdup("app-1")}, two = {.app_id = mem_strdup("app-2")};
        history_listing_restore(&listing, 0, &same, &one, 100);
        history_listing_restore(&listing, 0, &grown, &two, 100);
        test_expect_attempts(NULL, "app-2 app-1");
        history_listing_begin_scan(&listing, 0);
        test_see("a", 5, 100, 1000);
        test_see("b", 6, 200, 1000);
        history_listing_end_scan(&listing, 0);
        test_expect_actions("grew b, read b");
}

static void test_cleaner_deletes_old_and_surplus_logs(void **state)
{
        listing.options.max_logs = 3;
        history_listing_begin_scan(&listing, 0);
        test_see("old", 5, 1000, 2000);
        test_see("other", 5, 1100, 2000);
        test_see("first", 5, 2000, 2000);
        test_see("running.inprogress", 5, 1, 2001);
        test_see("second", 5, 2002, 2000);
        test_see("third", 5, 2003, 2000);
        history_listing_end_scan(&listing, 0);
        test_read("old", "a", NULL, 1, 2);
        history_listing_read(&listing, "other", HISTORY_LOG_IS_OTHER, NULL);
        test_read("first", "b", NULL, 1, 2);
        test_read("second", "c", NULL, 1, 2);
        test_read("third", "d", NULL, 1, 2);
        test_read("running.inprogress", "e", NULL, 1, -1);
        free(test_actions());
        history_listing_clean(&listing, 2200);
        test_expect_actions("delete old, delete other, delete first");
        test_expect_attempts(NULL, "d c e");
        /* A running application goes only when nothing was written for so long. */
        listing.options.max_logs = 1;
        history_listing_clean(&listing, 3001);
        test_expect_actions("delete second, delete third");
        history_listing_clean(&listing, 3002);
        test_expect_actions("delete running.inprogress");
}

/* Random scans and results: each log of the last scan is listed once it was read, and no other. */
static void test_random_worlds(void **state)
{
        enum { WORLDS = 200, ROUNDS = 40, LOGS = 12 };
        for (unsigned world = 0; world < WORLDS; world++) {
                CASE_LABEL("world %u", world);
                unsigned seed = world + 1;
                uint64_t sizes[LOGS] = {0}, pending[LOGS] = {0};
                struct history_action action;
                history_listing_deinit(&listing);
                history_listing_init(&listing, &(struct history_listing_options){.max_age_ms = 1000000});
                for (int round = 0; round < ROUNDS; round++) {
                        history_listing_begin_scan(&listing, 0);
                        for (int i = 0; i < LOGS; i++) {
                                char path[16];
                                snprintf(path, sizeof(path), "log-%d", i);
                                int dice = rand_r(&seed) % 6;
                                sizes[i] = dice == 0 ? 0 : dice < 3 ? sizes[i] + 1 : sizes[i];
                                if (sizes[i])
                                        test_see(path, sizes[i], (int64_t)sizes[i], round);
                        }
                        history_listing_end_scan(&listing, 0);
                        while (history_listing_next(&listing, &action))
                                if (action.type == HISTORY_READ)
                                        pending[atoi(action.path + 4)]++;
                        bool last = round + 1 == ROUNDS;
                        for (int i = 0; i < LOGS; i++) {
                                char path[16], id[16];
                                snprintf(path, sizeof(path), "log-%d", i);
                                snprintf(id, sizeof(id), "app-%d", i / 2);
                                assert_true(pending[i] <= 1);
                                while (pending[i] && (last || rand_r(&seed) % 2)) {
                                        pending[i]--;
                                        test_read(path, id, i % 2 ? "1" : NULL, i, rand_r(&seed) % 3 - 1);
                                        while (history_listing_next(&listing, &action))
                                                if (action.type == HISTORY_READ)
                                                        pending[atoi(action.path + 4)]++;
                                }
                        }
                }
                struct history_log_list list = {0};
                size_t n = 0;
                history_listing_attempts(&listing, NULL, &list);
                for (int i = 0; i < LOGS; i++)
                        n += sizes[i] > 0;
                assert_int_equal(list.len, n);
                assert_int_equal(listing.logs.len, n);
                assert_false(history_listing_is_pending(&listing));
                vec_deinit(&list);
        }
}

/* Files 1 to @n of a rolling log. */
static void test_see_rolling(int n)
{
        struct event_log_info log = {.path = mem_strdup("r"), .name = mem_strdup("r"), .is_rolling = true};
        for (long i = 1; i <= n; i++)
                vec_push(&log.files, (struct event_log_file){.path = mem_printf("r/%ld", i), .number = i, .size = 10});
        log.size = 10 * (uint64_t)n;
        history_listing_begin_scan(&listing, 0);
        history_listing_see(&listing, 0, &log, 1);
        history_listing_end_scan(&listing, 0);
}

static void assert_actions(const char *expected)
{
        _cleanup_free_ char *actions = test_actions();
        assert_string_equal(actions, expected);
}

static void test_rolling_log_is_compacted_once_per_file(void **state)
{
        static const struct history_compactor_options compactor = {.max_files = 2};
        listing.options.compactor = &compactor;
        test_see_rolling(3);
        assert_actions("read r"); /* not before it is known to have an application */
        test_read("r", "app-1", NULL, 1, -1);
        assert_actions("compact r");
        test_see_rolling(3);
        test_see_rolling(4); /* while it is compacted */
        assert_actions("grew r, read r");
        test_read("r", "app-1", NULL, 1, -1);
        history_listing_compacted(&listing, "r");
        test_see_rolling(4);
        assert_actions("compact r");
        history_listing_compacted(&listing, "r");
        test_see_rolling(4); /* the score was low */
        assert_actions("");
        history_listing_compacted(&listing, "unknown");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, test_listing_begin, test_listing_end)
                TEST(test_reads_new_logs_newest_first),
                TEST(test_change_while_a_log_is_read_reads_it_again),
                TEST(test_renamed_log_is_one_attempt),
                TEST(test_log_without_application_is_read_again_after_a_change),
                TEST(test_restored_logs_are_read_only_after_a_change),
                TEST(test_cleaner_deletes_old_and_surplus_logs),
                TEST(test_rolling_log_is_compacted_once_per_file),
                TEST(test_random_worlds),
#undef TEST
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
