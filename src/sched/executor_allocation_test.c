/*
 * What Spark's ExecutorAllocationManagerSuite pins, with a clock of the test's own; and how the configuration is read.
 * Where that suite calls "add executors", the clock goes to the add timer's end here.
 */
#include "sched/executor_allocation.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "conf/conf.h"
#include "sched/executor_allocation_conf.h"

#define SECOND INT64_C(1000000000)
#define BACKLOG SECOND
#define SUSTAINED (2 * SECOND)
#define IDLE (3 * SECOND)
#define NOT_SET INT64_MAX

struct bench {
        struct executor_allocation_config config;
        struct executor_allocation *a;
        struct executor_monitor *m;
        int64_t now;
        int requests;       /* how often request_total was called */
        int target;         /* of the default profile, in the last one */
        bool unreachable;   /* request_total fails */
        int refused;        /* remove does not take this executor */
        bool decommissions; /* what the last removal said */
};

static bool request_total(void *owner, const struct executor_request *requests, int n)
{
        struct bench *b = owner;

        b->requests++;
        assert_true(n > 0 && requests[0].profile == 0);
        if (!b->unreachable)
                b->target = requests[0].target;
        return !b->unreachable;
}

static int remove_executors(void *owner, const int32_t *executors, int n, bool decommission, int32_t *accepted)
{
        struct bench *b = owner;
        int taken = 0;

        b->decommissions = decommission;
        for (int i = 0; i < n; i++)
                if (executors[i] != b->refused)
                        accepted[taken++] = executors[i];
        return taken;
}

static const struct executor_allocation_ops ops = {.request_total = request_total, .remove = remove_executors};

/* @b zeroed but for what of its config is wanted otherwise. */
static void bench_start(struct bench *b, int min, int max, int initial)
{
        b->config.min = min;
        b->config.max = max;
        b->config.initial = initial;
        b->config.backlog_timeout = BACKLOG;
        b->config.sustained_timeout = SUSTAINED;
        b->config.ratio = b->config.ratio > 0 ? b->config.ratio : 1;
        b->config.tasks_per_executor = MAX(1, b->config.tasks_per_executor);
        b->config.monitor = (struct executor_monitor_config){.idle = IDLE, .cached = IDLE, .shuffle = IDLE};
        b->refused = -1;
        b->a = executor_allocation_new(&b->config, &ops, b);
        b->m = executor_allocation_monitor(b->a);
        executor_allocation_start(b->a);
}

static void bench_end(struct bench *b)
{
        executor_allocation_free(b->a);
}

static void submit_for(struct bench *b, int stage, int n_tasks, int profile, int tasks_per_executor)
{
        executor_allocation_stage_submitted(b->a,
                                            &(struct stage_demand){.stage = stage,
                                                                   .n_tasks = n_tasks,
                                                                   .profile = profile,
                                                                   .tasks_per_executor = tasks_per_executor},
                                            b->now);
}

static void submit(struct bench *b, int stage, int n_tasks)
{
        submit_for(b, stage, n_tasks, 0, 0);
}

static void complete(struct bench *b, int stage)
{
        executor_allocation_stage_completed(b->a, stage, 0);
}

static void start(struct bench *b, int stage, int index, int executor)
{
        executor_allocation_task_started(
                b->a, &(struct task_event){.stage = stage, .index = index, .executor = executor}, b->now);
}

static void end_as(struct bench *b, int stage, int index, int executor, bool speculative, enum task_state state)
{
        executor_allocation_task_ended(
                b->a,
                &(struct task_event){.stage = stage, .index = index, .executor = executor, .speculative = speculative},
                state, b->now);
}

static void end(struct bench *b, int stage, int index, int executor)
{
        end_as(b, stage, index, executor, false, TASK_SUCCEEDED);
}

static void start_second(struct bench *b, int stage, int index, int executor)
{
        executor_allocation_task_started(
                b->a, &(struct task_event){.stage = stage, .index = index, .executor = executor, .speculative = true},
                b->now);
}

static void speculate(struct bench *b, int stage, int index)
{
        executor_allocation_speculative(b->a, stage, 0, index, b->now);
}

static void unschedulable(struct bench *b, int stage, bool yes)
{
        executor_allocation_unschedulable(b->a, stage, 0, yes, b->now);
}

static void add(struct bench *b, int executor)
{
        executor_monitor_added(b->m, executor, 0, b->now);
}

static void add_all(struct bench *b, int first, int last)
{
        for (int e = first; e <= last; e++)
                add(b, e);
}

static void gone(struct bench *b, int executor)
{
        executor_monitor_removed(b->m, executor, NULL);
}

static int target(struct bench *b)
{
        return executor_allocation_target(b->a, 0);
}

static int step(struct bench *b)
{
        return executor_allocation_step(b->a, 0);
}

static int need(struct bench *b)
{
        return executor_allocation_need(b->a, 0);
}

/* One round of growth: by how much. */
static int64_t grow(struct bench *b)
{
        int64_t when = executor_allocation_add_time(b->a);

        if (when != NOT_SET)
                b->now = MAX(b->now, when);
        return executor_allocation_adjust(b->a, b->now);
}

static void adjust_after(struct bench *b, int64_t time)
{
        b->now += time;
        executor_allocation_adjust(b->a, b->now);
}

static void tick_after(struct bench *b, int64_t time)
{
        b->now += time;
        executor_allocation_tick(b->a, b->now);
}

/* Ask for the removal of one executor: whether it was granted. */
static bool drop_of(struct bench *b, int executor, int profile)
{
        int32_t removed = -1;
        int n = executor_allocation_remove(b->a, &(struct idle_executor){executor, profile}, 1, &removed);

        assert_true(n == 0 || removed == executor);
        return n == 1;
}

static bool drop(struct bench *b, int executor)
{
        return drop_of(b, executor, 0);
}

static int drop_two(struct bench *b, int first, int second)
{
        return executor_allocation_remove(b->a, (struct idle_executor[]){{first, 0}, {second, 0}}, 2, NULL);
}

static int killed(struct bench *b)
{
        return executor_monitor_total(b->m).killed;
}

static bool is_killed(struct bench *b, int executor)
{
        return executor_monitor_leaving(b->m, executor) == EXECUTOR_KILLED;
}

/* ------------------------------------------------------------------------------------------------- growing */

