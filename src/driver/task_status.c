/*
 * Passes results and losses to the scheduler: task outcomes, their results, executor losses. Implements the functions
 * for backends (scheduler_backend.h) on the runner's thread.
 */
#include "driver/job_runner_internal.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/strmap.h"
#include "driver/accumulators.h"
#include "driver/allocation.h"
#include "driver/driver_metrics.h"
#include "driver/executor_info.h"
#include "driver/events/task_events.h"
#include "rdd/aggregate/accumulator_updates.h"
#include "sched/commit_coordinator.h"
#include "sched/tasks/task_set.h"
#include "shuffle/remote_shuffle.h"
#include "shuffle/shuffle_store.h"

#include <stdio.h>

/* Discard a result that does not count. */
static void task_status_discard_result(struct job_runner *r, const struct task_batch *run, struct slot_task *t)
{
        struct action *action = run->work->action;
        if (action && action->class->discard && t->state == TASK_SUCCEEDED && !t->is_encoded)
                action->class->discard(action, &t->result);
        if (run->work->shuffled && !t->shuffle_output && !t->place)
                r->backend->class->remove_output(r->backend, run->executor, run->work->shuffled->shuffle.id,
                                                 t->info.partition, t->info.id);
        shuffle_output_unref(steal(t->shuffle_output));
}

/* Merges the result of a task. The task fails for good if this fails. */
static void task_status_merge_result(struct job_runner *r, struct action *action, struct slot_task *t)
{
        struct fst_error error = FST_ERROR_INIT;
        int e = 0;
        if (t->is_encoded)
                e = task_result_decode(action, t->encoded.data, t->encoded.len, &t->result, &error);
        if (e == 0)
                e = action->merge(action, t->output, &t->result, &error);
        if (e == 0)
                return;
        t->state = TASK_FAILED_FATAL;
        t->status = e;
        t->message = error.message ? steal(error.message)
                                   : mem_printf("the result of the task cannot be merged: %s", strerror(-e));
}

/*
 * The journal has results as bytes. Those of tasks in this process are encoded for it, and decoded again, so that a
 * driver that resumes the application gets the same ones.
 */
static void task_status_encode_result(struct action *action, struct slot_task *t)
{
        struct fst_error error = FST_ERROR_INIT;
        int e = t->is_encoded ? 0 : task_result_encode(action, &t->result, &t->encoded, &error);
        t->is_encoded = true;
        if (e == 0)
                return;
        t->state = TASK_FAILED_FATAL;
        t->status = e;
        t->message = steal(error.message);
}

/* Merges the accumulator updates of a task. Returns false if this fails. The task has then failed for good. */
static bool task_status_merge_accumulators(struct job_runner *r, struct task_batch *run, struct slot_task *t)
{
        struct fst_error error = FST_ERROR_INIT;
        const fst_rdd *shuffled = run->work->shuffled;
        int job = run->work->job_id;
        int e = shuffled ? accumulators_merge_map(r->sc->accumulators, job, shuffled->shuffle.id, t->info.partition,
                                                  t->accumulated, &error)
                         : accumulators_merge(r->sc->accumulators, job, t->accumulated, &error);
        if (e == 0)
                return true;
        task_status_discard_result(r, run, t);
        t->state = TASK_FAILED_FATAL;
        t->status = e;
        t->message = steal(error.message);
        return false;
}

/*
 * An attempt failed: if it was allowed to commit, another attempt may. So, too, if it says that it was denied: its executor
 * does not take a permission that comes while its driver changes.
 */
static void task_status_release_commit(struct job_runner *r, const struct slot_task *t)
{
        if (t->state != TASK_SUCCEEDED)
                commit_coordinator_failed(r->commits, t->info.stage, t->info.stage_attempt, t->info.partition,
                                          t->info.attempt);
}

/* The journal's part of the job for which @run ran, NULL if the job has ended. */
static struct resume_job *task_status_resume_job(const struct task_batch *run)
{
        const struct task_set *set = run->user;
        const struct job *job = run->work->shuffled ? set->job : set->stage->job;
        struct job_waiter *wait = job->user;
        return wait ? &wait->resume : NULL;
}

