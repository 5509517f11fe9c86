/*
 * Loses executors: lost connections, missing heartbeats, process ends reported by a manager.
 *
 * As in Spark, an executor that lost its connection is disabled until its manager gives the reason. Only losses that
 * the application caused count against its tasks. All other executors are informed, so that none waits for the lost
 * one.
 */
#include "driver/backend/cluster_backend_internal.h"

#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/backend/driver_transfer.h"
#include "exec/guard/crash.h"
#include "rpc/control.pb-c.h"
#include "sched/sched.h"

#include <inttypes.h>
#include <stdio.h>

/* Marks the task that a crash report in the executor's last output names, if the executor had it. */
static void executor_loss_mark_suspect(struct cluster_backend *b, const struct remote_executor *x, const char *reason)
{
        int64_t id = crash_report_task(reason);
        for (int s = 0; id >= 0 && s < x->slots; s++)
                for (int i = 0; x->running[s] && i < x->running[s]->n; i++)
                        if (x->running[s]->tasks[i].info.id == id)
                                job_runner_task_suspected(b->runner, id);
}

/* Informs the others, so that none of their tasks waits for it. */
static void executor_loss_announce(struct cluster_backend *b, int32_t executor)
{
        Firesteel__ExecutorsLost gone = FIRESTEEL__EXECUTORS_LOST__INIT;
        gone.n_executors = 1;
        gone.executors = &executor;
        for (int i = 0; i < b->executors.n && !b->stopping; i++)
                if (b->executors.at[i]->state == EXECUTOR_ALIVE)
                        rpc_send_packed(b->executors.at[i]->ref, FIRESTEEL__CONTROL_TYPE__EXECUTORS_LOST, &gone.base,
                                        NULL);
}

void cluster_lose(struct cluster_backend *b, struct remote_executor *x, bool caused_by_app, const char *reason)
{
        if (x->state == EXECUTOR_GONE || b->closing)
                return;
        x->state = EXECUTOR_GONE;
        __atomic_fetch_sub(&b->sc->registered_cores, x->cores, __ATOMIC_RELAXED);
        uv_timer_stop(&x->loss);
        uv_timer_stop(&x->timeout);
        executor_loss_announce(b, x->index);
        driver_transfer_remove_executor(b->transfer, x);
        if (caused_by_app)
                executor_loss_mark_suspect(b, x, reason);
        job_runner_executor_lost(b->runner, x->index, caused_by_app, reason);
        for (int s = 0; s < x->slots; s++)
                if (x->running[s])
                        job_runner_run_lost(b->runner, steal(x->running[s]), caused_by_app, reason);
        struct rpc_peer *peer = x->ref ? rpc_ref_peer(x->ref) : NULL;
        if (peer) {
                rpc_peer_set_data(peer, NULL);
                rpc_peer_close(peer, "the executor was removed");
        }
        rpc_ref_unref(steal(x->ref));
        buf_deinit(&x->launches); /* the entry stays without them */
        buf_deinit(&x->removals);
        if (b->manager->class->forgotten)
                b->manager->class->forgotten(b->manager, x->id);
}

static void executor_loss_on_timeout(uv_timer_t *timer)
{
        struct remote_executor *x = timer->data;
        struct cluster_backend *b = x->backend;
        _cleanup_free_ char *id = mem_strdup(x->id);
        cluster_lose(
                b, x, true,
                "Remote RPC client disassociated. Likely due to containers exceeding thresholds, or network issues. Check "
                "driver logs for WARN messages.");
        /* The process may still run. */
        cluster_kill(b, id, true);
}

/* See cluster_backend_internal.h. */
void cluster_disconnected(void *owner, struct rpc_peer *peer, const char *why)
{
        struct cluster_backend *b = owner;
        struct remote_executor *x = rpc_peer_data(peer);
        if (!x || x->state != EXECUTOR_ALIVE)
                return;
        x->state = EXECUTOR_PENDING_LOSS;
        if (b->closing)
                return;
        log_info("CoarseGrainedSchedulerBackend", "Disabling executor %s: %s", x->id, why);
        job_runner_executor_disabled(b->runner, x->index);
        uv_timer_start(&x->loss, executor_loss_on_timeout, LOSS_REASON_MS, 0);
}

