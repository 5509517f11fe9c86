/*
 * An executor's task batches: from the ready stage to a slot, and from the slot's thread back to the driver. Outcomes
 * are packed on the slot's thread and appended to the outbox, which the loop sends. The slot monitor also runs here:
 * memory, and killed tasks.
 */
#include "exec/executor_internal.h"

#include "base/fault_point.h"
#include "base/log.h"
#include "base/mem.h"
#include "exec/guard/crash.h"
#include "exec/executor_sinks.h"
#include "exec/executor_transfer.h"
#include "exec/isolation/isolation.h"
#include "exec/guard/memory_limit.h"
#include "exec/task/executor_source.h"
#include "exec/task/task_batch_wire.h"
#include "exec/task/slot_monitor.h"
#include "exec/task/task_reaper.h"
#include "exec/isolation/zygote.h"
#include "rpc/control.pb-c.h"
#include "shuffle/remote_shuffle.h"

#include <inttypes.h>
struct task_batch *executor_batch_new(struct executor *x)
{
        pthread_mutex_lock(&x->lock);
        struct task_batch *run = x->spare;
        if (run)
                x->spare = run->next;
        pthread_mutex_unlock(&x->lock);
        return run ? run : new0(struct task_batch);
}

/* Keeps a result that is too large for its status message until the driver fetches it. */
static int keep_result(void *owner, int64_t task_id, const struct buf *encoded, struct fst_error *error)
{
        struct executor *x = owner;
        return executor_transfer_keep_result(x->data, task_id, encoded->data, encoded->len, error);
}

/* Publishes the output of a map task. If it cannot be kept, its task fails. */
static void publish_output(struct executor *x, const struct stage_context *work, struct slot_task *t)
{
        struct fst_error error = FST_ERROR_INIT;
        int shuffle = work->shuffled->shuffle.id;
        int r = executor_transfer_put_output(x->data, shuffle, t->info.partition, t->info.id, steal(t->shuffle_output),
                                             &error);
        if (r == 0)
                return;
        t->state = TASK_FAILED;
        t->status = r;
        free(t->message);
        t->message = mem_strdup(error_message(&error));
        error_deinit(&error);
}

static void fail_unpublished(struct slot_task *t, int status, const char *message)
{
        t->state = TASK_FAILED;
        t->status = status;
        free(t->message);
        t->message = mem_strdup(message);
}

/* Stores the outputs of a batch of map tasks outside of executors. If that fails, its tasks fail. */
static void publish_outputs(struct executor *x, struct task_batch *run, int shuffle)
{
        struct fst_error error = FST_ERROR_INIT;
        struct remote_output *outputs = new_array(struct remote_output, (size_t)run->n);
        struct slot_task **tasks = new_array(struct slot_task *, (size_t)run->n);
        int n = 0;
        int64_t began = now_ns();
        for (int i = 0; i < run->n; i++) {
                struct slot_task *t = &run->tasks[i];
                if (!t->shuffle_output)
                        continue;
                outputs[n] = (struct remote_output){.map_partition = t->info.partition,
                                                    .task_id = t->info.id,
                                                    .output = t->shuffle_output,
                                                    .place = run->work->output_place};
                tasks[n++] = t;
        }
        int r = n ? executor_transfer_publish(x->data, shuffle, outputs, n, &error) : 0;
        int64_t each = n ? (now_ns() - began) / n : 0;
        for (int i = 0; i < n; i++) {
                if (r)
                        fail_unpublished(tasks[i], r, error_message(&error));
                tasks[i]->place = outputs[i].place;
                tasks[i]->counters.shuffle_write_ns += each;
                tasks[i]->shuffle_output = NULL;
                if (r)
                        shuffle_output_unref(outputs[i].output);
                else
                        executor_transfer_keep_copy(x->data, shuffle, &outputs[i]);
        }
        error_deinit(&error);
        free(outputs);
        free(tasks);
}

/* Returns the number of batches that run, with those whose outputs are being published. Any thread. */
int executor_running_batches(void *owner)
{
        struct executor *x = owner;
        int n = 0;
        pthread_mutex_lock(&x->lock);
        for (int s = 0; s < x->n_slots; s++)
                n += x->running[s] != NULL;
        pthread_mutex_unlock(&x->lock);
        return n;
}

/* Appends a message to the outbox, which the loop sends. With the lock. Returns whether the loop must be woken. */
static bool append_to_outbox(struct executor *x, const struct buf *status)
{
        bool first = x->outbox.len == 0;
        buf_append(&x->outbox, status->data, status->len);
        return first;
}

/* Lets other tasks have the core of @run while its outputs are stored, unless too many do so already. */
static void release_core(struct executor *x, struct task_batch *run)
{
        _cleanup_(buf_deinit) struct buf status = BUF_INIT;
        bool wake = false;
        task_batch_append_computed(run, &status);
        pthread_mutex_lock(&x->lock);
        run->computed = x->storing < x->n_slots - x->options->cores;
        if (run->computed) {
                x->storing++;
                wake = append_to_outbox(x, &status);
        }
        pthread_mutex_unlock(&x->lock);
        if (wake)
                uv_async_send(&x->wake);
}