static void the_initial_number_is_requested(void **state)
{
        struct bench b = {0};

        bench_start(&b, 1, 5, 1);
        assert_int_equal(target(&b), 1);
        assert_int_equal(b.requests, 1);
        assert_int_equal(b.target, 1);
        assert_int_equal(killed(&b), 0);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        bench_end(&b);
}

static void targets_grow_exponentially_to_the_limit(void **state)
{
        static const int deltas[] = {1, 2, 4, 2, 0}, targets[] = {2, 4, 8, 10, 10}, steps[] = {2, 4, 8, 1, 1};
        struct bench b = {0};

        bench_start(&b, 1, 10, 1);
        submit(&b, 0, 1000);
        assert_int_equal(step(&b), 1);
        for (size_t i = 0; i < ARRAY_SIZE(deltas); i++) {
                assert_int_equal(grow(&b), deltas[i]);
                assert_int_equal(target(&b), targets[i]);
                assert_int_equal(step(&b), steps[i]);
                assert_int_equal(b.target, targets[i]);
        }
        add_all(&b, 1, 4);
        add_all(&b, 1, 2); /* told twice */
        assert_int_equal(target(&b), 10);
        assert_int_equal(grow(&b), 0);
        assert_int_equal(target(&b), 10);
        assert_int_equal(step(&b), 1);
        bench_end(&b);
}

static void profiles_grow_each_for_itself(void **state)
{
        static const int targets[] = {2, 4, 8, 10, 10}, steps[] = {2, 4, 8, 1, 1};
        struct bench b = {0};

        bench_start(&b, 1, 10, 1);
        submit(&b, 0, 1000);
        submit_for(&b, 1, 1000, 1, 4);
        assert_int_equal(executor_allocation_target(b.a, 1), 1);
        for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
                grow(&b);
                assert_int_equal(target(&b), targets[i]);
                assert_int_equal(step(&b), steps[i]);
                assert_int_equal(executor_allocation_target(b.a, 1), targets[i]);
                assert_int_equal(executor_allocation_step(b.a, 1), steps[i]);
        }
        for (int e = 1; e <= 4; e++) {
                add(&b, e);
                executor_monitor_added(b.m, 10 + e, 1, b.now);
        }
        assert_int_equal(grow(&b), 0);
        assert_int_equal(target(&b), 10);
        assert_int_equal(executor_allocation_target(b.a, 1), 10);
        assert_int_equal(executor_allocation_sums(b.a).target, 20);
        assert_int_equal(executor_allocation_sums(b.a).to_add, 2);
        assert_int_equal(executor_allocation_sums(b.a).need, 1000 + 250);
        bench_end(&b);
}

static void a_new_profile_requests_its_initial_number(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 2);
        submit_for(&b, 1, 4, 1, 2);
        assert_int_equal(b.requests, 2);
        assert_int_equal(executor_allocation_target(b.a, 1), 2);
        bench_end(&b);
}

static void ratio_is(double ratio, int tasks_per_executor, int expected)
{
        struct bench b = {.config = {.ratio = ratio, .tasks_per_executor = tasks_per_executor}};

        bench_start(&b, 3, 15, 3);
        submit(&b, 0, 20);
        for (int i = 0; i <= 5; i++)
                grow(&b);
        assert_int_equal(target(&b), expected);
        bench_end(&b);
}

static void the_ratio_lessens_the_need(void **state)
{
        ratio_is(0.5, 1, 10);
        ratio_is(1.0 / 3, 1, 7);
        ratio_is(1.0 / 3, 2, 4);
        ratio_is(0.385, 1, 8);
        ratio_is(1, 1, 15);      /* 20, but that is over the limit */
        ratio_is(1.0 / 3, 4, 3); /* 2, but that is under it */
}

static void targets_grow_to_the_need_at_most(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit(&b, 0, 5);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(grow(&b), 2);
        assert_int_equal(step(&b), 4);
        assert_int_equal(grow(&b), 2);
        assert_int_equal(target(&b), 5);
        assert_int_equal(step(&b), 1);
        /* that a task runs changes nothing */
        submit(&b, 1, 3);
        add(&b, 1);
        start(&b, 1, 0, 1);
        assert_int_equal(target(&b), 5);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(step(&b), 2);
        assert_int_equal(grow(&b), 2);
        assert_int_equal(step(&b), 4);
        assert_int_equal(grow(&b), 0);
        assert_int_equal(target(&b), 8);
        assert_int_equal(step(&b), 1);
        /* nor that it runs twice */
        submit(&b, 2, 3);
        start(&b, 2, 0, 1);
        start(&b, 2, 0, 1);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(step(&b), 2);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(target(&b), 10);
        assert_int_equal(step(&b), 1);
        start(&b, 2, 1, 1);
        assert_int_equal(grow(&b), 0);
        assert_int_equal(target(&b), 10);
        bench_end(&b);
}

static void executors_that_there_are_need_no_ramp(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 100000, 0);
        submit(&b, 0, 1000);
        for (int i = 0; i < 4; i++)
                assert_int_equal(grow(&b), 1 << i);
        assert_int_equal(target(&b), 15);
        add_all(&b, 0, 14);
        complete(&b, 0);
        assert_int_equal(executor_allocation_adjust(b.a, b.now), -15);
        assert_int_equal(target(&b), 0);
        submit(&b, 1, 1000);
        grow(&b);
        assert_int_equal(target(&b), 16);
        bench_end(&b);
}

/* --------------------------------------------------------------------------------------------- speculation */

static void second_attempts_count(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit(&b, 1, 2);
        speculate(&b, 1, 0);
        assert_int_equal(grow(&b), 1);
        speculate(&b, 1, 1);
        speculate(&b, 1, 2);
        assert_int_equal(grow(&b), 2);
        assert_int_equal(step(&b), 4);
        assert_int_equal(grow(&b), 2);
        assert_int_equal(target(&b), 5);
        assert_int_equal(step(&b), 1);
        start(&b, 1, 0, 1);
        assert_int_equal(grow(&b), 0);
        start_second(&b, 1, 1, 2);
        assert_int_equal(grow(&b), 0);
        assert_int_equal(target(&b), 5);
        assert_int_equal(step(&b), 1);
        bench_end(&b);
}

