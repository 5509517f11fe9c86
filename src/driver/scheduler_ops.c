/*
 * Carries out the scheduler's requests: forwards them to the backend, the listener bus and dynamic allocation. On the
 * runner's thread.
 */
#include "driver/job_runner_internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "driver/accumulators.h"
#include "driver/allocation.h"
#include "driver/events/task_events.h"
#include "driver/resources/resource_profiles.h"
#include "rdd/rdd_class.h"
#include "sched/commit_coordinator.h"
#include "sched/map_outputs.h"
#include "shuffle/remote_shuffle.h"
#include "sched/tasks/task_set.h"
#include "sched/tasks/profile.h"

static void scheduler_ops_job_started(void *owner, struct job *job)
{
        struct job_runner *r = owner;
        struct job_waiter *wait = job->user;
        wait->job_id = job->id;
        if (wait->request->job)
                __atomic_store_n(wait->request->job, job->id, __ATOMIC_RELAXED);
        task_events_job_started(r->events, job);
        allocation_job_started(r->allocation, job);
        struct fst_error error = FST_ERROR_INIT;
        wait->resume_status =
                resume_job_started(r->sc->resume, &wait->resume, job, wait->request, r->sc->accumulators, &error);
        if (wait->resume_status)
                wait->message = error.message;
}

/* The place that a remote shuffle gives the outputs of a map stage; 0: its executors choose. */
static uint32_t scheduler_ops_output_place(struct job_runner *r, const struct stage *stage)
{
        struct remote_shuffle_driver *remote = r->sc->remote_shuffle;
        if (stage_is_result(stage) || !remote || !remote->class->begin)
                return 0;
        return remote->class->begin(remote, stage->outputs->shuffle_id, stage->outputs->n,
                                    rdd_of(stage->shuffle->child)->lineage.partitions);
}

/* A stage that reads @outputs is about to start: if they are complete, they can be closed. */
static void scheduler_ops_close_outputs(struct job_runner *r, const struct map_outputs *outputs)
{
        struct remote_shuffle_driver *remote = r->sc->remote_shuffle;
        if (!remote || !remote->class->maps_ended || !map_outputs_complete(outputs))
                return;
        int64_t *task_ids = new_array(int64_t, (size_t)outputs->n);
        for (int m = 0; m < outputs->n; m++)
                task_ids[m] = output_handle_task(outputs->at[m].handle);
        remote->class->maps_ended(remote, outputs->shuffle_id, task_ids, outputs->n);
        free(task_ids);
}

static int32_t scheduler_ops_writer(const void *resume, int executor)
{
        return resume_writer_of_executor(resume, executor);
}

static struct stage_context *scheduler_ops_stage_work(struct job_runner *r, struct stage *stage)
{
        struct stage_context *work = new0(struct stage_context);
        work->refs = 1;
        work->env = &r->sc->env;
        work->stage_id = stage->id;
        work->stage_attempt = stage->attempt;
        work->barrier = stage->barrier;
        work->task_cpus = stage->profile->cpus;
        work->final = rdd_of(stage->lineage);
        if (stage_is_result(stage))
                work->action = ((struct job_waiter *)stage->job->user)->request->action;
        else
                work->shuffled = rdd_of(stage->shuffle->child);
        work->output_place = scheduler_ops_output_place(r, stage);

        /* The first job that needs a shared map stage, as in Spark. */
        const struct job *job = stage_is_result(stage) ? stage->job : stage->jobs.len ? stage->jobs.data[0] : NULL;
        work->job_id = job ? job->id : -1;
        if (job && r->sc->resume)
                work->journal_job =
                        resume_job_number(&((struct job_waiter *)job->user)->resume, &work->journal_signature);
        if (job)
                strmap_merge(&work->properties, &job->properties);

        const int32_t *location_of;
        int n_executors;
        work->inputs = (struct shuffle_reader_env){
                .inputs = new_array(struct shuffle_inputs, (size_t)stage->n_parents),
                .n_inputs = stage->n_parents,
        };
        r->backend->class->locate(r->backend, &work->inputs, &location_of, &n_executors);
        for (int i = 0; i < stage->n_parents; i++) {
                const struct map_outputs *from = stage->parents[i]->outputs;
                scheduler_ops_close_outputs(r, from);
                stage_inputs_read(&work->inputs.inputs[i], from, location_of, n_executors, scheduler_ops_writer,
                                  r->sc->resume);
        }
        return work;
}

static void scheduler_ops_stage_submitted(void *owner, struct stage *stage, struct task_set *set)
{
        struct job_runner *r = owner;
        set->user = scheduler_ops_stage_work(r, stage);
        if (stage->barrier ||
            stage->indeterminate) /* results of earlier attempts no longer count: they may not commit */
                commit_coordinator_stage_end(r->commits, stage->id);
        if (stage_is_result(stage))
                commit_coordinator_stage_start(r->commits, stage->id, stage->lineage->partitions);
        task_events_stage_submitted(r->events, stage, set);
        allocation_stage_submitted(r->allocation, r->sched, set);
        starvation_submitted(&r->starvation, now_ns());
}

