/* The cases of Spark's TaskSchedulerImplSuite and TaskSetManagerSuite for offers, failures and kills, and cases for
 * batches of tasks. */
#include "sched/sched_fixture.h"

#include "base/log.h"

static int running_on(const struct fix *f, int executor)
{
        int count = 0;

        for (size_t i = 0; i < f->tasks.len; i++)
                count += f->tasks.data[i].executor == executor && !f->tasks.data[i].ended;
        return count;
}

/* --------------------------------------------------------------------------------------------------- offers */

static void tasks_spread_over_executors(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 3, 4);
        fix_submit(&f, fix_rdd(&f, 6));
        for (int e = 0; e < 3; e++)
                assert_int_equal(running_on(&f, e), 2);
        fix_drain(&f);
        fix_end(&f);
}

static void a_task_takes_its_cpus(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.task_cpus = 2;
        fix_begin(&f, &config, 1, 5);
        sched_add_executor(f.s, "small", "host", 1, 0);
        fix_submit(&f, fix_rdd(&f, 9));
        assert_int_equal(running_on(&f, 0), 2);
        assert_int_equal(running_on(&f, 1), 0);
        fix_succeed(&f, 0, 0);
        assert_int_equal(running_on(&f, 0), 2);
        fix_drain(&f);
        assert_int_equal(f.s->tasks.executors.at.data[0].free, 5);
        fix_end(&f);
}

static void an_executor_id_is_taken_while_it_lives(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        assert_int_equal(sched_add_executor(f.s, "0", "host", 1, 0), -EEXIST);
        sched_executor_lost(f.s, 0, false, NULL, 0);
        assert_int_equal(sched_add_executor(f.s, "0", "other", 1, 0), 1);
        assert_string_equal(sched_executor_host(f.s, 1), "other");
        assert_string_equal(sched_executor_id(f.s, 2), "?");
        assert_string_equal(sched_executor_id(f.s, -1), "?");
        fix_end(&f);
}

static void a_disabled_executor_finishes_what_it_has(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        fix_submit(&f, fix_rdd(&f, 4));
        sched_disable_executor(f.s, 0);
        fix_succeed(&f, 0, 0);
        assert_int_equal(running_on(&f, 0), 0);
        assert_int_equal(running_on(&f, 1), 1);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        for (size_t i = 1; i < f.tasks.len; i++)
                assert_int_equal(f.tasks.data[i].executor, 1);
        fix_end(&f);
}

static void an_executor_that_joins_later_is_used(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 0, 0);
        fix_submit(&f, fix_rdd(&f, 2));
        assert_int_equal(f.tasks.len, 0);
        sched_add_executor(f.s, "x", "host", 2, f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(f.tasks.len, 2);
        fix_drain(&f);
        fix_end(&f);
}

static void fifo_serves_the_older_job_first(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 2);
        struct lineage *rdd = fix_rdd(&f, 3);

        fix_submit(&f, rdd);
        fix_submit(&f, rdd);
        fix_succeed(&f, 0, 0);
        assert_int_equal(f.tasks.data[2].stage, 0);
        fix_succeed(&f, 0, 1);
        assert_int_equal(f.tasks.data[3].stage, 1);
        fix_fail(&f, 0, 2, "x"); /* a retry of the older job goes first */
        assert_int_equal(f.tasks.data[4].stage, 0);
        fix_drain(&f);
        fix_end(&f);
}

static void fair_pools_share_cores(void **state)
{
        struct fix f;
        struct pool_spec pools[] = {{"a", SCHEDULING_FIFO, 0, 1}, {"b", SCHEDULING_FIFO, 0, 3}};
        struct sched_config config = SCHED_CONFIG_DEFAULT;
        int b = 0;

        config.mode = SCHEDULING_FAIR;
        config.pools = pools;
        config.n_pools = 2;
        fix_begin(&f, &config, 0, 0);
        struct lineage *rdd = fix_rdd(&f, 20);

        fix_submit_with(&f, rdd, "spark.scheduler.pool", "a");
        fix_submit_with(&f, rdd, "spark.scheduler.pool", "b");
        sched_add_executor(f.s, "x", "host", 8, 0);
        sched_revive(f.s, 0);
        for (size_t i = 0; i < f.tasks.len; i++)
                b += f.tasks.data[i].stage == 1;
        assert_int_equal(f.tasks.len, 8);
        assert_int_equal(b, 6);
        fix_drain(&f);
        fix_end(&f);
}