static enum task_gate_end gate_end_of(const struct task_batch *run)
{
        return run->tasks[0].state == TASK_SUCCEEDED ? TASK_GATE_SUCCEEDED
               : run->tasks[0].state == TASK_KILLED  ? TASK_GATE_KILLED
                                                     : TASK_GATE_FAILED;
}

/* Sends the outcomes of @run to the driver. On the slot's thread, or on the loop's for batches that never ran. */
static void report_outcomes(struct executor *x, struct task_batch *run)
{
        _cleanup_(buf_deinit) struct buf status = BUF_INIT;
        struct task_status_options options = {
                .max_direct = (size_t)x->max_direct_result, .keep = keep_result, .owner = x};
        struct stage_context *work = run->work;
        fault_point(work && work->shuffled ? FAULT_MAP : FAULT_REDUCE);
        bool outside = work && work->shuffled && executor_transfer_publishes(x->data);
        pthread_mutex_lock(&x->lock);
        const bool held = executor_holds(x, run);
        pthread_mutex_unlock(&x->lock);
        if (held)
                executor_excuse_failures(run);
        if (outside) {
                if (!held)
                        release_core(x, run);
                publish_outputs(x, run, work->shuffled->shuffle.id);
        }
        for (int i = 0; i < run->n && work && work->shuffled && !outside; i++) {
                struct slot_task *t = &run->tasks[i];
                if (t->shuffle_output)
                        publish_output(x, work, t);
        }
        enum task_gate_end how = gate_end_of(run);
        task_batch_append_status(run, work ? work->action : NULL, &options, &status);
        pthread_mutex_lock(&x->lock);
        bool wake = executor_holds(x, run) ? executor_hold_outcome(x, run, &status) : append_to_outbox(x, &status);
        task_resources_deinit(&run->resources); /* they decide, too, whether the outcome is held */
        x->storing -= run->computed;
        run->computed = false;
        /* Under the same lock as the removal: a task that was killed while it was reported has ended, too. */
        for (int i = 0; i < run->n; i++)
                if (__atomic_load_n(&run->tasks[i].killed, __ATOMIC_RELAXED))
                        vec_push(&x->through, run->tasks[i].info.id);
        if (x->options->gate)
                vec_push(&x->gate_ends, ((struct gate_end){run->tasks[0].info.id, how}));
        if (x->running[run->slot] == run)
                x->running[run->slot] = NULL;
        run->work = NULL;
        run->next = x->spare;
        x->spare = run;
        pthread_mutex_unlock(&x->lock);
        stage_context_unref(work);
        if (wake)
                uv_async_send(&x->wake);
}

void executor_batch_done(void *owner, struct task_batch *run)
{
        struct executor *x = owner;
        executor_source_ended(executor_sinks_source(x->sinks), run);
        report_outcomes(x, run);
}

int executor_mark_killed(struct executor *x, int64_t task_id)
{
        int slot = -1;
        pthread_mutex_lock(&x->lock);
        for (int s = 0; s < x->n_slots && slot < 0; s++) {
                struct task_batch *run = x->running[s];
                if (!run || task_id < run->tasks[0].info.id || task_id >= run->tasks[0].info.id + run->n)
                        continue;
                __atomic_store_n(&run->tasks[task_id - run->tasks[0].info.id].killed, 1, __ATOMIC_RELAXED);
                slot = s;
        }
        pthread_mutex_unlock(&x->lock);
        return slot;
}

bool executor_is_idle(struct executor *x)
{
        bool idle = true;
        pthread_mutex_lock(&x->lock);
        for (int s = 0; s < x->n_slots; s++)
                idle &= x->running[s] == NULL;
        pthread_mutex_unlock(&x->lock);
        return idle;
}

/* Tells the gate of the ends that the driver knows. Those of other threads may follow meanwhile. */
static void report_gate_ends(struct executor *x)
{
        struct gate_end end;
        for (bool more = x->options->gate != NULL; more;) {
                pthread_mutex_lock(&x->lock);
                more = x->gate_ends.len > 0 && x->outbox.len == 0;
                if (more)
                        end = x->gate_ends.data[--x->gate_ends.len];
                pthread_mutex_unlock(&x->lock);
                if (more)
                        executor_gate_ended(x, end.task_id, end.how);
        }
}

