/*
 * See allocation.h. Spark's ExecutorAllocationManager listens on the listener bus and polls ten times a second. Here
 * events arrive in the loop iteration in which they happen, and a deadline replaces polling.
 */
#include "driver/allocation.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/driver_metrics.h"
#include "driver/backend/scheduler_backend.h"
#include "driver/resources/resource_profiles.h"
#include "sched/allocation/executor_allocation_conf.h"
#include "sched/tasks/profile.h"

#define LOG "ExecutorAllocationManager"
#define MAX_PLACES 8 /* of one task */

struct allocation {
        struct fst_context *sc;
        struct scheduler_backend *backend;
        struct executor_allocation *core;
        struct executor_monitor *monitor;
        bool running; /* actions are being performed */
};

/* ---------------------------------------------------------------------------------------------- requests */

static void allocation_do(struct allocation *a, const struct allocation_action *action)
{
        const struct scheduler_backend_class *class = a->backend->class;
        _cleanup_free_ int32_t *accepted = NULL;
        int n;
        switch (action->kind) {
        case ALLOCATION_REQUEST:
                executor_allocation_requested(
                        a->core, class->request_executors(a->backend, action->request.profiles, action->request.n),
                        now_ns());
                break;
        case ALLOCATION_REMOVE:
                accepted = new_array(int32_t, (size_t)action->remove.n);
                n = class->remove_executors(a->backend, action->remove.executors, action->remove.n,
                                            action->remove.decommission, accepted);
                executor_allocation_removed(a->core, accepted, n);
                break;
        }
}

/* Performs the core's actions. Called after each event that may cause some. */
static void allocation_run(struct allocation *a)
{
        if (a->running)
                return;
        a->running = true;
        for (const struct allocation_action *action; (action = executor_allocation_next_action(a->core));)
                allocation_do(a, action);
        a->running = false;
}

void allocation_start(struct allocation *a)
{
        if (!a)
                return;
        executor_allocation_start(a->core);
        allocation_run(a);
}

void allocation_reset(struct allocation *a)
{
        if (a)
                executor_allocation_reset(a->core);
}

int64_t allocation_deadline(const struct allocation *a)
{
        return a ? executor_allocation_deadline(a->core) : INT64_MAX;
}

void allocation_tick(struct allocation *a, int64_t now)
{
        if (!a)
                return;
        executor_allocation_tick(a->core, now);
        allocation_run(a);
}

void allocation_count(const struct allocation *a, struct scheduler_counts *out)
{
        if (!a)
                return;
        struct executor_allocation_sums sums = executor_allocation_sums(a->core);
        struct executor_count executors = executor_monitor_total(a->monitor);
        struct executor_removals removals = executor_monitor_removals(a->monitor);
        out->allocates = true;
        out->executors = executors.all;
        out->executors_to_remove = executors.killed;
        out->executors_to_add = sums.to_add;
        out->executors_needed = sums.need;
        out->executors_target = sums.target;
        out->decommission_unfinished = removals.decommission_unfinished;
        out->exited_unexpectedly = removals.exited_unexpectedly;
        out->gracefully_decommissioned = removals.gracefully_decommissioned;
        out->killed_by_driver = removals.driver_killed;
}

/* --------------------------------------------------------------------------------------------- events */

void allocation_job_started(struct allocation *a, const struct job *job)
{
        if (!a)
                return;
        struct shuffle_stage *stages = new_array(struct shuffle_stage, (size_t)job->n_stages + 1);
        int n = 0;
        for (int i = 0; i < job->n_stages; i++)
                if (!stage_is_result(job->stages[i]))
                        stages[n++] = (struct shuffle_stage){.stage = job->stages[i]->id,
                                                             .shuffle = job->stages[i]->outputs->shuffle_id};
        executor_monitor_job_started(a->monitor, job->id, stages, n);
        free(stages);
}

void allocation_job_ended(struct allocation *a, const struct job *job)
{
        if (a)
                executor_monitor_job_ended(a->monitor, job->id);
}

/* Returns the preferred locations of each task, or NULL if no task has one (checked without visiting them all). */
static struct task_places *allocation_preferred_places(const struct sched *sched, const struct task_set *set,
                                                       const char ***hosts)
{
        *hosts = NULL;
        if (!set->locality)
                return NULL;
        struct task_places *places = new_array(struct task_places, (size_t)set->n);
        const char **at = *hosts = new_array(const char *, (size_t)set->n *MAX_PLACES);
        for (int i = 0; i < set->n; i++) {
                places[i] = (struct task_places){at, sched_preferred_hosts(sched, set, i, at, MAX_PLACES)};
                at += places[i].n;
        }
        return places;
}

