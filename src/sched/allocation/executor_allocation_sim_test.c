/*
 * A seeded simulation of dynamic allocation: random stages, tasks, speculation, failures, cached blocks, shared
 * shuffles, executors that register late, crash and are decommissioned, an unreachable cluster manager, a scheduler
 * that refuses to remove an executor. A failure names its seed, and
 *
 *      executor_allocation_world_test SEED [COUNT]
 *
 * repeats it. Each simulation has two allocations. One is ticked ten times a second, as in Spark, the other only at its
 * deadlines. Checks:
 * - Both make the same decisions, and their counts equal those of the simulation.
 * - The cluster manager got the target. The target stays within its limits, and exceeds the need only up to the
 * minimum.
 * - It grows only after a backlog, and by at most one step.
 * - No removed executor runs a task, has map outputs of a running job, has time left or was removed before, and target
 *   and minimum limit the number of removals.
 * - When all work is done, targets and executors fall to the minimum, and no tick is due.
 */
#include "sched/allocation/executor_allocation.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "base/log.h"
#include "base/vec.h"

enum { PROFILES = 3, RDDS = 4, MAX_STAGES = 64, MAX_TASKS = 24, MAX_EXECUTORS = 1024, STEPS = 600 };

#define INTERVAL EXECUTOR_ALLOCATION_INTERVAL

/* Events counted over all seeds, so that the test fails if it stops covering some. */
static struct {
        long grown, shrunk, given_back, decommissioned, crashed, speculated, failed, refused, unreached,
                reused_shuffles;
        long kept_for_shuffle, kept_for_blocks, saved_ticks, ticks, unschedulable, resets;
} seen;

struct world_executor {
        int profile, used;
        bool alive, leaving;
        int64_t idle_since;
        uint64_t shuffles;
        uint32_t cached[RDDS]; /* partitions */
};

struct world_stage {
        int profile, n_tasks;
        int shuffle; /* the stage's id, or -1 */
        bool submitted, unschedulable;
        bool started[MAX_TASKS], speculated[MAX_TASKS];
        int left; /* tasks that have not succeeded yet */
};

struct world_job {
        VEC(int) stages;
};

struct world_task {
        struct task_event event;
};

struct allocation_world;

/* One of the two allocations, and its decisions. */
struct side {
        struct allocation_world *world;
        struct executor_allocation *a;
        int told[PROFILES]; /* targets sent to the cluster manager */
        long requests;
        VEC(int32_t) removed; /* in this step */
};

struct allocation_world {
        uint64_t seed, random;
        int64_t now;
        struct executor_allocation_config config;
        int cores[PROFILES];
        struct side polled, lazy;
        bool unreachable;
        int refuses; /* one of so many removals, 0 if none */
        struct world_executor executors[MAX_EXECUTORS];
        int n_executors;
        struct world_stage stages[MAX_STAGES];
        int n_stages;
        VEC(struct world_job) jobs; /* running ones */
        VEC(struct world_task) tasks;
        bool ends; /* no new work */
};

