/*
 * The cases of Spark's TaskSetManagerSuite and TaskSchedulerImplSuite for custom resources, barrier stages, results
 * that are too large, and decommissioned executors.
 */
#include "sched/tasks/offers_fixture.h"

#include "sched/sched_conf.h"

static void addresses_are_given_to_one_task_at_a_time(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;
        struct resource_request requests[] = {{"gpu", 2 * RESOURCE_ONE}, {"fpga", RESOURCE_ONE / 2}};
        const char *gpus[] = {"0", "1", "2", "3", "4"}, *fpgas[] = {"f"};
        struct executor_resource resources[] = {{"fpga", fpgas, 1}, {"gpu", gpus, 5}};
        struct executor_spec spec = {.id = "0", .host = "h1", .cores = 8, .resources = resources, .n_resources = 2};

        config.resources = requests;
        config.n_resources = 2;
        offers_begin(&f, &config);
        assert_int_equal(sched_register_executor(f.s, &spec, 0), 0);
        offers_add_executor(&f, "none", "h1", 8);
        assert_int_equal(sched_slots(f.s), 2);
        fix_submit(&f, fix_rdd(&f, 5));
        assert_int_equal(f.tasks.len, 2);
        const struct resource_pool *pools = f.s->tasks.executors.at.data[0].resources;

        assert_true(pools[1].free[4] == RESOURCE_ONE);
        assert_true(pools[1].free[3] == 0);
        assert_true(pools[0].free[0] == 0);
        fix_succeed(&f, 0, 0);
        assert_int_equal(f.tasks.len, 3);
        fix_drain(&f);
        for (int i = 0; i < 5; i++)
                assert_true(pools[1].free[i] == RESOURCE_ONE);
        assert_true(pools[0].free[0] == RESOURCE_ONE);
        assert_int_equal(f.accepted, 5);
        fix_end(&f);
}

/* -------------------------------------------------------------------------------------------------- barrier stages */

static void a_barrier_stage_is_launched_whole_or_not(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 2);
        struct lineage *gang = fix_rdd(&f, 3), *other = fix_rdd(&f, 1);

        gang->barrier = true;
        offers_add_executor(&f, "1", "h5", 2);
        fix_submit(&f, other);
        fix_submit(&f, fix_rdd(&f, 1));
        fix_submit(&f, gang);
        assert_int_equal(f.tasks.len, 2); /* two free cores are not enough */
        fix_succeed(&f, 0, 0);
        assert_int_equal(f.tasks.len, 5);
        assert_int_equal(world.barriers, 1);
        fix_drain(&f);
        assert_int_equal(f.jobs_ended, 3);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void one_failure_runs_the_whole_gang_again(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 3);
        struct lineage *gang = fix_rdd(&f, 3);

        gang->barrier = true;
        fix_submit(&f, gang);
        fix_succeed(&f, 0, 0);
        fix_fail(&f, 0, 1, "x");
        assert_true(f.tasks.data[2].killed);
        assert_int_equal(world.resets, 1);
        fix_tick(&f);
        assert_int_equal(f.tasks.len, 3);              /* the third has not ended */
        fix_status(&f, 2, TASK_SUCCEEDED, NULL, NULL); /* late, ignored */
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 6);
        assert_int_equal(f.tasks.data[5].stage_attempt, 1);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(f.accepted, 4);
        fix_end(&f);
}

static void a_gang_that_keeps_failing_is_given_up(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 2);
        struct lineage *gang = fix_rdd(&f, 2);

        gang->barrier = true;
        fix_submit(&f, fix_shuffle(&f, gang, 1));
        for (int i = 0; i < 4; i++) {
                fix_fail(&f, 0, 0, "x");
                fix_status(&f, fix_running(&f, 0, 1), TASK_KILLED, "killed", NULL);
                if (i < 3)
                        fix_tick(&f);
        }
        assert_int_equal(f.result, JOB_FAILED);
        assert_non_null(strstr(buf_text(&f.message), "has failed the maximum allowable number of times: 4"));
        fix_end(&f);
}

static void a_gang_larger_than_the_cluster_is_refused(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.barrier_check_max_failures = 2;
        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 2);
        struct lineage *gang = fix_rdd(&f, 3);

        gang->barrier = true;
        fix_submit(&f, gang);
        assert_int_equal(sched_deadline(f.s), 15 * (int64_t)SECOND);
        fix_tick(&f);
        assert_int_equal(f.jobs_ended, 0);
        fix_tick(&f);
        assert_non_null(strstr(buf_text(&f.message), "[SPARK-24819]: Barrier execution mode does not allow run a"));
        fix_submit(&f, gang);
        offers_add_executor(&f, "1", "h1", 1);
        fix_tick(&f);
        assert_int_equal(f.tasks.len, 3);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_gang_is_refused_at_once_where_cores_are_lent(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.lends_cores = true;
        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 2);
        struct lineage *gang = fix_rdd(&f, 2);

        gang->barrier = true;
        fix_submit(&f, gang);
        assert_int_equal(f.result, JOB_FAILED);
        assert_int_equal(f.tasks.len, 0);
        assert_non_null(strstr(buf_text(&f.message), "[SPARK-24819]: Barrier execution mode does not allow run a"));
        assert_non_null(strstr(buf_text(&f.message), "spark.mesos.coarse=true"));
        fix_submit(&f, fix_shuffle(&f, gang, 1));
        assert_int_equal(f.jobs_ended, 2);
        assert_int_equal(f.result, JOB_FAILED);
        assert_int_equal(f.tasks.len, 0);
        fix_end(&f);
}

