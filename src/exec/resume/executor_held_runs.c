/*
 * An executor's batches of tasks whose driver has died: they go on, their outcomes are held, and the next driver adopts
 * them or abandons them.
 *
 * Each batch has the number of the driver that launched or adopted it. If that is not the current driver, or there is
 * none, nobody gets its outcome: that is held (held_runs.h), up to a share of spark.driver.maxResultSize. A task that
 * asks to commit waits until its batch is adopted, and then asks the driver that has adopted it.
 *
 * Not held: tasks of barrier stages, which wait for each other through their driver; tasks with custom resources, whose
 * addresses the next driver gives to others; jobs without a signature; tasks behind a gate.
 *
 * Invariant: the driver learns once of each run that it was told to be running, by its outcome or as idle, that it does
 * not run any more.
 */
#include "exec/executor_internal.h"

#include "base/log.h"
#include "base/mem.h"
#include "exec/executor_transfer.h"
#include "exec/task/slot_monitor.h"
#include "exec/task/task_batch_wire.h"
#include "rpc/control.pb-c.h"

#include <inttypes.h>

#define LOG "ExecutorResume"
#define KILLED_LOOK_NS 50000000 /* between looks whether a waiting task was killed */

uint32_t executor_driver_number(struct executor *x)
{
        pthread_mutex_lock(&x->lock);
        const uint32_t number = x->driver_number;
        pthread_mutex_unlock(&x->lock);
        return number;
}

void executor_begin_holding(struct executor *x, bool leaves)
{
        pthread_mutex_lock(&x->lock);
        x->holding = true;
        x->driver_number += leaves;
        pthread_cond_broadcast(&x->adopted);
        pthread_mutex_unlock(&x->lock);
}

bool executor_may_hold(const struct executor *x, const struct task_batch *run)
{
        return x->driver_number && !x->options->gate && run->work && run->work->journal_job && !run->work->barrier &&
               run->resources.text.len == 0;
}

bool executor_holds(const struct executor *x, const struct task_batch *run)
{
        return run->abandoned || ((x->holding || run->driver != x->driver_number) && executor_may_hold(x, run));
}

/* With the lock. Returns whether the loop must be woken. */
static bool executor_report_idle(struct executor *x, int64_t first_id)
{
        const bool first = x->outbox.len == 0;
        Firesteel__StatusUpdate update = FIRESTEEL__STATUS_UPDATE__INIT;
        update.n_idle = 1;
        update.idle = &first_id;
        task_batch_append(&update.base, &x->outbox);
        return first;
}

void executor_end_holding(struct executor *x)
{
        pthread_mutex_lock(&x->lock);
        x->holding = false;
        for (size_t i = 0; i < x->held.runs.len; i++) { /* that have ended since they were listed */
                struct held_run *run = &x->held.runs.data[i];
                if (!run->told)
                        executor_report_idle(x, run->first_id);
                run->told = true;
        }
        const bool wake = x->outbox.len > 0; /* dropped runs were reported before */
        pthread_cond_broadcast(&x->adopted);
        pthread_mutex_unlock(&x->lock);
        if (wake)
                uv_async_send(&x->wake);
}

void executor_excuse_failures(struct task_batch *run)
{
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                if (t->state == TASK_SUCCEEDED || t->state == TASK_KILLED)
                        continue;
                _cleanup_free_ char *why = t->message;
                t->message = mem_printf("it ended without a driver: %s", why ? why : "no reason given");
                t->state = TASK_KILLED;
        }
}

bool executor_hold_outcome(struct executor *x, const struct task_batch *run, struct buf *status)
{
        const int64_t first_id = run->tasks[0].info.id;
        struct held_run held = {.first_id = first_id,
                                .n = run->n,
                                .job = run->work->journal_job,
                                .signature = run->work->journal_signature,
                                .shuffle = run->work->shuffled ? run->work->shuffled->shuffle.id : -1,
                                .outputs = new_array(int32_t, (size_t)run->n),
                                .slot = run->slot,
                                .told = !x->holding,
                                .status = *status};
        *status = (struct buf)BUF_INIT;
        for (int i = 0; i < run->n; i++)
                held.outputs[i] = run->tasks[i].output;
        bool kept = false;
        if (run->abandoned)
                held_run_deinit(&held);
        else if (!(kept = held_runs_add(&x->held, &held)))
                log_warn(LOG,
                         "The outcome of %d tasks from TID %" PRId64
                         " on is dropped: there is no driver, and this executor holds at most %zu bytes of outcomes",
                         run->n, first_id, x->held.limit);
        return (!x->holding || !kept) && executor_report_idle(x, first_id);
}

