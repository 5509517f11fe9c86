/*
 * The coarse-grained core: which offers are accepted, with what, and what the ends of executors bring. Restates the
 * cases of Spark's MesosCoarseGrainedSchedulerBackendSuite that are about offers.
 */
#include "mesos/offers/coarse_offers.h"

#include "mesos/offers/offers_fixture.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct coarse_fixture {
        struct arena arena;
        struct coarse_offers_config config;
        struct coarse_offers c;
        int64_t now;
        struct buf text;
};

static int coarse_open(void **state)
{
        struct coarse_fixture *f = new0(struct coarse_fixture);
        f->config = (struct coarse_offers_config){.max_cores = INT32_MAX,
                                                  .executor_memory = 1408,
                                                  .limit = COARSE_OFFERS_NO_LIMIT,
                                                  .refuse_unmet_ms = 120000,
                                                  .refuse_max_cores_ms = 90000,
                                                  .locality_wait = 3 * FIXTURE_SECOND};
        coarse_offers_init(&f->c, &f->config);
        *state = f;
        return 0;
}

static int coarse_close(void **state)
{
        struct coarse_fixture *f = *state;
        coarse_offers_deinit(&f->c);
        mesos_constraints_deinit(&f->config.constraints);
        arena_deinit(&f->arena);
        buf_deinit(&f->text);
        free(f);
        return 0;
}

/* All actions since the last call, one a line; without log lines. */
static const char *coarse_drain(struct coarse_fixture *f)
{
        f->text.len = 0;
        buf_printf(&f->text, "%s", "");
        for (const struct offer_action *x; (x = coarse_offers_next_action(&f->c));)
                fixture_put_action(&f->text, x);
        return buf_text(&f->text);
}

static const char *coarse_receive(struct coarse_fixture *f, const struct mesos_offer *offers, size_t n)
{
        coarse_offers_received(&f->c, offers, n, f->now);
        return coarse_drain(f);
}

static const char *coarse_update(struct coarse_fixture *f, int64_t executor, mesos_task_state state)
{
        const struct coarse_update update = {.executor = executor, .agent = "a", .state = state};
        coarse_offers_updated(&f->c, &update);
        return coarse_drain(f);
}

static struct mesos_offer coarse_offer(struct coarse_fixture *f, const char *id, const char *agent, int64_t cores,
                                       int64_t gpus)
{
        return fixture_offer(&f->arena, id, agent, cores * 1000, 16384, gpus);
}

static void without_executor_cores_one_executor_takes_all(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer o = fixture_offer(&f->arena, "o1", "a", 4900, 1408, 0);
        assert_string_equal(coarse_receive(f, &o, 1), "accept o1 [0 cpus:4 mem:1408]\n");
        assert_int_equal(f->c.cores, 4);
}

static void executor_cores_is_respected(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer o = coarse_offer(f, "o1", "a", 5, 0);
        f->config.executor_cores = 4;
        assert_string_equal(coarse_receive(f, &o, 1), "accept o1 [0 cpus:4 mem:1408]\n");
}

static void several_executors_share_an_agent_newest_first(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer o = coarse_offer(f, "o1", "a", 9, 0);
        f->config.executor_cores = 4;
        assert_string_equal(coarse_receive(f, &o, 1), "accept o1 [1 cpus:4 mem:1408] [0 cpus:4 mem:1408]\n");
}

static void offers_take_executors_in_turn(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 8, 0), coarse_offer(f, "o2", "b", 8, 0)};
        f->config.executor_cores = 4;
        f->config.max_cores = 12;
        assert_string_equal(coarse_receive(f, offers, 2), "accept o1 [2 cpus:4 mem:1408] [0 cpus:4 mem:1408]\n"
                                                          "accept o2 [1 cpus:4 mem:1408]\n"
                                                          "suppress\n");
}

static void cores_max_is_respected(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 3, 0), coarse_offer(f, "o2", "b", 3, 0),
                                             coarse_offer(f, "o3", "c", 3, 0)};
        f->config.max_cores = 4;
        assert_string_equal(coarse_receive(f, offers, 3), "accept o1 [0 cpus:3 mem:1408]\n"
                                                          "accept o2 [1 cpus:1 mem:1408]\n"
                                                          "decline o3 for 90000\n"
                                                          "suppress\n");
        /* more offers may have been under way */
        assert_string_equal(coarse_receive(f, offers, 1), "decline o1 for 90000\n");
}