/* A stage of 40 tasks on 10 executors of 4 cores, of which 30 are done. */
static void thirty_of_forty(struct bench *b)
{
        b->config.tasks_per_executor = 4;
        bench_start(b, 0, 10, 0);
        submit(b, 0, 40);
        assert_int_equal(grow(b), 1);
        assert_int_equal(grow(b), 2);
        assert_int_equal(grow(b), 4);
        assert_int_equal(grow(b), 3);
        add_all(b, 0, 9);
        for (int i = 0; i < 40; i++)
                start(b, 0, i, i / 4);
        assert_int_equal(target(b), 10);
        assert_int_equal(need(b), 10);
        for (int i = 0; i < 30; i++)
                end(b, 0, i, i / 4);
}

/* SPARK-41192 */
static void a_task_that_ends_takes_its_second_attempt_along(void **state)
{
        struct bench b = {0};

        thirty_of_forty(&b);
        for (int i = 30; i < 40; i++)
                speculate(&b, 0, i);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 5);
        assert_int_equal(need(&b), 5);
        for (int e = 0; e < 5; e++) {
                assert_true(drop(&b, e));
                gone(&b, e);
        }
        for (int i = 30; i < 35; i++)
                end(&b, 0, i, i / 4);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 3);
        assert_int_equal(need(&b), 3);
        for (int i = 35; i < 40; i++)
                start_second(&b, 0, i, (i + 5) / 4);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 3);
        assert_int_equal(need(&b), 3);
        for (int i = 35; i < 39; i++)
                end(&b, 0, i, i / 4);
        for (int i = 35; i < 39; i++)
                end_as(&b, 0, i, (i + 5) / 4, true, TASK_KILLED);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 1);
        assert_int_equal(need(&b), 1);
        bench_end(&b);
}

/* SPARK-30511 */
static void executors_go_as_second_attempts_end(void **state)
{
        struct bench b = {0};

        thirty_of_forty(&b);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 3);
        for (int e = 0; e <= 6; e++) {
                assert_true(drop(&b, e));
                gone(&b, e);
        }
        for (int i = 30; i < 40; i++)
                speculate(&b, 0, i);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(target(&b), 5);
        assert_int_equal(need(&b), 5);
        add_all(&b, 10, 12);
        for (int i = 30; i < 40; i++)
                start_second(&b, 0, i, (i + 10) / 4);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 5);
        /* six second attempts are the first to end */
        for (int i = 30; i <= 35; i++)
                end_as(&b, 0, i, (i + 10) / 4, true, TASK_SUCCEEDED);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 4);
        assert_int_equal(need(&b), 4);
        assert_true(drop(&b, 10));
        gone(&b, 10);
        for (int i = 30; i <= 35; i++)
                end_as(&b, 0, i, i / 4, false, TASK_KILLED);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 2);
        assert_int_equal(need(&b), 2);
        for (int e = 7; e <= 8; e++) {
                assert_true(drop(&b, e));
                gone(&b, e);
        }
        end(&b, 0, 36, 9);
        end_as(&b, 0, 36, 11, true, TASK_KILLED);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 2);
        end(&b, 0, 37, 9);
        end_as(&b, 0, 37, 11, true, TASK_SUCCEEDED);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 1);
        assert_int_equal(need(&b), 1);
        assert_true(drop(&b, 11));
        gone(&b, 11);
        /* one attempt of each of the last two fails, and one is to be speculated on: not beside the other attempt */
        end_as(&b, 0, 38, 9, false, TASK_FAILED);
        end_as(&b, 0, 39, 12, true, TASK_FAILED);
        speculate(&b, 0, 39);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 2);
        assert_int_equal(need(&b), 2);
        start_second(&b, 0, 39, 12);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 1);
        end(&b, 0, 39, 9);
        end_as(&b, 0, 38, 12, true, TASK_SUCCEEDED);
        end_as(&b, 0, 39, 12, true, TASK_KILLED);
        complete(&b, 0);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 0);
        assert_int_equal(need(&b), 0);
        assert_true(drop(&b, 9));
        gone(&b, 9);
        assert_true(drop(&b, 12));
        bench_end(&b);
}

/* ------------------------------------------------------------------------------- what may run nowhere (31418) */

static void a_stage_that_may_run_nowhere_gets_an_executor(void **state)
{
        struct bench b = {.config.tasks_per_executor = 2};

        bench_start(&b, 0, 5, 0);
        submit(&b, 0, 2);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(grow(&b), 0);
        add(&b, 0);
        start(&b, 0, 0, 0);
        start(&b, 0, 1, 0);
        assert_int_equal(target(&b), 1);
        assert_int_equal(need(&b), 1);
        unschedulable(&b, 0, true);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 2);
        assert_int_equal(need(&b), 2);
        add(&b, 1);
        unschedulable(&b, 0, false);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 1);
        assert_int_equal(need(&b), 1);
        bench_end(&b);
}

static void several_stages_may_run_nowhere(void **state)
{
        struct bench b = {.config.tasks_per_executor = 2};

        bench_start(&b, 0, 10, 0);
        for (int s = 0; s < 3; s++)
                submit(&b, s, 2);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(grow(&b), 2);
        assert_int_equal(grow(&b), 0);
        add_all(&b, 0, 2);
        for (int s = 0; s < 3; s++) {
                start(&b, s, 0, s / 2);
                start(&b, s, 1, s / 2);
        }
        assert_int_equal(target(&b), 3);
        assert_int_equal(need(&b), 3);
        end(&b, 0, 0, 0);
        end(&b, 0, 1, 0);
        complete(&b, 0);
        unschedulable(&b, 1, true);
        unschedulable(&b, 2, true);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 4);
        assert_int_equal(need(&b), 4);
        add(&b, 3);
        unschedulable(&b, 1, false);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 4);
        assert_int_equal(need(&b), 5);
        bench_end(&b);
}

static void executors_go_when_unschedulable_tasks_end(void **state)
{
        struct bench b = {.config.tasks_per_executor = 2};

        bench_start(&b, 0, 6, 0);
        submit(&b, 0, 10);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(grow(&b), 2);
        assert_int_equal(grow(&b), 2);
        assert_int_equal(grow(&b), 0);
        add_all(&b, 0, 4);
        for (int i = 0; i < 10; i++)
                start(&b, 0, i, i / 2);
        assert_int_equal(target(&b), 5);
        assert_int_equal(need(&b), 5);
        for (int i = 0; i < 8; i++)
                end(&b, 0, i, i / 2);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 1);
        assert_int_equal(need(&b), 1);
        for (int e = 0; e < 4; e++) {
                assert_true(drop(&b, e));
                gone(&b, e);
        }
        unschedulable(&b, 0, true);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 2);
        assert_int_equal(need(&b), 2);
        add(&b, 5);
        unschedulable(&b, 0, false);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 1);
        assert_int_equal(need(&b), 1);
        end(&b, 0, 9, 4);
        end(&b, 0, 8, 5);
        adjust_after(&b, SECOND);
        complete(&b, 0);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 0);
        assert_int_equal(need(&b), 0);
        assert_true(drop(&b, 4));
        gone(&b, 4);
        assert_true(drop(&b, 5));
        bench_end(&b);
}