static void scheduler_ops_launch(void *owner, int executor, struct task_set *set, const struct task_launch *launches,
                                 int n)
{
        struct job_runner *r = owner;
        struct task_batch *run = task_batches_take(&r->batches, set, launches, n);
        run->work = stage_context_ref(set->user);
        run->executor = executor;
        run->user = set;
        run->held = r->adopting != NULL;
        if (run->held)
                run->slot = r->adopting->slot;
        task_events_launched(r->events, set, run);
        allocation_launched(r->allocation, run);
        starvation_launched(&r->starvation);
        resume_launched(r->sc->resume, launches[n - 1].task_id);
        r->backend->class->launch(r->backend, executor, run);
}

static void scheduler_ops_kill_task(void *owner, int executor, int64_t task_id, bool interrupt, const char *reason)
{
        struct job_runner *r = owner;
        r->backend->class->kill_task(r->backend, executor, task_id, interrupt, reason);
}

/* If the attempt was allowed to commit, another one may. The backend reports the batch (job_runner_run_lost). */
static void scheduler_ops_task_lost(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
        struct job_runner *r = owner;
        const struct task_set *set = info->set;
        const struct stage_context *work = set->user;
        if (work && work->action)
                commit_coordinator_failed(r->commits, set->stage_id, set->attempt, info->partition, info->attempt);
}

static const struct task_profile *scheduler_ops_profile(void *owner, const int *ids, int n)
{
        const struct job_runner *r = owner;
        return resource_profiles_of_stage(r->sc->profiles, ids, n);
}

static void scheduler_ops_barrier_launching(void *owner, struct task_set *set, const int *executors, int n)
{
        struct job_runner *r = owner;
        const char **addresses = new_array(const char *, (size_t)n);
        for (int i = 0; i < n; i++)
                addresses[i] = r->sc->executors.data[executors[i]]->address;
        barrier_sync_launching(r->barriers, set->stage_id, set->attempt, addresses, n);
        free(addresses);
}

static void scheduler_ops_outputs_reset(void *owner, struct job *job)
{
        struct job_runner *r = owner;
        struct job_waiter *wait = job->user;
        struct action *action = wait->request->action;
        if (action->reset)
                action->reset(action);
        resume_job_reset(r->sc->resume, &wait->resume);
}

static void scheduler_ops_stage_completed(void *owner, struct stage *stage, const char *failure)
{
        struct job_runner *r = owner;
        barrier_sync_stage_end(r->barriers, stage->id, stage->attempt);
        task_events_stage_completed(r->events, stage, failure);
        allocation_stage_completed(r->allocation, stage);
}

/* Running tasks of the job lose its action: their results are dropped. */
static void scheduler_ops_forget_action(struct job_runner *r, const struct job *job)
{
        for (struct task_set *set = NULL; (set = sched_next_task_set(r->sched, set));)
                if (set->stage == job->result_stage && set->user)
                        ((struct stage_context *)set->user)->action = NULL;
}

static void scheduler_ops_job_ended(void *owner, struct job *job, enum job_result result, const char *message)
{
        struct job_runner *r = owner;
        struct job_waiter *wait = job->user;
        wait->announces_end =
                result == JOB_SUCCEEDED && accumulators_are_undelivered(r->sc->accumulators, wait->job_id);
        if (!wait->announces_end)
                task_events_job_ended(r->events, job->id, message);
        allocation_job_ended(r->allocation, job);
        resume_job_ended(r->sc->resume, &wait->resume, result == JOB_SUCCEEDED && !wait->resume_status);
        if (wait->resume_status) {
                wait->result = JOB_FAILED;
                wait->status = wait->resume_status;
        } else {
                wait->result = result;
                wait->message = message ? mem_strdup(message) : NULL;
        }
        /* Tasks in this process use the action itself, so the job ends after the last of them. */
        if (!r->backend->class->is_remote)
                return;
        scheduler_ops_forget_action(r, job);
        job->user = NULL;
        job_runner_end_wait(r, wait);
}

static void scheduler_ops_map_output_removed(void *owner, int shuffle_id, int map_partition, int executor,
                                             uint64_t handle)
{
        struct job_runner *r = owner;
        if (handle & MAP_OUTPUT_STORED) { /* its object may have others: it is removed with the shuffle */
                if (!r->stopping && !r->removes_shuffles)
                        resume_map_lost(r->sc->resume, shuffle_id, map_partition, output_handle_task(handle));
                return;
        }
        r->backend->class->remove_output(r->backend, executor, shuffle_id, map_partition, output_handle_task(handle));
}

