/*
 * Submits and completes jobs and stages: Spark's DAGScheduler.
 *
 * A stage is submitted when all outputs of its parents are available. Parents with missing outputs are submitted
 * first. A map stage whose tasks have all ended but which lacks outputs (an executor was lost) is submitted again for
 * the missing ones. A fetch failure ends the attempt of the reading stage, unregisters the outputs and, after a delay
 * in which more failures are collected, submits both stages again. Too many such attempts in a row abort the stage and
 * every job that needs it.
 *
 * Invariants: a stage's jobs are the running jobs that need it. A stage is listed in waiting (failed) if and only if
 * it has this state. Each output of a job is counted once, from whichever attempt. A stage without jobs is in no list,
 * and its shuffle's entry does not refer to it.
 *
 * Departures from Spark: a parent stage that still runs when its only job has succeeded is stopped and reported
 * as completed with a failure. Spark lets its tasks run on unreported.
 */
#include "sched/dag.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "sched/sched_recorder.h"

#include <inttypes.h>

#define LOG "DAGScheduler"
#define NO_SLOTS                                                                                                       \
        "[SPARK-24819]: Barrier execution mode does not allow run a barrier stage that requires more slots than the "  \
        "total number of slots in the cluster currently."

static void submit_stage(struct sched *s, struct stage *stage);
static void abort_stage(struct sched *s, struct stage *stage, const char *reason);

static const char *dag_kind(const struct stage *stage)
{
        return stage_is_result(stage) ? "ResultStage" : "ShuffleMapStage";
}

static const char *dag_site(const struct stage *stage)
{
        return stage->call_site ? stage->call_site : "?";
}

static void stage_list_remove(stage_list *list, const struct stage *stage)
{
        for (size_t i = 0; i < list->len; i++)
                if (list->data[i] == stage) {
                        memmove(&list->data[i], &list->data[i + 1], (list->len - i - 1) * sizeof(*list->data));
                        list->len--;
                        return;
                }
}

/* Removes the stage from the list of its state. */
static void set_idle(struct sched *s, struct stage *stage)
{
        if (stage->state == STAGE_WAITING)
                stage_list_remove(&s->waiting, stage);
        else if (stage->state == STAGE_FAILED)
                stage_list_remove(&s->failed, stage);
        stage->state = STAGE_IDLE;
}

/* Reports the end of the running attempt. */
static void finish_stage(struct sched *s, struct stage *stage, const char *failure)
{
        double seconds = (double)(s->now - stage->submitted) / 1e9;

        if (failure)
                log_about(LOG_INFO, stage->id, -1, LOG, "%s %d (%s) failed in %.3f s due to %s", dag_kind(stage),
                          stage->id, dag_site(stage), seconds, failure);
        else
                log_about(LOG_INFO, stage->id, -1, LOG, "%s %d (%s) finished in %.3f s", dag_kind(stage), stage->id,
                          dag_site(stage), seconds);
        if (!failure)
                stage->failed_attempts = 0;
        stage->state = STAGE_IDLE;
        s->ops->stage_completed(s->owner, stage, failure);
}

/* ---------------------------------------------------------------------------------------------- submission */

static void dag_release_set(struct sched *s, struct task_set *set)
{
        struct stage *stage = set->stage;
        struct job *job = set->job;

        s->ops->task_set_removed(s->owner, set);
        task_set_free(set);
        stage_unref(s, stage);
        job_unref(s, job);
}

static bool output_missing(const struct stage *stage, int output)
{
        return stage_is_result(stage) ? !stage->job->output_done[output] : !map_outputs_has(stage->outputs, output);
}

/* Discards all outputs of @stage, so that they are computed again. */
static void reset_outputs(struct sched *s, struct stage *stage)
{
        struct job *job = stage->job;

        if (!stage_is_result(stage)) {
                map_outputs_remove_executor(stage->outputs, -1, true, s->ops->map_output_removed, s->owner);
                s->epoch++;
        } else if (job->done > 0) {
                memset(job->output_done, 0, (size_t)job->n);
                job->done = 0;
                if (s->ops->outputs_reset)
                        s->ops->outputs_reset(s->owner, job);
        }
}