/* ------------------------------------------------------------------------------------------------- shrinking */

static void tasks_of_ended_attempts_count_while_they_run(void **state)
{
        struct task_event second = {.attempt = 1, .executor = 1};
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit(&b, 0, 5);
        start(&b, 0, 0, 1);
        start(&b, 0, 1, 1);
        complete(&b, 0);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 2);
        executor_allocation_stage_submitted(b.a, &(struct stage_demand){.attempt = 1, .n_tasks = 5}, b.now);
        end(&b, 0, 0, 1);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 1);
        executor_allocation_task_started(b.a, &second, b.now);
        second.index = 1;
        executor_allocation_task_started(b.a, &second, b.now);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 3);
        executor_allocation_task_ended(b.a, &second, TASK_SUCCEEDED, b.now);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 2);
        end(&b, 0, 1, 1);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 1);
        second.index = 0;
        executor_allocation_task_ended(b.a, &second, TASK_SUCCEEDED, b.now);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 0);
        assert_int_equal(executor_allocation_demand(b.a, 0).pending, 3);
        bench_end(&b);
}

static void requests_that_are_not_needed_are_cancelled(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit(&b, 2, 5);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(grow(&b), 2);
        start(&b, 2, 0, 1);
        assert_int_equal(step(&b), 4);
        assert_int_equal(grow(&b), 2);
        start(&b, 2, 0, 1);
        end(&b, 2, 0, 1);
        end(&b, 2, 0, 1);
        assert_int_equal(executor_allocation_adjust(b.a, b.now), -1);
        assert_int_equal(b.target, 4);
        bench_end(&b);
}

static void executors_go_until_the_least_number(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 10, 5);
        add_all(&b, 1, 10);
        assert_true(drop(&b, 1));
        assert_int_equal(killed(&b), 1);
        assert_true(is_killed(&b, 1));
        assert_true(drop(&b, 2));
        assert_true(drop(&b, 3));
        assert_int_equal(killed(&b), 3);
        assert_true(drop(&b, 4));
        assert_true(drop(&b, 5));
        assert_false(drop(&b, 6));
        assert_int_equal(killed(&b), 5);
        assert_false(is_killed(&b, 6));
        gone(&b, 1);
        gone(&b, 2);
        gone(&b, 3);
        gone(&b, 2); /* told twice */
        gone(&b, 3);
        assert_int_equal(killed(&b), 2);
        gone(&b, 4);
        gone(&b, 5);
        assert_int_equal(killed(&b), 0);
        assert_false(drop(&b, 7));
        assert_false(drop(&b, 8));
        assert_int_equal(killed(&b), 0);
        bench_end(&b);
}

static void several_executors_go_at_once(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 10, 5);
        add_all(&b, 1, 10);
        assert_true(drop(&b, 1));
        assert_int_equal(drop_two(&b, 2, 3), 2);
        assert_true(drop(&b, 4));
        assert_int_equal(drop_two(&b, 5, 6), 1);
        assert_true(is_killed(&b, 5));
        assert_false(is_killed(&b, 6));
        assert_int_equal(killed(&b), 5);
        for (int e = 1; e <= 5; e++)
                gone(&b, e);
        assert_int_equal(killed(&b), 0);
        assert_int_equal(drop_two(&b, 7, 8), 0);
        assert_int_equal(killed(&b), 0);
        bench_end(&b);
}

static void the_least_number_is_each_profile_s(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 10, 5);
        submit_for(&b, 1, 10, 1, 4);
        submit_for(&b, 2, 10, 2, 1);
        for (int e = 1; e <= 10; e++) {
                executor_monitor_added(b.m, e, 1, b.now);
                executor_monitor_added(b.m, 10 + e, 2, b.now);
                executor_monitor_added(b.m, 20 + e, 0, b.now);
        }
        assert_true(drop_of(&b, 1, 1));
        assert_true(drop_of(&b, 11, 2));
        assert_true(drop_of(&b, 2, 1));
        assert_true(drop_of(&b, 21, 0));
        assert_true(drop_of(&b, 3, 1));
        assert_true(drop_of(&b, 4, 1));
        assert_true(drop_of(&b, 5, 1));
        assert_false(drop_of(&b, 6, 1));
        assert_int_equal(killed(&b), 7);
        for (int e = 1; e <= 5; e++)
                gone(&b, e);
        assert_int_equal(killed(&b), 2);
        assert_true(is_killed(&b, 11));
        assert_true(is_killed(&b, 21));
        assert_false(drop_of(&b, 7, 1));
        assert_false(drop_of(&b, 8, 1));
        for (int e = 12; e <= 15; e++)
                assert_true(drop_of(&b, e, 2));
        assert_false(drop_of(&b, 16, 2));
        assert_int_equal(killed(&b), 6);
        for (int e = 11; e <= 15; e++)
                gone(&b, e);
        assert_int_equal(killed(&b), 1);
        assert_false(drop_of(&b, 21, EXECUTOR_PROFILE_UNKNOWN));
        bench_end(&b);
}

static void the_target_keeps_executors(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 12, 5);
        submit(&b, 0, 8);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(grow(&b), 2);
        add_all(&b, 1, 8);
        for (int i = 1; i <= 8; i++)
                start(&b, 0, i, i);
        assert_int_equal(executor_monitor_total(b.m).all, 8);
        assert_int_equal(target(&b), 8);
        assert_int_equal(need(&b), 8);
        assert_false(drop(&b, 1));
        for (int i = 1; i <= 3; i++)
                end(&b, 0, i, i);
        executor_allocation_adjust(b.a, b.now);
        assert_int_equal(executor_monitor_total(b.m).all, 8);
        assert_int_equal(target(&b), 5);
        assert_int_equal(need(&b), 5);
        assert_true(drop(&b, 1));
        assert_int_equal(drop_two(&b, 2, 3), 2);
        for (int e = 1; e <= 3; e++)
                gone(&b, e);
        end(&b, 0, 4, 4);
        assert_int_equal(executor_monitor_total(b.m).all, 5);
        assert_int_equal(target(&b), 5);
        assert_int_equal(need(&b), 4);
        assert_false(drop(&b, 4));
        assert_int_equal(grow(&b), 0);
        bench_end(&b);
}

