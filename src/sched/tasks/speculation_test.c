/* The cases of Spark's TaskSetManagerSuite for slow tasks. */
#include "sched/tasks/offers_fixture.h"

static struct sched_config speculating(void)
{
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.speculation.enabled = true;
        config.speculation.quantile = 0.5;
        config.speculation.multiplier = 2;
        config.max_run = 1;
        return config;
}

static void a_slow_task_gets_a_second_attempt_on_another_host(void **state)
{
        struct fix f;
        struct sched_config config = speculating();

        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 2);
        offers_add_executor(&f, "1", "h1", 2);
        offers_add_executor(&f, "2", "h5", 1);
        fix_submit(&f, fix_rdd(&f, 5));
        assert_int_equal(f.tasks.len, 5);
        f.now = SECOND;
        for (int i = 0; i < 5; i++)
                if (i != 1)
                        fix_succeed(&f, 0, i);
        wait_until(&f, 2 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 0); /* not over twice the median */
        wait_until(&f, 2100000000);
        assert_int_equal(world.speculative, 1);
        assert_int_equal(f.tasks.len, 6);
        assert_int_equal(f.tasks.data[5].executor, 2);
        assert_true(f.tasks.data[5].launch.speculative);
        assert_int_equal(f.tasks.data[5].launch.attempt, 1);
        wait_until(&f, 9 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 1); /* two attempts are enough */
        fix_status(&f, 5, TASK_SUCCEEDED, NULL, NULL);
        assert_true(f.tasks.data[1].killed);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_drain(&f);
        assert_int_equal(f.accepted, 5);
        fix_end(&f);
}

static void a_long_task_that_reads_well_is_left_alone(void **state)
{
        struct fix f;
        struct sched_config config = speculating();

        config.speculation.long_run_factor = 3;
        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 4);
        offers_add_executor(&f, "1", "h5", 4);
        fix_submit(&f, fix_rdd(&f, 4));
        f.now = SECOND;
        for (int i = 1; i < 4; i++) {
                struct task_status status = {
                        .task_id = i, .state = TASK_SUCCEEDED, .run_ns = SECOND, .records = 1000, .output = 1};

                f.tasks.data[i].ended = true;
                sched_update_status(f.s, &status, 1, f.now);
        }
        sched_task_progress(f.s, 0, 2900, 3 * (int64_t)SECOND);
        wait_until(&f, 3 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 0);
        sched_task_progress(f.s, 0, 100, 4 * (int64_t)SECOND);
        wait_until(&f, 4 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 1);
        fix_drain(&f);
        fix_end(&f);
}

static void an_attempt_does_not_inherit_the_rate_of_the_one_before(void **state)
{
        struct fix f;
        struct sched_config config = speculating();

        config.speculation.long_run_factor = 100;
        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 4);
        offers_add_executor(&f, "1", "h5", 4);
        fix_submit(&f, fix_rdd(&f, 4));
        f.now = SECOND;
        for (int i = 1; i < 4; i++) {
                struct task_status status = {
                        .task_id = i, .state = TASK_SUCCEEDED, .run_ns = SECOND, .records = 1000, .output = 1};

                f.tasks.data[i].ended = true;
                sched_update_status(f.s, &status, 1, f.now);
        }
        sched_task_progress(f.s, 0, 1000, SECOND);
        fix_fail(&f, 0, 0, "the first attempt fails");
        assert_int_equal(f.tasks.len, 5);
        wait_until(&f, 5 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 1);
        fix_drain(&f);
        fix_end(&f);
}

static void a_threshold_serves_sets_that_fit_one_executor(void **state)
{
        struct fix f;
        struct sched_config config = speculating();

        config.speculation.threshold = 60 * (int64_t)SECOND;
        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h5", 1);
        fix_submit(&f, fix_rdd(&f, 1));
        wait_until(&f, 60 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 0);
        wait_until(&f, 61 * (int64_t)SECOND);
        assert_int_equal(world.speculative, 1);
        assert_int_equal(f.tasks.len, 2);
        fix_fail(&f, 0, 0, "the second fails"); /* the first attempt continues: no task is pending */
        assert_int_equal(f.tasks.len, 2);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void the_median_is_that_of_all_numbers(void **state)
{
        struct median m = {0};
        static const int64_t values[] = {5, 1, 9, 3, 3, 100, -7, 4}, medians[] = {5, 3, 5, 4, 3, 4, 3, 3};

        assert_int_equal(median_get(&m), 0);
        for (size_t i = 0; i < ARRAY_SIZE(values); i++) {
                median_add(&m, values[i]);
                assert_int_equal(median_get(&m), medians[i]);
        }
        median_deinit(&m);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_slow_task_gets_a_second_attempt_on_another_host),
                cmocka_unit_test(a_long_task_that_reads_well_is_left_alone),
                cmocka_unit_test(an_attempt_does_not_inherit_the_rate_of_the_one_before),
                cmocka_unit_test(a_threshold_serves_sets_that_fit_one_executor),
                cmocka_unit_test(the_median_is_that_of_all_numbers),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/tasks/speculation", tests, NULL, NULL);
}