#define world_check(w, condition)                                                                                      \
        do {                                                                                                           \
                if (!(condition))                                                                                      \
                        fail_msg("seed %llu: %s (line %d)", (unsigned long long)(w)->seed, #condition, __LINE__);      \
        } while (0)

static uint32_t roll(struct allocation_world *w, uint32_t sides)
{
        uint64_t z = (w->random += 0x9e3779b97f4a7c15u);

        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return (uint32_t)((z ^ (z >> 31)) % sides);
}

/* Passes an event to both. */
#define both(w, function, ...)                                                                                         \
        do {                                                                                                           \
                function((w)->polled.a, __VA_ARGS__);                                                                  \
                function((w)->lazy.a, __VA_ARGS__);                                                                    \
        } while (0)
#define both_monitors(w, function, ...)                                                                                \
        do {                                                                                                           \
                function(executor_allocation_monitor((w)->polled.a), __VA_ARGS__);                                     \
                function(executor_allocation_monitor((w)->lazy.a), __VA_ARGS__);                                       \
        } while (0)

/* ----------------------------------------------------------------------------------------------- the world's state */

static uint64_t active_shuffles(const struct allocation_world *w)
{
        uint64_t active = 0;

        for (size_t j = 0; j < w->jobs.len; j++)
                for (size_t i = 0; i < w->jobs.data[j].stages.len; i++) {
                        int shuffle = w->stages[w->jobs.data[j].stages.data[i]].shuffle;

                        active |= shuffle >= 0 ? UINT64_C(1) << shuffle : 0;
                }
        return active;
}

static bool keeps_blocks(const struct world_executor *e)
{
        for (int r = 0; r < RDDS; r++)
                if (e->cached[r])
                        return true;
        return false;
}

static int64_t time_of(const struct allocation_world *w, const struct world_executor *e)
{
        const struct executor_monitor_config *m = &w->config.monitor;
        int64_t time = m->idle;

        if (keeps_blocks(e))
                time = MAX(time, m->cached);
        if (m->shuffle_tracking && e->shuffles)
                time = MAX(time, m->shuffle);
        return time;
}

static int staying(const struct allocation_world *w, int profile)
{
        int n = 0;

        for (int e = 0; e < w->n_executors; e++)
                n += w->executors[e].alive && !w->executors[e].leaving && w->executors[e].profile == profile;
        return n;
}

static struct sched_demand demand_of(const struct allocation_world *w, int profile)
{
        struct sched_demand d = {0};

        for (int s = 0; s < w->n_stages; s++) {
                const struct world_stage *stage = &w->stages[s];

                if (stage->profile != profile || !stage->submitted)
                        continue;
                d.unschedulable += stage->unschedulable;
                for (int i = 0; i < stage->n_tasks; i++) {
                        d.pending += !stage->started[i];
                        d.speculative += stage->speculated[i];
                }
        }
        for (size_t i = 0; i < w->tasks.len; i++)
                d.running += w->stages[w->tasks.data[i].event.stage].profile == profile;
        return d;
}

/* ---------------------------------------------------------------------------------------------- operations */

static void world_request(struct side *side, const struct allocation_action *action)
{
        side->requests++;
        seen.unreached += side->world->unreachable;
        for (int i = 0; i < action->request.n && !side->world->unreachable; i++)
                side->told[action->request.profiles[i].profile] = action->request.profiles[i].target;
        executor_allocation_requested(side->a, !side->world->unreachable, side->world->now);
}

static void world_remove(struct side *side, const struct allocation_action *action)
{
        struct allocation_world *w = side->world;
        const int32_t *executors = action->remove.executors;
        size_t before = side->removed.len;

        world_check(w, action->remove.decommission == w->config.decommission);
        world_check(w, action->remove.n > 0);
        for (int i = 0; i < action->remove.n; i++) {
                if (w->refuses && (executors[i] + w->now / INTERVAL) % w->refuses == 0)
                        seen.refused++;
                else
                        vec_push(&side->removed, executors[i]);
        }
        executor_allocation_removed(side->a, side->removed.data + before, (int)(side->removed.len - before));
}

/* Performs the actions of one allocation. */
static void side_run(struct side *side)
{
        for (const struct allocation_action *action; (action = executor_allocation_next_action(side->a));)
                if (action->kind == ALLOCATION_REQUEST)
                        world_request(side, action);
                else
                        world_remove(side, action);
}

/* ---------------------------------------------------------------------------------------------------- events */

static void end_task(struct allocation_world *w, size_t at, enum task_state state)
{
        struct task_event event = w->tasks.data[at].event;
        struct world_executor *e = &w->executors[event.executor];
        struct world_stage *stage = &w->stages[event.stage];

        w->tasks.data[at] = w->tasks.data[--w->tasks.len];
        if (--e->used == 0)
                e->idle_since = w->now;
        if (state == TASK_SUCCEEDED) {
                stage->speculated[event.index] = false;
                if (w->config.monitor.shuffle_tracking && stage->shuffle >= 0 &&
                    active_shuffles(w) >> stage->shuffle & 1)
                        e->shuffles |= UINT64_C(1) << stage->shuffle;
                stage->left--;
        } else if (state != TASK_KILLED && !event.speculative) {
                seen.failed++;
                stage->started[event.index] = !stage->submitted;
        }
        both(w, executor_allocation_task_ended, &event, state, w->now);
}

static void lose_executor(struct allocation_world *w, int executor, const char *reason)
{
        for (size_t i = w->tasks.len; i-- > 0;)
                if (w->tasks.data[i].event.executor == executor)
                        end_task(w, i, TASK_EXECUTOR_LOST);
        w->executors[executor].alive = false;
        both_monitors(w, executor_monitor_removed, executor, reason);
}

static void add_executor(struct allocation_world *w, int profile)
{
        if (w->n_executors == MAX_EXECUTORS)
                return;
        w->executors[w->n_executors] = (struct world_executor){.profile = profile, .alive = true, .idle_since = w->now};
        both_monitors(w, executor_monitor_added, w->n_executors, NULL, profile, w->now);
        w->n_executors++;
}

static void submit_stage(struct allocation_world *w, int id)
{
        struct world_stage *stage = &w->stages[id];

        stage->submitted = true;
        both(w, executor_allocation_stage_submitted,
             &(struct stage_demand){.stage = id,
                                    .n_tasks = stage->n_tasks,
                                    .profile = stage->profile,
                                    .tasks_per_executor = w->cores[stage->profile]},
             w->now);
        side_run(&w->polled);
        side_run(&w->lazy);
}

/* Starts a job with some new stages, and perhaps an old one whose map outputs it reads. */
static void start_job(struct allocation_world *w, int id)
{
        struct shuffle_stage stages[8];
        struct world_job job = {0};
        int n = 0, first = w->n_stages, count = 1 + (int)roll(w, 3);

        if (first + count > MAX_STAGES)
                return;
        for (int s = first; s < first + count; s++) {
                w->stages[s] = (struct world_stage){.profile = (int)roll(w, PROFILES),
                                                    .n_tasks = 1 + (int)roll(w, MAX_TASKS),
                                                    .shuffle = roll(w, 3) ? s : -1};
                w->stages[s].left = w->stages[s].n_tasks;
                vec_push(&job.stages, s);
        }
        if (first > 0 && roll(w, 2)) {
                vec_push(&job.stages, (int)roll(w, (uint32_t)first));
                seen.reused_shuffles++;
        }
        for (size_t i = 0; i < job.stages.len; i++)
                if (w->stages[job.stages.data[i]].shuffle >= 0)
                        stages[n++] = (struct shuffle_stage){job.stages.data[i], w->stages[job.stages.data[i]].shuffle};
        w->n_stages += count;
        vec_push(&w->jobs, job);
        both_monitors(w, executor_monitor_job_started, id, stages, n);
        for (int s = first; s < first + count; s++)
                submit_stage(w, s);
}

static void complete_stage(struct allocation_world *w, int id)
{
        struct world_stage *stage = &w->stages[id];

        stage->submitted = stage->unschedulable = false;
        memset(stage->speculated, 0, sizeof(stage->speculated));
        both(w, executor_allocation_stage_completed, id, 0);
}

static void launch(struct allocation_world *w, int id, int index, bool speculative)
{
        struct world_stage *stage = &w->stages[id];

        for (int e = 0; e < w->n_executors; e++) {
                struct world_executor *x = &w->executors[e];
                struct task_event event = {.stage = id, .index = index, .executor = e, .speculative = speculative};

                if (!x->alive || x->leaving || x->profile != stage->profile || x->used == w->cores[x->profile] ||
                    roll(w, 3) == 0)
                        continue;
                x->used++;
                *(speculative ? &stage->speculated[index] : &stage->started[index]) = !speculative;
                vec_push(&w->tasks, (struct world_task){event});
                both(w, executor_allocation_task_started, &event, w->now);
                return;
        }
}

static void run_stages(struct allocation_world *w)
{
        for (int s = 0; s < w->n_stages; s++) {
                struct world_stage *stage = &w->stages[s];

                if (!stage->submitted)
                        continue;
                if (stage->left <= 0 || roll(w, 400) == 0) {
                        complete_stage(w, s); /* done, or aborted with running tasks */
                        continue;
                }
                for (int i = 0; i < stage->n_tasks; i++) {
                        if (!stage->started[i] && roll(w, 3) == 0)
                                launch(w, s, i, false);
                        if (stage->speculated[i] && roll(w, 4) == 0)
                                launch(w, s, i, true);
                }
                if (roll(w, 60) == 0) {
                        stage->unschedulable = !stage->unschedulable;
                        seen.unschedulable++;
                        both(w, executor_allocation_unschedulable, s, 0, stage->unschedulable, w->now);
                }
        }
}

static void run_tasks(struct allocation_world *w)
{
        for (size_t i = w->tasks.len; i-- > 0;) {
                struct task_event *event = &w->tasks.data[i].event;
                struct world_stage *stage = &w->stages[event->stage];
                uint32_t what = roll(w, 100);

                if (what < 12 || !stage->submitted) {
                        end_task(w, i, TASK_SUCCEEDED);
                } else if (what < 14) {
                        end_task(w, i, TASK_FAILED);
                } else if (what < 15) {
                        stage->left--;
                        end_task(w, i, TASK_KILLED);
                } else if (what < 16 && !event->speculative) {
                        stage->speculated[event->index] = true;
                        seen.speculated++;
                        both(w, executor_allocation_speculative, event->stage, 0, event->index, w->now);
                }
        }
}

static void end_jobs(struct allocation_world *w, int *ids)
{
        for (size_t j = w->jobs.len; j-- > 0;) {
                bool runs = false;

                for (size_t i = 0; i < w->jobs.data[j].stages.len; i++)
                        runs = runs || w->stages[w->jobs.data[j].stages.data[i]].submitted;
                if (runs)
                        continue;
                both_monitors(w, executor_monitor_job_ended, ids[j]);
                vec_deinit(&w->jobs.data[j].stages);
                w->jobs.data[j] = w->jobs.data[--w->jobs.len];
                ids[j] = ids[w->jobs.len];
        }
}

static void move_blocks(struct allocation_world *w)
{
        int executor = w->n_executors ? (int)roll(w, (uint32_t)w->n_executors) : -1, rdd = (int)roll(w, RDDS);
        int partition = (int)roll(w, 16);
        bool there = roll(w, 2);

        if (executor >= 0 && w->executors[executor].alive && roll(w, 3) == 0) {
                w->executors[executor].cached[rdd] &= ~(1u << partition);
                w->executors[executor].cached[rdd] |= (unsigned)there << partition;
                both_monitors(w, executor_monitor_rdd_block, executor, rdd, partition, there, false);
        }
        if (roll(w, 40) == 0) {
                for (int e = 0; e < w->n_executors; e++)
                        w->executors[e].cached[rdd] = 0;
                both_monitors(w, executor_monitor_rdd_unpersisted, rdd);
        }
}

static void remove_shuffles(struct allocation_world *w, bool all)
{
        for (int s = 0; s < w->n_stages; s++) {
                if (w->stages[s].shuffle < 0 || active_shuffles(w) >> s & 1 || w->stages[s].submitted ||
                    (!all && roll(w, 200)))
                        continue;
                w->stages[s].shuffle = -1;
                for (int e = 0; e < w->n_executors; e++)
                        w->executors[e].shuffles &= ~(UINT64_C(1) << s);
                both_monitors(w, executor_monitor_shuffle_removed, s);
        }
}

/* The cluster manager and the machines under it. */
static void run_cluster(struct allocation_world *w)
{
        for (int p = 0; p < PROFILES; p++)
                while (staying(w, p) < w->polled.told[p] && roll(w, 3) && w->n_executors < MAX_EXECUTORS)
                        add_executor(w, p);
        for (int e = 0; e < w->n_executors; e++) {
                if (w->executors[e].alive && w->executors[e].leaving && roll(w, 5) == 0) {
                        lose_executor(w, e, w->config.decommission ? "Finished decommissioning" : "killed");
                } else if (w->executors[e].alive && !w->ends && roll(w, 400) == 0) {
                        seen.crashed++;
                        lose_executor(w, e, "crashed");
                }
        }
}

static void reset(struct allocation_world *w)
{
        for (int e = 0; e < w->n_executors; e++)
                if (w->executors[e].alive)
                        lose_executor(w, e, "the cluster manager was restarted");
        seen.resets++;
        executor_allocation_reset(w->polled.a);
        executor_allocation_reset(w->lazy.a);
}

/* ---------------------------------------------------------------------------------------------------- checks */

static void check_removed(struct allocation_world *w, const int *targets)
{
        const struct side *side = &w->polled;
        uint64_t active = active_shuffles(w);

        for (size_t i = 0; i < side->removed.len; i++) {
                struct world_executor *e = &w->executors[side->removed.data[i]];

                world_check(w, e->alive && !e->leaving && e->used == 0);
                world_check(w, w->now >= e->idle_since + time_of(w, e));
                world_check(w, !w->config.monitor.shuffle_tracking || !(e->shuffles & active));
                e->leaving = true;
                world_check(w, staying(w, e->profile) >= MAX(w->config.min, targets[e->profile]));
                seen.given_back++;
                seen.decommissioned += w->config.decommission;
        }
        for (int e = 0; e < w->n_executors; e++) {
                const struct world_executor *x = &w->executors[e];

                if (!x->alive || x->leaving || x->used || w->now < x->idle_since + w->config.monitor.idle)
                        continue;
                seen.kept_for_shuffle += w->config.monitor.shuffle_tracking && (x->shuffles & active);
                seen.kept_for_blocks += keeps_blocks(x);
        }
}

static void check_counts(struct allocation_world *w, const struct side *side)
{
        const struct executor_monitor *m = executor_allocation_monitor(side->a);
        int all = 0, leaving = 0;

        for (int p = 0; p < PROFILES; p++) {
                struct sched_demand d = executor_allocation_demand(side->a, p), mine = demand_of(w, p);
                struct executor_count count = executor_monitor_count(m, p);

                if (executor_allocation_step(side->a, p) > 0) {
                        world_check(w, d.pending == mine.pending);
                        world_check(w, d.speculative == mine.speculative);
                        world_check(w, d.running == mine.running);
                }
                world_check(w, count.all - count.killed - count.decommissioned == staying(w, p));
        }
        for (int e = 0; e < w->n_executors; e++) {
                const struct world_executor *x = &w->executors[e];

                all += x->alive;
                leaving += x->alive && x->leaving;
                if (x->alive) {
                        bool active = w->config.monitor.shuffle_tracking && (x->shuffles & active_shuffles(w));

                        world_check(w, executor_monitor_is_idle(m, e) == (x->used == 0 && !active));
                }
        }
        world_check(w, executor_monitor_total(m).all == all);
        world_check(w, executor_monitor_total(m).killed + executor_monitor_total(m).decommissioned == leaving);
}

static void check_targets(struct allocation_world *w, const int *before, const int *steps, int64_t add_time)
{
        for (int p = 0; p < PROFILES; p++) {
                int target = executor_allocation_target(w->polled.a, p);
                struct sched_demand d = demand_of(w, p);
                double need = ceil((d.pending + d.speculative + d.running) * w->config.ratio / w->cores[p]);

                if (executor_allocation_step(w->polled.a, p) == 0)
                        continue; /* no stage used it */
                world_check(w, target >= w->config.min && target <= w->config.max);
                world_check(w, w->unreachable || target == w->polled.told[p]);
                if (target > before[p]) {
                        seen.grown++;
                        world_check(w, w->now >= add_time);
                        world_check(w, target <= MAX(MAX(before[p],
                                                         staying(w, p) +
                                                                 executor_monitor_count(
                                                                         executor_allocation_monitor(w->polled.a), p)
                                                                         .all) +
                                                             steps[p],
                                                     w->config.min));
                }
                seen.shrunk += target < before[p];
                if (!w->unreachable && d.unschedulable == 0 && executor_allocation_sums(w->polled.a).need > 0)
                        world_check(w, target <= MAX(need + 1, w->config.min) || target == w->config.initial);
        }
}

/* ---------------------------------------------------------------------------------------------------- the world */

static void tick_both(struct allocation_world *w)
{
        int before[PROFILES], steps[PROFILES], targets[PROFILES];
        int64_t add_time = executor_allocation_add_time(w->polled.a);

        w->polled.removed.len = w->lazy.removed.len = 0;
        for (int p = 0; p < PROFILES; p++) {
                before[p] = executor_allocation_target(w->polled.a, p);
                steps[p] = executor_allocation_step(w->polled.a, p);
        }
        executor_allocation_tick(w->polled.a, w->now);
        side_run(&w->polled);
        seen.ticks++;
        if (executor_allocation_deadline(w->lazy.a) <= w->now)
                executor_allocation_tick(w->lazy.a, w->now);
        else
                seen.saved_ticks++;
        side_run(&w->lazy);
        world_check(w, executor_allocation_deadline(w->lazy.a) > w->now);
        for (int p = 0; p < PROFILES; p++) {
                targets[p] = executor_allocation_target(w->polled.a, p);
                world_check(w, targets[p] == executor_allocation_target(w->lazy.a, p));
                world_check(w, executor_allocation_step(w->polled.a, p) == executor_allocation_step(w->lazy.a, p));
        }
        world_check(w, executor_allocation_add_time(w->polled.a) == executor_allocation_add_time(w->lazy.a));
        world_check(w, w->polled.removed.len == w->lazy.removed.len);
        for (size_t i = 0; i < w->polled.removed.len; i++)
                world_check(w, w->polled.removed.data[i] == w->lazy.removed.data[i]);
        check_targets(w, before, steps, add_time);
        check_removed(w, targets);
        check_counts(w, &w->polled);
        check_counts(w, &w->lazy);
}

static void world_start(struct allocation_world *w, uint64_t seed)
{
        *w = (struct allocation_world){.seed = seed, .random = seed * 7919};
        w->now = roll(w, 100) * INTERVAL;
        w->config.min = (int)roll(w, 4);
        w->config.max = w->config.min + 1 + (int)roll(w, 20);
        w->config.initial = w->config.min + (int)roll(w, (uint32_t)(w->config.max - w->config.min + 1));
        w->config.backlog_timeout = (1 + roll(w, 5)) * INTERVAL;
        w->config.sustained_timeout = (1 + roll(w, 5)) * INTERVAL;
        w->config.ratio = roll(w, 2) ? 1 : 0.3 + 0.1 * roll(w, 7);
        w->config.decommission = roll(w, 2);
        w->config.monitor = (struct executor_monitor_config){.idle = (1 + roll(w, 20)) * INTERVAL,
                                                             .cached = roll(w, 40) * INTERVAL,
                                                             .shuffle = roll(w, 40) * INTERVAL,
                                                             .shuffle_tracking = roll(w, 2)};
        for (int p = 0; p < PROFILES; p++)
                w->cores[p] = 1 << roll(w, 3);
        w->config.tasks_per_executor = w->cores[0];
        w->refuses = roll(w, 2) ? 0 : 2 + (int)roll(w, 5);
        w->polled.world = w->lazy.world = w;
        w->polled.a = executor_allocation_new(&w->config);
        w->lazy.a = executor_allocation_new(&w->config);
        executor_allocation_start(w->polled.a);
        executor_allocation_start(w->lazy.a);
        side_run(&w->polled);
        side_run(&w->lazy);
}

static void world_end(struct allocation_world *w)
{
        executor_allocation_free(w->polled.a);
        executor_allocation_free(w->lazy.a);
        vec_deinit(&w->polled.removed);
        vec_deinit(&w->lazy.removed);
        vec_deinit(&w->jobs);
        vec_deinit(&w->tasks);
}

/* Ends all work and removes it. */
static void drain(struct allocation_world *w, int *ids)
{
        w->ends = true;
        w->unreachable = false;
        w->refuses = 0;
        for (int s = 0; s < w->n_stages; s++)
                if (w->stages[s].submitted)
                        complete_stage(w, s);
        while (w->tasks.len > 0)
                end_task(w, w->tasks.len - 1, TASK_KILLED);
        end_jobs(w, ids);
        world_check(w, w->jobs.len == 0);
        remove_shuffles(w, true);
        for (int r = 0; r < RDDS; r++) {
                for (int e = 0; e < w->n_executors; e++)
                        w->executors[e].cached[r] = 0;
                both_monitors(w, executor_monitor_rdd_unpersisted, r);
        }
        for (int i = 0; i < 200; i++) {
                w->now += INTERVAL;
                run_cluster(w);
                tick_both(w);
        }
        for (int p = 0; p < PROFILES; p++) {
                if (executor_allocation_step(w->polled.a, p) == 0)
                        continue;
                world_check(w, executor_allocation_target(w->polled.a, p) == w->config.min);
                world_check(w, staying(w, p) <= w->config.min || w->n_executors == MAX_EXECUTORS);
        }
        world_check(w, executor_allocation_deadline(w->lazy.a) == INT64_MAX);
}

static void play(uint64_t seed)
{
        struct allocation_world *w = new0(struct allocation_world);
        int ids[MAX_STAGES], next_id = 0; /* of running jobs */

        world_start(w, seed);
        for (int i = 0; i < STEPS; i++) {
                size_t jobs = w->jobs.len;

                w->now += INTERVAL;
                w->unreachable = roll(w, 15) == 0;
                if (roll(w, 15) == 0 && w->jobs.len < 4)
                        start_job(w, next_id);
                if (w->jobs.len > jobs)
                        ids[jobs] = next_id++;
                run_tasks(w);
                run_stages(w);
                end_jobs(w, ids);
                move_blocks(w);
                remove_shuffles(w, false);
                run_cluster(w);
                if (roll(w, 1000) == 0)
                        reset(w);
                tick_both(w);
        }
        if (w->n_stages > 0)
                drain(w, ids);
        world_end(w);
        free(w);
}

static uint64_t first_seed = 1, n_seeds = 150;

static void random_worlds_keep_their_rules(void **state)
{
        for (uint64_t seed = first_seed; seed < first_seed + n_seeds; seed++)
                play(seed);
        if (n_seeds < 150)
                return;
        assert_true(seen.grown > 100);
        assert_true(seen.shrunk > 100);
        assert_true(seen.given_back > 100);
        assert_true(seen.decommissioned > 100);
        assert_true(seen.crashed > 100);
        assert_true(seen.speculated > 100);
        assert_true(seen.failed > 100);
        assert_true(seen.refused > 100);
        assert_true(seen.unreached > 20);
        assert_true(seen.reused_shuffles > 100);
        assert_true(seen.unschedulable > 100);
        assert_true(seen.resets > 20);
        assert_true(seen.kept_for_shuffle > 100);
        assert_true(seen.kept_for_blocks > 100);
        assert_true(seen.saved_ticks > seen.ticks / 10);
}

int main(int argc, char **argv)
{
        const struct CMUnitTest tests[] = {cmocka_unit_test(random_worlds_keep_their_rules)};

        log_threshold = LOG_OFF;
        if (argc > 1) {
                first_seed = strtoull(argv[1], NULL, 10);
                n_seeds = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
        }
        return cmocka_run_group_tests_name("sched/executor_allocation_world", tests, NULL, NULL);
}
