/* The core that allocates containers on YARN, event by event. Restates Spark's YarnAllocatorSuite. */
#include "yarn/allocator/yarn_allocator.h"

#include "base/buf.h"
#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct yarn_allocator a;
static int32_t last_container;

/* Compares the actions since the last call, in order, with "ask LOCATION=COUNT", "launch EXECUTOR@CONTAINER", … */
static void expect_actions(const char *expected)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (const struct yarn_action *x; (x = yarn_allocator_next_action(&a));) {
                if (x->kind == YARN_ACTION_LOG)
                        continue;
                if (text.len)
                        buf_puts(&text, ", ");
                if (x->kind == YARN_ACTION_ASK)
                        buf_printf(&text, "ask %d/%s=%d", x->ask.profile, x->ask.location, x->ask.count);
                else if (x->kind == YARN_ACTION_RELEASE)
                        buf_printf(&text, "release %d", (int)x->container.id);
                else if (x->kind == YARN_ACTION_LAUNCH)
                        buf_printf(&text, "launch %d@%d", x->launch.executor, (int)x->launch.container.id);
                else if (x->kind == YARN_ACTION_EXECUTOR_EXITED)
                        buf_printf(&text, "exited %d:%d%s", x->exited.executor, x->exited.exit_status,
                                   x->exited.caused_by_app ? " by app" : "");
                else if (x->kind == YARN_ACTION_DECOMMISSION)
                        buf_printf(&text, "decommission %d", x->decommission.executor);
                else
                        buf_printf(&text, "%s %s", x->kind == YARN_ACTION_EXCLUDE ? "exclude" : "include", x->host);
        }
        assert_string_equal(buf_text(&text), expected);
}

static struct yarn_container_id id_of(int32_t n)
{
        return (struct yarn_container_id){.application = {1, 1}, .attempt = 1, .id = n};
}

static void target_of(int32_t profile, int total)
{
        const struct yarn_target t = {.profile = profile, .total = total};
        yarn_allocator_set_targets(&a, &t, 1);
}

static void target_local(int total, int tasks, const struct yarn_host_tasks *hosts, size_t n)
{
        const struct yarn_target t = {.total = total, .locality_tasks = tasks, .hosts = hosts, .n_hosts = n};
        yarn_allocator_set_targets(&a, &t, 1);
}

/* YARN grants one container on @host: its number. */
static int32_t granted_on(const char *host, int32_t priority)
{
        const struct yarn_granted g = {
                .id = id_of(++last_container), .host = host, .rack = "/rack", .priority = priority, .memory_mb = 1408};
        yarn_allocator_allocated(&a, &g, 1);
        return last_container;
}

static void ended_with(int32_t container, int status)
{
        const struct yarn_completed c = {.id = id_of(container), .exit_status = status, .state = "COMPLETE"};
        yarn_allocator_completed(&a, &c, 0);
}

static int allocator_open(void **state)
{
        const struct yarn_allocator_config config = {.max_executor_failures = 3, .decommission = true};
        const struct yarn_profile first = {.id = 0, .memory_mb = 1408, .cores = 5, .tasks_per_executor = 5};
        yarn_allocator_init(&a, &config);
        yarn_allocator_add_profile(&a, &first);
        last_container = 0;
        return 0;
}

static int allocator_close(void **state)
{
        yarn_allocator_deinit(&a);
        return 0;
}

static void a_granted_container_gets_an_executor(void **state)
{
        target_of(0, 1);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=1");
        yarn_allocator_update(&a, 0);
        expect_actions(""); /* what was asked for is asked once */
        granted_on("host1", 0);
        expect_actions("launch 1@1");
        assert_int_equal(yarn_allocator_count_starting(&a), 1);
        yarn_allocator_launched(&a, id_of(1));
        assert_int_equal(yarn_allocator_count_running(&a), 1);
        yarn_allocator_update(&a, 0);
        expect_actions("");
}

static void each_profile_has_its_own_requests(void **state)
{
        const struct yarn_profile second = {.id = 7, .memory_mb = 2048, .cores = 1, .tasks_per_executor = 1};
        yarn_allocator_add_profile(&a, &second);
        target_of(0, 1);
        target_of(7, 2);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=1, ask 7/*=2");
        granted_on("host1", 7);
        expect_actions("launch 1@1");
        granted_on("host1", 0);
        expect_actions("launch 2@2");
        granted_on("host1", 0); /* nobody asked for it */
        expect_actions("release 3");
        granted_on("host1", 9); /* a priority that is not ours */
        expect_actions("release 4");
}

