/*
 * Handles offers, statuses and losses: Spark's TaskSchedulerImpl and the decisions of its TaskSetManager.
 *
 * When a core becomes free, its executor joins the end of a queue. A round takes executors from the front, gives each
 * one batch, and puts it back while it has cores, so that tasks spread over executors as in Spark's rounds of offers.
 * Each step of a task is O(1) and allocates no memory: attempts are in the task table, and batches are recycled.
 *
 * Invariants: an executor's free cores are its cores minus those of its batches, never negative. It is queued if and
 * only if it is alive, enabled and has cores for a batch. A task set is active in its pool if and only if it is not a
 * zombie and has pending tasks. A zombie without running tasks is removed.
 *
 * Departures from Spark: an executor lost by the application's fault counts as a failure only of the task that each of
 * its cores was running, not of the tasks behind it in the batch. The order of executors is not random.
 */
#include "sched/tasks/task_scheduler.h"

#include "base/buf.h"
#include "base/list.h"
#include "base/log.h"
#include "conf/units.h"
#include "sched/sched_conf.h"

#include <inttypes.h>

#define LOG "TaskSchedulerImpl"
#define LOG_SET "TaskSetManager"

void task_scheduler_init(struct task_scheduler *ts, const struct sched_config *config, const struct task_events *events,
                         void *owner, const struct sched_ops *ops, void *ops_owner)
{
        *ts = (struct task_scheduler){
                .config = *config, .events = events, .owner = owner, .ops = ops, .ops_owner = ops_owner};
        ts->config.max_run = MIN(config->max_run, SCHED_MAX_RUN);
        ts->config.max_run = MAX(ts->config.max_run, 1);
        ts->config.task_cpus = MAX(1, config->task_cpus);
        ts->config.max_failures = MAX(1, config->max_failures);
        ts->abort_deadline = ts->locality_deadline = ts->speculation_at = INT64_MAX;
        task_table_start(&ts->tasks, config->first_task_id);
        health_tracker_init(&ts->health);
        executors_init(&ts->executors, &(struct task_profile){.cpus = ts->config.task_cpus,
                                                              .requests = config->resources,
                                                              .n_requests = config->n_resources});
        ts->config.resources = NULL;
        ts->config.n_resources = 0;
        ts->root = pool_build(config->mode, config->pools, config->n_pools);
        ts->config.pools = NULL;
        ts->config.n_pools = 0;
}

static struct sched_executor *executor_at(struct task_scheduler *ts, int executor)
{
        return executors_at(&ts->executors, executor);
}

int task_scheduler_add_executor(struct task_scheduler *ts, const struct executor_spec *spec)
{
        return executors_add(&ts->executors, spec, ts->ops->rack, ts->ops_owner);
}

/* ---------------------------------------------------------------------------------------------- task sets */

static void task_scheduler_release_set(struct task_scheduler *ts, struct task_set *set)
{
        if (task_set_unref(set))
                ts->events->task_set_released(ts->owner, set);
}

/* Removes a zombie whose last task has ended. @set may be freed afterwards. */
static void maybe_finish(struct task_scheduler *ts, struct task_set *set)
{
        if (!set->zombie)
                return;
        schedulable_deactivate(&set->node);
        if (set->n_running > 0 || !set->pool)
                return;
        for (size_t i = 0; set->parked && i < ts->parked.len; i++)
                if (ts->parked.data[i] == set) {
                        ts->parked.data[i] = ts->parked.data[--ts->parked.len];
                        set->parked = false;
                }
        if (set->n_succeeded == set->n)
                health_tracker_set_succeeded(ts, set);
        log_info(LOG, "Removed TaskSet %s, whose tasks have all completed, from pool %s", set->id, set->pool->name);
        set->pool = NULL;
        list_remove(ts, set);
        ts->events->task_set_done(ts->owner, set);
        task_scheduler_release_set(ts, set);
}

void task_scheduler_submit(struct task_scheduler *ts, struct task_set *set, int64_t now)
{
        const char *pool = strmap_get(&set->job->properties, "spark.scheduler.pool");

        log_about(LOG_INFO, set->stage_id, -1, LOG, "Adding task set %s with %d tasks resource profile %d", set->id,
                  set->n, set->stage->profile->id);
        for (struct task_set *old = ts->first, *next; old; old = next) {
                next = old->next;
                if (old->stage != set->stage)
                        continue;
                old->zombie = true;
                maybe_finish(ts, old);
        }
        task_set_ref(set);
        set->submitted = now;
        set->profile = set->stage->profile;
        set->max_failures = ts->config.max_failures;
        set->pool = pool_for_job(ts->root, pool);
        list_append(ts, set);
        if (ts->config.speculation.enabled && !set->barrier)
                set->speculation = speculation_new();
        if (set->speculation && ts->speculation_at == INT64_MAX)
                ts->speculation_at = now + ts->config.speculation.interval;
        ts->exclusion_changed |= ts->health.excluded.len > 0;
        task_scheduler_has_work(ts, set);
}

