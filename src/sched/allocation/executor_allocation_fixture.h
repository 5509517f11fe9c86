/* Fixture for tests of dynamic allocation, which restate Spark's ExecutorAllocationManagerSuite: an allocation with a
 * manual clock and a cluster manager that records requests. Where that suite calls "add executors", the clock
 * advances to the next increase.
 */
#pragma once

#include "base/log.h"
#include "base/vec.h"
#include "sched/allocation/executor_allocation.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

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
        int requests;       /* number of calls of request_total */
        int target;         /* of the default profile, in the last call */
        bool unreachable;   /* request_total fails */
        int refused;        /* remove refuses this executor */
        bool decommissions; /* decommission flag of the last removal */
        VEC(int32_t) accepted;
};

static inline void do_action(struct bench *b, const struct allocation_action *action)
{
        switch (action->kind) {
        case ALLOCATION_REQUEST:
                b->requests++;
                assert_true(action->request.n > 0);
                assert_true(action->request.profiles[0].profile == 0);
                if (!b->unreachable)
                        b->target = action->request.profiles[0].target;
                executor_allocation_requested(b->a, !b->unreachable, b->now);
                break;
        case ALLOCATION_REMOVE:
                b->decommissions = action->remove.decommission;
                b->accepted.len = 0;
                for (int i = 0; i < action->remove.n; i++)
                        if (action->remove.executors[i] != b->refused)
                                vec_push(&b->accepted, action->remove.executors[i]);
                executor_allocation_removed(b->a, b->accepted.data, (int)b->accepted.len);
                break;
        }
}

/* Performs all actions. */
static inline void bench_run(struct bench *b)
{
        for (const struct allocation_action *action; (action = executor_allocation_next_action(b->a));)
                do_action(b, action);
}

/* @b is zeroed except for non-default settings. */
static inline void bench_start(struct bench *b, int min, int max, int initial)
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
        b->a = executor_allocation_new(&b->config);
        b->m = executor_allocation_monitor(b->a);
        executor_allocation_start(b->a);
        bench_run(b);
}

static inline void bench_end(struct bench *b)
{
        executor_allocation_free(b->a);
        vec_deinit(&b->accepted);
}

static inline void submit_stage_for(struct bench *b, int stage, int n_tasks, int profile, int tasks_per_executor)
{
        executor_allocation_stage_submitted(b->a,
                                            &(struct stage_demand){.stage = stage,
                                                                   .n_tasks = n_tasks,
                                                                   .profile = profile,
                                                                   .tasks_per_executor = tasks_per_executor},
                                            b->now);
        bench_run(b);
}

static inline void submit_stage(struct bench *b, int stage, int n_tasks)
{
        submit_stage_for(b, stage, n_tasks, 0, 0);
}

static inline void complete_stage(struct bench *b, int stage)
{
        executor_allocation_stage_completed(b->a, stage, 0);
}

static inline void start_task(struct bench *b, int stage, int index, int executor)
{
        executor_allocation_task_started(
                b->a, &(struct task_event){.stage = stage, .index = index, .executor = executor}, b->now);
}

static inline void end_task_as(struct bench *b, int stage, int index, int executor, bool speculative,
                               enum task_state state)
{
        executor_allocation_task_ended(
                b->a,
                &(struct task_event){.stage = stage, .index = index, .executor = executor, .speculative = speculative},
                state, b->now);
}

static inline void end_task(struct bench *b, int stage, int index, int executor)
{
        end_task_as(b, stage, index, executor, false, TASK_SUCCEEDED);
}

static inline void start_second_task(struct bench *b, int stage, int index, int executor)
{
        executor_allocation_task_started(
                b->a, &(struct task_event){.stage = stage, .index = index, .executor = executor, .speculative = true},
                b->now);
}

static inline void speculate_task(struct bench *b, int stage, int index)
{
        executor_allocation_speculative(b->a, stage, 0, index, b->now);
}

static inline void set_unschedulable(struct bench *b, int stage, bool yes)
{
        executor_allocation_unschedulable(b->a, stage, 0, yes, b->now);
}

static inline void add_executor(struct bench *b, int executor)
{
        executor_monitor_added(b->m, executor, NULL, 0, b->now);
}

static inline void add_executors(struct bench *b, int first, int last)
{
        for (int e = first; e <= last; e++)
                add_executor(b, e);
}

static inline void executor_gone(struct bench *b, int executor)
{
        executor_monitor_removed(b->m, executor, NULL);
}

static inline int bench_target(struct bench *b)
{
        return executor_allocation_target(b->a, 0);
}

static inline int bench_step(struct bench *b)
{
        return executor_allocation_step(b->a, 0);
}

static inline int bench_need(struct bench *b)
{
        return executor_allocation_need(b->a, 0);
}

/* Returns the change of all targets. */
static inline int64_t bench_adjust(struct bench *b)
{
        int64_t before = executor_allocation_sums(b->a).target;

        executor_allocation_adjust(b->a, b->now);
        bench_run(b);
        return executor_allocation_sums(b->a).target - before;
}

/* One round of growth. Returns the change. */
static inline int64_t bench_grow(struct bench *b)
{
        int64_t when = executor_allocation_add_time(b->a);

        if (when != NOT_SET)
                b->now = MAX(b->now, when);
        return bench_adjust(b);
}

static inline void adjust_after(struct bench *b, int64_t time)
{
        b->now += time;
        bench_adjust(b);
}

static inline void tick_after(struct bench *b, int64_t time)
{
        b->now += time;
        executor_allocation_tick(b->a, b->now);
        bench_run(b);
}

/* Returns the number of executors that are removed. */
static inline int remove_idle_ones(struct bench *b, const struct idle_executor *executors, int n)
{
        b->accepted.len = 0;
        executor_allocation_remove(b->a, executors, n);
        bench_run(b);
        return (int)b->accepted.len;
}

/* Removes one executor. Returns true if it was allowed. */
static inline bool drop_executor_of(struct bench *b, int executor, int profile)
{
        int n = remove_idle_ones(b, &(struct idle_executor){executor, profile}, 1);

        assert_true(n == 0 || b->accepted.data[0] == executor);
        return n == 1;
}

static inline bool drop_executor(struct bench *b, int executor)
{
        return drop_executor_of(b, executor, 0);
}

static inline int drop_two_executors(struct bench *b, int first, int second)
{
        return remove_idle_ones(b, (struct idle_executor[]){{first, 0}, {second, 0}}, 2);
}

static inline int bench_killed(struct bench *b)
{
        return executor_monitor_total(b->m).killed;
}

static inline bool is_killed(struct bench *b, int executor)
{
        return executor_monitor_leaving(b->m, executor) == EXECUTOR_KILLED;
}
