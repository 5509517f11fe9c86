/*
 * Executors needed by running and pending tasks: with second attempts, with unschedulable tasks (SPARK-31418), after
 * failed tasks and ended stages.
 */
#include "sched/allocation/executor_allocation_fixture.h"

/* ------------------------------------------------------------------------------------------------- second attempts */

static void second_attempts_count(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit_stage(&b, 1, 2);
        speculate_task(&b, 1, 0);
        assert_int_equal(bench_grow(&b), 1);
        speculate_task(&b, 1, 1);
        speculate_task(&b, 1, 2);
        assert_int_equal(bench_grow(&b), 2);
        assert_int_equal(bench_step(&b), 4);
        assert_int_equal(bench_grow(&b), 2);
        assert_int_equal(bench_target(&b), 5);
        assert_int_equal(bench_step(&b), 1);
        start_task(&b, 1, 0, 1);
        assert_int_equal(bench_grow(&b), 0);
        start_second_task(&b, 1, 1, 2);
        assert_int_equal(bench_grow(&b), 0);
        assert_int_equal(bench_target(&b), 5);
        assert_int_equal(bench_step(&b), 1);
        bench_end(&b);
}

/* A stage of 40 tasks on 10 executors of 4 cores. 30 tasks are done. */
static void thirty_of_forty(struct bench *b)
{
        b->config.tasks_per_executor = 4;
        bench_start(b, 0, 10, 0);
        submit_stage(b, 0, 40);
        assert_int_equal(bench_grow(b), 1);
        assert_int_equal(bench_grow(b), 2);
        assert_int_equal(bench_grow(b), 4);
        assert_int_equal(bench_grow(b), 3);
        add_executors(b, 0, 9);
        for (int i = 0; i < 40; i++)
                start_task(b, 0, i, i / 4);
        assert_int_equal(bench_target(b), 10);
        assert_int_equal(bench_need(b), 10);
        for (int i = 0; i < 30; i++)
                end_task(b, 0, i, i / 4);
}

/* SPARK-41192 */
static void a_task_that_ends_takes_its_second_attempt_along(void **state)
{
        struct bench b = {0};

        thirty_of_forty(&b);
        for (int i = 30; i < 40; i++)
                speculate_task(&b, 0, i);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 5);
        assert_int_equal(bench_need(&b), 5);
        for (int e = 0; e < 5; e++) {
                assert_true(drop_executor(&b, e));
                executor_gone(&b, e);
        }
        for (int i = 30; i < 35; i++)
                end_task(&b, 0, i, i / 4);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 3);
        assert_int_equal(bench_need(&b), 3);
        for (int i = 35; i < 40; i++)
                start_second_task(&b, 0, i, (i + 5) / 4);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 3);
        assert_int_equal(bench_need(&b), 3);
        for (int i = 35; i < 39; i++)
                end_task(&b, 0, i, i / 4);
        for (int i = 35; i < 39; i++)
                end_task_as(&b, 0, i, (i + 5) / 4, true, TASK_KILLED);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_need(&b), 1);
        bench_end(&b);
}