static void offers_below_cores_max_that_do_not_fit_are_declined_shortly(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer offers[] = {
                coarse_offer(f, "small", "a", 2, 0), fixture_offer(&f->arena, "poor", "b", 4000, 1407, 0),
                fixture_offer(&f->arena, "cut", "c", 999, 4096, 0), fixture_offer(&f->arena, "empty", "d", 0, 4096, 0)};
        f->config.executor_cores = 3;
        f->config.max_cores = 3;
        assert_string_equal(coarse_receive(f, offers, 4), "decline small poor cut empty\n");
        f->config.executor_cores = 0;
        assert_string_equal(coarse_receive(f, offers + 1, 3), "decline poor cut empty\n");
}

static void gpus_are_taken_up_to_their_maximum(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 1, 5), coarse_offer(f, "o2", "b", 1, 5)};
        assert_string_equal(coarse_receive(f, offers, 1), "accept o1 [0 cpus:1 mem:1408]\n");
        f->config.max_gpus = 7;
        assert_string_equal(coarse_receive(f, offers, 2),
                            "accept o1 [1 cpus:1 mem:1408 gpus:5]\naccept o2 [2 cpus:1 mem:1408 gpus:2]\n");
        assert_string_equal(coarse_receive(f, offers, 1), "accept o1 [3 cpus:1 mem:1408]\n");
        coarse_update(f, 1, MESOS_TASK_FINISHED);
        assert_string_equal(coarse_receive(f, offers, 1), "accept o1 [4 cpus:1 mem:1408 gpus:5]\n");
}

static void unmet_constraints_are_declined_for_their_time(void **state)
{
        struct coarse_fixture *f = *state;
        struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 1, 0), coarse_offer(f, "o2", "b", 1, 0),
                                       coarse_offer(f, "o3", "c", 1, 0)};
        const struct mesos_attribute os = {.name = "os", .type = MESOS_VALUE_TEXT, .text = "debian"};
        offers[1].attributes = &os;
        offers[1].n_attributes = 1;
        assert_int_equal(mesos_constraints_parse(&f->config.constraints, "os:debian", NULL), 0);
        assert_string_equal(coarse_receive(f, offers, 3), "decline o1 o3 for 120000\naccept o2 [0 cpus:1 mem:1408]\n");
}

static void roles_are_split(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_resource r[] = {{.name = "mem", .role = "dev", .milli = 1000000},
                                           {.name = "cpus", .role = "dev", .milli = 1000},
                                           {.name = "cpus", .role = "*", .milli = 3000},
                                           {.name = "mem", .role = "*", .milli = 600000}};
        const struct mesos_offer o = {.id = "o1", .agent = "a", .hostname = "a", .resources = r, .n_resources = 4};
        f->config.max_cores = 2;
        assert_string_equal(coarse_receive(f, &o, 1),
                            "accept o1 [0 cpus(dev):1 cpus:1 mem(dev):1000 mem:408]\nsuppress\n");
}

static void port_of_the_configuration_is_taken_once(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_range range = {30000, 40000};
        const struct mesos_resource r[] = {
                {.name = "cpus", .role = "*", .milli = 8000},
                {.name = "mem", .role = "*", .milli = 8192000},
                {.name = "ports", .type = MESOS_VALUE_RANGES, .role = "dev", .ranges = &range, .n_ranges = 1}};
        const struct mesos_offer o = {.id = "o1", .agent = "a", .hostname = "a", .resources = r, .n_resources = 3};
        f->config.executor_cores = 2;
        f->config.port = 30100;
        assert_string_equal(coarse_receive(f, &o, 1), "accept o1 [0 cpus:2 mem:1408 ports(dev):[30100-30100]]\n");
        f->config.port = 29999;
        assert_string_equal(coarse_receive(f, &o, 1), "decline o1\n");
        f->config.port = 0;
        assert_string_equal(coarse_receive(f, &o, 1),
                            "accept o1 [4 cpus:2 mem:1408] [3 cpus:2 mem:1408] [2 cpus:2 mem:1408] [1 cpus:2 "
                            "mem:1408]\n");
}