static void growing_and_shrinking_by_turns(void **state)
{
        struct bench b = {0};

        bench_start(&b, 5, 12, 5);
        submit(&b, 0, 1000);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(grow(&b), 2);
        add_all(&b, 1, 8);
        assert_int_equal(target(&b), 8);
        assert_false(drop(&b, 1));
        assert_int_equal(drop_two(&b, 2, 3), 0);
        add_all(&b, 9, 12);
        assert_int_equal(executor_monitor_total(b.m).all, 12);
        assert_int_equal(target(&b), 8);
        assert_true(drop(&b, 1));
        assert_int_equal(drop_two(&b, 2, 3), 2);
        assert_true(drop(&b, 4));
        assert_false(drop(&b, 5));
        assert_false(drop(&b, 6));
        for (int e = 1; e <= 4; e++)
                gone(&b, e);
        assert_int_equal(executor_monitor_total(b.m).all, 8);
        assert_false(drop(&b, 7));
        add_all(&b, 13, 16);
        assert_int_equal(executor_monitor_total(b.m).all, 12);
        assert_int_equal(drop_two(&b, 5, 6), 2);
        assert_int_equal(drop_two(&b, 7, 8), 2);
        gone(&b, 5);
        gone(&b, 6);
        assert_int_equal(executor_monitor_total(b.m).all, 10);
        assert_int_equal(step(&b), 4);
        gone(&b, 9);
        gone(&b, 10);
        assert_int_equal(grow(&b), 4);
        add_all(&b, 17, 18);
        assert_int_equal(executor_monitor_total(b.m).all, 10);
        assert_int_equal(grow(&b), 0);
        add_all(&b, 19, 20);
        assert_int_equal(executor_monitor_total(b.m).all, 12);
        assert_int_equal(target(&b), 12);
        bench_end(&b);
}

/* -------------------------------------------------------------------------------------------- timers and ticks */

static void the_add_timer_starts_once(void **state)
{
        struct bench b = {.now = 8888 * SECOND};
        int64_t first, second;

        bench_start(&b, 2, 10, 2);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        submit(&b, 0, 1);
        first = executor_allocation_add_time(b.a);
        assert_int_equal(first, b.now + BACKLOG);
        b.now += SECOND / 10;
        submit(&b, 1, 1);
        assert_int_equal(executor_allocation_add_time(b.a), first);
        start(&b, 0, 0, 1);
        assert_int_equal(executor_allocation_add_time(b.a), first);
        start(&b, 1, 0, 1);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        b.now += SECOND;
        submit(&b, 2, 1);
        second = executor_allocation_add_time(b.a);
        assert_int_equal(second, b.now + BACKLOG);
        assert_true(second != first);
        complete(&b, 0);
        complete(&b, 1);
        assert_int_equal(executor_allocation_add_time(b.a), second);
        complete(&b, 2);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        bench_end(&b);
}

static void without_events_nothing_changes(void **state)
{
        struct bench b = {.now = 2020 * SECOND};

        bench_start(&b, 0, 20, 0);
        for (int64_t after = SECOND / 10; after <= 100 * SECOND; after *= 10) {
                tick_after(&b, after);
                assert_int_equal(target(&b), 0);
                assert_int_equal(killed(&b), 0);
                assert_int_equal(executor_allocation_deadline(b.a), INT64_MAX);
        }
        assert_int_equal(b.requests, 1);
        bench_end(&b);
}

static void ticks_grow_while_tasks_wait(void **state)
{
        struct bench b = {.now = 2020 * SECOND};

        bench_start(&b, 0, 20, 0);
        submit(&b, 0, 1000);
        tick_after(&b, BACKLOG / 2);
        assert_int_equal(target(&b), 0);
        assert_int_equal(executor_allocation_deadline(b.a), b.now + BACKLOG / 2);
        tick_after(&b, BACKLOG);
        assert_int_equal(target(&b), 1);
        tick_after(&b, SUSTAINED / 2);
        assert_int_equal(target(&b), 1);
        tick_after(&b, SUSTAINED);
        assert_int_equal(target(&b), 1 + 2);
        tick_after(&b, SUSTAINED);
        assert_int_equal(target(&b), 1 + 2 + 4);
        /* none waits any more */
        for (int i = 0; i < 1000; i++)
                start(&b, 0, i, i % 7);
        tick_after(&b, SUSTAINED);
        assert_int_equal(target(&b), 7);
        tick_after(&b, SUSTAINED);
        assert_int_equal(target(&b), 7);
        /* a task failed, and waits */
        end_as(&b, 0, 0, 0, false, TASK_FAILED);
        tick_after(&b, BACKLOG);
        assert_int_equal(target(&b), 7 + 1);
        tick_after(&b, SUSTAINED);
        assert_int_equal(target(&b), 7 + 1 + 2);
        tick_after(&b, SUSTAINED);
        assert_int_equal(target(&b), 7 + 1 + 2 + 4);
        tick_after(&b, SUSTAINED);
        assert_int_equal(target(&b), 20);
        bench_end(&b);
}

/* How many executors were asked to go, by kill or by decommissioning. */
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
        add_all(&b, 1, 3);
        tick_after(&b, IDLE / 2);
        assert_int_equal(leaving(&b), 0);
        assert_int_equal(executor_allocation_deadline(b.a), b.now + IDLE / 2);
        tick_after(&b, IDLE);
        assert_int_equal(leaving(&b), 2);
        assert_true(b.decommissions == decommission);
        add_all(&b, 4, 7);
        assert_int_equal(executor_monitor_total(b.m).all, 7);
        for (int e = 4; e <= 6; e++)
                start(&b, 1, e, e);
        /* the one that was kept may go now, as there are others */
        assert_true(executor_allocation_deadline(b.a) <= b.now + EXECUTOR_ALLOCATION_INTERVAL);
        tick_after(&b, 0);
        assert_int_equal(leaving(&b), 3);
        tick_after(&b, IDLE);
        assert_int_equal(leaving(&b), 4);
        for (int e = 4; e <= 6; e++) {
                assert_int_equal(executor_monitor_leaving(b.m, e), EXECUTOR_STAYS);
                end(&b, 1, e, e);
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
        submit(&b, 0, 10);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        for (int i = 1; i < 10; i++)
                start(&b, 0, i, 1);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        start(&b, 0, 0, 1);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        submit(&b, 1, 10);
        submit(&b, 2, 10);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        for (int i = 0; i < 10; i++)
                start(&b, 1, i, 1);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        for (int i = 0; i < 10; i++)
                start(&b, 2, i, 1);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        bench_end(&b);
}

