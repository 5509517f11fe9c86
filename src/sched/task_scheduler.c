/*
 * Offers, statuses and losses: Spark's TaskSchedulerImpl and the deciding half of its TaskSetManager.
 *
 * A core that comes free puts its executor at the end of a queue; reviving takes executors from the front, gives
 * each one run and puts it back while it has cores, so that tasks spread over executors as Spark's rounds of
 * offers spread them. All steps of a task's life are O(1) and allocate nothing: attempts lie in the task table,
 * runs are recycled.
 *
 * Invariants: an executor's free cores are its cores less those of its runs, never negative; it is queued if and
 * only if it is alive, enabled and has cores for a run; a task set is active in its pool if and only if it is no
 * zombie and lists pending tasks; a zombie without running tasks has left.
 *
 * Departures from Spark: an executor lost through the application charges a failure only to the task that each of
 * its cores was at, not to those that waited behind it; which executor is next is not random.
 */
#include "sched/task_scheduler.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"

#include <inttypes.h>

#define LOG "TaskSchedulerImpl"
#define LOG_SET "TaskSetManager"

void task_scheduler_init(struct task_scheduler *ts, const struct sched_config *config, const struct task_events *events,
                         void *owner, const struct sched_ops *ops, void *ops_owner)
{
        *ts = (struct task_scheduler){.config = *config,
                                      .events = events,
                                      .owner = owner,
                                      .ops = ops,
                                      .ops_owner = ops_owner,
                                      .free_first = -1,
                                      .free_last = -1};
        ts->config.max_run = MIN(config->max_run, SCHED_MAX_RUN);
        ts->config.max_run = MAX(ts->config.max_run, 1);
        ts->config.task_cpus = MAX(1, config->task_cpus);
        ts->config.max_failures = MAX(1, config->max_failures);
        ts->root = pool_build(config->mode, config->pools, config->n_pools);
        ts->config.pools = NULL;
        ts->config.n_pools = 0;
}

static struct executor *executor_at(struct task_scheduler *ts, int executor)
{
        return &ts->executors.data[executor];
}

/* ------------------------------------------------------------------------------- executors with a free core */

static void queue_executor(struct task_scheduler *ts, int index)
{
        struct executor *e = executor_at(ts, index);

        if (e->queued || !e->alive || !e->enabled || e->free < ts->config.task_cpus)
                return;
        e->queued = true;
        e->prev = ts->free_last;
        e->next = -1;
        *(e->prev >= 0 ? &executor_at(ts, e->prev)->next : &ts->free_first) = index;
        ts->free_last = index;
}

static void unqueue_executor(struct task_scheduler *ts, int index)
{
        struct executor *e = executor_at(ts, index);

        if (!e->queued)
                return;
        e->queued = false;
        *(e->prev >= 0 ? &executor_at(ts, e->prev)->next : &ts->free_first) = e->next;
        *(e->next >= 0 ? &executor_at(ts, e->next)->prev : &ts->free_last) = e->prev;
}

static int executor_slots(const struct task_scheduler *ts, const struct executor *e)
{
        return e->alive && e->enabled ? e->cores / ts->config.task_cpus : 0;
}

int task_scheduler_add_executor(struct task_scheduler *ts, const char *id, const char *host, int cores)
{
        for (size_t i = 0; i < ts->executors.len; i++)
                if (ts->executors.data[i].alive && strcmp(ts->executors.data[i].id, id) == 0)
                        return -EEXIST;
        vec_push(&ts->executors, (struct executor){.id = mem_strdup(id),
                                                   .host = mem_strdup(host),
                                                   .cores = cores,
                                                   .free = cores,
                                                   .alive = true,
                                                   .enabled = true,
                                                   .prev = -1,
                                                   .next = -1});
        int index = (int)ts->executors.len - 1;

        ts->slots += executor_slots(ts, executor_at(ts, index));
        queue_executor(ts, index);
        return index;
}

void task_scheduler_disable_executor(struct task_scheduler *ts, int executor)
{
        if (!task_scheduler_alive(ts, executor))
                return;
        ts->slots -= executor_slots(ts, executor_at(ts, executor));
        unqueue_executor(ts, executor);
        executor_at(ts, executor)->enabled = false;
}

/* --------------------------------------------------------------------------------------------------- runs */

static struct task_run *run_new(struct task_scheduler *ts, struct task_set *set, int executor, int n)
{
        struct task_run *run = ts->spare_runs;
        struct executor *e = executor_at(ts, executor);

