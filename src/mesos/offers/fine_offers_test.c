/*
 * The fine-grained core: which offers can run tasks, what tasks and executors take, when executors are forgotten.
 * Restates the cases of Spark's MesosFineGrainedSchedulerBackendSuite that are about offers.
 */
#include "mesos/offers/fine_offers.h"

#include "mesos/offers/offers_fixture.h"
#include "unit/cases.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

struct fine_fixture {
        struct arena arena;
        struct fine_offers_config config;
        struct fine_offers f;
        struct buf text;
};

static int fine_open(void **state)
{
        struct fine_fixture *x = new0(struct fine_fixture);
        x->config = (struct fine_offers_config){
                .executor_cores_milli = 1000, .executor_memory = 1408, .task_cores = 1, .refuse_unmet_ms = 120000};
        fine_offers_init(&x->f, &x->config);
        *state = x;
        return 0;
}

static int fine_close(void **state)
{
        struct fine_fixture *x = *state;
        fine_offers_deinit(&x->f);
        mesos_constraints_deinit(&x->config.constraints);
        arena_deinit(&x->arena);
        buf_deinit(&x->text);
        free(x);
        return 0;
}

static const char *fine_drain(struct fine_fixture *x)
{
        x->text.len = 0;
        buf_printf(&x->text, "%s", "");
        for (const struct offer_action *action; (action = fine_offers_next_action(&x->f));)
                fixture_put_action(&x->text, action);
        return buf_text(&x->text);
}

static struct mesos_offer fine_offer(struct fine_fixture *x, const char *id, const char *agent, int64_t cpus,
                                     int64_t memory)
{
        return fixture_offer(&x->arena, id, agent, cpus, memory, 0);
}

/* Passes one offer and gives it @n tasks from @first on. */
static const char *fine_run(struct fine_fixture *x, const struct mesos_offer *offer, int64_t first, int n)
{
        fine_offers_received(&x->f, offer, 1);
        for (int i = 0; i < n; i++)
                assert_true(fine_offers_add_task(&x->f, 0, first + i));
        fine_offers_answer(&x->f);
        return fine_drain(x);
}

static bool fine_update(struct fine_fixture *x, int64_t task, mesos_task_state state, bool by_executor)
{
        const struct fine_update update = {.task = task, .state = state, .by_executor = by_executor};
        return fine_offers_updated(&x->f, &update);
}

static void usable_offers_run_tasks_and_others_are_declined(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer offers[] = {
                fine_offer(x, "o1", "a", 2000, 1408), fine_offer(x, "cpus", "b", 1999, 1408),
                fine_offer(x, "mem", "c", 8000, 1407), fine_offer(x, "o4", "d", 4500, 4096)};
        fine_offers_received(&x->f, offers, 4);
        assert_int_equal(x->f.n_usable, 2);
        assert_int_equal(x->f.usable[0].cores, 1); /* without the executor's */
        assert_int_equal(x->f.usable[1].cores, 3);
        assert_string_equal(x->f.usable[1].offers[0]->agent, "d");
        assert_true(fine_offers_add_task(&x->f, 0, 17));
        assert_false(fine_offers_add_task(&x->f, 0, 18));
        fine_offers_answer(&x->f);
        assert_string_equal(fine_drain(x), "decline cpus mem\n"
                                           "accept o1 for 1000 [17! cpus:1 + cpus:1 mem:1408]\n"
                                           "decline o4\n");
        assert_true(fine_offers_has_executor(&x->f, "a"));
        assert_false(fine_offers_has_executor(&x->f, "d"));
}

static void tasks_find_the_offers_of_their_agent(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer offers[] = {fine_offer(x, "cpus", "b", 1000, 1408),
                                             fine_offer(x, "o1", "a", 2000, 1408),
                                             fine_offer(x, "o4", "d", 4500, 4096)};
        fine_offers_received(&x->f, offers, 3);
        assert_true(fine_offers_add_task_on(&x->f, "d", 17));
        assert_true(fine_offers_add_task_on(&x->f, "a", 18));
        assert_false(fine_offers_add_task_on(&x->f, "a", 19)); /* no core is left */
        assert_false(fine_offers_add_task_on(&x->f, "b", 20)); /* was declined */
        assert_false(fine_offers_add_task_on(&x->f, "unknown", 21));
        fine_offers_answer(&x->f);
        assert_string_equal(fine_drain(x), "decline cpus\n"
                                           "accept o1 for 1000 [18! cpus:1 + cpus:1 mem:1408]\n"
                                           "accept o4 for 1000 [17! cpus:1 + cpus:1 mem:1408]\n");
        assert_false(fine_offers_add_task_on(&x->f, "d", 22)); /* its offers are answered */
}