/* Starts a new attempt for the missing outputs. */
static void submit_missing_tasks(struct sched *s, struct stage *stage)
{
        if ((stage->barrier || stage->indeterminate) && !stage_is_result(stage) && stage->outputs->available > 0)
                reset_outputs(s, stage); /* outputs of two computations must not be mixed */
        int n = stage_is_result(stage) ? stage->job->n - stage->job->done
                                       : stage->outputs->n - stage->outputs->available;
        int32_t *outputs = NULL;

        if (n < stage->partitions) {
                outputs = mem_alloc((size_t)MAX(n, 1) * sizeof(*outputs));
                for (int p = 0, i = 0; p < stage->partitions; p++)
                        if (output_missing(stage, p))
                                outputs[i++] = p;
        }
        if (!stage_is_result(stage)) {
                for (int p = 0; p < stage->partitions; p++)
                        stage->pending[p] = output_missing(stage, p);
                stage->n_pending = n;
        }
        stage->attempt++;
        stage->state = STAGE_RUNNING;
        stage->submitted = s->now;
        struct task_set *set = task_set_new(stage, stage->jobs.data[0], stage->attempt, outputs, n);

        stage->refs++;
        set->job->refs++;
        set->epoch = s->epoch;
        set->barrier = stage->barrier;
        preferred_places_find(s, set);
        stage->set = set;
        const char *name = __atomic_load_n(&stage->lineage->name, __ATOMIC_ACQUIRE);
        log_about(LOG_INFO, stage->id, -1, LOG, "Submitting %d missing tasks from %s %d (%s[%d] at %s)", n,
                  dag_kind(stage), stage->id, name ? name : "RDD", stage->lineage->id,
                  stage->lineage->call_site ? stage->lineage->call_site : "?");
        s->ops->stage_submitted(s->owner, stage, set);
        task_scheduler_submit(&s->tasks, set, s->now);
        if (task_set_unref(set))
                dag_release_set(s, set);
}

/* Submits the stages that waited for @parent, which is complete. */
static void submit_waiting_children(struct sched *s, struct stage *parent)
{
        stage_list children = {0};

        for (size_t i = 0; i < s->waiting.len; i++) {
                struct stage *stage = s->waiting.data[i];
                bool child = false;

                for (int k = 0; k < stage->n_parents; k++)
                        child |= stage->parents[k] == parent;
                if (child)
                        vec_push(&children, stage);
        }
        for (size_t i = 0; i < children.len; i++) {
                children.data[i]->refs++; /* submitting one may abort another */
                set_idle(s, children.data[i]);
        }
        for (size_t i = 0; i < children.len; i++) {
                submit_stage(s, children.data[i]);
                stage_unref(s, children.data[i]);
        }
        vec_deinit(&children);
}

/*
 * Returns whether all tasks of a barrier stage can run at once. If not, the stage is checked again later, and aborted
 * after some failed checks, because it might wait forever. A cluster that lends cores never has slots: the stage is
 * aborted at once.
 */
static bool has_slots(struct sched *s, struct stage *stage)
{
        if (stage->barrier && s->config.lends_cores) {
                abort_stage(s, stage,
                            NO_SLOTS " In this cluster each task waits for a core of its own, so there are no slots: "
                                     "choose a mode in which executors keep their cores (on Mesos "
                                     "spark.mesos.coarse=true).");
                return false;
        }
        if (!stage->barrier || stage->partitions <= stage->profile->slots)
                return true;
        log_warn(LOG,
                 "Barrier stage %d requires %d slots, but only %d are available. Will retry later if not failed more "
                 "than %d times",
                 stage->id, stage->partitions, stage->profile->slots, s->config.barrier_check_max_failures);
        if (s->now >= stage->slots_checked && ++stage->slot_failures > s->config.barrier_check_max_failures) {
                abort_stage(s, stage,
                            NO_SLOTS " Please init a new cluster with more resources(e.g. CPU, GPU) or repartition the "
                                     "input RDD(s) to reduce the number of slots required to run this barrier stage.");
                return false;
        }
        if (s->now >= stage->slots_checked)
                stage->slots_checked = s->now + s->config.barrier_check_interval;
        stage->state = STAGE_FAILED;
        vec_push(&s->failed, stage);
        s->resubmit_at = MIN(s->resubmit_at, stage->slots_checked);
        return false;
}

