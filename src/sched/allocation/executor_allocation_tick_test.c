/*
 * Ticks: the add timer, which runs while tasks are pending, and the effect of a tick on the target and on idle
 * executors.
 */
#include "sched/allocation/executor_allocation_fixture.h"

static void the_add_timer_starts_once(void **state)
{
        struct bench b = {.now = 8888 * SECOND};
        int64_t first, second;

        bench_start(&b, 2, 10, 2);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        submit_stage(&b, 0, 1);
        first = executor_allocation_add_time(b.a);
        assert_int_equal(first, b.now + BACKLOG);
        b.now += SECOND / 10;
        submit_stage(&b, 1, 1);
        assert_int_equal(executor_allocation_add_time(b.a), first);
        start_task(&b, 0, 0, 1);
        assert_int_equal(executor_allocation_add_time(b.a), first);
        start_task(&b, 1, 0, 1);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        b.now += SECOND;
        submit_stage(&b, 2, 1);
        second = executor_allocation_add_time(b.a);
        assert_int_equal(second, b.now + BACKLOG);
        assert_true(second != first);
        complete_stage(&b, 0);
        complete_stage(&b, 1);
        assert_int_equal(executor_allocation_add_time(b.a), second);
        complete_stage(&b, 2);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        bench_end(&b);
}

static void without_events_nothing_changes(void **state)
{
        struct bench b = {.now = 2020 * SECOND};

        bench_start(&b, 0, 20, 0);
        for (int64_t after = SECOND / 10; after <= 100 * SECOND; after *= 10) {
                tick_after(&b, after);
                assert_int_equal(bench_target(&b), 0);
                assert_int_equal(bench_killed(&b), 0);
                assert_int_equal(executor_allocation_deadline(b.a), INT64_MAX);
        }
        assert_int_equal(b.requests, 1);
        bench_end(&b);
}

static void ticks_grow_while_tasks_wait(void **state)
{
        struct bench b = {.now = 2020 * SECOND};

        bench_start(&b, 0, 20, 0);
        submit_stage(&b, 0, 1000);
        tick_after(&b, BACKLOG / 2);
        assert_int_equal(bench_target(&b), 0);
        assert_int_equal(executor_allocation_deadline(b.a), b.now + BACKLOG / 2);
        tick_after(&b, BACKLOG);
        assert_int_equal(bench_target(&b), 1);
        tick_after(&b, SUSTAINED / 2);
        assert_int_equal(bench_target(&b), 1);
        tick_after(&b, SUSTAINED);
        assert_int_equal(bench_target(&b), 1 + 2);
        tick_after(&b, SUSTAINED);
        assert_int_equal(bench_target(&b), 1 + 2 + 4);
        /* no task is pending */
        for (int i = 0; i < 1000; i++)
                start_task(&b, 0, i, i % 7);
        tick_after(&b, SUSTAINED);
        assert_int_equal(bench_target(&b), 7);
        tick_after(&b, SUSTAINED);
        assert_int_equal(bench_target(&b), 7);
        /* a task failed and is pending */
        end_task_as(&b, 0, 0, 0, false, TASK_FAILED);
        tick_after(&b, BACKLOG);
        assert_int_equal(bench_target(&b), 7 + 1);
        tick_after(&b, SUSTAINED);
        assert_int_equal(bench_target(&b), 7 + 1 + 2);
        tick_after(&b, SUSTAINED);
        assert_int_equal(bench_target(&b), 7 + 1 + 2 + 4);
        tick_after(&b, SUSTAINED);
        assert_int_equal(bench_target(&b), 20);
        bench_end(&b);
}

/* Returns the number of executors killed or decommissioned. */
static int leaving(struct bench *b)
{
        struct executor_count count = executor_monitor_total(b->m);

        if (b->config.decommission)
                assert_int_equal(count.killed, 0);
        else
                assert_int_equal(count.decommissioned, 0);
        return count.killed + count.decommissioned;
}