/* ------------------------------------------------------------------------------------------------- failures */

static void kills_and_denied_commits_do_not_count(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_failures = 1;
        fix_begin(&f, &config, 1, 1);
        fix_submit(&f, fix_rdd(&f, 1));
        for (int i = 0; i < 5; i++) {
                fix_status(&f, fix_running(&f, 0, 0), i % 2 ? TASK_KILLED : TASK_COMMIT_DENIED, "no", NULL);
                sched_revive(f.s, f.now);
        }
        assert_int_equal(f.tasks.data[5].launch.attempt, 5);
        fix_succeed(&f, 0, 0);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void failures_count_for_each_task_alone(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_failures = 2;
        fix_begin(&f, &config, 1, 2);
        fix_submit(&f, fix_rdd(&f, 2));
        fix_fail(&f, 0, 0, "x");
        fix_fail(&f, 0, 1, "x");
        assert_int_equal(f.jobs_ended, 0);
        fix_fail(&f, 0, 1, "y");
        assert_string_equal(buf_text(&f.message),
                            "Job aborted due to stage failure: Task 1 in stage 0.0 failed 2 times, most recent "
                            "failure: Lost task 1.1 in stage 0.0 (TID 3) (host executor 0): y");
        fix_drain(&f);
        fix_end(&f);
}

static void statuses_after_the_end_are_ignored(void **state)
{
        struct fix f;
        struct task_status status = {.task_id = 0, .state = TASK_FAILED};

        fix_begin(&f, NULL, 1, 1);
        fix_submit(&f, fix_rdd(&f, 2));
        fix_status(&f, 0, TASK_SUCCEEDED, NULL, NULL);
        for (int i = 0; i < 9; i++)
                sched_update_status(f.s, &status, 1, f.now);
        status.task_id = 12345;
        sched_update_status(f.s, &status, 1, f.now);
        status.task_id = -1;
        sched_update_status(f.s, &status, 1, f.now);
        status = (struct task_status){.task_id = 0, .state = TASK_SUCCEEDED, .output = 77};
        sched_update_status(f.s, &status, 1, f.now);
        assert_int_equal(f.outputs_removed, 1); /* the handle is released */
        sched_revive(f.s, f.now);
        fix_drain(&f);
        assert_int_equal(f.accepted, 2);
        assert_int_equal(f.tasks.len, 2);
        fix_end(&f);
}

static void a_look_tells_of_running_tasks(void **state)
{
        struct fix f;
        struct task_attempt_info info;

        fix_begin(&f, NULL, 1, 2);
        fix_submit(&f, fix_rdd(&f, 2));
        assert_true(sched_task(f.s, 1, &info));
        assert_int_equal(info.index, 1);
        assert_int_equal(info.executor, 0);
        assert_int_equal(info.state, TASK_RUNNING);
        assert_true(sched_result_is_needed(f.s, 1));
        fix_succeed(&f, 0, 1);
        assert_false(sched_task(f.s, 1, &info));
        assert_false(sched_result_is_needed(f.s, 1));
        assert_false(sched_task(f.s, 2, &info));
        sched_cancel_all(f.s, f.now);
        assert_true(sched_task(f.s, 0, &info));
        assert_false(sched_result_is_needed(f.s, 0));
        fix_drain(&f);
        fix_end(&f);
}

static void a_lost_executor_charges_only_its_own_fault(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_failures = 1;
        fix_begin(&f, &config, 3, 1);
        fix_submit(&f, fix_rdd(&f, 3));
        sched_executor_lost(f.s, 0, false, "preempted", f.now);
        sched_executor_lost(f.s, 0, true, "again", f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(f.jobs_ended, 0);
        sched_executor_lost(f.s, 1, true, "killed by signal 11", f.now);
        assert_string_equal(buf_text(&f.message),
                            "Job aborted due to stage failure: Task 1 in stage 0.0 failed 1 times, most recent "
                            "failure: Lost task 1.0 in stage 0.0 (TID 1) (host executor 1): ExecutorLostFailure "
                            "(executor 1 exited caused by one of the running tasks) Reason: killed by signal 11");
        fix_drain(&f);
        fix_end(&f);
}

/* ---------------------------------------------------------------------------------------------------- runs */

/* Returns the sizes of the launched batches, in order. */
static int run_size(const struct fix *f, int run)
{
        int count = 0;

        for (size_t i = 0; i < f->tasks.len; i++)
                count += f->tasks.data[i].run == run;
        return count;
}

static void runs_grow_with_knowledge_and_shrink_at_the_end(void **state)
{
        struct fix f;
        int largest = 0;

        fix_begin(&f, NULL, 1, 2);
        f.run_ns = 1000;
        fix_submit(&f, fix_rdd(&f, 20000));
        assert_int_equal(f.tasks.len, 2); /* durations are unknown: one task each */
        fix_succeed(&f, 0, 0);
        assert_int_equal(run_size(&f, 2), 2);
        fix_drain(&f);
        assert_int_equal(f.accepted, 20000);
        assert_int_equal(f.tasks.len, 20000);
        for (int i = 0; i < f.runs; i++)
                largest = MAX(largest, run_size(&f, i));
        assert_int_equal(largest, 256);
        assert_int_equal(run_size(&f, f.runs - 1), 1);
        assert_in_range(f.runs, 80, 130);
        fix_end(&f);
}

static void a_run_holds_its_target_of_work(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        f.run_ns = 50000; /* 14 of them are 0.7 ms */
        fix_submit(&f, fix_rdd(&f, 5000));
        for (int i = 0; i < 100; i++)
                fix_succeed_id(&f, i);
        assert_int_equal(run_size(&f, f.runs - 1), 14);
        f.run_ns = 5000000;
        for (int i = 100; i < 200; i++)
                fix_succeed_id(&f, i);
        assert_int_equal(run_size(&f, f.runs - 1), 1);
        fix_drain(&f);
        fix_end(&f);
}

static void a_core_is_free_when_its_run_has_ended(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        f.run_ns = 1000;
        fix_submit(&f, fix_rdd(&f, 1000));
        fix_succeed(&f, 0, 0);
        assert_int_equal(fix_count_running(&f), 2);
        fix_succeed(&f, 0, 1);
        assert_int_equal(fix_count_running(&f), 1);
        fix_succeed(&f, 0, 2);
        assert_int_equal(fix_count_running(&f), 6); /* three durations are known */
        fix_drain(&f);
        fix_end(&f);
}

static void a_core_is_released_once_while_outputs_are_stored(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        fix_submit(&f, fix_rdd(&f, 4));
        assert_int_equal(fix_count_running(&f), 1);
        sched_release_core(f.s, 0, f.now);
        sched_release_core(f.s, 0, f.now);
        sched_release_core(f.s, 12345, f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(fix_count_running(&f), 2);
        fix_succeed_id(&f, 0); /* the core has the second task */
        assert_int_equal(fix_count_running(&f), 1);
        sched_release_core(f.s, 0, f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(fix_count_running(&f), 1);
        sched_release_core(f.s, 1, f.now);
        sched_revive(f.s, f.now);
        assert_true(sched_kill_task(f.s, 1, true, "the test says so"));
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        assert_int_equal(f.s->tasks.executors.at.data[0].free, 1);
        fix_end(&f);
}

static void a_released_core_is_lost_with_its_executor(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 2, 1);
        fix_submit(&f, fix_rdd(&f, 3));
        sched_release_core(f.s, 0, f.now);
        sched_executor_lost(f.s, f.tasks.data[0].executor, true, "the test says so", f.now);
        sched_release_core(f.s, 0, f.now);
        sched_revive(f.s, f.now);
        assert_int_equal(fix_count_running(&f), 1);
        fix_drain(&f);
        assert_int_equal(f.result, JOB_SUCCEEDED);
        fix_end(&f);
}

static void a_retry_goes_first_and_alone(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 1);
        f.run_ns = 1000;
        fix_submit(&f, fix_rdd(&f, 1000));
        while (f.tasks.len < 500)
                fix_succeed_id(&f, (int64_t)f.tasks.len - fix_count_running(&f));
        int index = (int)f.tasks.len - 1, size = fix_count_running(&f);

        assert_in_range(size, 2, 256);
        for (int i = 1; i < size; i++)
                fix_succeed(&f, 0, index - size + i);
        fix_fail(&f, 0, index, "x");
        assert_int_equal(fix_count_running(&f), 1);
        assert_int_equal(f.tasks.data[f.tasks.len - 1].launch.index, index);
        assert_int_equal(f.tasks.data[f.tasks.len - 1].launch.attempt, 1);
        fix_drain(&f);
        assert_int_equal(f.accepted, 1000);
        fix_end(&f);
}

static void a_lost_run_charges_the_task_it_was_at(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_failures = 1;
        fix_begin(&f, &config, 1, 1);
        f.run_ns = 1000;
        fix_submit(&f, fix_rdd(&f, 1000));
        fix_succeed(&f, 0, 0);
        fix_succeed(&f, 0, 1);
        fix_succeed(&f, 0, 2);
        fix_succeed(&f, 0, 3); /* of a batch of 3 to 8 */
        sched_executor_lost(f.s, 0, true, "crash", f.now);
        assert_int_equal(f.lost, 5);
        assert_string_equal(buf_text(&f.message),
                            "Job aborted due to stage failure: Task 4 in stage 0.0 failed 1 times, most recent "
                            "failure: Lost task 4.0 in stage 0.0 (TID 4) (host executor 0): ExecutorLostFailure "
                            "(executor 0 exited caused by one of the running tasks) Reason: crash");
        fix_end(&f);
}

static void runs_can_be_switched_off(void **state)
{
        struct fix f;
        struct sched_config config = SCHED_CONFIG_DEFAULT;

        config.max_run = 1;
        fix_begin(&f, &config, 1, 2);
        f.run_ns = 10;
        fix_submit(&f, fix_rdd(&f, 300));
        fix_drain(&f);
        assert_int_equal(f.runs, 300);
        fix_end(&f);
}

static void ids_of_tasks_outlive_their_table_chunks(void **state)
{
        struct fix f;

        fix_begin(&f, NULL, 1, 2);
        f.run_ns = 1000;
        struct lineage *rdd = fix_rdd(&f, 5000), *one = fix_rdd(&f, 1);

        fix_submit(&f, one); /* task 0 runs all the time */
        for (int i = 0; i < 4; i++) {
                fix_submit(&f, rdd);
                for (size_t k = 1; k < f.tasks.len; k++)
                        if (!f.tasks.data[k].ended)
                                fix_succeed_id(&f, (int64_t)k);
        }
        assert_int_equal(f.jobs_ended, 4);
        fix_status(&f, 0, TASK_SUCCEEDED, NULL, NULL);
        assert_int_equal(f.jobs_ended, 5);
        assert_int_equal(f.accepted, 20001);
        assert_true(f.s->tasks.tasks.base > 0 || f.s->tasks.tasks.chunks.len == 20);
        fix_end(&f);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tasks_spread_over_executors),
                cmocka_unit_test(a_task_takes_its_cpus),
                cmocka_unit_test(an_executor_id_is_taken_while_it_lives),
                cmocka_unit_test(a_disabled_executor_finishes_what_it_has),
                cmocka_unit_test(an_executor_that_joins_later_is_used),
                cmocka_unit_test(fifo_serves_the_older_job_first),
                cmocka_unit_test(fair_pools_share_cores),
                cmocka_unit_test(kills_and_denied_commits_do_not_count),
                cmocka_unit_test(failures_count_for_each_task_alone),
                cmocka_unit_test(statuses_after_the_end_are_ignored),
                cmocka_unit_test(a_look_tells_of_running_tasks),
                cmocka_unit_test(a_lost_executor_charges_only_its_own_fault),
                cmocka_unit_test(runs_grow_with_knowledge_and_shrink_at_the_end),
                cmocka_unit_test(a_run_holds_its_target_of_work),
                cmocka_unit_test(a_core_is_free_when_its_run_has_ended),
                cmocka_unit_test(a_core_is_released_once_while_outputs_are_stored),
                cmocka_unit_test(a_released_core_is_lost_with_its_executor),
                cmocka_unit_test(a_retry_goes_first_and_alone),
                cmocka_unit_test(a_lost_run_charges_the_task_it_was_at),
                cmocka_unit_test(runs_can_be_switched_off),
                cmocka_unit_test(ids_of_tasks_outlive_their_table_chunks),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/tasks/task_scheduler", tests, NULL, NULL);
}