static void limit_is_respected_and_kills_do_not_change_it(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 2, 0), coarse_offer(f, "o2", "b", 2, 0)};
        coarse_offers_set_limit(&f->c, 1, NULL, 0, 0);
        assert_string_equal(coarse_drain(f), "");
        assert_string_equal(coarse_receive(f, offers, 2), "accept o1 [0 cpus:2 mem:1408]\ndecline o2\nsuppress\n");
        coarse_offers_set_limit(&f->c, 0, NULL, 0, 0);
        coarse_offers_kill(&f->c, 0);
        assert_string_equal(coarse_drain(f), "kill 0 on a\n");
        assert_string_equal(coarse_receive(f, offers + 1, 1), "decline o2\n");
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_KILLED),
                            "ended 0 on a: Executor finished with state KILLED\n");
        assert_string_equal(coarse_receive(f, offers + 1, 1), "decline o2\n");
        coarse_offers_set_limit(&f->c, 2, NULL, 0, 0);
        assert_string_equal(coarse_drain(f), "revive\n");
        assert_string_equal(coarse_receive(f, offers, 2),
                            "accept o1 [1 cpus:2 mem:1408]\naccept o2 [2 cpus:2 mem:1408]\nsuppress\n");
}

static void killed_executor_is_replaced(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 2, 0), coarse_offer(f, "o2", "b", 2, 0)};
        f->config.max_cores = 2;
        assert_string_equal(coarse_receive(f, offers, 1), "accept o1 [0 cpus:2 mem:1408]\nsuppress\n");
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_RUNNING), "");
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_KILLED),
                            "ended 0 on a by app: Executor finished with state KILLED\nrevive\n");
        assert_string_equal(coarse_receive(f, offers + 1, 1), "accept o2 [1 cpus:2 mem:1408]\nsuppress\n");
}

static void two_failures_exclude_an_agent(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer o = coarse_offer(f, "o1", "a", 2, 0);
        coarse_receive(f, &o, 1);
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_FAILED),
                            "ended 0 on a by app: Executor finished with state FAILED\nrevive\n");
        assert_string_equal(coarse_receive(f, &o, 1), "accept o1 [1 cpus:2 mem:1408]\n");
        assert_string_equal(coarse_update(f, 1, MESOS_TASK_LOST),
                            "ended 1 on a by app: Executor finished with state LOST\nrevive\n");
        assert_string_equal(coarse_receive(f, &o, 1), "decline o1\n");
}

static void ends_without_fault_do_not_exclude_an_agent(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer o = coarse_offer(f, "o1", "a", 2, 0);
        const struct coarse_update invalid = {.executor = 0,
                                              .agent = "a",
                                              .state = MESOS_TASK_LOST,
                                              .invalid_offer = true,
                                              .message = "Offer o1 is no longer valid"};
        coarse_receive(f, &o, 1);
        coarse_offers_updated(&f->c, &invalid);
        assert_string_equal(coarse_drain(f),
                            "ended 0 on a: Executor finished with state LOST: Offer o1 is no longer valid\nrevive\n");
        for (int64_t i = 1; i < 6; i++) {
                assert_non_null(strstr(coarse_receive(f, &o, 1), "accept o1"));
                coarse_offers_expect_end(&f->c, i);
                assert_null(strstr(coarse_update(f, i, MESOS_TASK_FAILED), "by app"));
        }
        assert_non_null(strstr(coarse_receive(f, &o, 1), "accept o1"));
}

static void shuffle_service_is_told_once_for_each_agent(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 2, 0), coarse_offer(f, "o2", "b", 2, 0)};
        f->config.executor_cores = 1;
        f->config.shuffle_service = true;
        coarse_receive(f, offers, 2);
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_STARTING), "");
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_RUNNING), "shuffle service a\n");
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_RUNNING), "");
        assert_string_equal(coarse_update(f, 2, MESOS_TASK_RUNNING), "");
        assert_string_equal(coarse_update(f, 1, MESOS_TASK_RUNNING), "shuffle service b\n");
}