static void more_containers_than_asked_for_are_given_back(void **state)
{
        const struct yarn_granted three[] = {
                {.id = id_of(1), .host = "a"}, {.id = id_of(2), .host = "b"}, {.id = id_of(3), .host = "c"}};
        target_of(0, 2);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=2");
        yarn_allocator_allocated(&a, three, 3);
        expect_actions("launch 1@1, launch 2@2, release 3");
        ended_with(3, -100);
        expect_actions(""); /* it had no executor */
}

static void a_lower_target_cancels_requests_only(void **state)
{
        target_of(0, 4);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=4");
        granted_on("a", 0);
        granted_on("b", 0);
        expect_actions("launch 1@1, launch 2@2");
        target_of(0, 3);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=1");
        target_of(0, 1);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=0"); /* the two that run stay */
        assert_int_equal(yarn_allocator_count_starting(&a), 2);
}

static void a_container_granted_after_the_target_fell_is_given_back(void **state)
{
        target_of(0, 2);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=2");
        target_of(0, 0);
        granted_on("a", 0);
        expect_actions("release 1");
}

static void a_lost_executor_is_reported_and_replaced(void **state)
{
        target_of(0, 1);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        yarn_allocator_launched(&a, id_of(1));
        expect_actions("ask 0/*=1, launch 1@1");
        ended_with(1, 137);
        expect_actions("exited 1:137 by app");
        assert_int_equal(a.n_unexpected, 1);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=1");
        granted_on("a", 0);
        expect_actions("launch 2@2"); /* a new id */
}

static void a_killed_executor_is_given_back_and_reported_once(void **state)
{
        target_of(0, 1);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        yarn_allocator_launched(&a, id_of(1));
        expect_actions("ask 0/*=1, launch 1@1");
        target_of(0, 0);
        yarn_allocator_kill(&a, 1);
        yarn_allocator_kill(&a, 1);
        yarn_allocator_kill(&a, 99);
        expect_actions("release 1");
        ended_with(1, -100);
        expect_actions("exited 1:-100");
        ended_with(1, -100);
        expect_actions("");
        assert_int_equal(a.n_unexpected, 0);
        yarn_allocator_update(&a, 0);
        expect_actions("");
}

static void an_executor_may_be_killed_while_it_starts(void **state)
{
        target_of(0, 1);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        expect_actions("ask 0/*=1, launch 1@1");
        yarn_allocator_kill(&a, 1);
        expect_actions("release 1");
        yarn_allocator_launched(&a, id_of(1)); /* the NodeManager's answer comes late */
        assert_int_equal(yarn_allocator_count_running(&a), 0);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=1");
}

static void a_failed_launch_is_given_back_and_tried_elsewhere(void **state)
{
        target_of(0, 1);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        expect_actions("ask 0/*=1, launch 1@1");
        yarn_allocator_launch_failed(&a, id_of(1), "refused");
        expect_actions("release 1");
        ended_with(1, -100);
        expect_actions(""); /* the driver never heard of executor 1 */
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=1");
}

static void hosts_that_tasks_prefer_are_asked_for(void **state)
{
        static const struct yarn_host_tasks hosts[] = {{"a", "/r1", 10}, {"b", "/r2", 10}};
        target_local(4, 10, hosts, 2);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/a=2, ask 0/b=2, ask 0//r1=2, ask 0//r2=2, ask 0/*=4");
}

static void a_grant_lowers_the_rows_of_its_host_and_rack(void **state)
{
        static const struct yarn_host_tasks hosts[] = {{"a", "/rack", 10}};
        target_local(2, 10, hosts, 1);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/a=2, ask 0//rack=2, ask 0/*=2");
        granted_on("a", 0);
        expect_actions("launch 1@1");
        yarn_allocator_update(&a, 0);
        expect_actions(""); /* the ResourceManager has lowered its rows itself */
        granted_on("c", 0); /* another host of the rack */
        yarn_allocator_update(&a, 0);
        expect_actions("launch 2@2, ask 0/a=0"); /* the row of the host is left over */
}