/* The batch that runs and begins with @first_id, with the lock; NULL: there is none. */
static struct task_batch *executor_find_batch(const struct executor *x, int64_t first_id)
{
        for (int s = 0; s < x->n_slots; s++)
                if (x->running[s] && x->running[s]->tasks[0].info.id == first_id)
                        return x->running[s];
        return NULL;
}

bool executor_adopt_run(struct executor *x, int64_t first_id)
{
        struct held_run ended = {0};
        pthread_mutex_lock(&x->lock);
        struct task_batch *run = executor_find_batch(x, first_id);
        const bool known = run || held_runs_take(&x->held, first_id, &ended);
        if (run)
                run->driver = x->driver_number;
        else if (known)
                buf_append(&x->outbox, ended.status.data, ended.status.len);
        pthread_cond_broadcast(&x->adopted);
        pthread_mutex_unlock(&x->lock);
        if (known)
                log_info(LOG, "The driver adopts the tasks from TID %" PRId64 " on, which %s", first_id,
                         run ? "run" : "have ended");
        if (known && !run)
                uv_async_send(&x->wake);
        held_run_deinit(&ended);
        return known;
}

static void executor_remove_outputs(struct executor *x, const struct held_run *run)
{
        for (int i = 0; i < run->n && run->shuffle >= 0; i++)
                executor_transfer_remove_output(x->data, run->shuffle, run->outputs[i], run->first_id + i);
}

void executor_abandon_run(struct executor *x, int64_t first_id)
{
        struct held_run ended = {0};
        int n = 0;
        pthread_mutex_lock(&x->lock);
        struct task_batch *run = executor_find_batch(x, first_id);
        if (run && run->driver != x->driver_number) {
                run->abandoned = true;
                n = run->n;
        }
        if (!run)
                held_runs_take(&x->held, first_id, &ended);
        pthread_cond_broadcast(&x->adopted);
        pthread_mutex_unlock(&x->lock);
        for (int i = 0; i < n; i++) {
                int slot = executor_mark_killed(x, first_id + i);
                if (slot < 0)
                        continue;
                slot_monitor_killed(x->watch, slot, first_id + i, now_ns());
                slot_kill(x->slots[slot], first_id + i, true);
        }
        executor_remove_outputs(x, &ended);
        held_run_deinit(&ended);
}

bool executor_kill_unheld_tasks(struct executor *x)
{
        VEC(int64_t) ids = {0};
        bool ended = true;
        for (int s = 0; s < x->n_slots; s++) {
                ids.len = 0;
                pthread_mutex_lock(&x->lock);
                const struct task_batch *run = x->running[s];
                if (run && (run->abandoned || !executor_may_hold(x, run)))
                        for (int i = 0; i < run->n; i++)
                                vec_push(&ids, run->tasks[i].info.id);
                pthread_mutex_unlock(&x->lock);
                ended &= ids.len == 0;
                for (size_t i = 0; i < ids.len; i++)
                        slot_kill(x->slots[s], ids.data[i], true);
        }
        vec_deinit(&ids);
        return ended;
}

static Firesteel__HeldRun *executor_list_held_run(const struct held_run *run, bool ended, bool computed)
{
        Firesteel__HeldRun *to = mem_alloc(sizeof(*to));
        firesteel__held_run__init(to);
        to->first_task_id = run->first_id;
        to->job = run->job;
        to->signature = run->signature;
        to->shuffle = run->shuffle;
        to->slot = run->slot;
        to->ended = ended;
        to->computed = computed;
        to->n_outputs = (size_t)run->n;
        to->outputs = new_array(int32_t, (size_t)run->n);
        memcpy(to->outputs, run->outputs, (size_t)run->n * sizeof(*to->outputs));
        return to;
}