static void preferred_hosts_come_first_for_a_time(void **state)
{
        struct coarse_fixture *f = *state;
        const char *const hosts[] = {"a", "b"};
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "c", 2, 0), coarse_offer(f, "o2", "b", 4, 0),
                                             coarse_offer(f, "o3", "a", 2, 0)};
        f->config.prefers_hosts = true;
        f->config.executor_cores = 2;
        coarse_offers_set_limit(&f->c, 5, hosts, 2, f->now);
        coarse_drain(f);
        /* one executor for each preferred host, none elsewhere */
        assert_string_equal(coarse_receive(f, offers, 3),
                            "accept o2 [0 cpus:2 mem:1408]\naccept o3 [1 cpus:2 mem:1408]\ndecline o1\n");
        f->now += 3 * FIXTURE_SECOND;
        assert_string_equal(coarse_receive(f, offers, 1), "decline o1\n");
        f->now += 1;
        assert_string_equal(coarse_receive(f, offers, 1), "accept o1 [2 cpus:2 mem:1408]\n");
        /* a new target begins to wait again */
        coarse_offers_set_limit(&f->c, 6, hosts, 2, f->now);
        coarse_drain(f);
        assert_string_equal(coarse_receive(f, offers, 1), "decline o1\n");
        coarse_offers_set_limit(&f->c, 6, NULL, 0, f->now);
        coarse_drain(f);
        assert_string_equal(coarse_receive(f, offers, 1), "accept o1 [3 cpus:2 mem:1408]\n");
}

static void excluded_hosts_get_no_executor(void **state)
{
        struct coarse_fixture *f = *state;
        const char *const hosts[] = {"a"};
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 2, 0), coarse_offer(f, "o2", "b", 2, 0)};
        coarse_offers_set_excluded(&f->c, hosts, 1);
        assert_string_equal(coarse_receive(f, offers, 2), "accept o2 [0 cpus:2 mem:1408]\ndecline o1\n");
        coarse_offers_set_excluded(&f->c, NULL, 0);
        assert_string_equal(coarse_receive(f, offers, 1), "accept o1 [1 cpus:2 mem:1408]\n");
}

static void subscribing_again_forgets_suppression(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer o = coarse_offer(f, "o1", "a", 2, 0);
        coarse_offers_set_limit(&f->c, 0, NULL, 0, 0);
        assert_string_equal(coarse_receive(f, &o, 1), "decline o1\nsuppress\n");
        assert_string_equal(coarse_receive(f, &o, 1), "decline o1\n");
        coarse_offers_subscribed(&f->c);
        assert_string_equal(coarse_receive(f, &o, 1), "decline o1\nsuppress\n");
}

static void stopped_core_launches_nothing(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer o = coarse_offer(f, "o1", "a", 2, 0);
        coarse_receive(f, &o, 1);
        coarse_offers_stop(&f->c);
        assert_string_equal(coarse_receive(f, &o, 1), "decline o1\nsuppress\n");
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_FINISHED),
                            "ended 0 on a by app: Executor finished with state FINISHED\n");
        assert_int_equal(f->c.n_executors, 0);
}

static void unknown_tasks_and_late_updates_are_ignored(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer o = coarse_offer(f, "o1", "a", 2, 0);
        f->config.first_executor = 7;
        coarse_offers_deinit(&f->c);
        coarse_offers_init(&f->c, &f->config);
        assert_string_equal(coarse_update(f, 3, MESOS_TASK_LOST), "");
        coarse_offers_kill(&f->c, 3);
        coarse_offers_expect_end(&f->c, 3);
        assert_string_equal(coarse_drain(f), "");
        assert_string_equal(coarse_receive(f, &o, 1), "accept o1 [7 cpus:2 mem:1408]\n");
        assert_true(coarse_offers_knows(&f->c, 7));
        coarse_update(f, 7, MESOS_TASK_FINISHED);
        assert_string_equal(coarse_update(f, 7, MESOS_TASK_FAILED), "");
        assert_false(coarse_offers_knows(&f->c, 7));
}

static void coarse_visit(void *context, int64_t executor, const char *agent)
{
        buf_printf(context, "%" PRId64 " on %s\n", executor, agent);
}

static void living_executors_are_visited(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 2, 0), coarse_offer(f, "o2", "b", 2, 0)};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        f->config.executor_cores = 1;
        coarse_receive(f, offers, 2);
        coarse_update(f, 2, MESOS_TASK_FINISHED);
        coarse_offers_each(&f->c, coarse_visit, &text);
        assert_string_equal(buf_text(&text), "0 on a\n1 on b\n3 on b\n");
}

#define COARSE_TEST(name) cmocka_unit_test_setup_teardown(name, coarse_open, coarse_close)