        if (run)
                ts->spare_runs = run->next_on;
        else
                run = mem_alloc(sizeof(*run));
        *run = (struct task_run){.set = set,
                                 .executor = executor,
                                 .n = n,
                                 .left = n,
                                 .first_id = ts->tasks.next_id,
                                 .launched = ts->now,
                                 .next_on = e->runs,
                                 .next_in_set = set->runs};
        if (e->runs)
                e->runs->prev_on = run;
        e->runs = run;
        if (set->runs)
                set->runs->prev_in_set = run;
        set->runs = run;
        e->free -= set->cpus;
        schedulable_running(&set->node, set->pool, 1);
        return run;
}

/* The last task of the run has ended: the core is free again. */
static void run_end(struct task_scheduler *ts, struct task_run *run)
{
        struct executor *e = executor_at(ts, run->executor);
        struct task_set *set = run->set;

        *(run->prev_on ? &run->prev_on->next_on : &e->runs) = run->next_on;
        if (run->next_on)
                run->next_on->prev_on = run->prev_on;
        *(run->prev_in_set ? &run->prev_in_set->next_in_set : &set->runs) = run->next_in_set;
        if (run->next_in_set)
                run->next_in_set->prev_in_set = run->prev_in_set;
        e->free += set->cpus;
        schedulable_running(&set->node, set->pool, -1);
        queue_executor(ts, run->executor);
        run->next_on = ts->spare_runs;
        ts->spare_runs = run;
}

/* ---------------------------------------------------------------------------------------------- task sets */

static void release_set(struct task_scheduler *ts, struct task_set *set)
{
        if (task_set_unref(set))
                ts->events->task_set_released(ts->owner, set);
}

/* A zombie whose last task has ended leaves; @set may be gone afterwards. */
static void maybe_finish(struct task_scheduler *ts, struct task_set *set)
{
        if (!set->zombie)
                return;
        schedulable_deactivate(&set->node);
        if (set->n_running > 0 || !set->pool)
                return;
        log_info(LOG, "Removed TaskSet %s, whose tasks have all completed, from pool %s", set->id, set->pool->name);
        set->pool = NULL;
        *(set->prev ? &set->prev->next : &ts->first) = set->next;
        *(set->next ? &set->next->prev : &ts->last) = set->prev;
        ts->events->task_set_done(ts->owner, set);
        release_set(ts, set);
}

void task_scheduler_submit(struct task_scheduler *ts, struct task_set *set, int64_t now)
{
        const char *pool = strmap_get(&set->job->properties, "spark.scheduler.pool");

        log_about(LOG_INFO, set->stage_id, -1, LOG, "Adding task set %s with %d tasks resource profile 0", set->id,
                  set->n);
        for (struct task_set *old = ts->first, *next; old; old = next) {
                next = old->next;
                if (old->stage != set->stage)
                        continue;
                old->zombie = true;
                maybe_finish(ts, old);
        }
        task_set_ref(set);
        set->submitted = now;
        set->cpus = ts->config.task_cpus;
        set->max_failures = ts->config.max_failures;
        set->pool = pool_for_job(ts->root, pool);
        set->prev = ts->last;
        set->next = NULL;
        *(ts->last ? &ts->last->next : &ts->first) = set;
        ts->last = set;
        schedulable_activate(&set->node, set->pool);
}

static void kill_run(struct task_scheduler *ts, struct task_run *run, int only_index, bool interrupt,
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
                for (struct task_run *run = set->runs; run; run = run->next_in_set)
                        kill_run(ts, run, -1, interrupt, reason);
                maybe_finish(ts, set);
        }
}

/* ------------------------------------------------------------------------------------------------- offers */

static void log_launch(const struct task_scheduler *ts, const struct task_set *set, const struct task_launch *run,
                       int n, int executor)
{
        const struct executor *e = &ts->executors.data[executor];

        if (n == 1)
                log_about(LOG_INFO, set->stage_id, run->task_id, LOG_SET,
                          "Starting task %d.%d in stage %s (TID %" PRId64 ") (%s, executor %s, partition %d)",
                          run->index, run->attempt, set->id, run->task_id, e->host, e->id, run->partition);
        else
                log_about(
                        LOG_INFO, set->stage_id, -1, LOG_SET,
                        "Starting %d tasks %d.0 to %d.0 in stage %s (TID %" PRId64 " to %" PRId64 ") (%s, executor %s)",
                        n, run[0].index, run[n - 1].index, set->id, run[0].task_id, run[n - 1].task_id, e->host, e->id);
}