/* SPARK-30511 */
static void executors_go_as_second_attempts_end(void **state)
{
        struct bench b = {0};

        thirty_of_forty(&b);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 3);
        for (int e = 0; e <= 6; e++) {
                assert_true(drop_executor(&b, e));
                executor_gone(&b, e);
        }
        for (int i = 30; i < 40; i++)
                speculate_task(&b, 0, i);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_target(&b), 5);
        assert_int_equal(bench_need(&b), 5);
        add_executors(&b, 10, 12);
        for (int i = 30; i < 40; i++)
                start_second_task(&b, 0, i, (i + 10) / 4);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 5);
        /* six second attempts are the first to end */
        for (int i = 30; i <= 35; i++)
                end_task_as(&b, 0, i, (i + 10) / 4, true, TASK_SUCCEEDED);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 4);
        assert_int_equal(bench_need(&b), 4);
        assert_true(drop_executor(&b, 10));
        executor_gone(&b, 10);
        for (int i = 30; i <= 35; i++)
                end_task_as(&b, 0, i, i / 4, false, TASK_KILLED);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 2);
        assert_int_equal(bench_need(&b), 2);
        for (int e = 7; e <= 8; e++) {
                assert_true(drop_executor(&b, e));
                executor_gone(&b, e);
        }
        end_task(&b, 0, 36, 9);
        end_task_as(&b, 0, 36, 11, true, TASK_KILLED);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 2);
        end_task(&b, 0, 37, 9);
        end_task_as(&b, 0, 37, 11, true, TASK_SUCCEEDED);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_need(&b), 1);
        assert_true(drop_executor(&b, 11));
        executor_gone(&b, 11);
        /* one attempt of each of the last two fails, and a speculative one may not run beside the other attempt */
        end_task_as(&b, 0, 38, 9, false, TASK_FAILED);
        end_task_as(&b, 0, 39, 12, true, TASK_FAILED);
        speculate_task(&b, 0, 39);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 2);
        assert_int_equal(bench_need(&b), 2);
        start_second_task(&b, 0, 39, 12);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 1);
        end_task(&b, 0, 39, 9);
        end_task_as(&b, 0, 38, 12, true, TASK_SUCCEEDED);
        end_task_as(&b, 0, 39, 12, true, TASK_KILLED);
        complete_stage(&b, 0);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 0);
        assert_int_equal(bench_need(&b), 0);
        assert_true(drop_executor(&b, 9));
        executor_gone(&b, 9);
        assert_true(drop_executor(&b, 12));
        bench_end(&b);
}

/* ----------------------------------------------------------------------------------------- unschedulable task sets */

static void a_stage_that_may_run_nowhere_gets_an_executor(void **state)
{
        struct bench b = {.config.tasks_per_executor = 2};

        bench_start(&b, 0, 5, 0);
        submit_stage(&b, 0, 2);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_grow(&b), 0);
        add_executor(&b, 0);
        start_task(&b, 0, 0, 0);
        start_task(&b, 0, 1, 0);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_need(&b), 1);
        set_unschedulable(&b, 0, true);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 2);
        assert_int_equal(bench_need(&b), 2);
        add_executor(&b, 1);
        set_unschedulable(&b, 0, false);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_need(&b), 1);
        bench_end(&b);
}

static void several_stages_may_run_nowhere(void **state)
{
        struct bench b = {.config.tasks_per_executor = 2};

        bench_start(&b, 0, 10, 0);
        for (int s = 0; s < 3; s++)
                submit_stage(&b, s, 2);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_grow(&b), 2);
        assert_int_equal(bench_grow(&b), 0);
        add_executors(&b, 0, 2);
        for (int s = 0; s < 3; s++) {
                start_task(&b, s, 0, s / 2);
                start_task(&b, s, 1, s / 2);
        }
        assert_int_equal(bench_target(&b), 3);
        assert_int_equal(bench_need(&b), 3);
        end_task(&b, 0, 0, 0);
        end_task(&b, 0, 1, 0);
        complete_stage(&b, 0);
        set_unschedulable(&b, 1, true);
        set_unschedulable(&b, 2, true);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 4);
        assert_int_equal(bench_need(&b), 4);
        add_executor(&b, 3);
        set_unschedulable(&b, 1, false);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 4);
        assert_int_equal(bench_need(&b), 5);
        bench_end(&b);
}