/*
 * A task wrote to a try of its map stage that was given up meanwhile: its output cannot be read. The stage is not
 * running, or a later attempt of it is, with another place: nothing removes a shuffle that a running stage writes
 * (driver/cleaner.h). So the task does not start again with the same place.
 */
static void task_status_check_place(struct job_runner *r, const struct task_batch *run, struct slot_task *t)
{
        struct remote_shuffle_driver *remote = r->sc->remote_shuffle;
        const int shuffle = run->work->shuffled ? run->work->shuffled->shuffle.id : -1;
        if (shuffle < 0 || t->state != TASK_SUCCEEDED || !remote || !remote->class->is_current ||
            remote->class->is_current(remote, shuffle, t->place))
                return;
        t->state = TASK_KILLED;
        t->message = mem_strdup("its output was written to a shuffle that has lost data meanwhile");
}

/*
 * A remote shuffle whose maps share their files loses all of them together: removes those of the shuffle, unless it has
 * been removed since the task started. The failure then names no single output.
 */
static void task_status_lose_shuffle(struct job_runner *r, const struct task_batch *run, struct task_fetch *fetch)
{
        struct remote_shuffle_driver *remote = r->sc->remote_shuffle;
        const struct shuffle_reader_env *inputs = &run->work->inputs;
        if (!remote || !remote->class->is_current || fetch->map_partition < 0)
                return;
        for (int i = 0; i < inputs->n_inputs; i++) {
                const struct shuffle_inputs *from = &inputs->inputs[i];
                if (from->shuffle_id != fetch->shuffle_id || fetch->map_partition >= from->n)
                        continue;
                if (remote->class->is_current(remote, from->shuffle_id, from->maps[fetch->map_partition].place)) {
                        remote->class->remove_shuffle(remote, from->shuffle_id);
                        sched_unregister_shuffle(r->sched, from->shuffle_id);
                }
                fetch->map_partition = fetch->executor = -1;
                return;
        }
}

void job_runner_run_done(struct job_runner *r, struct task_batch *run)
{
        struct task_status statuses[MAX_TASK_BATCH];
        struct task_fetch fetches[MAX_TASK_BATCH];
        bool accepted[MAX_TASK_BATCH];
        struct action *action = run->work->action;
        struct resume *resume = r->sc->resume;
        int64_t began = now_ns();
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                struct task_status *s = &statuses[i];
                task_status_check_place(r, run, t);
                if (run->held && t->state == TASK_FETCH_FAILED)
                        t->state = TASK_KILLED; /* it has the places of an earlier driver */
                *s = (struct task_status){.task_id = t->info.id,
                                          .run_ns = t->run_ns,
                                          .records = t->counters.input_records + t->counters.shuffle_read_records};
                const bool needed = t->state == TASK_SUCCEEDED && sched_result_is_needed(r->sched, t->info.id);
                if (resume && needed && action && action->class->encode_result)
                        task_status_encode_result(action, t);
                if (t->state == TASK_SUCCEEDED && !needed) {
                        task_status_discard_result(r, run, t);
                } else if (t->state == TASK_SUCCEEDED && t->accumulated && !task_status_merge_accumulators(r, run, t)) {
                        /* failed for good */
                } else if (t->state == TASK_SUCCEEDED && action) {
                        task_status_merge_result(r, action, t);
                } else if (t->state == TASK_SUCCEEDED) {
                        if (t->shuffle_output)
                                shuffle_store_put(r->sc->env.shuffles, run->work->shuffled->shuffle.id,
                                                  t->info.partition, t->info.id, steal(t->shuffle_output));
                        s->output = output_handle(t->info.id, t->place);
                }
                if (action)
                        task_status_release_commit(r, t);
                if (t->state == TASK_FETCH_FAILED && t->fetch_executor <= SHUFFLE_REMOTE)
                        t->fetch_executor = resume_executor_of_writer(resume, SHUFFLE_REMOTE - t->fetch_executor);
                accepted[i] = needed && t->state == TASK_SUCCEEDED;
                s->state = t->state;
                s->message = t->message;
                fetches[i] = (struct task_fetch){t->fetch_shuffle, t->fetch_map, t->fetch_executor};
                s->fetch = t->state == TASK_FETCH_FAILED ? &fetches[i] : NULL;
                if (s->fetch)
                        task_status_lose_shuffle(r, run, &fetches[i]);
        }
        if (resume)
                resume_tasks_succeeded(resume, task_status_resume_job(run), run, accepted);
        task_events_ended(r->events, run);
        allocation_ended(r->allocation, run);
        r->backend->class->run_returned(r->backend, run);
        sched_update_status(r->sched, statuses, run->n, now_ns());
        driver_metrics_message_done(r->sc->metrics, began);
        job_runner_run_free(r, run);
}