void allocation_stage_submitted(struct allocation *a, const struct sched *sched, const struct task_set *set)
{
        if (!a)
                return;
        _cleanup_free_ const char **hosts = NULL;
        _cleanup_free_ struct task_places *places = allocation_preferred_places(sched, set, &hosts);
        executor_allocation_stage_submitted(
                a->core,
                &(struct stage_demand){.stage = set->stage_id,
                                       .attempt = set->attempt,
                                       .n_tasks = set->n,
                                       .profile = set->stage->profile->id,
                                       .tasks_per_executor = resource_profiles_tasks_per_executor(
                                               a->sc->profiles, set->stage->profile->id),
                                       .places = places},
                now_ns());
        allocation_run(a);
}

void allocation_stage_completed(struct allocation *a, const struct stage *stage)
{
        if (a)
                executor_allocation_stage_completed(a->core, stage->id, stage->attempt);
}

void allocation_unschedulable(struct allocation *a, const struct task_set *set, bool yes)
{
        if (a)
                executor_allocation_unschedulable(a->core, set->stage_id, set->attempt, yes, now_ns());
}

void allocation_speculative(struct allocation *a, const struct task_set *set, int index)
{
        if (a)
                executor_allocation_speculative(a->core, set->stage_id, set->attempt, index, now_ns());
}

static struct task_event allocation_event_of(const struct task_batch *run, const struct slot_task *t)
{
        return (struct task_event){.stage = t->info.stage,
                                   .attempt = t->info.stage_attempt,
                                   .index = t->index,
                                   .executor = run->executor,
                                   .speculative = run->speculative};
}

void allocation_launched(struct allocation *a, const struct task_batch *run)
{
        if (!a)
                return;
        int64_t now = now_ns();
        for (int i = 0; i < run->n; i++) {
                struct task_event event = allocation_event_of(run, &run->tasks[i]);
                executor_allocation_task_started(a->core, &event, now);
        }
}

void allocation_ended(struct allocation *a, const struct task_batch *run)
{
        if (!a)
                return;
        int64_t now = now_ns();
        for (int i = 0; i < run->n; i++) {
                struct task_event event = allocation_event_of(run, &run->tasks[i]);
                executor_allocation_task_ended(a->core, &event, run->tasks[i].state, now);
        }
}

void allocation_executor_added(struct allocation *a, int executor, int profile)
{
        if (a)
                executor_monitor_added(a->monitor, executor, a->sc->executors.data[executor]->id, profile, now_ns());
}

void allocation_executor_removed(struct allocation *a, int executor, const char *reason)
{
        if (a)
                executor_monitor_removed(a->monitor, executor, reason);
}

void allocation_executor_leaves(struct allocation *a, int executor, bool decommissioned)
{
        if (!a)
                return;
        if (decommissioned)
                executor_monitor_decommissioned(a->monitor, &executor, 1);
        else
                executor_monitor_killed(a->monitor, &executor, 1);
}

void allocation_rdd_block(struct allocation *a, int executor, int rdd, int partition, bool in_memory, bool on_disk)
{
        if (a)
                executor_monitor_rdd_block(a->monitor, executor, rdd, partition, in_memory, on_disk);
}

void allocation_rdd_unpersisted(struct allocation *a, int rdd)
{
        if (a)
                executor_monitor_rdd_unpersisted(a->monitor, rdd);
}

void allocation_shuffle_moved(struct allocation *a, int executor, int shuffle)
{
        if (a)
                executor_monitor_shuffle_block(a->monitor, executor, shuffle);
}

void allocation_shuffle_removed(struct allocation *a, int shuffle)
{
        if (a)
                executor_monitor_shuffle_removed(a->monitor, shuffle);
}

/* ------------------------------------------------------------------------------------------------- start and end */

int allocation_new(struct fst_context *sc, struct scheduler_backend *backend, struct allocation **allocation,
                   struct fst_error *error)
{
        struct executor_allocation_config config;
        bool enabled;
        int r = conf_get_bool(sc->conf, "spark.dynamicAllocation.enabled", &enabled, error);
        *allocation = NULL;
        if (r || !enabled || !backend->class->request_executors)
                return r;
        if ((r = executor_allocation_config_read(sc->conf, &config, error)))
                return r;
        if (!conf_contains(sc->conf, "spark.executor.cores"))
                log_warn(LOG, "Dynamic allocation enabled without spark.executor.cores explicitly set, you may get "
                              "more executors allocated than expected. It's recommended to set spark.executor.cores "
                              "explicitly. Please check SPARK-30299 for more details.");
        struct allocation *a = new0(struct allocation);
        a->sc = sc;
        a->backend = backend;
        a->core = executor_allocation_new(&config);
        a->monitor = executor_allocation_monitor(a->core);
        *allocation = a;
        return 0;
}

void allocation_free(struct allocation *a)
{
        if (!a)
                return;
        executor_allocation_free(a->core);
        free(a);
}