static void executors_go_when_unschedulable_tasks_end(void **state)
{
        struct bench b = {.config.tasks_per_executor = 2};

        bench_start(&b, 0, 6, 0);
        submit_stage(&b, 0, 10);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_grow(&b), 2);
        assert_int_equal(bench_grow(&b), 2);
        assert_int_equal(bench_grow(&b), 0);
        add_executors(&b, 0, 4);
        for (int i = 0; i < 10; i++)
                start_task(&b, 0, i, i / 2);
        assert_int_equal(bench_target(&b), 5);
        assert_int_equal(bench_need(&b), 5);
        for (int i = 0; i < 8; i++)
                end_task(&b, 0, i, i / 2);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_need(&b), 1);
        for (int e = 0; e < 4; e++) {
                assert_true(drop_executor(&b, e));
                executor_gone(&b, e);
        }
        set_unschedulable(&b, 0, true);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 2);
        assert_int_equal(bench_need(&b), 2);
        add_executor(&b, 5);
        set_unschedulable(&b, 0, false);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_need(&b), 1);
        end_task(&b, 0, 9, 4);
        end_task(&b, 0, 8, 5);
        adjust_after(&b, SECOND);
        complete_stage(&b, 0);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 0);
        assert_int_equal(bench_need(&b), 0);
        assert_true(drop_executor(&b, 4));
        executor_gone(&b, 4);
        assert_true(drop_executor(&b, 5));
        bench_end(&b);
}

/* -------------------------------------------------------------------------------------------- what failed or ended */

static void tasks_of_ended_attempts_count_while_they_run(void **state)
{
        struct task_event second = {.attempt = 1, .executor = 1};
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit_stage(&b, 0, 5);
        start_task(&b, 0, 0, 1);
        start_task(&b, 0, 1, 1);
        complete_stage(&b, 0);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 2);
        executor_allocation_stage_submitted(b.a, &(struct stage_demand){.attempt = 1, .n_tasks = 5}, b.now);
        end_task(&b, 0, 0, 1);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 1);
        executor_allocation_task_started(b.a, &second, b.now);
        second.index = 1;
        executor_allocation_task_started(b.a, &second, b.now);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 3);
        executor_allocation_task_ended(b.a, &second, TASK_SUCCEEDED, b.now);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 2);
        end_task(&b, 0, 1, 1);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 1);
        second.index = 0;
        executor_allocation_task_ended(b.a, &second, TASK_SUCCEEDED, b.now);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 0);
        assert_int_equal(executor_allocation_demand(b.a, 0).pending, 3);
        bench_end(&b);
}

/* SPARK-8366 */
static void failed_tasks_are_needed_again(void **state)
{
        struct bench b = {0};

        bench_start(&b, 1, 5, 1);
        assert_int_equal(bench_need(&b), 0);
        submit_stage(&b, 0, 1);
        assert_int_equal(bench_need(&b), 1);
        start_task(&b, 0, 1, 1);
        assert_int_equal(bench_need(&b), 1);
        end_task_as(&b, 0, 1, 1, false, TASK_FAILED);
        assert_int_equal(bench_need(&b), 1);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        bench_end(&b);
}

/* Departures from Spark. */
static void what_comes_after_a_stage_s_end_leaves_nothing(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit_stage(&b, 0, 2);
        start_task(&b, 0, 0, 1);
        complete_stage(&b, 0);
        start_task(&b, 0, 1, 1);
        speculate_task(&b, 0, 0);
        set_unschedulable(&b, 0, true);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 2);
        assert_int_equal(executor_allocation_demand(b.a, 0).pending, 0);
        assert_int_equal(executor_allocation_demand(b.a, 0).speculative, 0);
        end_task(&b, 0, 0, 1);
        end_task(&b, 0, 1, 1);
        assert_int_equal(bench_need(&b), 0);
        submit_stage(&b, 1, 1);
        assert_int_equal(bench_need(&b), 1);
        complete_stage(&b, 1);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        bench_end(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(second_attempts_count),
                cmocka_unit_test(a_task_that_ends_takes_its_second_attempt_along),
                cmocka_unit_test(executors_go_as_second_attempts_end),
                cmocka_unit_test(a_stage_that_may_run_nowhere_gets_an_executor),
                cmocka_unit_test(several_stages_may_run_nowhere),
                cmocka_unit_test(executors_go_when_unschedulable_tasks_end),
                cmocka_unit_test(tasks_of_ended_attempts_count_while_they_run),
                cmocka_unit_test(failed_tasks_are_needed_again),
                cmocka_unit_test(what_comes_after_a_stage_s_end_leaves_nothing),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/executor_allocation_demand", tests, NULL, NULL);
}
