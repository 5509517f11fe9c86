/* Removal of executors, and its limits. */
#include "sched/allocation/executor_allocation_fixture.h"

static void requests_that_are_not_needed_are_cancelled(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit_stage(&b, 2, 5);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_grow(&b), 2);
        start_task(&b, 2, 0, 1);
        assert_int_equal(bench_step(&b), 4);
        assert_int_equal(bench_grow(&b), 2);
        start_task(&b, 2, 0, 1);
        end_task(&b, 2, 0, 1);
        end_task(&b, 2, 0, 1);
        assert_int_equal(bench_adjust(&b), -1);
        assert_int_equal(b.target, 4);
        bench_end(&b);
}

static void executors_go_until_the_least_number(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 10, 5);
        add_executors(&b, 1, 10);
        assert_true(drop_executor(&b, 1));
        assert_int_equal(bench_killed(&b), 1);
        assert_true(is_killed(&b, 1));
        assert_true(drop_executor(&b, 2));
        assert_true(drop_executor(&b, 3));
        assert_int_equal(bench_killed(&b), 3);
        assert_true(drop_executor(&b, 4));
        assert_true(drop_executor(&b, 5));
        assert_false(drop_executor(&b, 6));
        assert_int_equal(bench_killed(&b), 5);
        assert_false(is_killed(&b, 6));
        executor_gone(&b, 1);
        executor_gone(&b, 2);
        executor_gone(&b, 3);
        executor_gone(&b, 2); /* reported twice */
        executor_gone(&b, 3);
        assert_int_equal(bench_killed(&b), 2);
        executor_gone(&b, 4);
        executor_gone(&b, 5);
        assert_int_equal(bench_killed(&b), 0);
        assert_false(drop_executor(&b, 7));
        assert_false(drop_executor(&b, 8));
        assert_int_equal(bench_killed(&b), 0);
        bench_end(&b);
}

static void several_executors_go_at_once(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 10, 5);
        add_executors(&b, 1, 10);
        assert_true(drop_executor(&b, 1));
        assert_int_equal(drop_two_executors(&b, 2, 3), 2);
        assert_true(drop_executor(&b, 4));
        assert_int_equal(drop_two_executors(&b, 5, 6), 1);
        assert_true(is_killed(&b, 5));
        assert_false(is_killed(&b, 6));
        assert_int_equal(bench_killed(&b), 5);
        for (int e = 1; e <= 5; e++)
                executor_gone(&b, e);
        assert_int_equal(bench_killed(&b), 0);
        assert_int_equal(drop_two_executors(&b, 7, 8), 0);
        assert_int_equal(bench_killed(&b), 0);
        bench_end(&b);
}

static void the_least_number_is_each_profile_s(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 10, 5);
        submit_stage_for(&b, 1, 10, 1, 4);
        submit_stage_for(&b, 2, 10, 2, 1);
        for (int e = 1; e <= 10; e++) {
                executor_monitor_added(b.m, e, NULL, 1, b.now);
                executor_monitor_added(b.m, 10 + e, NULL, 2, b.now);
                executor_monitor_added(b.m, 20 + e, NULL, 0, b.now);
        }
        assert_true(drop_executor_of(&b, 1, 1));
        assert_true(drop_executor_of(&b, 11, 2));
        assert_true(drop_executor_of(&b, 2, 1));
        assert_true(drop_executor_of(&b, 21, 0));
        assert_true(drop_executor_of(&b, 3, 1));
        assert_true(drop_executor_of(&b, 4, 1));
        assert_true(drop_executor_of(&b, 5, 1));
        assert_false(drop_executor_of(&b, 6, 1));
        assert_int_equal(bench_killed(&b), 7);
        for (int e = 1; e <= 5; e++)
                executor_gone(&b, e);
        assert_int_equal(bench_killed(&b), 2);
        assert_true(is_killed(&b, 11));
        assert_true(is_killed(&b, 21));
        assert_false(drop_executor_of(&b, 7, 1));
        assert_false(drop_executor_of(&b, 8, 1));
        for (int e = 12; e <= 15; e++)
                assert_true(drop_executor_of(&b, e, 2));
        assert_false(drop_executor_of(&b, 16, 2));
        assert_int_equal(bench_killed(&b), 6);
        for (int e = 11; e <= 15; e++)
                executor_gone(&b, e);
        assert_int_equal(bench_killed(&b), 1);
        assert_false(drop_executor_of(&b, 21, EXECUTOR_PROFILE_UNKNOWN));
        bench_end(&b);
}