static void the_initial_number_stays_until_the_first_stage(void **state)
{
        struct bench b = {.now = 10000 * SECOND};

        bench_start(&b, 2, 5, 3);
        tick_after(&b, 0);
        assert_int_equal(target(&b), 3);
        submit(&b, 1, 2);
        assert_int_equal(need(&b), 2);
        tick_after(&b, SECOND / 10);
        assert_int_equal(target(&b), 2);
        bench_end(&b);
}

static void the_initial_number_stays_until_executors_were_idle(void **state)
{
        struct bench b = {.now = 10000 * SECOND};

        bench_start(&b, 2, 5, 3);
        tick_after(&b, 0);
        assert_int_equal(target(&b), 3);
        add_all(&b, 0, 2);
        assert_int_equal(need(&b), 0);
        tick_after(&b, IDLE);
        assert_int_equal(target(&b), 2);
        bench_end(&b);
}

/* SPARK-26758 */
static void idle_executors_lower_the_target_first(void **state)
{
        struct bench b = {.now = 10000 * SECOND};

        bench_start(&b, 1, 5, 3);
        add_all(&b, 1, 3);
        tick_after(&b, IDLE);
        assert_int_equal(target(&b), 1);
        assert_int_equal(killed(&b), 2);
        bench_end(&b);
}

/* SPARK-23365 */
static void giving_back_an_executor_changes_no_target(void **state)
{
        struct bench b = {0};

        bench_start(&b, 1, 2, 1);
        add(&b, 1);
        submit(&b, 0, 2);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 2);
        start(&b, 0, 0, 1);
        add(&b, 2);
        start(&b, 0, 1, 2);
        end(&b, 0, 0, 1);
        assert_int_equal(need(&b), 1);
        assert_int_equal(target(&b), 2);
        adjust_after(&b, SECOND);
        assert_int_equal(target(&b), 1);
        assert_int_equal(killed(&b), 0);
        tick_after(&b, IDLE);
        assert_int_equal(need(&b), 1);
        assert_int_equal(target(&b), 1);
        assert_int_equal(b.target, 1);
        assert_int_equal(killed(&b), 1);
        assert_true(is_killed(&b, 1));
        bench_end(&b);
}

/* SPARK-8366 */
static void failed_tasks_are_needed_again(void **state)
{
        struct bench b = {0};

        bench_start(&b, 1, 5, 1);
        assert_int_equal(need(&b), 0);
        submit(&b, 0, 1);
        assert_int_equal(need(&b), 1);
        start(&b, 0, 1, 1);
        assert_int_equal(need(&b), 1);
        end_as(&b, 0, 1, 1, false, TASK_FAILED);
        assert_int_equal(need(&b), 1);
        assert_true(executor_allocation_add_time(b.a) != NOT_SET);
        bench_end(&b);
}

static void a_reset_begins_again(void **state)
{
        struct bench b = {0};

        bench_start(&b, 1, 5, 1);
        submit(&b, 0, 10);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(grow(&b), 2);
        assert_int_equal(grow(&b), 1);
        assert_int_equal(target(&b), 5);
        executor_allocation_reset(b.a);
        assert_int_equal(target(&b), 1);
        assert_int_equal(step(&b), 1);
        assert_int_equal(executor_monitor_total(b.m).all, 0);

        submit(&b, 0, 10);
        for (int i = 0; i < 3; i++)
                grow(&b);
        assert_int_equal(target(&b), 5);
        add_all(&b, 1, 5);
        for (int e = 1; e <= 5; e++)
                gone(&b, e);
        executor_allocation_reset(b.a);
        assert_int_equal(target(&b), 1);
        assert_int_equal(step(&b), 1);

        for (int i = 0; i < 3; i++)
                grow(&b);
        assert_int_equal(target(&b), 5);
        add_all(&b, 11, 18);
        assert_true(drop(&b, 11));
        assert_int_equal(drop_two(&b, 12, 13), 2);
        assert_int_equal(killed(&b), 3);
        assert_int_equal(executor_monitor_total(b.m).all, 8);
        executor_allocation_reset(b.a);
        assert_int_equal(target(&b), 1);
        assert_int_equal(step(&b), 1);
        assert_int_equal(killed(&b), 0);
        assert_int_equal(executor_monitor_total(b.m).all, 0);
        bench_end(&b);
}

/* ----------------------------------------------------------------------------------------------------- places */

static int tasks_at(const struct executor_request *request, const char *host)
{
        for (int i = 0; i < request->n_hosts; i++)
                if (strcmp(request->hosts[i].host, host) == 0)
                        return request->hosts[i].tasks;
        return 0;
}

static void requests_say_where_tasks_would_like_to_be(void **state)
{
        static const char *const h123[] = {"host1", "host2", "host3"}, *const h124[] = {"host1", "host2", "host4"},
                                 *const h234[] = {"host2", "host3", "host4"},
                                 *const h235[] = {"host2", "host3", "host5"},
                                 *const h345[] = {"host3", "host4", "host5"};
        const struct task_places first[5] = {{h123, 3}, {h124, 3}, {h234, 3}}, second[3] = {{h235, 3}, {h345, 3}};
        struct executor_request r;
        struct bench b = {0};

        bench_start(&b, 2, 5, 3);
        executor_allocation_stage_submitted(b.a, &(struct stage_demand){.stage = 1, .n_tasks = 5, .places = first}, 0);
        assert_true(executor_allocation_request(b.a, 0, &r));
        assert_int_equal(r.local_tasks, 3);
        assert_int_equal(r.n_hosts, 4);
        assert_int_equal(tasks_at(&r, "host1"), 2);
        assert_int_equal(tasks_at(&r, "host2"), 3);
        assert_int_equal(tasks_at(&r, "host3"), 2);
        assert_int_equal(tasks_at(&r, "host4"), 2);
        executor_allocation_stage_submitted(b.a, &(struct stage_demand){.stage = 2, .n_tasks = 3, .places = second}, 0);
        assert_true(executor_allocation_request(b.a, 0, &r));
        assert_int_equal(r.local_tasks, 5);
        assert_int_equal(r.n_hosts, 5);
        assert_int_equal(tasks_at(&r, "host1"), 2);
        assert_int_equal(tasks_at(&r, "host2"), 4);
        assert_int_equal(tasks_at(&r, "host3"), 4);
        assert_int_equal(tasks_at(&r, "host4"), 3);
        assert_int_equal(tasks_at(&r, "host5"), 2);
        complete(&b, 1);
        assert_true(executor_allocation_request(b.a, 0, &r));
        assert_int_equal(r.local_tasks, 2);
        assert_int_equal(r.n_hosts, 4);
        assert_int_equal(tasks_at(&r, "host2"), 1);
        assert_int_equal(tasks_at(&r, "host3"), 2);
        assert_int_equal(tasks_at(&r, "host4"), 1);
        assert_int_equal(tasks_at(&r, "host5"), 2);
        assert_false(executor_allocation_request(b.a, 7, &r));
        bench_end(&b);
}