void executor_list_held_runs(struct executor *x, Firesteel__Holdings *holdings)
{
        pthread_mutex_lock(&x->lock);
        holdings->runs = new_array(Firesteel__HeldRun *, x->held.runs.len + (size_t)x->n_slots);
        for (size_t i = 0; i < x->held.runs.len; i++) {
                x->held.runs.data[i].told = true;
                holdings->runs[holdings->n_runs++] = executor_list_held_run(&x->held.runs.data[i], true, false);
        }
        for (int s = 0; s < x->n_slots; s++) {
                const struct task_batch *run = x->running[s];
                int32_t outputs[MAX_TASK_BATCH];
                if (!run || run->abandoned || !executor_may_hold(x, run))
                        continue;
                for (int i = 0; i < run->n; i++)
                        outputs[i] = run->tasks[i].output;
                const struct held_run running = {.first_id = run->tasks[0].info.id,
                                                 .n = run->n,
                                                 .job = run->work->journal_job,
                                                 .signature = run->work->journal_signature,
                                                 .shuffle = run->work->shuffled ? run->work->shuffled->shuffle.id : -1,
                                                 .outputs = outputs,
                                                 .slot = run->slot};
                holdings->runs[holdings->n_runs++] = executor_list_held_run(&running, false, run->computed);
        }
        pthread_mutex_unlock(&x->lock);
}

bool executor_holds_task(struct executor *x, int64_t task_id)
{
        pthread_mutex_lock(&x->lock);
        bool holds = held_runs_has_task(&x->held, task_id);
        for (int s = 0; s < x->n_slots && !holds; s++) {
                const struct task_batch *run = x->running[s];
                holds = run && task_id >= run->tasks[0].info.id && task_id < run->tasks[0].info.id + run->n;
        }
        pthread_mutex_unlock(&x->lock);
        return holds;
}

/* The batch and the place in it of a task that runs, with the lock. */
static struct task_batch *executor_find_task(const struct executor *x, int64_t task_id, int *at)
{
        for (int s = 0; s < x->n_slots; s++) {
                struct task_batch *run = x->running[s];
                if (!run || task_id < run->tasks[0].info.id || task_id >= run->tasks[0].info.id + run->n)
                        continue;
                *at = (int)(task_id - run->tasks[0].info.id);
                return run;
        }
        return NULL;
}

bool executor_await_adoption(struct executor *x, int64_t task_id, uint32_t *driver)
{
        bool adopted = false;
        pthread_mutex_lock(&x->lock);
        while (!x->over) {
                int at;
                const struct task_batch *run = executor_find_task(x, task_id, &at);
                adopted = !x->driver_number || (run && !x->holding && run->driver == x->driver_number);
                if (adopted || !run || run->abandoned || !executor_may_hold(x, run) ||
                    __atomic_load_n(&run->tasks[at].killed, __ATOMIC_RELAXED))
                        break;
                struct timespec until;
                clock_gettime(CLOCK_REALTIME, &until);
                until.tv_nsec += KILLED_LOOK_NS;
                until.tv_sec += until.tv_nsec / 1000000000;
                until.tv_nsec %= 1000000000;
                pthread_cond_timedwait(&x->adopted, &x->lock, &until);
        }
        *driver = x->driver_number;
        pthread_mutex_unlock(&x->lock);
        return adopted;
}

void executor_await_loss(struct executor *x, uint32_t driver)
{
        pthread_mutex_lock(&x->lock);
        while (!x->over && !x->holding && x->driver_number == driver)
                pthread_cond_wait(&x->adopted, &x->lock);
        pthread_mutex_unlock(&x->lock);
}

void executor_stop_holding(struct executor *x)
{
        pthread_mutex_lock(&x->lock);
        x->over = true;
        pthread_cond_broadcast(&x->adopted);
        pthread_mutex_unlock(&x->lock);
}