static void the_target_keeps_executors(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 12, 5);
        submit_stage(&b, 0, 8);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_grow(&b), 2);
        add_executors(&b, 1, 8);
        for (int i = 1; i <= 8; i++)
                start_task(&b, 0, i, i);
        assert_int_equal(executor_monitor_total(b.m).all, 8);
        assert_int_equal(bench_target(&b), 8);
        assert_int_equal(bench_need(&b), 8);
        assert_false(drop_executor(&b, 1));
        for (int i = 1; i <= 3; i++)
                end_task(&b, 0, i, i);
        bench_adjust(&b);
        assert_int_equal(executor_monitor_total(b.m).all, 8);
        assert_int_equal(bench_target(&b), 5);
        assert_int_equal(bench_need(&b), 5);
        assert_true(drop_executor(&b, 1));
        assert_int_equal(drop_two_executors(&b, 2, 3), 2);
        for (int e = 1; e <= 3; e++)
                executor_gone(&b, e);
        end_task(&b, 0, 4, 4);
        assert_int_equal(executor_monitor_total(b.m).all, 5);
        assert_int_equal(bench_target(&b), 5);
        assert_int_equal(bench_need(&b), 4);
        assert_false(drop_executor(&b, 4));
        assert_int_equal(bench_grow(&b), 0);
        bench_end(&b);
}

static void growing_and_shrinking_by_turns(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 12, 5);
        submit_stage(&b, 0, 1000);
        assert_int_equal(bench_grow(&b), 1);
        assert_int_equal(bench_grow(&b), 2);
        add_executors(&b, 1, 8);
        assert_int_equal(bench_target(&b), 8);
        assert_false(drop_executor(&b, 1));
        assert_int_equal(drop_two_executors(&b, 2, 3), 0);
        add_executors(&b, 9, 12);
        assert_int_equal(executor_monitor_total(b.m).all, 12);
        assert_int_equal(bench_target(&b), 8);
        assert_true(drop_executor(&b, 1));
        assert_int_equal(drop_two_executors(&b, 2, 3), 2);
        assert_true(drop_executor(&b, 4));
        assert_false(drop_executor(&b, 5));
        assert_false(drop_executor(&b, 6));
        for (int e = 1; e <= 4; e++)
                executor_gone(&b, e);
        assert_int_equal(executor_monitor_total(b.m).all, 8);
        assert_false(drop_executor(&b, 7));
        add_executors(&b, 13, 16);
        assert_int_equal(executor_monitor_total(b.m).all, 12);
        assert_int_equal(drop_two_executors(&b, 5, 6), 2);
        assert_int_equal(drop_two_executors(&b, 7, 8), 2);
        executor_gone(&b, 5);
        executor_gone(&b, 6);
        assert_int_equal(executor_monitor_total(b.m).all, 10);
        assert_int_equal(bench_step(&b), 4);
        executor_gone(&b, 9);
        executor_gone(&b, 10);
        assert_int_equal(bench_grow(&b), 4);
        add_executors(&b, 17, 18);
        assert_int_equal(executor_monitor_total(b.m).all, 10);
        assert_int_equal(bench_grow(&b), 0);
        add_executors(&b, 19, 20);
        assert_int_equal(executor_monitor_total(b.m).all, 12);
        assert_int_equal(bench_target(&b), 12);
        bench_end(&b);
}

/* SPARK-23365 */
static void giving_back_an_executor_changes_no_target(void **state)
{
        struct bench b = {0};

        bench_start(&b, 1, 2, 1);
        add_executor(&b, 1);
        submit_stage(&b, 0, 2);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 2);
        start_task(&b, 0, 0, 1);
        add_executor(&b, 2);
        start_task(&b, 0, 1, 2);
        end_task(&b, 0, 0, 1);
        assert_int_equal(bench_need(&b), 1);
        assert_int_equal(bench_target(&b), 2);
        adjust_after(&b, SECOND);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_killed(&b), 0);
        tick_after(&b, IDLE);
        assert_int_equal(bench_need(&b), 1);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(b.target, 1);
        assert_int_equal(bench_killed(&b), 1);
        assert_true(is_killed(&b, 1));
        bench_end(&b);
}

static void a_refused_removal_is_asked_again(void **state)
{
        struct bench b = {.config.tasks_per_executor = 1};

        bench_start(&b, 0, 10, 0);
        add_executors(&b, 1, 2);
        b.refused = 1;
        tick_after(&b, IDLE);
        assert_int_equal(bench_killed(&b), 1);
        assert_true(is_killed(&b, 2));
        assert_int_equal(executor_allocation_deadline(b.a), b.now + EXECUTOR_ALLOCATION_INTERVAL);
        tick_after(&b, EXECUTOR_ALLOCATION_INTERVAL);
        assert_int_equal(bench_killed(&b), 1);
        b.refused = -1;
        tick_after(&b, EXECUTOR_ALLOCATION_INTERVAL);
        assert_int_equal(bench_killed(&b), 2);
        bench_end(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(requests_that_are_not_needed_are_cancelled),
                cmocka_unit_test(executors_go_until_the_least_number),
                cmocka_unit_test(several_executors_go_at_once),
                cmocka_unit_test(the_least_number_is_each_profile_s),
                cmocka_unit_test(the_target_keeps_executors),
                cmocka_unit_test(growing_and_shrinking_by_turns),
                cmocka_unit_test(giving_back_an_executor_changes_no_target),
                cmocka_unit_test(a_refused_removal_is_asked_again),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/executor_allocation_removal", tests, NULL, NULL);
}