/* The request that ended an executor explains its end better than its exit status. */
static const char *executor_loss_reason(const struct remote_executor *x, const char *reason, char text[static 256])
{
        if (x->killed)
                return LOSS_KILLED;
        if (!x->decommissioned)
                return reason;
        snprintf(text, 256, LOSS_DECOMMISSION "%s", x->decommission_reason);
        return text;
}

void cluster_backend_executor_exited(struct cluster_backend *b, const char *executor_id, bool caused_by_app,
                                     const char *reason)
{
        struct remote_executor *x = executor_table_find(&b->executors, executor_id);
        char text[256];
        const bool earlier = cluster_adoption_ended(b, executor_id);
        if (earlier && !x) {
                log_info("CoarseGrainedSchedulerBackend", "Executor %s of an earlier driver is not adopted: %s",
                         executor_id, reason);
        } else if (!x) {
                log_at(b->stopping ? LOG_INFO : LOG_WARN, "CoarseGrainedSchedulerBackend",
                       "Executor %s ended before it had registered: %s", executor_id, reason);
        } else if (!b->closing) {
                cluster_lose(b, x, caused_by_app && !x->decommissioned && !x->killed,
                             executor_loss_reason(x, reason, text));
        } else {
                x->state = EXECUTOR_GONE;
        }
}

void cluster_backend_manager_restarted(struct cluster_backend *b)
{
        if (b->closing)
                return;
        for (int i = 0; i < b->executors.n; i++)
                if (b->executors.at[i]->state != EXECUTOR_GONE)
                        cluster_backend_executor_exited(b, b->executors.at[i]->id, false,
                                                        "Stale executor after cluster manager re-registered.");
        job_runner_executors_forgotten(b->runner);
}

/* Outputs of lost executors are only in the service, which is not asked to remove them. */
void cluster_backend_worker_removed(struct cluster_backend *b, const char *worker_id, const char *host,
                                    const char *message)
{
        bool served = false;
        if (b->closing)
                return;
        log_info("CoarseGrainedSchedulerBackend", "Handle removed worker %s: %s", worker_id, message);
        for (int i = 0; i < b->executors.n; i++) {
                struct remote_executor *x = b->executors.at[i];
                if (strcmp(x->host, host) != 0 || !x->service_port)
                        continue;
                served = true;
                if (x->state == EXECUTOR_GONE)
                        x->service_port = 0;
        }
        if (served)
                job_runner_host_lost(b->runner, host, message);
}

void cluster_backend_abort(struct cluster_backend *b, const char *reason)
{
        job_runner_abort(b->runner, reason);
}

/* Checked now and then. An executor without heartbeats for too long is lost, even if it is connected. */
void cluster_look_for_expired(uv_timer_t *timer)
{
        struct cluster_backend *b = timer->data;
        int64_t now = time_of_day_ms();
        for (int i = 0; i < b->executors.n; i++) {
                struct remote_executor *x = b->executors.at[i];
                if (x->state == EXECUTOR_GONE || now - x->heartbeat_ms <= b->heartbeat_timeout_ms)
                        continue;
                _cleanup_free_ char *reason =
                        mem_printf("Executor heartbeat timed out after %" PRId64 " ms", now - x->heartbeat_ms);
                _cleanup_free_ char *id = mem_strdup(x->id);
                cluster_lose(b, x, true, reason);
                cluster_kill(b, id, true);
        }
}

/* A new executor may run tasks of stages that name lost executors. */
void cluster_broadcast_lost_executors(struct cluster_backend *b, const struct remote_executor *to)
{
        Firesteel__ExecutorsLost gone = FIRESTEEL__EXECUTORS_LOST__INIT;
        gone.executors = new_array(int32_t, (size_t)b->executors.n);
        for (int i = 0; i < b->executors.n; i++)
                if (b->executors.at[i]->state == EXECUTOR_GONE)
                        gone.executors[gone.n_executors++] = i;
        if (gone.n_executors)
                rpc_send_packed(to->ref, FIRESTEEL__CONTROL_TYPE__EXECUTORS_LOST, &gone.base, NULL);
        free(gone.executors);
}