static void requests_for_hosts_nobody_prefers_any_more_are_replaced(void **state)
{
        static const struct yarn_host_tasks first[] = {{"a", NULL, 10}}, second[] = {{"b", NULL, 10}};
        target_local(2, 10, first, 1);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/a=2, ask 0/*=2");
        target_local(3, 10, second, 1);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/a=0, ask 0/*=3, ask 0/b=2");
}

static void a_label_leaves_hosts_out(void **state)
{
        static const struct yarn_host_tasks hosts[] = {{"a", "/r", 10}};
        a.config.ignore_locality = true;
        target_local(2, 10, hosts, 1);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=2");
}

static void hosts_that_the_scheduler_excludes_are_reported(void **state)
{
        static const char *const excluded[] = {"hostA", "hostB"};
        yarn_allocator_set_excluded(&a, excluded, 1, 0);
        expect_actions("exclude hostA");
        yarn_allocator_set_excluded(&a, excluded, 2, 0);
        expect_actions("exclude hostB");
        target_of(0, 1); /* targets leave them alone */
        expect_actions("");
        yarn_allocator_set_excluded(&a, NULL, 0, 0);
        expect_actions("include hostA, include hostB");
}

static void too_many_failures_end_the_application(void **state)
{
        struct yarn_failure f = {0};
        target_of(0, 1);
        for (int i = 1; i <= 3; i++) {
                assert_false(yarn_allocator_failure(&a, 0, &f));
                yarn_allocator_update(&a, 0);
                granted_on("a", 0);
                yarn_allocator_launched(&a, id_of(i));
                ended_with(i, 1);
        }
        assert_true(yarn_allocator_failure(&a, 0, &f));
        assert_int_equal(f.exit_code, 11);
        assert_string_equal(f.message, "Max number of executor failures (3) reached");
        free(f.message);
}

static void preempted_and_lost_containers_are_no_failures(void **state)
{
        static const int statuses[] = {0, -102, -100, -101, -103, -104, -105, -106};
        struct yarn_failure f = {0};
        target_of(0, 1);
        for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
                yarn_allocator_update(&a, 0);
                ended_with(granted_on("a", 0), statuses[i]);
        }
        assert_false(yarn_allocator_failure(&a, 0, &f));
        assert_int_equal(a.n_unexpected, (int)ARRAY_SIZE(statuses));
}

static void all_nodes_excluded_end_the_application(void **state)
{
        static const char *const excluded[] = {"hostA"};
        struct yarn_failure f = {0};
        yarn_allocator_set_cluster_nodes(&a, 1);
        yarn_allocator_set_excluded(&a, excluded, 1, 0);
        assert_true(yarn_allocator_failure(&a, 0, &f));
        assert_string_equal(f.message, "Due to executor failures all available nodes are excluded");
        free(f.message);
        yarn_allocator_stop(&a);
        assert_false(yarn_allocator_failure(&a, 0, &f));
}

static void a_host_comes_back_when_its_time_is_over(void **state)
{
        struct yarn_failure f = {0};
        a.config.health = (struct node_health_config){.exclude_on_launch_failure = true, .timeout = 100};
        yarn_allocator_set_cluster_nodes(&a, 1);
        target_of(0, 1);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        yarn_allocator_launched(&a, id_of(1));
        expect_actions("ask 0/*=1, launch 1@1");
        ended_with(1, 1);
        expect_actions("exclude a, exited 1:1 by app");
        assert_true(yarn_allocator_failure(&a, 99, &f));
        free(f.message);
        yarn_allocator_update(&a, 99);
        expect_actions("ask 0/*=1");
        yarn_allocator_update(&a, 100);
        expect_actions("include a");
        assert_false(yarn_allocator_failure(&a, 100, &f));
}

static void its_numbers_are_those_of_spark_s_source(void **state)
{
        static const struct yarn_host_tasks hosts[] = {{"a", "/r", 7}};
        target_local(5, 7, hosts, 1);
        yarn_allocator_update(&a, 0);
        for (int i = 1; i <= 3; i++) {
                granted_on("a", 0);
                yarn_allocator_launched(&a, id_of(i));
        }
        yarn_allocator_kill(&a, 2);
        ended_with(3, 1);
        struct yarn_allocator_numbers n = yarn_allocator_measure(&a, 0);
        assert_int_equal(n.running, 1);
        assert_int_equal(n.released, 1);
        assert_int_equal(n.failed, 1);
        assert_int_equal(n.pending, 2); /* the next heartbeat asks for two more */
        assert_int_equal(n.locality_tasks, 7);
        ended_with(2, -100);
        assert_int_equal(yarn_allocator_measure(&a, 0).released, 0);
}

