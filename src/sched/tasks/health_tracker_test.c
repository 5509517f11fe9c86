/* The cases of Spark's HealthTrackerSuite and TaskSetExcludelistSuite: executors and hosts on which tasks fail. */
#include "sched/tasks/offers_fixture.h"

static struct sched_config excluding(void)
{
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.exclusion.stage = config.exclusion.application = true;
        config.max_run = 1;
        return config;
}

static void a_task_is_not_tried_twice_on_one_executor(void **state)
{
        struct fix f;
        struct sched_config config = excluding();

        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h5", 1);
        fix_submit(&f, fix_rdd(&f, 2));
        fix_fail(&f, 0, 0, "x");
        assert_int_equal(f.tasks.len, 2); /* only executor 0 is free */
        fix_succeed(&f, 0, 1);
        assert_int_equal(f.tasks.data[2].executor, 1);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(world.excluded, 0);
        fix_end(&f);
}

static void what_can_run_nowhere_is_given_up(void **state)
{
        struct fix f;
        struct sched_config config = excluding();

        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 1);
        fix_submit(&f, fix_rdd(&f, 1));
        fix_fail(&f, 0, 0, "x"); /* the idle executor is killed, and the set waits for another */
        assert_int_equal(take_kills(&f), 1);
        assert_int_equal(world.unschedulable, 1);
        assert_int_equal(sched_demand(f.s, -1).unschedulable, 1);
        assert_int_equal(f.jobs_ended, 0);
        assert_int_equal(sched_deadline(f.s), f.now + 120 * (int64_t)SECOND);
        fix_tick(&f);
        assert_int_equal(f.result, JOB_FAILED);
        assert_non_null(strstr(buf_text(&f.message), "Aborting TaskSet 0.0 because task 0 (partition 0)\ncannot run "
                                                     "anywhere due to node and executor excludeOnFailure.\nMost "
                                                     "recent failure:\n"));
        fix_end(&f);
}

static void a_new_executor_ends_the_waiting(void **state)
{
        struct fix f;
        struct sched_config config = excluding();

        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 1);
        fix_submit(&f, fix_rdd(&f, 1));
        fix_fail(&f, 0, 0, "x");
        offers_add_executor(&f, "1", "h5", 1);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 2);
        assert_int_equal(world.unschedulable, 0);
        assert_int_equal(sched_deadline(f.s), f.now); /* an executor must be killed, and no request was made */
        assert_int_equal(take_kills(&f), 1);
        assert_int_equal(sched_deadline(f.s), INT64_MAX);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void executors_and_hosts_are_excluded_from_a_stage(void **state)
{
        struct fix f;
        struct sched_config config = excluding();

        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 2);
        offers_add_executor(&f, "1", "h1", 2);
        offers_add_executor(&f, "2", "h5", 1);
        fix_submit(&f, fix_rdd(&f, 9));
        for (int i = 0; i < 2; i++)
                fix_status(&f, i == 0 ? 0 : 3, TASK_FAILED, "x", NULL); /* both tasks of executor 0 */
        assert_int_equal(world.excluded, 1);
        assert_int_equal(world.last.executor, 0);
        assert_int_equal(world.last.failures, 2);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 5);
        for (size_t i = 0; i < 5; i++)
                if (f.tasks.data[i].executor == 1)
                        fix_status(&f, (int64_t)i, TASK_FAILED, "x", NULL);
        assert_int_equal(world.excluded, 3);
        assert_int_equal(world.last.executor, -1);
        assert_string_equal(world.last.host, "h1");
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 5);
        fix_drain(&f);
        for (size_t i = 5; i < f.tasks.len; i++)
                assert_int_equal(f.tasks.data[i].executor, 2);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        /* the stage succeeded, so the executors caused the failures */
        assert_true(sched_executor_excluded(f.s, 0));
        assert_true(sched_executor_excluded(f.s, 1));
        assert_true(sched_host_excluded(f.s, "h1"));
        assert_true(!sched_host_excluded(f.s, "h5"));
        assert_int_equal(sched_slots(f.s), 1);
        fix_tick(&f);
        assert_int_equal(world.lifted, 3);
        assert_false(sched_host_excluded(f.s, "h1"));
        assert_int_equal(sched_slots(f.s), 5);
        fix_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_task_is_not_tried_twice_on_one_executor),
                cmocka_unit_test(what_can_run_nowhere_is_given_up),
                cmocka_unit_test(a_new_executor_ends_the_waiting),
                cmocka_unit_test(executors_and_hosts_are_excluded_from_a_stage),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/tasks/health_tracker", tests, NULL, NULL);
}
