/* Tests the reaper with a simulated clock. */
#include "exec/task/task_reaper.h"

#include "base/error.h"
#include "base/log.h"
#include "conf/conf.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#define MS INT64_C(1000000)

static struct {
        int described, workers_killed;
        bool isolated;
        char reason[300];
} seen;

static void describe(void *owner, int slot, int64_t task_id, bool stack, char *text, unsigned size)
{
        seen.described++;
        snprintf(text, size, "It is in spin in app.so.");
}

static bool kill_worker(void *owner, int slot, int64_t task_id)
{
        seen.workers_killed += seen.isolated;
        return seen.isolated;
}

static void end_executor(void *owner, const char *reason)
{
        snprintf(seen.reason, sizeof(seen.reason), "%s", reason);
}

static const struct task_reaper_ops ops = {describe, kill_worker, end_executor};

static struct task_reaper *reaper_of(const char *interval, const char *timeout)
{
        struct fst_conf conf;
        struct task_reaper *reaper = NULL;
        conf_init(&conf);
        conf_set(&conf, "spark.task.reaper.enabled", "true");
        conf_set(&conf, "spark.task.reaper.pollingInterval", interval);
        conf_set(&conf, "spark.task.reaper.killTimeout", timeout);
        memset(&seen, 0, sizeof(seen));
        assert_int_equal(task_reaper_new(&conf, &ops, NULL, &reaper, NULL), 0);
        conf_deinit(&conf);
        return reaper;
}

static void is_off_by_default(void **state)
{
        struct fst_conf conf;
        struct fst_error error = FST_ERROR_INIT;
        struct task_reaper *reaper = (void *)1;
        conf_init(&conf);
        assert_int_equal(task_reaper_new(&conf, &ops, NULL, &reaper, NULL), 0);
        assert_null(reaper);
        task_reaper_killed(NULL, 0, 1, 0);
        task_reaper_tick(NULL, 0);
        assert_true(task_reaper_deadline(NULL) == INT64_MAX);
        task_reaper_free(NULL);
        conf_set(&conf, "spark.task.reaper.enabled", "true");
        conf_set(&conf, "spark.task.reaper.pollingInterval", "0");
        assert_int_equal(task_reaper_new(&conf, &ops, NULL, &reaper, &error), -EINVAL);
        assert_non_null(strstr(error_message(&error), "spark.task.reaper.pollingInterval"));
        error_deinit(&error);
        conf_deinit(&conf);
}

static void watches_until_the_end(void **state)
{
        struct task_reaper *r = reaper_of("10s", "-1");
        assert_true(task_reaper_deadline(r) == INT64_MAX);
        task_reaper_killed(r, 2, 7, 0);
        task_reaper_killed(r, 2, 7, 5 * MS); /* no effect */
        assert_int_equal(task_reaper_deadline(r), 10000 * MS);
        task_reaper_tick(r, 9999 * MS);
        assert_int_equal(seen.described, 0);
        task_reaper_tick(r, 10000 * MS);
        assert_int_equal(seen.described, 1);
        task_reaper_tick(r, 1000000 * MS);
        assert_int_equal(seen.described, 2);
        assert_string_equal(seen.reason, ""); /* no timeout: never */
        task_reaper_ended(r, 7);
        task_reaper_ended(r, 8);
        assert_true(task_reaper_deadline(r) == INT64_MAX);
        task_reaper_free(r);
}

static void ends_the_executor(void **state)
{
        struct task_reaper *r = reaper_of("10s", "15s");
        task_reaper_killed(r, 0, 7, 0);
        task_reaper_tick(r, 10000 * MS);
        assert_string_equal(seen.reason, "");
        assert_int_equal(task_reaper_deadline(r), 15000 * MS);
        task_reaper_tick(r, 15000 * MS);
        assert_non_null(strstr(seen.reason, "killed task 7 could not be stopped within 15000 ms"));
        assert_non_null(strstr(seen.reason, "It is in spin in app.so."));
        task_reaper_free(r);
}

static void ends_only_the_task_process(void **state)
{
        struct task_reaper *r = reaper_of("10s", "1s");
        seen.isolated = true;
        task_reaper_killed(r, 0, 7, 0);
        assert_int_equal(task_reaper_deadline(r), 1000 * MS);
        task_reaper_tick(r, 1000 * MS);
        assert_int_equal(seen.workers_killed, 1);
        assert_string_equal(seen.reason, "");
        task_reaper_ended(r, 7);
        task_reaper_free(r);
}

static void waits_for_the_end_of_a_killed_task_process(void **state)
{
        struct task_reaper *r = reaper_of("100ms", "1s");
        seen.isolated = true;
        task_reaper_killed(r, 0, 7, 0);
        task_reaper_tick(r, 1000 * MS);
        assert_int_equal(seen.workers_killed, 1);
        seen.isolated = false; /* the process is gone, but its slot has not reported the end */
        task_reaper_tick(r, 1100 * MS);
        task_reaper_tick(r, 1999 * MS);
        assert_string_equal(seen.reason, "");
        task_reaper_tick(r, 2100 * MS);
        assert_non_null(strstr(seen.reason, "killed task 7 could not be stopped within 1000 ms"));
        task_reaper_free(r);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(is_off_by_default),
                cmocka_unit_test(watches_until_the_end),
                cmocka_unit_test(ends_the_executor),
                cmocka_unit_test(ends_only_the_task_process),
                cmocka_unit_test(waits_for_the_end_of_a_killed_task_process),
        };
        log_set_level(LOG_OFF);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