static void launch(struct task_scheduler *ts, struct task_set *set, int executor, const int32_t *indexes, int n)
{
        struct task_launch launches[SCHED_MAX_RUN];
        struct task_run *run = run_new(ts, set, executor, n);

        for (int i = 0; i < n; i++) {
                struct task_slot *slot = &set->slots[indexes[i]];
                int64_t id;
                struct task_attempt *a = task_table_add(&ts->tasks, &id);

                *a = (struct task_attempt){.run = run, .index = indexes[i], .number = slot->attempts};
                launches[i] = (struct task_launch){.task_id = id,
                                                   .index = indexes[i],
                                                   .partition = task_set_partition(set, indexes[i]),
                                                   .output = task_set_output(set, indexes[i]),
                                                   .attempt = slot->attempts};
                slot->attempts++;
                slot->copies++;
        }
        set->n_running += n;
        if (LOG_INFO <= log_threshold)
                log_launch(ts, set, launches, n, executor);
        ts->ops->launch(ts->ops_owner, executor, set, launches, n);
}

void task_scheduler_revive(struct task_scheduler *ts, int64_t now)
{
        int32_t indexes[SCHED_MAX_RUN];

        ts->now = now;
        while (ts->free_first >= 0) {
                struct schedulable *node = pool_pick(ts->root);
                int executor = ts->free_first;

                if (!node)
                        return;
                struct task_set *set = container_of(node, struct task_set, node);
                int limit = task_set_run_limit(set, ts->config.run_target, ts->slots, ts->config.max_run);
                int n = task_set_take(set, limit, indexes);

                if (n > 0) {
                        unqueue_executor(ts, executor);
                        launch(ts, set, executor, indexes, n);
                        queue_executor(ts, executor);
                }
                if (!pending_tasks_any(&set->pending))
                        schedulable_deactivate(node);
        }
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

/* The output of task @index is there: nobody need compute it in @set. */
static void mark_done(struct task_scheduler *ts, struct task_set *set, int index)
{
        if (set->slots[index].done)
                return;
        set->slots[index].done = true;
        if (++set->n_succeeded == set->n)
                set->zombie = true;
}

static void succeeded(struct task_scheduler *ts, const struct task_attempt_info *info, const struct task_status *status,
                      bool alone)
{
        struct task_set *set = info->set;

        task_set_measure(set, status->run_ns);
        mark_done(ts, set, info->index);
        if (unlikely(set->slots[info->index].copies > 0))
                for (struct task_run *run = set->runs; run; run = run->next_in_set)
                        kill_run(ts, run, info->index, true, "another attempt succeeded");
        if (unlikely((alone ? LOG_INFO : LOG_DEBUG) <= log_threshold))
                log_about(alone ? LOG_INFO : LOG_DEBUG, set->stage_id, status->task_id, LOG_SET,
                          "Finished task %d.%d in stage %s (TID %" PRId64 ") in %" PRId64
                          " ms on %s (executor %s) (%d/%d)",
                          info->index, info->attempt, set->id, status->task_id, status->run_ns / 1000000,
                          executor_at(ts, info->executor)->host, executor_at(ts, info->executor)->id, set->n_succeeded,
                          set->n);
        struct task_set *newest = set->stage->set;

        if (unlikely(newest && newest != set)) {
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
                log_about(LOG_INFO, set->stage_id, task_id, LOG_SET, "%s [duplicate %d]", lost, ++set->same_failures);
                return;
        }
        free(set->last_failure);
        set->last_failure = mem_strdup(message);
        set->same_failures = 0;
        log_about(LOG_WARN, set->stage_id, task_id, LOG_SET, "%s", lost);
}

static void give_up(struct task_scheduler *ts, struct task_set *set, const char *message)
{
        log_about(LOG_ERROR, set->stage_id, -1, LOG_SET, "%s", message);
        set->zombie = true;
        ts->events->task_set_failed(ts->owner, set, message);
}

static void failed(struct task_scheduler *ts, const struct task_attempt_info *info, const struct task_status *status)
{
        struct task_set *set = info->set;
        struct task_slot *slot = &set->slots[info->index];
        const struct executor *e = executor_at(ts, info->executor);
        const char *message = status->message ? status->message : "no reason given";
        bool counts = status->state == TASK_FAILED || status->state == TASK_EXECUTOR_LOST;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        _cleanup_free_ char *lost =
                mem_printf("Lost task %d.%d in stage %s (TID %" PRId64 ") (%s executor %s): %s", info->index,
                           info->attempt, set->id, status->task_id, e->host, e->id, message);

        set->n_failed++;
        log_failure(set, status->task_id, lost, message);
        if (status->state == TASK_FETCH_FAILED) {
                mark_done(ts, set, info->index);
                set->zombie = true;
        }
        ts->events->task_failed(ts->owner, info, status);
        if (set->zombie)
                return;
        if (status->state == TASK_FAILED_FATAL) {
                buf_printf(&text, "Task %d.%d in stage %s (TID %" PRId64 ") cannot succeed, not retrying: %s",
                           info->index, info->attempt, set->id, status->task_id, message);
                give_up(ts, set, buf_text(&text));
        } else if (counts && ++slot->failures >= set->max_failures) {
                buf_printf(&text, "Task %d in stage %s failed %d times, most recent failure: %s", info->index, set->id,
                           set->max_failures, lost);
                give_up(ts, set, buf_text(&text));
        } else if (!slot->done) {
                pending_tasks_retry(&set->pending, info->index);
                schedulable_activate(&set->node, set->pool);
        }
}

static void end_attempt(struct task_scheduler *ts, struct task_attempt *a, const struct task_status *status)
{
        struct task_run *run = a->run;
        struct task_set *set = run->set;
        struct task_attempt_info info;

        fill_info(&info, a);
        info.state = status->state;
        task_set_ref(set);
        task_table_end(&ts->tasks, status->task_id);
        set->n_running--;
        set->slots[info.index].copies--;
        bool alone = run->n == 1;

        if (--run->left == 0)
                run_end(ts, run);
        if (likely(status->state == TASK_SUCCEEDED))
                succeeded(ts, &info, status, alone);
        else
                failed(ts, &info, status);
        maybe_finish(ts, set);
        release_set(ts, set);
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

/* Map tasks of running sets whose outputs were on @executor have to run again. */
static void resubmit_map_tasks(struct task_scheduler *ts, int executor)
{
        for (struct task_set *set = ts->first; set; set = set->next) {
                if (set->zombie || stage_is_result(set->stage))
                        continue;
                for (int index = 0; index < set->n; index++) {
                        int partition = task_set_output(set, index);

                        if (!set->slots[index].done || set->stage->outputs->at[partition].executor != executor)
                                continue;
                        set->slots[index].done = false;
                        set->n_succeeded--;
                        pending_tasks_retry(&set->pending, index);
                        schedulable_activate(&set->node, set->pool);
                        ts->events->task_resubmitted(ts->owner, set, index);
                }
        }
}

/* End what is left of a run on a lost executor. */
static void lose_run(struct task_scheduler *ts, struct task_run *run, bool charge, const char *message)
{
        int64_t first = run->first_id, end = first + run->n;

        for (int64_t id = first; id < end; id++) {
                struct task_attempt *a = task_table_find(&ts->tasks, id);

                if (!a || a->run != run)
                        continue;
                struct task_status status = {
                        .task_id = id, .state = charge ? TASK_EXECUTOR_LOST : TASK_PREEMPTED, .message = message};
                bool last = run->left == 1;

                ts->ops->task_lost(ts->ops_owner, run->executor, run->set, id, status.state, message);
                end_attempt(ts, a, &status);
                charge = false; /* the others had not begun */
                if (last)
                        return;
        }
}

void task_scheduler_lose_executor(struct task_scheduler *ts, int executor, bool caused_by_app, const char *message,
                                  int64_t now)
{
        if (!task_scheduler_alive(ts, executor))
                return;
        ts->now = now;
        task_scheduler_disable_executor(ts, executor);
        struct executor *e = executor_at(ts, executor);
        _cleanup_free_ char *text =
                mem_printf("ExecutorLostFailure (executor %s exited %s) Reason: %s", e->id,
                           caused_by_app ? "caused by one of the running tasks" : "unrelated to the running tasks",
                           message ? message : "unknown");

        log_error(LOG, "Lost executor %s on %s: %s", e->id, e->host, message ? message : "unknown");
        e->alive = false;
        if (!ts->config.outputs_outlive_executors)
                resubmit_map_tasks(ts, executor);
        while (e->runs)
                lose_run(ts, e->runs, caused_by_app, text);
}

void task_scheduler_deinit(struct task_scheduler *ts)
{
        for (struct task_set *set; (set = ts->first);) {
                while (set->runs) {
                        struct task_run *run = set->runs;

                        executor_at(ts, run->executor)->enabled = false;
                        run_end(ts, run);
                }
                set->n_running = 0;
                set->zombie = true;
                maybe_finish(ts, set);
        }
        for (struct task_run *run; (run = ts->spare_runs);) {
                ts->spare_runs = run->next_on;
                free(run);
        }
        for (size_t i = 0; i < ts->executors.len; i++) {
                free(ts->executors.data[i].id);
                free(ts->executors.data[i].host);
        }
        vec_deinit(&ts->executors);
        task_table_deinit(&ts->tasks);
        pool_free(ts->root);
}