static void executors_on_a_leaving_host_are_decommissioned(void **state)
{
        target_of(0, 3);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        granted_on("b", 0);
        granted_on("a", 0);
        for (int i = 1; i <= 3; i++)
                yarn_allocator_launched(&a, id_of(i));
        expect_actions("ask 0/*=3, launch 1@1, launch 2@2, launch 3@3");
        yarn_allocator_decommissioning(&a, "a");
        expect_actions("decommission 1, decommission 3");
}

static void a_restarted_resource_manager_is_told_everything(void **state)
{
        static const char *const excluded[] = {"x"};
        const struct yarn_target t = {.total = 4};
        yarn_allocator_set_targets(&a, &t, 1);
        yarn_allocator_set_excluded(&a, excluded, 1, 0);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        granted_on("b", 0);
        yarn_allocator_kill(&a, 1);
        expect_actions("exclude x, ask 0/*=4, launch 1@1, launch 2@2, release 1");
        yarn_allocator_resend(&a, 0);
        expect_actions("release 1, exclude x, ask 0/*=3");
}

static void a_repeated_answer_changes_nothing(void **state)
{
        const struct yarn_granted g = {.id = id_of(1), .host = "a"};
        target_of(0, 2);
        yarn_allocator_update(&a, 0);
        const struct yarn_granted twice[] = {g, g};
        yarn_allocator_allocated(&a, twice, 2);
        yarn_allocator_allocated(&a, &g, 1);
        expect_actions("ask 0/*=2, launch 1@1");
        yarn_allocator_update(&a, 0);
        expect_actions("");
}

static void a_stopped_allocator_asks_for_nothing(void **state)
{
        target_of(0, 2);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=2");
        yarn_allocator_stop(&a);
        granted_on("a", 0);
        expect_actions("release 1");
        target_of(0, 9);
        yarn_allocator_update(&a, 0);
        expect_actions("");
}

static void a_leaving_host_keeps_its_executors_without_decommissioning(void **state)
{
        a.config.decommission = false;
        target_of(0, 1);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        yarn_allocator_launched(&a, id_of(1));
        expect_actions("ask 0/*=1, launch 1@1");
        yarn_allocator_decommissioning(&a, "a");
        expect_actions("");
}

static void a_container_that_ended_before_its_launch_was_answered_does_not_run(void **state)
{
        target_of(0, 1);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        ended_with(1, 0);
        yarn_allocator_launched(&a, id_of(1));
        assert_int_equal(yarn_allocator_count_running(&a), 0);
        assert_int_equal(yarn_allocator_count_starting(&a), 0);
        expect_actions("ask 0/*=1, launch 1@1, exited 1:0");
}

static void a_repeated_end_counts_once(void **state)
{
        target_of(0, 2);
        yarn_allocator_update(&a, 0);
        for (int i = 1; i <= 2; i++) {
                granted_on("a", 0);
                yarn_allocator_launched(&a, id_of(i));
        }
        ended_with(1, 0);
        ended_with(1, 0);
        ended_with(2, 0);
        assert_int_equal(yarn_allocator_count_running(&a), 0);
        assert_int_equal(a.n_unexpected, 2);
        expect_actions("ask 0/*=2, launch 1@1, launch 2@2, exited 1:0, exited 2:0");
}