static void submit_one(struct sched *s, struct stage *stage, stage_list *stack)
{
        stage_list missing = {0};

        if (stage->state != STAGE_IDLE || stage->jobs.len == 0)
                return;
        if (!stage_is_result(stage) && map_outputs_complete(stage->outputs)) {
                submit_waiting_children(s, stage);
                return;
        }
        stage_graph_missing(s, stage, &missing);
        if (missing.len == 0 && stage->attempt + 1 >= s->config.max_total_attempts) {
                _cleanup_free_ char *reason =
                        mem_printf("%s %d (name=%s) has been resubmitted for the maximum "
                                   "allowable number of times: %d, which is the max value of "
                                   "config `spark.stage.maxAttempts`",
                                   dag_kind(stage), stage->id, dag_site(stage), s->config.max_total_attempts);
                abort_stage(s, stage, reason);
        } else if (missing.len == 0 && has_slots(s, stage)) {
                log_about(LOG_INFO, stage->id, -1, LOG, "Submitting %s %d (%s), which has no missing parents",
                          dag_kind(stage), stage->id, dag_site(stage));
                submit_missing_tasks(s, stage);
        } else if (missing.len > 0) {
                stage->state = STAGE_WAITING;
                vec_push(&s->waiting, stage);
                for (size_t i = missing.len; i-- > 0;) {
                        missing.data[i]->refs++;
                        vec_push(stack, missing.data[i]);
                }
        }
        vec_deinit(&missing);
}

static void submit_stage(struct sched *s, struct stage *stage)
{
        stage_list stack = {0};

        stage->refs++;
        vec_push(&stack, stage);
        while (stack.len > 0) {
                struct stage *next = stack.data[--stack.len];

                submit_one(s, next, &stack);
                stage_unref(s, next);
        }
        vec_deinit(&stack);
}

static int by_first_job(const void *a, const void *b)
{
        const struct stage *x = *(struct stage *const *)a, *y = *(struct stage *const *)b;

        if (x->first_job_id != y->first_job_id)
                return x->first_job_id < y->first_job_id ? -1 : 1;
        return (x->id > y->id) - (x->id < y->id);
}

void dag_resubmit_failed(struct sched *s)
{
        stage_list failed = s->failed;

        s->resubmit_at = INT64_MAX;
        s->failed = (stage_list){0};
        if (failed.len > 0) {
                log_info(LOG, "Resubmitting failed stages");
                qsort(failed.data, failed.len, sizeof(*failed.data), by_first_job);
        }
        for (size_t i = 0; i < failed.len; i++) {
                failed.data[i]->refs++; /* submitting one may abort another */
                failed.data[i]->state = STAGE_IDLE;
        }
        for (size_t i = 0; i < failed.len; i++) {
                submit_stage(s, failed.data[i]);
                stage_unref(s, failed.data[i]);
        }
        vec_deinit(&failed);
}

void dag_retry_barrier_stages(struct sched *s)
{
        for (size_t i = 0; i < s->failed.len; i++) {
                const struct stage *stage = s->failed.data[i];

                if (stage->barrier && stage->slots_checked > s->now && stage->partitions <= stage->profile->slots)
                        s->resubmit_at = s->now;
        }
}

/* ---------------------------------------------------------------------------------------------------- jobs */

static int dag_check_partitions(const struct job_spec *spec, struct fst_error *error)
{
        for (int i = 0; spec->partitions && i < spec->n_partitions; i++)
                if (spec->partitions[i] < 0 || spec->partitions[i] >= spec->final->partitions)
                        return error_set(error, -EINVAL,
                                         "Attempting to access a non-existent partition: %d. Total number of "
                                         "partitions: %d",
                                         spec->partitions[i], spec->final->partitions);
        return 0;
}

static struct job *job_new(struct sched *s, const struct job_spec *spec)
{
        struct job *job = new0(struct job);