static void kill_run(struct task_scheduler *ts, struct launched_batch *run, int only_index, bool interrupt,
                     const char *reason)
{
        if (!executor_at(ts, run->executor)->alive)
                return;
        for (int64_t id = run->first_id; id < run->first_id + run->n; id++) {
                struct task_attempt *a = task_table_find(&ts->tasks, id);

                if (!a || a->run != run || a->kill_sent || (only_index >= 0 && a->index != only_index))
                        continue;
                a->kill_sent = true;
                ts->ops->kill_task(ts->ops_owner, run->executor, id, interrupt, reason);
        }
}

void task_scheduler_cancel(struct task_scheduler *ts, const struct stage *stage, bool interrupt, const char *reason)
{
        for (struct task_set *set = ts->first, *next; set; set = next) {
                next = set->next;
                if (set->stage != stage)
                        continue;
                set->zombie = true;
                for (struct launched_batch *run = set->runs; run; run = run->next_in_set)
                        kill_run(ts, run, -1, interrupt, reason);
                maybe_finish(ts, set);
        }
}

bool task_scheduler_kill(struct task_scheduler *ts, int64_t task_id, bool interrupt, const char *reason)
{
        struct task_attempt *a = task_table_find(&ts->tasks, task_id);

        if (!a || !a->run)
                return false;
        if (!a->kill_sent) {
                a->kill_sent = true;
                ts->ops->kill_task(ts->ops_owner, a->run->executor, task_id, interrupt, reason);
        }
        return true;
}

/* ------------------------------------------------------------------------------------------------ statuses */

static void fill_info(struct task_attempt_info *info, const struct task_attempt *a)
{
        struct task_set *set = a->run->set;

        *info = (struct task_attempt_info){.set = set,
                                           .index = a->index,
                                           .partition = task_set_partition(set, a->index),
                                           .output = task_set_output(set, a->index),
                                           .attempt = a->number,
                                           .executor = a->run->executor,
                                           .launched = a->run->launched,
                                           .state = TASK_RUNNING};
}

bool task_scheduler_task(const struct task_scheduler *ts, int64_t task_id, struct task_attempt_info *info)
{
        struct task_attempt *a = task_table_find(&ts->tasks, task_id);

        if (!a || !a->run)
                return false;
        fill_info(info, a);
        return true;
}

/* The output of task @index exists, so @set need not compute it. */
static void mark_done(struct task_scheduler *ts, struct task_set *set, int index)
{
        if (set->slots[index].done)
                return;
        set->slots[index].done = true;
        set->n_waiting -= set->slots[index].copies == 0;
        if (++set->n_succeeded == set->n)
                set->zombie = true;
}

static void task_scheduler_succeeded(struct task_scheduler *ts, const struct task_attempt_info *info,
                                     const struct task_status *status, bool alone)
{
        struct task_set *set = info->set;

        task_set_measure(set, status->run_ns);
        if (set->speculation)
                speculation_succeeded(set->speculation, &ts->config.speculation, status->run_ns, status->records);
        mark_done(ts, set, info->index);
        if (unlikely(set->slots[info->index].copies > 0))
                for (struct launched_batch *run = set->runs; run; run = run->next_in_set)
                        kill_run(ts, run, info->index, true, "another attempt succeeded");
        if (unlikely((alone ? LOG_INFO : LOG_DEBUG) <= log_threshold))
                log_about(alone ? LOG_INFO : LOG_DEBUG, set->stage_id, status->task_id, LOG_SET,
                          "Finished task %d.%d in stage %s (TID %" PRId64 ") in %" PRId64
                          " ms on %s (executor %s) (%d/%d)",
                          info->index, info->attempt, set->id, status->task_id, status->run_ns / 1000000,
                          executors_host(&ts->executors, info->executor), executor_at(ts, info->executor)->id,
                          set->n_succeeded, set->n);
        struct task_set *newest = set->stage->set;

        if (unlikely(newest && newest != set && !set->barrier && !set->stage->indeterminate)) {
                int index = task_set_index(newest, info->output);

                if (index >= 0) {
                        mark_done(ts, newest, index);
                        maybe_finish(ts, newest);
                }
        }
        ts->events->task_succeeded(ts->owner, info, status);
}