/* Executors that failed at @at count until the validity interval has passed. */
static void failures_count_within_their_interval(void **state)
{
        const int64_t second = 1000000000;
        static const struct {
                int64_t at; /* s */
                int end;    /* containers that fail then */
                int counted;
        } steps[] = {{100, 1, 1}, {201, 0, 0}, {201, 2, 2}, {251, 1, 3}, {302, 0, 1}, {352, 0, 0}};
        a.health.failures.validity = 100 * second;
        target_of(0, 4);
        yarn_allocator_update(&a, 0);
        for (int i = 1; i <= 4; i++) {
                granted_on("a", 0);
                yarn_allocator_launched(&a, id_of(i));
        }
        int32_t next = 1;
        for (size_t i = 0; i < ARRAY_SIZE(steps); i++) {
                for (int k = 0; k < steps[i].end; k++) {
                        const struct yarn_completed c = {
                                .id = id_of(next++), .exit_status = -1, .state = "COMPLETE", .diagnostics = "Failed"};
                        yarn_allocator_completed(&a, &c, steps[i].at * second);
                }
                assert_int_equal(failure_tracker_count(&a.health.failures, steps[i].at * second), steps[i].counted);
        }
}

static void failures_after_the_end_do_not_count(void **state)
{
        target_of(0, 2);
        yarn_allocator_update(&a, 0);
        granted_on("a", 0);
        granted_on("b", 0);
        ended_with(1, -1);
        assert_int_equal(failure_tracker_count(&a.health.failures, 0), 1);
        yarn_allocator_stop(&a);
        ended_with(2, -1);
        assert_int_equal(failure_tracker_count(&a.health.failures, 0), 1);
        expect_actions("ask 0/*=2, launch 1@1, launch 2@2, exited 1:-1 by app, exited 2:-1");
}

/* A host is excluded for the statuses for which YARN itself would blame the node. */
static void only_failures_of_the_node_exclude_it(void **state)
{
        static const int statuses[] = {0, -102, -103, -104, -106, -105, -107, -100, -101, -1000, 1};
        a.config.health.exclude_on_launch_failure = true;
        a.config.health.timeout = 1000;
        target_of(0, (int)ARRAY_SIZE(statuses));
        yarn_allocator_update(&a, 0);
        for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
                _cleanup_free_ char *host = mem_printf("host%zu", i);
                granted_on(host, 0);
                while (yarn_allocator_next_action(&a))
                        ;
                ended_with(last_container, statuses[i]);
                _cleanup_free_ char *expected = mem_printf("%sexited %zu:%d%s",
                                                           statuses[i] == 1       ? "exclude host10, "
                                                           : statuses[i] == -1000 ? "exclude host9, "
                                                                                  : "",
                                                           i + 1, statuses[i],
                                                           statuses[i] == 1 || statuses[i] == -1000 ||
                                                                           statuses[i] == -103 || statuses[i] == -104
                                                                   ? " by app"
                                                                   : "");
                expect_actions(expected);
        }
}

static void a_container_in_the_rack_of_a_wanted_host_is_used(void **state)
{
        static const struct yarn_host_tasks hosts[] = {{"a", "/r1", 10}};
        target_local(1, 10, hosts, 1);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/a=1, ask 0//r1=1, ask 0/*=1");
        const struct yarn_granted other = {.id = id_of(1), .host = "c", .rack = "/r1"};
        yarn_allocator_allocated(&a, &other, 1);
        yarn_allocator_update(&a, 0);
        expect_actions("launch 1@1, ask 0/a=0"); /* the row of the host is cancelled, that of the rack was used */
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, allocator_open, allocator_close)

/* Three executors of an earlier attempt, of which @killed is killed before the ResourceManager has answered. */
static void expect_three(int32_t killed)
{
        const struct yarn_kept kept[] = {{.container = id_of(1), .executor = 1, .host = "a"},
                                         {.container = id_of(2), .executor = 2, .host = "b"},
                                         {.container = id_of(3), .executor = 5, .profile = 7, .host = "b"}};
        yarn_allocator_expect(&a, kept, 3);
        last_container = 9;
        if (killed)
                yarn_allocator_kill(&a, killed);
}