        job->id = s->next_job_id++;
        job->final = spec->final;
        job->n = spec->partitions ? spec->n_partitions : spec->final->partitions;
        job->user = spec->user;
        job->refs = 1;
        job->submitted = s->now;
        job->call_site = mem_strdup(spec->call_site ? spec->call_site : "?");
        job->output_done = new_array(uint8_t, (size_t)MAX(job->n, 1));
        if (spec->partitions) {
                job->partitions = new_array(int, (size_t)MAX(job->n, 1));
                memcpy(job->partitions, spec->partitions, (size_t)job->n * sizeof(int));
        }
        if (spec->properties)
                strmap_merge(&job->properties, spec->properties);
        list_append(&s->jobs, job);
        return job;
}

/* Takes over the results of an earlier driver. */
static void job_keep_done(struct job *job, const uint8_t *done)
{
        const struct stage *stage = job->result_stage;
        int n = 0;

        for (int i = 0; i < job->n; i++)
                n += done[i] != 0;
        if (n < job->n && (stage->barrier || stage->indeterminate))
                return;
        for (int i = 0; i < job->n; i++)
                job->output_done[i] = done[i] != 0;
        job->done = n;
}

void job_unref(struct sched *s, struct job *job)
{
        if (--job->refs > 0)
                return;
        list_remove(&s->jobs, job);
        for (int i = 0; i < job->n_stages; i++)
                stage_unref(s, job->stages[i]);
        s->ops->job_removed(s->owner, job);
        free(job->stages);
        free(job->partitions);
        free(job->output_done);
        free(job->call_site);
        strmap_deinit(&job->properties);
        free(job);
}

/* Removes the job from its stages. Stages that no other job needs get no more work. */
static void leave_stages(struct sched *s, struct job *job)
{
        for (int i = 0; i < job->n_stages; i++) {
                struct stage *stage = job->stages[i];

                for (size_t k = 0; k < stage->jobs.len; k++)
                        if (stage->jobs.data[k] == job) {
                                memmove(&stage->jobs.data[k], &stage->jobs.data[k + 1],
                                        (stage->jobs.len - k - 1) * sizeof(*stage->jobs.data));
                                stage->jobs.len--;
                                break;
                        }
                if (stage->jobs.len > 0)
                        continue;
                /* Zombies too: they may wait for missing inputs, and the job is kept until they have ended. */
                task_scheduler_cancel(&s->tasks, stage, false, "Stage not needed any more");
                if (stage->state == STAGE_RUNNING)
                        finish_stage(s, stage, "no job needs the stage any more");
                set_idle(s, stage);
                if (!stage_is_result(stage))
                        s->shuffles.data[stage->shuffle->shuffle_id].stage = NULL;
        }
}

static void end_job(struct sched *s, struct job *job, enum job_result result, const char *message)
{
        job->ended = true;
        leave_stages(s, job);
        s->ops->job_ended(s->owner, job, result, message);
        job_unref(s, job);
}

static bool dag_interrupts(const struct job *job)
{
        const char *value = strmap_get(&job->properties, "spark.job.interruptOnCancel");

        return value && strcmp(value, "true") == 0;
}

static void fail_job(struct sched *s, struct job *job, enum job_result result, const char *message)
{
        _cleanup_free_ char *reason = mem_printf("Stage cancelled: %s", message);

        if (job->ended)
                return;
        log_info(LOG, "Job %d failed: %s: %s", job->id, job->call_site, message);
        for (int i = 0; i < job->n_stages; i++) {
                struct stage *stage = job->stages[i];

                if (stage->jobs.len != 1)
                        continue;
                task_scheduler_cancel(&s->tasks, stage, dag_interrupts(job), reason);
                if (stage->state == STAGE_RUNNING)
                        finish_stage(s, stage, message);
        }
        end_job(s, job, result, message);
}

void dag_cancel_job(struct sched *s, struct job *job, const char *reason)
{
        _cleanup_free_ char *message =
                mem_printf("Job %d cancelled%s%s", job->id, reason && *reason ? " " : "", reason ? reason : "");

        fail_job(s, job, JOB_CANCELLED, message);
}