void executor_send_outbox(uv_async_t *handle)
{
        struct executor *x = handle->data;
        if (!x->driver || executor_is_waiting(x))
                return;
        /* The driver must learn of a task's blocks before its success. */
        buf_reset(&x->updates);
        if (x->data)
                executor_transfer_take_updates(x->data, &x->updates);
        pthread_mutex_lock(&x->lock);
        struct buf full = x->outbox;
        x->outbox = x->sending;
        for (size_t i = 0; i < x->through.len && x->watch; i++)
                slot_monitor_ended(x->watch, x->through.data[i]);
        x->through.len = 0;
        pthread_mutex_unlock(&x->lock);
        x->sending = full;
        if (x->updates.len)
                rpc_send(x->driver, FIRESTEEL__CONTROL_TYPE__BLOCK_UPDATES, x->updates.data, x->updates.len, NULL);
        if (full.len) {
                rpc_send(x->driver, FIRESTEEL__CONTROL_TYPE__STATUS_UPDATE, full.data, full.len, NULL);
                x->reported_ns = now_ns();
        }
        buf_reset(&x->sending);
        rpc_env_flush(x->rpc);
        report_gate_ends(x);
        executor_end_if_decommissioned(x);
}

static void fail_batch(struct executor *x, struct task_batch *run, const char *why)
{
        for (int i = 0; i < run->n; i++) {
                run->tasks[i].state = TASK_FAILED;
                run->tasks[i].status = -EIO;
                run->tasks[i].message = mem_strdup(why);
                run->tasks[i].start_ms = run->tasks[i].finish_ms = (int64_t)time(NULL) * 1000;
        }
        report_outcomes(x, run);
}

void executor_batch_missing(struct executor *x, struct task_batch *run)
{
        for (int i = 0; i < run->n; i++) {
                run->tasks[i].state = TASK_KILLED;
                run->tasks[i].message = mem_strdup("its outcome was dropped while there was no driver");
                run->tasks[i].start_ms = run->tasks[i].finish_ms = (int64_t)time(NULL) * 1000;
        }
        report_outcomes(x, run);
}

/* Starts a batch whose stage is ready, or fails it. */
void executor_batch_ready(void *owner, struct task_batch *run, const char *why)
{
        struct executor *x = owner;
        int partitions = run->work ? run->work->final->lineage.partitions : 0;
        if (x->ended) { /* its stage was still loading: the slots are gone, and the outcome is not needed */
                stage_context_unref(steal(run->work));
                task_resources_deinit(&run->resources);
                free(run);
                return;
        }
        for (int i = 0; i < run->n && !why; i++)
                if (run->tasks[i].info.partition < 0 || run->tasks[i].info.partition >= partitions)
                        why = "its stage has no such partition";
        if (why) {
                stage_context_unref(steal(run->work));
                fail_batch(x, run, why);
                return;
        }
        pthread_mutex_lock(&x->lock);
        x->running[run->slot] = run;
        pthread_mutex_unlock(&x->lock);
        executor_source_began(executor_sinks_source(x->sinks));
        slot_submit(x->slots[run->slot], run);
}

/* --------------------------------------------------------------------------------------------------- slot monitor */

/* A killed task does not end and cannot be ended alone. */
static void end_for_task(void *owner, const char *reason)
{
        crash_say(reason);
        executor_end(owner, TASK_REAPER_EXIT_STATUS);
}

static void end_for_memory(void *owner, const char *reason)
{
        crash_say(reason);
        executor_end(owner, EXECUTOR_EXIT_OUT_OF_MEMORY);
}

void executor_look(uv_timer_t *timer)
{
        struct executor *x = timer->data;
        int64_t now = now_ns(), next = slot_monitor_tick(x->watch, now);
        uv_timer_start(timer, executor_look, next > now ? (uint64_t)(next - now) / 1000000 + 1 : 0, 0);
        if (!x->env.isolation || !isolation_lost_zygote(x->env.isolation))
                return;
        if (!x->env.isolation->all) {
                log_warn("Executor",
                         "process %d, which starts task processes, has ended: tasks that may crash run in "
                         "the executor itself from now on",
                         (int)zygote_pid(x->env.isolation->zygote));
                return;
        }
        _cleanup_free_ char *reason = mem_printf("Exit as process %d, which starts the task processes for "
                                                 "spark.firesteel.task.isolation=process, has ended",
                                                 (int)zygote_pid(x->env.isolation->zygote));
        log_error("Executor", "%s", reason);
        crash_say(reason);
        executor_end(x, EXECUTOR_EXIT_FAILED);
}

int executor_start_watch(struct executor *x, struct fst_error *error)
{
        int64_t memory, overhead, off_heap;
        int r = memory_limit_configured(&x->conf, &memory, &overhead, error);
        if (r == 0)
                r = memory_limit_off_heap(&x->conf, &off_heap, error);
        if (r)
                return r;
        struct slot_monitor_options options = {
                .conf = &x->conf,
                .slots = x->slots,
                .n = x->n_slots,
                .env = &x->env,
                .memory_limit = memory + overhead + off_heap,
                .processes = x->options->group_processes,
                .end_executor = end_for_task,
                .end_for_memory = end_for_memory,
                .owner = x,
        };
        if ((r = slot_monitor_new(&options, &x->watch, error)) == 0)
                executor_look(&x->look);
        return r;
}