/* Executors 0 on host "a" and 3 on host "b" of an earlier driver. */
static void coarse_adopt_two(struct coarse_fixture *f)
{
        const struct coarse_adopted adopted[] = {{.executor = 0, .cores = 2, .host = "a"},
                                                 {.executor = 3, .cores = 2, .host = "b"}};
        f->config.executor_cores = 2;
        f->config.max_cores = 4;
        coarse_offers_adopt(&f->c, adopted, 2, 4);
}

static void adopted_executors_count(void **state)
{
        struct coarse_fixture *f = *state;
        const struct mesos_offer offers[] = {coarse_offer(f, "o1", "a", 8, 0), coarse_offer(f, "o2", "b", 8, 0)};
        coarse_adopt_two(f);
        assert_true(coarse_offers_knows(&f->c, 0) && coarse_offers_knows(&f->c, 3) && !coarse_offers_knows(&f->c, 1));
        assert_string_equal(coarse_receive(f, offers, 1), "decline o1 for 90000\nsuppress\n");
        coarse_offers_kill(&f->c, 3);
        assert_string_equal(coarse_drain(f), "kill 3 on \n");
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_RUNNING), "");
        coarse_offers_kill(&f->c, 0);
        assert_string_equal(coarse_drain(f), "kill 0 on a\n");
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_KILLED),
                            "ended 0 on a: Executor finished with state KILLED\nrevive\n");
        assert_string_equal(coarse_receive(f, offers, 1), "accept o1 [104 cpus:2 mem:1408]\nsuppress\n");
}

static void the_loss_of_an_awaited_executor_is_no_failure(void **state)
{
        struct coarse_fixture *f = *state;
        coarse_adopt_two(f);
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_LOST),
                            "ended 0 on a: Executor finished with state LOST\nrevive\n");
        assert_string_equal(coarse_update(f, 0, MESOS_TASK_LOST), "");
        assert_string_equal(coarse_update(f, 3, MESOS_TASK_RUNNING), "");
        assert_string_equal(coarse_update(f, 3, MESOS_TASK_FAILED),
                            "ended 3 on a by app: Executor finished with state FAILED\nrevive\n");
        assert_int_equal(f->c.cores, 0);
}

static void unknown_tasks_of_an_earlier_driver_are_killed(void **state)
{
        struct coarse_fixture *f = *state;
        assert_string_equal(coarse_update(f, 5, MESOS_TASK_RUNNING), "");
        coarse_adopt_two(f);
        assert_string_equal(coarse_update(f, 5, MESOS_TASK_RUNNING), "kill 5 on a\n");
        assert_string_equal(coarse_update(f, 5, MESOS_TASK_KILLED), "");
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                COARSE_TEST(without_executor_cores_one_executor_takes_all),
                COARSE_TEST(adopted_executors_count),
                COARSE_TEST(the_loss_of_an_awaited_executor_is_no_failure),
                COARSE_TEST(unknown_tasks_of_an_earlier_driver_are_killed),
                COARSE_TEST(executor_cores_is_respected),
                COARSE_TEST(several_executors_share_an_agent_newest_first),
                COARSE_TEST(offers_take_executors_in_turn),
                COARSE_TEST(cores_max_is_respected),
                COARSE_TEST(offers_below_cores_max_that_do_not_fit_are_declined_shortly),
                COARSE_TEST(gpus_are_taken_up_to_their_maximum),
                COARSE_TEST(unmet_constraints_are_declined_for_their_time),
                COARSE_TEST(roles_are_split),
                COARSE_TEST(port_of_the_configuration_is_taken_once),
                COARSE_TEST(limit_is_respected_and_kills_do_not_change_it),
                COARSE_TEST(killed_executor_is_replaced),
                COARSE_TEST(two_failures_exclude_an_agent),
                COARSE_TEST(ends_without_fault_do_not_exclude_an_agent),
                COARSE_TEST(shuffle_service_is_told_once_for_each_agent),
                COARSE_TEST(preferred_hosts_come_first_for_a_time),
                COARSE_TEST(excluded_hosts_get_no_executor),
                COARSE_TEST(subscribing_again_forgets_suppression),
                COARSE_TEST(stopped_core_launches_nothing),
                COARSE_TEST(unknown_tasks_and_late_updates_are_ignored),
                COARSE_TEST(living_executors_are_visited),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