static void scheduler_ops_task_set_removed(void *owner, struct task_set *set)
{
        struct job_runner *r = owner;
        struct stage_context *work = set->user;
        r->backend->class->stage_removed(r->backend, work);
        shuffle_reader_env_end(&work->inputs);
        stage_context_unref(work);
        set->user = NULL;
}

static void scheduler_ops_stage_removed(void *owner, struct stage *stage)
{
        struct job_runner *r = owner;
        commit_coordinator_stage_end(r->commits, stage->id);
        task_events_stage_removed(r->events, stage);
}

static void scheduler_ops_job_removed(void *owner, struct job *job)
{
        if (job->user)
                job_runner_end_wait(owner, job->user);
}

static bool scheduler_ops_may_be_cached(const struct job_runner *r, const struct lineage *rdd)
{
        return r->backend->class->cached_on && __atomic_load_n(&rdd->storage_level, __ATOMIC_RELAXED);
}

/* Persisted partitions prefer the executors that have them, files prefer the hosts of their blocks. */
static bool scheduler_ops_may_prefer(void *owner, const struct lineage *rdd)
{
        return scheduler_ops_may_be_cached(owner, rdd) || rdd_of_const(rdd)->has_hosts;
}

static int scheduler_ops_cached_on(struct job_runner *r, const struct lineage *rdd, int partition,
                                   struct task_location *out, int max)
{
        int executors[16];
        if (!scheduler_ops_may_be_cached(r, rdd))
                return 0;
        int n = r->backend->class->cached_on(r->backend, rdd->id, partition, executors,
                                             MIN(max, (int)ARRAY_SIZE(executors)));
        for (int i = 0; i < n; i++)
                out[i] = (struct task_location){.executor = executors[i]};
        return n;
}

/* Skips "localhost", which names every host. */
static int scheduler_ops_near_files(const fst_rdd *rdd, int partition, struct task_location *out, int max)
{
        const char *host = rdd->has_hosts ? rdd->class->hosts(rdd, partition) : NULL;
        int n = 0;
        for (; host && *host && n < max; host += strlen(host) + 1)
                if (strcmp(host, "localhost") != 0)
                        out[n++] = (struct task_location){.executor = -1, .host = host};
        return n;
}

static int scheduler_ops_preferred(void *owner, const struct lineage *rdd, int partition, struct task_location *out,
                                   int max)
{
        int n = scheduler_ops_cached_on(owner, rdd, partition, out, max);
        return n > 0 ? n : scheduler_ops_near_files(rdd_of_const(rdd), partition, out, max);
}

static const char *scheduler_ops_rack(void *owner, const char *host)
{
        struct job_runner *r = owner;
        return r->backend->class->rack ? r->backend->class->rack(r->backend, host) : NULL;
}

static void scheduler_ops_excluded(void *owner, const struct exclusion *what)
{
        struct job_runner *r = owner;
        task_events_excluded(r->events, what);
        if (!what->set && what->executor < 0 && r->backend->class->host_excluded)
                r->backend->class->host_excluded(r->backend, what->host, !what->lifted);
}

static void scheduler_ops_speculative_submitted(void *owner, struct task_set *set, int index)
{
        struct job_runner *r = owner;
        task_events_speculative(r->events, set, index);
        allocation_speculative(r->allocation, set, index);
}

static void scheduler_ops_unschedulable(void *owner, struct task_set *set, bool yes)
{
        struct job_runner *r = owner;
        task_events_unschedulable(r->events, set, yes);
        allocation_unschedulable(r->allocation, set, yes);
}

const struct sched_ops scheduler_ops = {
        .excluded = scheduler_ops_excluded,
        .rack = scheduler_ops_rack,
        .speculative_submitted = scheduler_ops_speculative_submitted,
        .unschedulable = scheduler_ops_unschedulable,
        .may_prefer = scheduler_ops_may_prefer,
        .preferred = scheduler_ops_preferred,
        .job_started = scheduler_ops_job_started,
        .stage_submitted = scheduler_ops_stage_submitted,
        .launch = scheduler_ops_launch,
        .profile = scheduler_ops_profile,
        .barrier_launching = scheduler_ops_barrier_launching,
        .outputs_reset = scheduler_ops_outputs_reset,
        .kill_task = scheduler_ops_kill_task,
        .task_lost = scheduler_ops_task_lost,
        .stage_completed = scheduler_ops_stage_completed,
        .job_ended = scheduler_ops_job_ended,
        .map_output_removed = scheduler_ops_map_output_removed,
        .task_set_removed = scheduler_ops_task_set_removed,
        .stage_removed = scheduler_ops_stage_removed,
        .job_removed = scheduler_ops_job_removed,
};