static void ticks_remove(bool decommission)
{
        struct bench b = {.now = 2020 * SECOND, .config.decommission = decommission};

        bench_start(&b, 1, 20, 1);
        add_executors(&b, 1, 3);
        tick_after(&b, IDLE / 2);
        assert_int_equal(leaving(&b), 0);
        assert_int_equal(executor_allocation_deadline(b.a), b.now + IDLE / 2);
        tick_after(&b, IDLE);
        assert_int_equal(leaving(&b), 2);
        assert_true(b.decommissions == decommission);
        add_executors(&b, 4, 7);
        assert_int_equal(executor_monitor_total(b.m).all, 7);
        for (int e = 4; e <= 6; e++)
                start_task(&b, 1, e, e);
        /* the remaining one may be removed now, because there are others */
        assert_true(executor_allocation_deadline(b.a) <= b.now + EXECUTOR_ALLOCATION_INTERVAL);
        tick_after(&b, 0);
        assert_int_equal(leaving(&b), 3);
        tick_after(&b, IDLE);
        assert_int_equal(leaving(&b), 4);
        for (int e = 4; e <= 6; e++) {
                assert_int_equal(executor_monitor_leaving(b.m, e), EXECUTOR_STAYS);
                end_task(&b, 1, e, e);
        }
        tick_after(&b, 0);
        assert_int_equal(leaving(&b), 4);
        tick_after(&b, IDLE);
        assert_int_equal(leaving(&b), 6);
        bench_end(&b);
}

static void ticks_give_back_idle_executors(void **state)
{
        ticks_remove(false);
}

static void ticks_decommission_idle_executors(void **state)
{
        ticks_remove(true);
}

static void the_timer_runs_while_tasks_wait(void **state)
{
        struct bench b = {0};

        bench_start(&b, 1, 20, 1);
        submit_stage(&b, 0, 10);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        for (int i = 1; i < 10; i++)
                start_task(&b, 0, i, 1);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        start_task(&b, 0, 0, 1);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        submit_stage(&b, 1, 10);
        submit_stage(&b, 2, 10);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        for (int i = 0; i < 10; i++)
                start_task(&b, 1, i, 1);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        for (int i = 0; i < 10; i++)
                start_task(&b, 2, i, 1);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        bench_end(&b);
}

static void the_initial_number_stays_until_the_first_stage(void **state)
{
        struct bench b = {.now = 10000 * SECOND};

        bench_start(&b, 2, 5, 3);
        tick_after(&b, 0);
        assert_int_equal(bench_target(&b), 3);
        submit_stage(&b, 1, 2);
        assert_int_equal(bench_need(&b), 2);
        tick_after(&b, SECOND / 10);
        assert_int_equal(bench_target(&b), 2);
        bench_end(&b);
}

static void the_initial_number_stays_until_executors_were_idle(void **state)
{
        struct bench b = {.now = 10000 * SECOND};

        bench_start(&b, 2, 5, 3);
        tick_after(&b, 0);
        assert_int_equal(bench_target(&b), 3);
        add_executors(&b, 0, 2);
        assert_int_equal(bench_need(&b), 0);
        tick_after(&b, IDLE);
        assert_int_equal(bench_target(&b), 2);
        bench_end(&b);
}

/* SPARK-26758 */
static void idle_executors_lower_the_target_first(void **state)
{
        struct bench b = {.now = 10000 * SECOND};

        bench_start(&b, 1, 5, 3);
        add_executors(&b, 1, 3);
        tick_after(&b, IDLE);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(bench_killed(&b), 2);
        bench_end(&b);
}

static void an_unreachable_cluster_manager_is_asked_again(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit_stage(&b, 0, 10);
        b.unreachable = true;
        tick_after(&b, BACKLOG);
        assert_int_equal(bench_target(&b), 0);
        assert_int_equal(executor_allocation_deadline(b.a), b.now + EXECUTOR_ALLOCATION_INTERVAL);
        b.unreachable = false;
        tick_after(&b, EXECUTOR_ALLOCATION_INTERVAL);
        assert_int_equal(bench_target(&b), 1);
        assert_int_equal(b.target, 1);
        bench_end(&b);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_add_timer_starts_once),
                cmocka_unit_test(without_events_nothing_changes),
                cmocka_unit_test(ticks_grow_while_tasks_wait),
                cmocka_unit_test(ticks_give_back_idle_executors),
                cmocka_unit_test(ticks_decommission_idle_executors),
                cmocka_unit_test(the_timer_runs_while_tasks_wait),
                cmocka_unit_test(the_initial_number_stays_until_the_first_stage),
                cmocka_unit_test(the_initial_number_stays_until_executors_were_idle),
                cmocka_unit_test(idle_executors_lower_the_target_first),
                cmocka_unit_test(an_unreachable_cluster_manager_is_asked_again),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/executor_allocation_tick", tests, NULL, NULL);
}