static void known_executor_needs_cores_of_tasks_only(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer first = fine_offer(x, "o1", "a", 2000, 1408), next = fine_offer(x, "o2", "a", 1000, 0);
        fine_run(x, &first, 1, 1);
        assert_string_equal(fine_run(x, &next, 2, 1), "accept o2 for 1000 [2 cpus:1]\n");
}

static void executor_cores_may_be_fractional(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer o = fine_offer(x, "o1", "a", 3600, 2000);
        x->config.executor_cores_milli = 500;
        x->config.task_cores = 2;
        fine_offers_received(&x->f, &o, 1);
        assert_int_equal(x->f.usable[0].cores, 3);
        assert_true(fine_offers_add_task(&x->f, 0, 5));
        assert_false(fine_offers_add_task(&x->f, 0, 6)); /* one core is left */
        fine_offers_answer(&x->f);
        assert_string_equal(fine_drain(x), "accept o1 for 1000 [5! cpus:2 + cpus:0.5 mem:1408]\n");
}

static void roles_are_split_over_executor_and_tasks(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_resource r[] = {{.name = "cpus", .role = "prod", .milli = 500},
                                           {.name = "cpus", .role = "dev", .milli = 1000},
                                           {.name = "cpus", .role = "*", .milli = 1000},
                                           {.name = "mem", .role = "dev", .milli = 1400000},
                                           {.name = "mem", .role = "prod", .milli = 100000}};
        const struct mesos_offer o = {.id = "o1", .agent = "a", .hostname = "a", .resources = r, .n_resources = 5};
        assert_string_equal(fine_run(x, &o, 1, 1),
                            "accept o1 for 1000 [1! cpus(dev):0.5 cpus:0.5 + cpus(prod):0.5 cpus(dev):0.5 "
                            "mem(dev):1400 mem(prod):8]\n");
}

static void offers_of_one_agent_are_used_together(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer offers[] = {fine_offer(x, "o1", "a", 1000, 0), fine_offer(x, "o2", "b", 1000, 0),
                                             fine_offer(x, "o3", "a", 2000, 1408)};
        fine_offers_received(&x->f, offers, 3);
        assert_int_equal(x->f.n_usable, 1);
        assert_int_equal(x->f.usable[0].cores, 2);
        assert_true(fine_offers_add_task(&x->f, 0, 1));
        assert_true(fine_offers_add_task(&x->f, 0, 2));
        fine_offers_answer(&x->f);
        assert_string_equal(fine_drain(x), "decline o2\n"
                                           "accept o1 o3 for 1000 [1! cpus:1 + cpus:1 mem:1408] "
                                           "[2! cpus:1 + cpus:1 mem:1408]\n");
}

static void unmet_constraints_are_declined_longer(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer o = fine_offer(x, "o1", "a", 2000, 1408);
        assert_int_equal(mesos_constraints_parse(&x->config.constraints, "gpu:", NULL), 0);
        assert_string_equal(fine_run(x, &o, 0, 0), "decline o1 for 120000\n");
}

static void only_agent_and_master_end_an_executor(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer o = fine_offer(x, "o1", "a", 9000, 1408);
        fine_run(x, &o, 1, 4);
        assert_true(fine_update(x, 1, MESOS_TASK_RUNNING, true));
        assert_true(fine_update(x, 1, MESOS_TASK_FAILED, true));
        assert_false(fine_update(x, 1, MESOS_TASK_FAILED, true)); /* it has ended */
        assert_true(fine_update(x, 2, MESOS_TASK_KILLED, false));
        assert_string_equal(fine_drain(x), "");
        assert_true(fine_offers_has_executor(&x->f, "a"));
        assert_true(fine_update(x, 3, MESOS_TASK_LOST, false));
        assert_string_equal(fine_drain(x), "ended -1 on a by app: Lost executor\n");
        assert_true(fine_update(x, 4, MESOS_TASK_LOST, false));
        assert_string_equal(fine_drain(x), "");
        assert_string_equal(fine_run(x, &o, 9, 1), "accept o1 for 1000 [9! cpus:1 + cpus:1 mem:1408]\n");
}

static void late_update_spares_the_next_executor(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer o = fine_offer(x, "o1", "a", 9000, 1408);
        fine_run(x, &o, 1, 2);
        fine_offers_executor_lost(&x->f, "a", true, "its process has ended");
        assert_string_equal(fine_drain(x), "ended -1 on a by app: its process has ended\n");
        assert_string_equal(fine_run(x, &o, 3, 1), "accept o1 for 1000 [3! cpus:1 + cpus:1 mem:1408]\n");
        assert_true(fine_update(x, 1, MESOS_TASK_LOST, false)); /* of the former executor */
        assert_string_equal(fine_drain(x), "");
        assert_true(fine_offers_has_executor(&x->f, "a"));
        assert_true(fine_update(x, 3, MESOS_TASK_LOST, false));
        assert_string_equal(fine_drain(x), "ended -1 on a by app: Lost executor\n");
}