void job_runner_run_free(struct job_runner *r, struct task_batch *run)
{
        task_batches_return(&r->batches, run);
}

int job_runner_executor_added(struct job_runner *r, const struct executor_info *x)
{
        int index = sched_register_executor(r->sched, &x->spec, now_ns());
        if (index < 0)
                return index;
        r->cores += x->spec.cores;
        struct executor_ref *ref = new0(struct executor_ref);
        *ref = (struct executor_ref){.id = mem_strdup(x->spec.id),
                                     .host = mem_strdup(x->spec.host),
                                     .address = mem_printf("%s:%d", x->spec.host, x->port),
                                     .port = x->port};
        vec_push(&r->sc->executors, ref);
        if (r->backend->class->is_remote) {
                const char *container = x->attributes ? strmap_get(x->attributes, "CONTAINER_ID") : NULL;
                resume_executor_registered(r->sc->resume,
                                           &(struct earlier_executor){.id = x->spec.id,
                                                                      .host = x->spec.host,
                                                                      .cores = x->spec.cores,
                                                                      .profile = x->spec.profile,
                                                                      .pid = x->pid,
                                                                      .started = x->started,
                                                                      .container = container ? container : ""});
        }
        task_events_executor_added(r->events, x);
        allocation_executor_added(r->allocation, index, x->spec.profile);
        return index;
}

void job_runner_executor_lost(struct job_runner *r, int executor, bool caused_by_app, const char *reason)
{
        sched_executor_lost(r->sched, executor, caused_by_app, reason, now_ns());
        resume_drop_holdings(r->sc->resume, executor);
        if (!r->stopping)
                resume_executor_lost(r->sc->resume, sched_executor_id(r->sched, executor));
        task_events_executor_removed(r->events, r->sc->executors.data[executor], reason);
        allocation_executor_removed(r->allocation, executor, reason);
}

void job_runner_executors_forgotten(struct job_runner *r)
{
        allocation_reset(r->allocation);
}

void job_runner_host_lost(struct job_runner *r, const char *host, const char *message)
{
        sched_host_lost(r->sched, host, message, now_ns());
}

void job_runner_task_suspected(struct job_runner *r, int64_t task_id)
{
        sched_suspect_task(r->sched, task_id);
}

void job_runner_release_core(struct job_runner *r, int64_t task_id)
{
        sched_release_core(r->sched, task_id, now_ns());
}

void job_runner_task_progress(struct job_runner *r, int executor, int64_t task_id, int64_t records, int64_t run_ns)
{
        struct task_attempt_info info;
        if (records >= 0 && run_ns > 0 && sched_task(r->sched, task_id, &info) && info.executor == executor)
                sched_task_progress(r->sched, task_id, records, run_ns);
}