/* --------------------------------------------------------------------------------- what the suite does not pin */

static void an_unreachable_cluster_manager_is_asked_again(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit(&b, 0, 10);
        b.unreachable = true;
        tick_after(&b, BACKLOG);
        assert_int_equal(target(&b), 0);
        assert_int_equal(executor_allocation_deadline(b.a), b.now + EXECUTOR_ALLOCATION_INTERVAL);
        b.unreachable = false;
        tick_after(&b, EXECUTOR_ALLOCATION_INTERVAL);
        assert_int_equal(target(&b), 1);
        assert_int_equal(b.target, 1);
        bench_end(&b);
}

static void a_refused_removal_is_asked_again(void **state)
{
        struct bench b = {.config.tasks_per_executor = 1};

        bench_start(&b, 0, 10, 0);
        add_all(&b, 1, 2);
        b.refused = 1;
        tick_after(&b, IDLE);
        assert_int_equal(killed(&b), 1);
        assert_true(is_killed(&b, 2));
        assert_int_equal(executor_allocation_deadline(b.a), b.now + EXECUTOR_ALLOCATION_INTERVAL);
        tick_after(&b, EXECUTOR_ALLOCATION_INTERVAL);
        assert_int_equal(killed(&b), 1);
        b.refused = -1;
        tick_after(&b, EXECUTOR_ALLOCATION_INTERVAL);
        assert_int_equal(killed(&b), 2);
        bench_end(&b);
}

/* Where we differ from Spark. */
static void what_comes_after_a_stage_s_end_leaves_nothing(void **state)
{
        struct bench b = {0};

        bench_start(&b, 0, 10, 0);
        submit(&b, 0, 2);
        start(&b, 0, 0, 1);
        complete(&b, 0);
        start(&b, 0, 1, 1);
        speculate(&b, 0, 0);
        unschedulable(&b, 0, true);
        assert_int_equal(executor_allocation_demand(b.a, 0).running, 2);
        assert_int_equal(executor_allocation_demand(b.a, 0).pending, 0);
        assert_int_equal(executor_allocation_demand(b.a, 0).speculative, 0);
        end(&b, 0, 0, 1);
        end(&b, 0, 1, 1);
        assert_int_equal(need(&b), 0);
        submit(&b, 1, 1);
        assert_int_equal(need(&b), 1);
        complete(&b, 1);
        assert_int_equal(executor_allocation_add_time(b.a), NOT_SET);
        bench_end(&b);
}

/* ---------------------------------------------------------------------------------------------- configuration */

static int read_pairs(struct executor_allocation_config *c, struct fst_error *error, const char *const (*pairs)[2])
{
        struct fst_conf conf;
        int r;

        conf_init(&conf);
        for (; (*pairs)[0]; pairs++)
                conf_set(&conf, (*pairs)[0], (*pairs)[1]);
        r = executor_allocation_config_read(&conf, c, error);
        conf_deinit(&conf);
        return r;
}

#define READ(c, error, ...) read_pairs(c, error, (const char *const[][2]){__VA_ARGS__, {NULL, NULL}})
#define DYN "spark.dynamicAllocation."

static void the_defaults_are_spark_s(void **state)
{
        struct executor_allocation_config c;

        assert_int_equal(READ(&c, NULL, {DYN "enabled", "true"}), 0);
        assert_int_equal(c.min, 0);
        assert_int_equal(c.max, INT_MAX);
        assert_int_equal(c.initial, 0);
        assert_int_equal(c.backlog_timeout, SECOND);
        assert_int_equal(c.sustained_timeout, SECOND);
        assert_true(c.ratio == 1);
        assert_int_equal(c.tasks_per_executor, 1);
        assert_false(c.decommission);
        assert_int_equal(c.monitor.idle, 60 * SECOND);
        assert_int_equal(c.monitor.cached, INT_MAX * SECOND);
        assert_int_equal(c.monitor.shuffle, INT64_MAX);
        assert_true(c.monitor.shuffle_tracking);
        assert_false(c.monitor.service_keeps_rdds);
}

static void keys_are_read(void **state)
{
        struct executor_allocation_config c;

        assert_int_equal(READ(&c, NULL, {DYN "minExecutors", "2"}, {DYN "maxExecutors", "9"},
                              {DYN "schedulerBacklogTimeout", "2500ms"}, {DYN "executorIdleTimeout", "5s"},
                              {DYN "cachedExecutorIdleTimeout", "7s"}, {DYN "shuffleTracking.timeout", "1500ms"},
                              {DYN "executorAllocationRatio", "0.5"}, {"spark.executor.cores", "8"},
                              {"spark.task.cpus", "2"}, {"spark.decommission.enabled", "true"},
                              {"spark.shuffle.service.enabled", "true"},
                              {"spark.shuffle.service.fetch.rdd.enabled", "true"}),
                         0);
        assert_int_equal(c.min, 2);
        assert_int_equal(c.max, 9);
        assert_int_equal(c.initial, 2);
        assert_int_equal(c.backlog_timeout, 2 * SECOND);
        assert_int_equal(c.sustained_timeout, 2 * SECOND);
        assert_true(c.ratio == 0.5);
        assert_int_equal(c.tasks_per_executor, 4);
        assert_true(c.decommission);
        assert_int_equal(c.monitor.idle, 5 * SECOND);
        assert_int_equal(c.monitor.cached, 7 * SECOND);
        assert_int_equal(c.monitor.shuffle, 3 * SECOND / 2);
        assert_false(c.monitor.shuffle_tracking); /* the service keeps map outputs */
        assert_true(c.monitor.service_keeps_rdds);

        assert_int_equal(READ(&c, NULL, {DYN "initialExecutors", "4"}, {"spark.executor.instances", "6"}), 0);
        assert_int_equal(c.initial, 6);
        assert_int_equal(READ(&c, NULL, {DYN "initialExecutors", "4"}, {DYN "minExecutors", "5"}), 0);
        assert_int_equal(c.initial, 5);
        assert_int_equal(READ(&c, NULL, {"spark.executor.cores", "8"}, {"spark.executor.resource.gpu.amount", "2"},
                              {"spark.task.resource.gpu.amount", "0.5"}),
                         0);
        assert_int_equal(c.tasks_per_executor, 4);
}