static void log_failure(struct task_set *set, int64_t task_id, const char *lost, const char *message)
{
        if (set->last_failure && strcmp(set->last_failure, message) == 0) {
                log_multiline_about(LOG_INFO, set->stage_id, task_id, LOG_SET, "%s [duplicate %d]", lost,
                                    ++set->same_failures);
                return;
        }
        free(set->last_failure);
        set->last_failure = mem_strdup(message);
        set->same_failures = 0;
        log_multiline_about(LOG_WARN, set->stage_id, task_id, LOG_SET, "%s", lost);
}

static void task_scheduler_abandon(struct task_scheduler *ts, struct task_set *set, const char *message)
{
        /* The action that fails reports the error. */
        log_multiline_about(LOG_WARN, set->stage_id, -1, LOG_SET, "%s", message);
        set->zombie = true;
        ts->events->task_set_failed(ts->owner, set, message);
}

void task_scheduler_give_up(struct task_scheduler *ts, struct task_set *set, const char *message)
{
        if (set->zombie)
                return;
        task_set_ref(set);
        task_scheduler_abandon(ts, set, message);
        maybe_finish(ts, set);
        task_scheduler_release_set(ts, set);
}

bool task_scheduler_result_fits(struct task_scheduler *ts, int64_t task_id, int64_t bytes, int64_t now)
{
        struct task_attempt *a = task_table_find(&ts->tasks, task_id);
        int64_t limit = ts->config.max_result_size;

        if (!a || !a->run)
                return false;
        struct task_set *set = a->run->set;

        set->result_bytes += bytes;
        set->n_results++;
        if (limit <= 0 || set->result_bytes <= limit || !stage_is_result(set->stage))
                return true;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;

        buf_printf(&text, "Total size of serialized results of %d tasks (", set->n_results);
        units_put_bytes(&text, set->result_bytes);
        buf_puts(&text, ") is bigger than spark.driver.maxResultSize (");
        units_put_bytes(&text, limit);
        buf_puts(&text, "): " RESULT_SIZE_REMEDY);
        ts->now = now;
        task_scheduler_give_up(ts, set, buf_text(&text));
        return false;
}

/* Makes task @index pending again. */
static void task_scheduler_run_again(struct task_scheduler *ts, struct task_set *set, int32_t index)
{
        pending_tasks_retry(&set->pending, index);
        if (set->locality)
                locality_add(set->locality, &ts->executors, index);
        task_scheduler_has_work(ts, set);
}

static void task_scheduler_failed(struct task_scheduler *ts, const struct task_attempt_info *info,
                                  const struct task_status *status)
{
        struct task_set *set = info->set;
        struct task_slot *slot = &set->slots[info->index];
        const struct sched_executor *e = executor_at(ts, info->executor);
        const char *message = status->message ? status->message : "no reason given";
        bool counts = status->state == TASK_FAILED || status->state == TASK_EXECUTOR_LOST;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *lost = mem_printf("Lost task %d.%d in stage %s (TID %" PRId64 ") (%s executor %s): %s",
                                               info->index, info->attempt, set->id, status->task_id,
                                               executors_host(&ts->executors, info->executor), e->id, message);

        set->n_failed++;
        log_failure(set, status->task_id, lost, message);
        if (status->state == TASK_FETCH_FAILED) {
                mark_done(ts, set, info->index);
                set->zombie = true;
        } else if (counts && !set->zombie) {
                exclusion_failed(ts, set, info->index, info->executor);
        }
        if (set->barrier)
                set->zombie = true; /* its other tasks would wait for this one forever, so all of them run again */
        ts->events->task_failed(ts->owner, info, status);
        if (set->zombie)
                return;
        if (status->state == TASK_FAILED_FATAL) {
                buf_printf(&text, "Task %d.%d in stage %s (TID %" PRId64 ") cannot succeed, not retrying: %s",
                           info->index, info->attempt, set->id, status->task_id, message);
                task_scheduler_abandon(ts, set, buf_text(&text));
        } else if (counts && ++slot->failures >= set->max_failures) {
                buf_printf(&text, "Task %d in stage %s failed %d times, most recent failure: %s", info->index, set->id,
                           set->max_failures, lost);
                task_scheduler_abandon(ts, set, buf_text(&text));
        } else if (task_set_waits(set, info->index)) {
                task_scheduler_run_again(ts, set, info->index);
        }
}

