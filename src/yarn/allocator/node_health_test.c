/* Excluded hosts and failures of executors. Restates Spark's YarnAllocatorHealthTrackerSuite and FailureTrackerSuite.
 */
#include "yarn/allocator/node_health.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define SECOND ((int64_t)1000000000)

static struct node_health_config config;
static struct node_health health;
static struct yarn_actions actions;

/* Compares the actions since the last call, without log lines, with "+host" and "-host". */
static void expect_actions(const char *expected)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (const struct yarn_action *a; (a = yarn_actions_next(&actions));)
                if (a->kind != YARN_ACTION_LOG)
                        buf_printf(&text, "%s%c%s", text.len ? " " : "", a->kind == YARN_ACTION_EXCLUDE ? '+' : '-',
                                   a->host);
        assert_string_equal(buf_text(&text), expected);
}

static int health_open(void **state)
{
        config = (struct node_health_config){
                .exclude_on_launch_failure = true, .max_failures = 2, .timeout = 10 * SECOND};
        actions = (struct yarn_actions){0};
        node_health_init(&health, &config);
        return 0;
}

static int health_close(void **state)
{
        node_health_deinit(&health);
        string_list_deinit(&config.excluded);
        config.excluded = (struct string_list){0};
        yarn_actions_deinit(&actions);
        return 0;
}

static void a_host_is_excluded_after_too_many_failures_and_comes_back(void **state)
{
        for (int i = 0; i < 2; i++)
                node_health_failed(&health, "host", 0, &actions);
        expect_actions("");
        node_health_failed(&health, "host", 0, &actions);
        expect_actions("+host");
        node_health_failed(&health, "host", 0, &actions);
        assert_int_equal(failure_tracker_count(&health.failures, 0), 3); /* late failures there do not count */
        node_health_set_scheduler(&health, NULL, 0, 10 * SECOND, &actions);
        expect_actions("-host");
}

static void failures_do_not_exclude_unless_asked_for(void **state)
{
        config.exclude_on_launch_failure = false;
        for (int i = 0; i < 5; i++)
                node_health_failed(&health, "host", 0, &actions);
        expect_actions("");
        assert_int_equal(failure_tracker_count(&health.failures, 0), 5);
}

static void configured_scheduled_and_failing_hosts_are_merged(void **state)
{
        static const char *const scheduled[] = {"host1", "host3"};
        string_list_add(&config.excluded, "initial");
        node_health_set_scheduler(&health, scheduled, 2, 0, &actions);
        expect_actions("+host1 +host3 +initial");
        for (int i = 0; i < 3; i++)
                node_health_failed(&health, "host2", 0, &actions);
        expect_actions("+host2");
        node_health_set_scheduler(&health, scheduled, 1, 0, &actions);
        expect_actions("-host3");
        node_health_resend(&health, 0, &actions);
        expect_actions("+host1 +host2 +initial");
}

static void exclusions_of_the_scheduler_do_not_expire_here(void **state)
{
        static const char *const scheduled[] = {"host1", "host2"};
        node_health_set_scheduler(&health, scheduled, 2, 0, &actions);
        expect_actions("+host1 +host2");
        node_health_set_scheduler(&health, scheduled, 2, 20 * SECOND, &actions);
        expect_actions("");
}

static void a_failing_host_may_be_the_last_one(void **state)
{
        static const char *const scheduled[] = {"host1", "host2", "host3"};
        health.cluster_nodes = 4;
        node_health_set_scheduler(&health, scheduled, 3, 0, &actions);
        expect_actions("+host1 +host2 +host3");
        for (int i = 0; i < 3; i++) {
                assert_false(node_health_excludes_all(&health));
                node_health_failed(&health, "host4", 6 * SECOND, &actions);
        }
        expect_actions("+host4");
        assert_true(node_health_excludes_all(&health));
}

static void all_nodes_may_be_excluded(void **state)
{
        static const char *const scheduled[] = {"host1", "host2"};
        node_health_set_scheduler(&health, scheduled, 2, 0, &actions);
        assert_false(node_health_excludes_all(&health)); /* the size of the cluster is not known */
        health.cluster_nodes = 2;
        assert_true(node_health_excludes_all(&health));
        health.cluster_nodes = 0; /* a ResourceManager that has just started */
        assert_false(node_health_excludes_all(&health));
        expect_actions("+host1 +host2");
}

static void failures_are_forgotten_after_the_validity_interval(void **state)
{
        struct failure_tracker t = {.validity = 100};
        failure_tracker_add(&t, "a", 0);
        failure_tracker_add(&t, NULL, 50);
        failure_tracker_add(&t, "a", 90);
        assert_int_equal(failure_tracker_count(&t, 100), 3);
        assert_int_equal(failure_tracker_count(&t, 101), 2);
        assert_int_equal(failure_tracker_count_host(&t, "a", 101), 1);
        assert_int_equal(failure_tracker_count_host(&t, "b", 101), 0);
        assert_int_equal(failure_tracker_count(&t, 1000), 0);
        failure_tracker_deinit(&t);
}

static void failures_without_interval_count_for_ever(void **state)
{
        struct failure_tracker t = {.validity = -1};
        failure_tracker_add(&t, "a", 0);
        failure_tracker_add(&t, "b", 1);
        assert_int_equal(failure_tracker_count(&t, INT64_MAX), 2);
        failure_tracker_deinit(&t);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(a_host_is_excluded_after_too_many_failures_and_comes_back, health_open,
                                                health_close),
                cmocka_unit_test_setup_teardown(failures_do_not_exclude_unless_asked_for, health_open, health_close),
                cmocka_unit_test_setup_teardown(configured_scheduled_and_failing_hosts_are_merged, health_open,
                                                health_close),
                cmocka_unit_test_setup_teardown(exclusions_of_the_scheduler_do_not_expire_here, health_open,
                                                health_close),
                cmocka_unit_test_setup_teardown(a_failing_host_may_be_the_last_one, health_open, health_close),
                cmocka_unit_test_setup_teardown(all_nodes_may_be_excluded, health_open, health_close),
                cmocka_unit_test(failures_are_forgotten_after_the_validity_interval),
                cmocka_unit_test(failures_without_interval_count_for_ever),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