/* Fails every job that needs @stage. */
static void abort_stage(struct sched *s, struct stage *stage, const char *reason)
{
        _cleanup_free_ char *message = mem_printf("Job aborted due to stage failure: %s", reason);

        stage->refs++;
        while (stage->jobs.len > 0)
                fail_job(s, stage->jobs.data[0], JOB_FAILED, message);
        stage_unref(s, stage);
}

static void log_job(struct sched *s, const struct job *job)
{
        _cleanup_(buf_deinit) struct buf parents = BUF_INIT;
        const struct stage *stage = job->result_stage;

        if (LOG_INFO > log_threshold)
                return;
        for (int i = 0; i < stage->n_parents; i++)
                buf_printf(&parents, "%s%s %d", i ? ", " : "", dag_kind(stage->parents[i]), stage->parents[i]->id);
        log_info(LOG, "Got job %d (%s) with %d output partitions", job->id, job->call_site, job->n);
        log_info(LOG, "Final stage: ResultStage %d (%s)", stage->id, dag_site(stage));
        log_info(LOG, "Parents of final stage: List(%s)", buf_text(&parents));
}

static bool dag_profiles_conflict(const struct job *job)
{
        for (int i = 0; i < job->n_stages; i++)
                if (job->stages[i]->profiles_conflict)
                        return true;
        return false;
}

int sched_submit_job(struct sched *s, const struct job_spec *spec, int64_t now, struct fst_error *error)
{
        int r = dag_check_partitions(spec, error);

        if (r < 0)
                return r;
        sched_note(s, submit, spec, now);
        s->now = now;
        struct job *job = job_new(s, spec);
        int id = job->id;

        if (job->n == 0) {
                s->ops->job_started(s->owner, job);
                end_job(s, job, JOB_SUCCEEDED, NULL);
                return id;
        }
        stage_graph_build(s, job);
        if (spec->done)
                job_keep_done(job, spec->done);
        dag_keep_stored(s, spec);
        log_job(s, job);
        s->ops->job_started(s->owner, job);
        if (dag_profiles_conflict(job))
                fail_job(s, job, JOB_FAILED,
                         "Multiple ResourceProfiles specified in the RDDs for this stage, either resolve the "
                         "conflicting ResourceProfiles yourself or enable "
                         "spark.scheduler.resource.profileMergeConflicts and understand how Spark handles the merging "
                         "them.");
        else if (job->done == job->n)
                end_job(s, job, JOB_SUCCEEDED, NULL);
        else
                submit_stage(s, job->result_stage);
        return id;
}

/* --------------------------------------------------------------------------------- results of tasks */

bool dag_is_stale(const struct task_set *set)
{
        const struct stage *stage = set->stage;

        return (stage->barrier || stage->indeterminate) &&
               (set->attempt != stage->attempt || stage->state != STAGE_RUNNING);
}

static void result_task_succeeded(struct sched *s, const struct task_attempt_info *info,
                                  const struct task_status *status)
{
        struct stage *stage = info->set->stage;
        struct job *job = stage->job;

        if (job->ended || job->output_done[info->output] || dag_is_stale(info->set))
                return;
        if (s->ops->task_accepted)
                s->ops->task_accepted(s->owner, info, status);
        job->output_done[info->output] = true;
        if (++job->done < job->n)
                return;
        task_scheduler_cancel(&s->tasks, stage, dag_interrupts(job), "Stage finished");
        if (stage->state == STAGE_RUNNING)
                finish_stage(s, stage, NULL);
        log_info(LOG, "Job %d finished: %s, took %.6f s", job->id, job->call_site,
                 (double)(s->now - job->submitted) / 1e9);
        end_job(s, job, JOB_SUCCEEDED, NULL);
}

static void map_stage_ended(struct sched *s, struct stage *stage)
{
        finish_stage(s, stage, NULL);
        if (map_outputs_complete(stage->outputs)) {
                submit_waiting_children(s, stage);
                return;
        }
        log_about(LOG_INFO, stage->id, -1, LOG, "Resubmitting %s %d (%s) because %d of its outputs have been lost",
                  dag_kind(stage), stage->id, dag_site(stage), stage->outputs->n - stage->outputs->available);
        submit_stage(s, stage);
}