/* --------------------------------------------------------------------------------------- results, losses, suspects */

static void results_that_are_too_large_abort_the_stage(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_result_size = 2 << 20;
        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 3);
        fix_submit(&f, fix_rdd(&f, 3));
        assert_true(sched_result_fits(f.s, 0, 1 << 20, f.now));
        assert_true(sched_result_fits(f.s, 1, 1 << 20, f.now));
        assert_false(sched_result_fits(f.s, 2, 1 << 20, f.now));
        assert_string_equal(buf_text(&f.message),
                            "Job aborted due to stage failure: Total size of serialized results of 3 tasks (3.0 MiB) "
                            "is bigger than spark.driver.maxResultSize (2.0 MiB): " RESULT_SIZE_REMEDY);
        assert_false(sched_result_fits(f.s, 2, 1, f.now));
        fix_drain(&f);
        fix_end(&f);
}

static void the_named_suspect_runs_apart(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 2);
        offers_add_executor(&f, "1", "h5", 2);
        fix_submit(&f, fix_rdd(&f, 4));
        sched_suspect_task(f.s, 2);
        assert_int_equal(f.tasks.data[2].executor, 0);
        sched_executor_lost(f.s, 0, true, "killed by signal 11", f.now);
        for (int i = 0; i < 2; i++)
                fix_succeed_id(&f, 1 + 2 * i);
        for (size_t i = 4; i < f.tasks.len; i++)
                assert_int_equal(f.tasks.data[i].launch.crash_suspect, f.tasks.data[i].launch.index == 2);
        assert_int_equal(f.tasks.len, 6);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void decommissioned_and_disabled_executors_take_nothing_new(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h5", 1);
        sched_decommission_executor(f.s, 0, false);
        sched_disable_executor(f.s, 1);
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 0);
        assert_int_equal(sched_demand(f.s, 0).pending, 2);
        sched_enable_executor(f.s, 1);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 1);
        assert_int_equal(sched_demand(f.s, 0).pending, 1);
        assert_int_equal(sched_demand(f.s, 0).running, 1);
        assert_true(sched_kill_task(f.s, 0, true, "by hand"));
        assert_true(f.tasks.data[0].killed);
        fix_drain(&f);
        assert_false(sched_kill_task(f.s, 0, true, "by hand"));
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void lent_cores_take_one_task_each(void **state)
{
        struct fix f;

        offers_begin(&f, NULL);
        offers_add_executor(&f, "0", "h1", 8);
        sched_lend_cores(f.s, 0, 0);
        fix_submit(&f, fix_rdd(&f, 100));
        assert_int_equal(f.tasks.len, 0);
        sched_lend_cores(f.s, 0, 3);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 3); /* batches of one task */
        fix_succeed_id(&f, 0);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 3); /* its core is gone */
        sched_lend_cores(f.s, 0, 1);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 4);
        sched_lend_cores(f.s, 0, 5);
        sched_lend_cores(f.s, 0, 0); /* taken back */
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 4);
        sched_lend_cores(f.s, 7, 1); /* an unknown executor */
        sched_executor_lost(f.s, 0, false, "gone", f.now);
        sched_lend_cores(f.s, 0, 1);
        assert_int_equal(f.tasks.len, 4);
        offers_add_executor(&f, "1", "h1", 4);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void fetch_failures_from_the_decommissioned_do_not_count(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_stage_attempts = 1;
        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h5", 1);
        fix_submit(&f, fix_shuffle(&f, fix_rdd(&f, 2), 1));
        fix_succeed(&f, 0, 0);
        fix_succeed(&f, 0, 1);
        sched_decommission_executor(f.s, 0, false);
        fix_fetch_failed(&f, 1, 0, 0, 0, 0);
        assert_int_equal(f.jobs_ended, 0);
        fix_tick(&f);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_lost_host_takes_all_its_outputs(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.outputs_outlive_executors = true;
        offers_begin(&f, &config);
        offers_add_executor(&f, "0", "h1", 1);
        offers_add_executor(&f, "1", "h1", 1);
        offers_add_executor(&f, "2", "h5", 1);
        struct lineage *reduced = fix_shuffle(&f, fix_rdd(&f, 3), 1);

        fix_submit(&f, reduced);
        fix_drain(&f);
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 3);
        sched_host_lost(f.s, "h1", "worker lost", f.now);
        assert_int_equal(sched_map_outputs(f.s, 0)->available, 1);
        sched_host_lost(f.s, "unknown", NULL, f.now);
        fix_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(addresses_are_given_to_one_task_at_a_time),
                cmocka_unit_test(a_barrier_stage_is_launched_whole_or_not),
                cmocka_unit_test(one_failure_runs_the_whole_gang_again),
                cmocka_unit_test(a_gang_that_keeps_failing_is_given_up),
                cmocka_unit_test(a_gang_larger_than_the_cluster_is_refused),
                cmocka_unit_test(a_gang_is_refused_at_once_where_cores_are_lent),
                cmocka_unit_test(results_that_are_too_large_abort_the_stage),
                cmocka_unit_test(the_named_suspect_runs_apart),
                cmocka_unit_test(decommissioned_and_disabled_executors_take_nothing_new),
                cmocka_unit_test(lent_cores_take_one_task_each),
                cmocka_unit_test(fetch_failures_from_the_decommissioned_do_not_count),
                cmocka_unit_test(a_lost_host_takes_all_its_outputs),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/tasks/offers", tests, NULL, NULL);
}