static void end_attempt(struct task_scheduler *ts, struct task_attempt *a, const struct task_status *status)
{
        struct launched_batch *run = a->run;
        struct task_set *set = run->set;
        struct task_attempt_info info;

        fill_info(&info, a);
        info.state = status->state;
        task_set_ref(set);
        task_table_end(&ts->tasks, status->task_id);
        set->n_running--;
        if (set->speculation)
                speculation_attempt_ended(set->speculation, info.index);
        if (--set->slots[info.index].copies == 0 && !set->slots[info.index].done)
                set->n_waiting++;
        bool alone = run->n == 1;

        run->progress = ts->now;
        if (--run->left == 0)
                task_scheduler_end_run(ts, run);
        if (likely(status->state == TASK_SUCCEEDED))
                task_scheduler_succeeded(ts, &info, status, alone);
        else
                task_scheduler_failed(ts, &info, status);
        maybe_finish(ts, set);
        task_scheduler_release_set(ts, set);
}

void task_scheduler_status(struct task_scheduler *ts, const struct task_status *statuses, int n, int64_t now)
{
        ts->now = now;
        for (int i = 0; i < n; i++) {
                struct task_attempt *a = task_table_find(&ts->tasks, statuses[i].task_id);

                if (likely(a && a->run)) {
                        end_attempt(ts, a, &statuses[i]);
                        continue;
                }
                log_debug(LOG, "Ignoring update for TID %" PRId64 ", which has ended", statuses[i].task_id);
                if (statuses[i].state == TASK_SUCCEEDED && statuses[i].output)
                        ts->ops->map_output_removed(ts->ops_owner, -1, -1, -1, statuses[i].output);
        }
}

/* -------------------------------------------------------------------------------------------------- losses */

/* Makes map tasks of running sets pending again whose outputs were on @executor. */
static void resubmit_map_tasks(struct task_scheduler *ts, int executor)
{
        for (struct task_set *set = ts->first; set; set = set->next) {
                if (set->zombie || set->barrier || stage_is_result(set->stage))
                        continue;
                _cleanup_free_ int32_t *partitions = NULL;
                int n = map_outputs_of_executor(set->stage->outputs, executor, &partitions);
                for (int i = 0; i < n; i++) {
                        int index = task_set_index(set, partitions[i]);

                        if (index < 0 || !set->slots[index].done ||
                            map_output_is_stored(&set->stage->outputs->at[partitions[i]]))
                                continue;
                        set->slots[index].done = false;
                        set->n_succeeded--;
                        set->n_waiting += set->slots[index].copies == 0;
                        task_scheduler_run_again(ts, set, index);
                        ts->events->task_resubmitted(ts->owner, set, index);
                }
        }
}

void task_scheduler_suspect(struct task_scheduler *ts, int64_t task_id)
{
        struct task_attempt *a = task_table_find(&ts->tasks, task_id);

        if (!a || !a->run)
                return;
        a->crash_suspect = true;
        executor_at(ts, a->run->executor)->reported = true;
}

void task_scheduler_release_core(struct task_scheduler *ts, int64_t task_id, int64_t now)
{
        struct task_attempt *a = task_table_find(&ts->tasks, task_id);

        ts->now = now;
        if (a && a->run)
                task_scheduler_release_run(ts, a->run);
}

/* Returns the task that the core of @run was running: the reported one, else the first that has not ended. */
static int64_t task_scheduler_task_at(const struct task_scheduler *ts, const struct launched_batch *run)
{
        int64_t first = -1;

        for (int64_t id = run->first_id; id < run->first_id + run->n; id++) {
                const struct task_attempt *a = task_table_find(&ts->tasks, id);

                if (!a || a->run != run)
                        continue;
                if (a->crash_suspect)
                        return id;
                if (first < 0)
                        first = id;
        }
        return first;
}