static void map_task_succeeded(struct sched *s, const struct task_attempt_info *info, const struct task_status *status)
{
        struct stage *stage = info->set->stage;
        int p = info->output;

        bool stale = dag_is_stale(info->set);

        if (stage->jobs.len == 0 || stale || !map_outputs_add(stage->outputs, p, info->executor, status->output)) {
                if (status->output)
                        s->ops->map_output_removed(s->owner, stage->shuffle->shuffle_id, p, info->executor,
                                                   status->output);
                if (stage->jobs.len == 0 || stale)
                        return;
        } else if (s->ops->task_accepted) {
                s->ops->task_accepted(s->owner, info, status);
        }
        if (stage->state != STAGE_RUNNING || !stage->pending[p])
                return;
        stage->pending[p] = false;
        if (--stage->n_pending == 0)
                map_stage_ended(s, stage);
}

static void task_succeeded(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
        struct sched *s = owner;

        s->now = s->tasks.now;
        if (stage_is_result(info->set->stage))
                result_task_succeeded(s, info, status);
        else
                map_task_succeeded(s, info, status);
}

static bool dag_reads(const struct stage *stage, const struct stage *parent)
{
        for (int i = 0; i < stage->n_parents; i++)
                if (stage->parents[i] == parent)
                        return true;
        return false;
}

/* Discards the outputs computed from @map's. Returns true if @job failed because it has used parts of its result. */
static bool roll_back_children(struct sched *s, const struct stage *map, struct job *job)
{
        for (int i = 0; i < job->n_stages; i++) {
                struct stage *child = job->stages[i];

                if (!dag_reads(child, map))
                        continue;
                if (stage_is_result(child) && child->job->done > 0) {
                        _cleanup_free_ char *reason =
                                mem_printf("A shuffle map stage with indeterminate output was failed and retried. "
                                           "However, Spark cannot rollback the ResultStage %d to re-process the input "
                                           "data, and has to fail this job. Please eliminate the indeterminacy by "
                                           "checkpointing the RDD before repartition and try again.",
                                           child->id);

                        abort_stage(s, child, reason);
                        return true;
                }
                if (!stage_is_result(child) && child->outputs->available > 0)
                        reset_outputs(s, child);
        }
        return false;
}

/*
 * Handles outputs of @map that must be computed again. If @map is indeterminate, all its outputs and everything
 * computed from them are computed again. Fails a job that has already used its result.
 */
static void roll_back(struct sched *s, struct stage *map)
{
        if (!map->indeterminate)
                return;
        map->refs++;
        for (size_t i = 0; i < map->jobs.len;)
                i = roll_back_children(s, map, map->jobs.data[i]) ? 0 : i + 1;
        reset_outputs(s, map);
        stage_unref(s, map);
}

static void mark_failed(struct sched *s, struct stage *stage)
{
        if (stage->state != STAGE_IDLE || stage->jobs.len == 0)
                return;
        stage->state = STAGE_FAILED;
        vec_push(&s->failed, stage);
        s->resubmit_at = MIN(s->resubmit_at, s->now + s->config.resubmit_delay);
}

/* Returns true if a newer attempt of the stage is running. */
static bool is_late(const struct task_attempt_info *info)
{
        const struct stage *stage = info->set->stage;

        if (stage->jobs.len > 0 && stage->attempt == info->set->attempt)
                return false;
        log_info(LOG,
                 "Ignoring fetch failure from task %d of stage %s as there is a more recent attempt for that "
                 "stage (attempt %d) running",
                 info->index, info->set->id, stage->attempt);
        return true;
}

/* Ends a failed attempt. Returns true if there were too many and the stage was aborted. */
static bool attempt_failed(struct sched *s, struct stage *stage, const char *message, bool counts)
{
        if (counts && stage->last_failed != stage->attempt) {
                stage->last_failed = stage->attempt;
                stage->failed_attempts++;
        }
        if (stage->state == STAGE_RUNNING)
                finish_stage(s, stage, message);
        if (stage->failed_attempts < s->config.max_stage_attempts)
                return false;
        _cleanup_free_ char *reason =
                mem_printf("%s %d (%s) has failed the maximum allowable number of "
                           "times: %d. Most recent failure reason:\n%s",
                           dag_kind(stage), stage->id, dag_site(stage), s->config.max_stage_attempts, message);

        abort_stage(s, stage, reason);
        return true;
}