void job_runner_run_lost(struct job_runner *r, struct task_batch *run, bool caused_by_app, const char *reason)
{
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                t->state = caused_by_app ? TASK_EXECUTOR_LOST : TASK_PREEMPTED;
                free(t->message); /* set if the task ended while its run's other results were awaited */
                t->message = mem_printf("ExecutorLostFailure (executor %s exited %s) Reason: %s",
                                        sched_executor_id(r->sched, run->executor),
                                        caused_by_app ? "caused by one of the running tasks"
                                                      : "unrelated to the running tasks",
                                        reason);
                t->start_ms = t->start_ms ? t->start_ms : time_of_day_ms();
                t->finish_ms = time_of_day_ms();
        }
        task_events_ended(r->events, run);
        allocation_ended(r->allocation, run);
        job_runner_run_free(r, run);
}

void job_runner_abort(struct job_runner *r, const char *reason)
{
        log_multiline(LOG_ERROR, "SparkContext", "the application cannot go on: %s", reason);
        if (!r->abort_reason)
                r->abort_reason = mem_strdup(reason);
        r->stopping = true;
        sched_cancel_all(r->sched, now_ns());
}

bool job_runner_wants_result(struct job_runner *r, int64_t task_id, int64_t bytes)
{
        return sched_result_is_needed(r->sched, task_id) && sched_result_fits(r->sched, task_id, bytes, now_ns());
}

/* The task of an earlier driver knows the stage by another number. */
static bool job_runner_may_commit(struct job_runner *r, int partition, int64_t task_id, struct task_attempt_info *info)
{
        return sched_task(r->sched, task_id, info) && info->partition == partition &&
               !((info->set->barrier || info->set->stage->indeterminate) && info->set->zombie) &&
               commit_coordinator_may_commit(r->commits, info->set->stage_id, info->set->attempt, partition,
                                             info->attempt);
}

void job_runner_commit_request(struct job_runner *r, int partition, int64_t task_id,
                               const struct commit_requester *asker)
{
        struct task_attempt_info info;
        const bool may = job_runner_may_commit(r, partition, task_id, &info);
        const struct job *job = may ? info.set->stage->job : NULL;
        const struct job_waiter *wait = job ? job->user : NULL;
        if (wait && resume_put_commit(r->sc->resume, &wait->resume, partition, task_id,
                                      accumulators_exist(r->sc->accumulators)))
                commit_replies_hold(&r->commit_replies, asker); /* the write looks for a newer driver, too */
        else
                asker->reply(asker->owner, may);
}

bool job_runner_host_excluded(struct job_runner *r, const char *host)
{
        return sched_host_excluded(r->sched, host);
}

void job_runner_executor_decommissioned(struct job_runner *r, int executor, bool host_too)
{
        sched_decommission_executor(r->sched, executor, host_too);
        allocation_executor_leaves(r->allocation, executor, true);
}

void job_runner_output_stored(struct job_runner *r, int shuffle, int map_partition, int64_t task_id, int executor,
                              uint32_t place)
{
        if (place > 0 && place < REMOTE_PLACES && task_id >= 0)
                sched_store_output(r->sched, shuffle, map_partition, output_handle(task_id, 0), executor,
                                   output_handle(task_id, place));
}

bool job_runner_output_moved(struct job_runner *r, int shuffle, int map_partition, int64_t task_id, int from, int to)
{
        if (!sched_move_output(r->sched, shuffle, map_partition, output_handle(task_id, 0), from, to))
                return false;
        allocation_shuffle_moved(r->allocation, to, shuffle);
        return true;
}

void job_runner_executor_disabled(struct job_runner *r, int executor)
{
        sched_disable_executor(r->sched, executor);
}

void job_runner_executor_enabled(struct job_runner *r, int executor)
{
        sched_enable_executor(r->sched, executor);
}

void job_runner_executor_killed(struct job_runner *r, int executor)
{
        sched_disable_executor(r->sched, executor);
        allocation_executor_leaves(r->allocation, executor, false);
}

void job_runner_rdd_block(struct job_runner *r, int executor, int rdd, int partition, bool in_memory, bool on_disk)
{
        allocation_rdd_block(r->allocation, executor, rdd, partition, in_memory, on_disk);
}

void job_runner_rdd_unpersisted(struct job_runner *r, int rdd)
{
        allocation_rdd_unpersisted(r->allocation, rdd);
}