/* Ends the remaining tasks of a batch on a lost executor. */
static void lose_run(struct task_scheduler *ts, struct launched_batch *run, bool charge, const char *message)
{
        int64_t first = run->first_id, end = first + run->n, at = charge ? task_scheduler_task_at(ts, run) : -1;
        bool reported = executor_at(ts, run->executor)->reported;

        for (int64_t id = first; id < end; id++) {
                struct task_attempt *a = task_table_find(&ts->tasks, id);

                if (!a || a->run != run)
                        continue;
                struct task_status status = {.task_id = id,
                                             .state = id == at ? TASK_EXECUTOR_LOST
                                                               : TASK_PREEMPTED, /* the others had not begun */
                                             .message = message};
                struct task_attempt_info info;
                bool last = run->left == 1;

                if (id == at && (a->crash_suspect || !reported))
                        run->set->slots[a->index].crash_suspect = true;
                fill_info(&info, a);
                ts->ops->task_lost(ts->ops_owner, &info, &status);
                end_attempt(ts, a, &status);
                if (last)
                        return;
        }
}

/*
 * A loss that the driver asked for is not an error. A crash report names the task that failed: the failure of that task
 * is logged too, and the action that fails because of it says so in its own ERROR line.
 */
static void log_loss(struct task_scheduler *ts, int executor, const char *message)
{
        const char *id = executor_at(ts, executor)->id, *host = executors_host(&ts->executors, executor);

        if (strcmp(message, LOSS_KILLED) == 0)
                log_info(LOG, "Executor %s on %s killed by driver.", id, host);
        else if (strcmp(message, LOSS_DECOMMISSIONED) == 0 ||
                 strncmp(message, LOSS_DECOMMISSION, sizeof(LOSS_DECOMMISSION) - 1) == 0)
                log_info(LOG, "Executor %s on %s is decommissioned.", id, host);
        else
                log_multiline(executor_at(ts, executor)->reported ? LOG_WARN : LOG_ERROR, LOG,
                              "Lost executor %s on %s: %s", id, host, message);
}

void task_scheduler_lose_executor(struct task_scheduler *ts, int executor, bool caused_by_app, const char *message,
                                  int64_t now)
{
        if (!executors_alive(&ts->executors, executor))
                return;
        ts->now = now;
        struct sched_executor *e = executor_at(ts, executor);
        _cleanup_free_ char *text =
                mem_printf("ExecutorLostFailure (executor %s exited %s) Reason: %s", e->id,
                           caused_by_app ? "caused by one of the running tasks" : "unrelated to the running tasks",
                           message ? message : "unknown");

        log_loss(ts, executor, message ? message : "unknown");
        executors_set_dead(&ts->executors, executor);
        if (!ts->config.outputs_outlive_executors)
                resubmit_map_tasks(ts, executor);
        while (e->runs)
                lose_run(ts, e->runs, caused_by_app, text);
}

int64_t task_scheduler_deadline(const struct task_scheduler *ts)
{
        int64_t waits = MIN(ts->locality_deadline, ts->speculation_at);
        int64_t exclusions = MIN(ts->abort_deadline, ts->health.next_expiry);

        return MIN(waits, exclusions);
}

void task_scheduler_tick(struct task_scheduler *ts, int64_t now)
{
        ts->now = now;
        if (ts->speculation_at <= now) {
                speculation_check(ts, now);
                ts->speculation_at = ts->first ? now + ts->config.speculation.interval : INT64_MAX;
        }
        health_tracker_expire(ts);
}

void task_scheduler_progress(struct task_scheduler *ts, int64_t task_id, int64_t records, int64_t run_ns)
{
        struct task_attempt *a = task_table_find(&ts->tasks, task_id);

        if (a && a->run && a->run->set->speculation)
                speculation_progress(a->run->set->speculation, a->run->set->n, a->index, records, run_ns);
}

void task_scheduler_deinit(struct task_scheduler *ts)
{
        for (struct task_set *set; (set = ts->first);) {
                while (set->runs) {
                        struct launched_batch *run = set->runs;

                        executor_at(ts, run->executor)->enabled = false;
                        task_scheduler_end_run(ts, run);
                }
                set->n_running = 0;
                set->zombie = true;
                maybe_finish(ts, set);
        }
        for (struct launched_batch *run; (run = ts->spare_runs);) {
                ts->spare_runs = run->next_on;
                free(run->shares);
                free(run);
        }
        executors_deinit(&ts->executors);
        free(ts->launch_resources);
        health_tracker_deinit(&ts->health);
        for (struct executor_kill kill; queue_pop(&ts->kills, &kill);)
                free(kill.reason);
        queue_deinit(&ts->kills);
        vec_deinit(&ts->parked);
        task_table_deinit(&ts->tasks);
        pool_free(ts->root);
}