/* Returns whether the outputs are missing because their executor was decommissioned. */
static bool from_decommissioned(const struct sched *s, const struct task_fetch *fetch)
{
        return s->config.ignore_decommission_failures && fetch &&
               executors_known(&s->tasks.executors, fetch->executor) &&
               s->tasks.executors.at.data[fetch->executor].decommissioned;
}

static void dag_fetch_failed(struct sched *s, const struct task_attempt_info *info, const struct task_status *status)
{
        struct stage *stage = info->set->stage;
        const char *message = status->message ? status->message : "fetch failed";
        struct shuffle *shuffle = status->fetch ? dag_shuffle(s, status->fetch->shuffle_id) : NULL;

        if (is_late(info))
                return;
        stage->refs++;
        if (status->fetch)
                dag_unregister_missing_output(s, info->set, status->fetch);
        if (!attempt_failed(s, stage, message, !from_decommissioned(s, status->fetch))) {
                if (shuffle && shuffle->stage)
                        roll_back(s, shuffle->stage);
                if (stage->barrier && stage->jobs.len > 0) /* the roll-back may have failed its job */
                        reset_outputs(s, stage);
                mark_failed(s, stage);
                if (shuffle && shuffle->stage)
                        mark_failed(s, shuffle->stage);
        }
        stage_unref(s, stage);
}

/* Handles a failed task of a barrier stage: ends the others, and runs all of them again. */
static void barrier_failed(struct sched *s, const struct task_attempt_info *info, const struct task_status *status)
{
        struct stage *stage = info->set->stage;
        _cleanup_free_ char *message =
                mem_printf("Stage failed because barrier task %d of stage %s finished "
                           "unsuccessfully.\n%s",
                           info->index, info->set->id, status->message ? status->message : "no reason given");
        _cleanup_free_ char *reason = mem_printf("Task %d from barrier stage %s failed.", info->index, info->set->id);

        if (is_late(info) || stage->state != STAGE_RUNNING)
                return;
        stage->refs++;
        task_scheduler_cancel(&s->tasks, stage, false, reason);
        if (!attempt_failed(s, stage, message, true)) {
                reset_outputs(s, stage);
                mark_failed(s, stage);
        }
        stage_unref(s, stage);
}

static void task_failed(void *owner, const struct task_attempt_info *info, const struct task_status *status)
{
        struct sched *s = owner;

        s->now = s->tasks.now;
        if (status->state == TASK_FETCH_FAILED && status->fetch && dag_executor_lacked_output(s, status->fetch))
                health_tracker_fetch_failed(&s->tasks, status->fetch->executor);
        if (status->state == TASK_FETCH_FAILED)
                dag_fetch_failed(s, info, status);
        else if (info->set->barrier)
                barrier_failed(s, info, status);
}

static void task_resubmitted(void *owner, struct task_set *set, int index)
{
        struct stage *stage = set->stage;
        int p = task_set_output(set, index);

        if (stage->pending[p])
                return;
        stage->pending[p] = true;
        stage->n_pending++;
}

static void task_set_failed(void *owner, struct task_set *set, const char *message)
{
        struct sched *s = owner;

        s->now = s->tasks.now;
        abort_stage(s, set->stage, message);
}

static void task_set_done(void *owner, struct task_set *set)
{
        if (set->stage->set == set)
                set->stage->set = NULL;
}

static void task_set_released(void *owner, struct task_set *set)
{
        dag_release_set(owner, set);
}

const struct task_events dag_task_events = {
        .task_succeeded = task_succeeded,
        .task_failed = task_failed,
        .task_resubmitted = task_resubmitted,
        .task_set_failed = task_set_failed,
        .task_set_done = task_set_done,
        .task_set_released = task_set_released,
};