static void lost_agent_ends_its_executor_once(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer o = fine_offer(x, "o1", "a", 2000, 1408);
        fine_run(x, &o, 1, 1);
        fine_offers_executor_lost(&x->f, "b", false, "unknown");
        fine_offers_executor_lost(&x->f, "a", false, "agent lost");
        fine_offers_executor_lost(&x->f, "a", false, "agent lost");
        assert_string_equal(fine_drain(x), "ended -1 on a: agent lost\n");
        assert_true(fine_update(x, 1, MESOS_TASK_LOST, false));
        assert_string_equal(fine_drain(x), "");
}

/* Takes all actions. Returns whether one logs that an agent is excluded. */
static bool fine_drain_exclusion(struct fine_fixture *x)
{
        bool found = false;
        for (const struct offer_action *action; (action = fine_offers_next_action(&x->f));)
                found |= action->kind == OFFER_ACTION_LOG && strstr(action->log.line, "Excluding Mesos agent a");
        return found;
}

static void agent_of_two_executors_that_do_not_register_is_excluded(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer o = fine_offer(x, "o1", "a", 2000, 1408), other = fine_offer(x, "o2", "b", 2000, 1408);
        const struct fine_update lost = {.task = 1, .state = MESOS_TASK_LOST, .not_launched = true};
        fine_run(x, &o, 1, 1);
        assert_true(fine_offers_updated(&x->f, &lost)); /* does not count */
        for (int task = 2; task <= 4; task++) {
                assert_non_null(strstr(fine_run(x, &o, task, 1), "accept o1"));
                if (task == 3)
                        fine_offers_registered(&x->f, "a"); /* the next failure is the first again */
                assert_true(fine_update(x, task, MESOS_TASK_FAILED, false));
                assert_false(fine_drain_exclusion(x));
        }
        fine_run(x, &o, 5, 1);
        fine_offers_executor_lost(&x->f, "a", true, "status 127");
        assert_true(fine_drain_exclusion(x));
        fine_offers_received(&x->f, &o, 1);
        assert_int_equal(x->f.n_usable, 0);
        fine_offers_answer(&x->f);
        assert_string_equal(fine_drain(x), "decline o1\n");
        assert_non_null(strstr(fine_run(x, &other, 6, 1), "accept o2"));
}

static void lost_agents_are_not_excluded(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer o = fine_offer(x, "o1", "a", 2000, 1408);
        for (int task = 1; task <= 3; task++) {
                assert_non_null(strstr(fine_run(x, &o, task, 1), "accept o1"));
                fine_offers_executor_lost(&x->f, "a", false, "agent lost");
                assert_string_equal(fine_drain(x), "ended -1 on a: agent lost\n");
        }
}

static void stopped_core_declines_all(void **state)
{
        struct fine_fixture *x = *state;
        const struct mesos_offer o = fine_offer(x, "o1", "a", 2000, 1408);
        fine_offers_stop(&x->f);
        fine_offers_revive(&x->f);
        assert_string_equal(fine_run(x, &o, 0, 0), "decline o1\n");
        assert_int_equal(x->f.n_usable, 0);
}

#define FINE_TEST(name) cmocka_unit_test_setup_teardown(name, fine_open, fine_close)

int main(void)
{
        const struct CMUnitTest tests[] = {
                FINE_TEST(usable_offers_run_tasks_and_others_are_declined),
                FINE_TEST(tasks_find_the_offers_of_their_agent),
                FINE_TEST(known_executor_needs_cores_of_tasks_only),
                FINE_TEST(executor_cores_may_be_fractional),
                FINE_TEST(roles_are_split_over_executor_and_tasks),
                FINE_TEST(offers_of_one_agent_are_used_together),
                FINE_TEST(unmet_constraints_are_declined_longer),
                FINE_TEST(only_agent_and_master_end_an_executor),
                FINE_TEST(late_update_spares_the_next_executor),
                FINE_TEST(lost_agent_ends_its_executor_once),
                FINE_TEST(agent_of_two_executors_that_do_not_register_is_excluded),
                FINE_TEST(lost_agents_are_not_excluded),
                FINE_TEST(stopped_core_declines_all),
        };
        return cmocka_run_group_tests(tests, NULL, NULL);
}