static void kept_containers_run_on(void **state)
{
        const struct yarn_granted found[] = {{.id = id_of(1), .host = "a"}, {.id = id_of(3), .host = "b"}};
        const struct yarn_profile second = {.id = 7, .memory_mb = 2048, .cores = 1, .tasks_per_executor = 1};
        expect_three(0);
        target_of(0, 2);
        yarn_allocator_update(&a, 0);
        expect_actions(""); /* both are awaited */
        assert_int_equal(yarn_allocator_count_starting(&a), 3);
        yarn_allocator_adopt(&a, found, 2);
        expect_actions("exited 2:-100");
        assert_int_equal(yarn_allocator_count_running(&a), 2);
        assert_int_equal(yarn_allocator_count_starting(&a), 0);
        yarn_allocator_add_profile(&a, &second); /* the application makes it again */
        target_of(7, 2);
        yarn_allocator_update(&a, 0);
        expect_actions("ask 0/*=1, ask 7/*=1");
        granted_on("a", 7);
        expect_actions("launch 6@10"); /* ids go on after the highest one */
        ended_with(3, 1);
        expect_actions("exited 5:1 by app");
        yarn_allocator_kill(&a, 1);
        expect_actions("release 1");
        yarn_allocator_adopt(&a, found, 1); /* after a restart of the ResourceManager */
        expect_actions("");
        ended_with(1, -100);
        expect_actions("exited 1:-100");
}

static void kept_containers_without_an_executor_are_given_back(void **state)
{
        const struct yarn_granted found[] = {{.id = id_of(1), .host = "a"}, {.id = id_of(8), .host = "c"}};
        yarn_allocator_adopt(&a, found, 2);
        expect_actions("release 1, release 8");
        yarn_allocator_adopt(&a, found, 2);
        expect_actions("");
        ended_with(8, -100);
        expect_actions("");
        assert_int_equal(yarn_allocator_count_running(&a), 0);
}

static void an_awaited_executor_can_be_killed(void **state)
{
        const struct yarn_granted found[] = {{.id = id_of(1), .host = "a"}, {.id = id_of(2), .host = "b"}};
        expect_three(2);
        expect_actions("release 2");
        yarn_allocator_adopt(&a, found, 2);
        expect_actions("exited 5:-100");
        assert_int_equal(yarn_allocator_count_running(&a), 1);
        ended_with(2, -100);
        expect_actions("exited 2:-100");
}

static void a_killed_executor_whose_container_is_gone_is_reported_once(void **state)
{
        expect_three(2);
        expect_actions("release 2");
        yarn_allocator_adopt(&a, NULL, 0);
        expect_actions("exited 1:-100, exited 2:-100, exited 5:-100");
        ended_with(2, -100);
        expect_actions("");
        assert_int_equal(yarn_allocator_count_starting(&a), 0);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                TEST(a_granted_container_gets_an_executor),
                TEST(each_profile_has_its_own_requests),
                TEST(more_containers_than_asked_for_are_given_back),
                TEST(a_lower_target_cancels_requests_only),
                TEST(a_container_granted_after_the_target_fell_is_given_back),
                TEST(a_lost_executor_is_reported_and_replaced),
                TEST(a_killed_executor_is_given_back_and_reported_once),
                TEST(an_executor_may_be_killed_while_it_starts),
                TEST(a_failed_launch_is_given_back_and_tried_elsewhere),
                TEST(hosts_that_tasks_prefer_are_asked_for),
                TEST(a_grant_lowers_the_rows_of_its_host_and_rack),
                TEST(requests_for_hosts_nobody_prefers_any_more_are_replaced),
                TEST(a_label_leaves_hosts_out),
                TEST(hosts_that_the_scheduler_excludes_are_reported),
                TEST(too_many_failures_end_the_application),
                TEST(preempted_and_lost_containers_are_no_failures),
                TEST(all_nodes_excluded_end_the_application),
                TEST(a_host_comes_back_when_its_time_is_over),
                TEST(its_numbers_are_those_of_spark_s_source),
                TEST(executors_on_a_leaving_host_are_decommissioned),
                TEST(a_restarted_resource_manager_is_told_everything),
                TEST(a_repeated_answer_changes_nothing),
                TEST(a_stopped_allocator_asks_for_nothing),
                TEST(a_leaving_host_keeps_its_executors_without_decommissioning),
                TEST(a_container_that_ended_before_its_launch_was_answered_does_not_run),
                TEST(a_repeated_end_counts_once),
                TEST(failures_count_within_their_interval),
                TEST(failures_after_the_end_do_not_count),
                TEST(only_failures_of_the_node_exclude_it),
                TEST(a_container_in_the_rack_of_a_wanted_host_is_used),
                TEST(kept_containers_run_on),
                TEST(kept_containers_without_an_executor_are_given_back),
                TEST(an_awaited_executor_can_be_killed),
                TEST(a_killed_executor_whose_container_is_gone_is_reported_once),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