#define assert_refused(message, ...)                                                                                   \
        do {                                                                                                           \
                struct executor_allocation_config c_ = {.min = 77};                                                    \
                struct fst_error error_ = FST_ERROR_INIT;                                                              \
                assert_int_equal(READ(&c_, &error_, __VA_ARGS__), -EINVAL);                                            \
                assert_string_equal(error_message(&error_), message);                                                  \
                assert_int_equal(c_.min, 77);                                                                          \
                error_deinit(&error_);                                                                                 \
        } while (0)

static void what_cannot_be_is_refused(void **state)
{
        struct executor_allocation_config c;

        assert_refused(DYN "minExecutors and " DYN "maxExecutors must be positive!", {DYN "minExecutors", "-1"});
        assert_refused(DYN "minExecutors and " DYN "maxExecutors must be positive!", {DYN "maxExecutors", "-1"});
        assert_refused(DYN "maxExecutors cannot be 0!", {DYN "maxExecutors", "0"});
        assert_refused(DYN "minExecutors (2) must be less than or equal to " DYN "maxExecutors (1)!",
                       {DYN "minExecutors", "2"}, {DYN "maxExecutors", "1"});
        assert_int_equal(READ(&c, NULL, {DYN "minExecutors", "1"}, {DYN "maxExecutors", "1"}), 0);
        assert_refused(DYN "schedulerBacklogTimeout must be > 0!", {DYN "schedulerBacklogTimeout", "500ms"});
        assert_refused(DYN "sustainedSchedulerBacklogTimeout must be > 0!",
                       {DYN "sustainedSchedulerBacklogTimeout", "0"});
        assert_refused(DYN "executorAllocationRatio must be > 0 and <= 1.0", {DYN "executorAllocationRatio", "1.5"});
        assert_refused(DYN "executorAllocationRatio must be > 0 and <= 1.0", {DYN "executorAllocationRatio", "0"});
        assert_refused("The number of cores per executor (=1) has to be >= the number of cpus per task = 2.",
                       {"spark.task.cpus", "2"});
        assert_refused("spark.executor.resource.gpu.amount is not set, but must be at least "
                       "spark.task.resource.gpu.amount, or no task can run",
                       {"spark.task.resource.gpu.amount", "1"});
        assert_refused("Dynamic allocation of executors requires one of the following conditions: 1) enabling external "
                       "shuffle service through spark.shuffle.service.enabled. 2) enabling shuffle tracking through "
                       "spark.dynamicAllocation.shuffleTracking.enabled. 3) enabling shuffle blocks decommission "
                       "through spark.decommission.enabled and spark.storage.decommission.shuffleBlocks.enabled.",
                       {DYN "shuffleTracking.enabled", "false"});
        assert_int_equal(
                READ(&c, NULL, {DYN "shuffleTracking.enabled", "false"}, {"spark.decommission.enabled", "true"}), 0);
        assert_false(c.monitor.shuffle_tracking);
}

int main(void)
{
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_initial_number_is_requested),
                cmocka_unit_test(targets_grow_exponentially_to_the_limit),
                cmocka_unit_test(profiles_grow_each_for_itself),
                cmocka_unit_test(a_new_profile_requests_its_initial_number),
                cmocka_unit_test(the_ratio_lessens_the_need),
                cmocka_unit_test(targets_grow_to_the_need_at_most),
                cmocka_unit_test(executors_that_there_are_need_no_ramp),
                cmocka_unit_test(second_attempts_count),
                cmocka_unit_test(a_task_that_ends_takes_its_second_attempt_along),
                cmocka_unit_test(executors_go_as_second_attempts_end),
                cmocka_unit_test(a_stage_that_may_run_nowhere_gets_an_executor),
                cmocka_unit_test(several_stages_may_run_nowhere),
                cmocka_unit_test(executors_go_when_unschedulable_tasks_end),
                cmocka_unit_test(tasks_of_ended_attempts_count_while_they_run),
                cmocka_unit_test(requests_that_are_not_needed_are_cancelled),
                cmocka_unit_test(executors_go_until_the_least_number),
                cmocka_unit_test(several_executors_go_at_once),
                cmocka_unit_test(the_least_number_is_each_profile_s),
                cmocka_unit_test(the_target_keeps_executors),
                cmocka_unit_test(growing_and_shrinking_by_turns),
                cmocka_unit_test(the_add_timer_starts_once),
                cmocka_unit_test(without_events_nothing_changes),
                cmocka_unit_test(ticks_grow_while_tasks_wait),
                cmocka_unit_test(ticks_give_back_idle_executors),
                cmocka_unit_test(ticks_decommission_idle_executors),
                cmocka_unit_test(the_timer_runs_while_tasks_wait),
                cmocka_unit_test(the_initial_number_stays_until_the_first_stage),
                cmocka_unit_test(the_initial_number_stays_until_executors_were_idle),
                cmocka_unit_test(idle_executors_lower_the_target_first),
                cmocka_unit_test(giving_back_an_executor_changes_no_target),
                cmocka_unit_test(failed_tasks_are_needed_again),
                cmocka_unit_test(a_reset_begins_again),
                cmocka_unit_test(requests_say_where_tasks_would_like_to_be),
                cmocka_unit_test(an_unreachable_cluster_manager_is_asked_again),
                cmocka_unit_test(a_refused_removal_is_asked_again),
                cmocka_unit_test(what_comes_after_a_stage_s_end_leaves_nothing),
                cmocka_unit_test(the_defaults_are_spark_s),
                cmocka_unit_test(keys_are_read),
                cmocka_unit_test(what_cannot_be_is_refused),
        };

        log_threshold = LOG_OFF;
        return cmocka_run_group_tests_name("sched/executor_allocation", tests, NULL, NULL);
}
