/*
 * A decommissioned executor gets no new tasks, moves its data to others if configured, and ends when its tasks have
 * ended and nothing is left to move (Spark's CoarseGrainedExecutorBackend.decommissionSelf). The driver orders it, or
 * the signal of spark.executor.decommission.signal starts it: then the executor tells the driver, which decides.
 */
#include "exec/executor_internal.h"

#include "base/log.h"
#include "base/mem.h"
#include "exec/executor_transfer.h"
#include "exec/executor_stages.h"
#include "exec/migration.h"
#include "rpc/control.pb-c.h"

#include <signal.h>
#include <string.h>

#define LOG "CoarseGrainedExecutorBackend"
#define FINISHED "Finished decommissioning"

static void on_round_over(void *owner)
{
        struct executor *x = owner;
        uv_async_send(&x->wake);
}

void executor_decommission(struct executor *x)
{
        struct fst_error error = FST_ERROR_INIT;
        if (x->decommissioned) {
                log_warn(LOG, "Executor %s already started decommissioning.", x->options->executor_id);
                return;
        }
        log_info(LOG, "Decommission executor %s.", x->options->executor_id);
        x->decommissioned = true;
        x->reported_ns = now_ns();
        if (executor_transfer_migrate(x->data, on_round_over, x, &x->migration, &error)) {
                log_error(LOG, "Unexpected error while decommissioning self: %s", error_message(&error));
                error_deinit(&error);
        }
        log_info(LOG, "Will exit when finished decommissioning");
        executor_end_if_decommissioned(x);
}

/* True if nothing runs, waits to run, or waits to be sent or fetched. */
static bool decommission_is_finished(struct executor *x)
{
        pthread_mutex_lock(&x->lock);
        bool told = x->outbox.len == 0;
        pthread_mutex_unlock(&x->lock);
        return told && executor_is_idle(x) && !executor_stages_waits(x->stages) &&
               !executor_transfer_keeps_results(x->data);
}

void executor_end_if_decommissioned(struct executor *x)
{
        if (!x->decommissioned || x->ended || !decommission_is_finished(x))
                return;
        if (x->migration && !migration_done(x->migration, x->reported_ns))
                return;
        log_info(LOG, x->migration ? "No running tasks, all blocks migrated, stopping."
                                   : "No running tasks, no block migration configured, stopping.");
        Firesteel__RemoveExecutor remove = FIRESTEEL__REMOVE_EXECUTOR__INIT;
        remove.executor_id = (char *)x->options->executor_id;
        remove.reason = (char *)FINISHED;
        rpc_send_packed(x->driver, FIRESTEEL__CONTROL_TYPE__REMOVE_EXECUTOR, &remove.base, NULL);
        rpc_env_flush(x->rpc);
        executor_end(x, EXECUTOR_EXIT_OK);
}

static void decommission_on_signal(uv_signal_t *handle, int number)
{
        struct executor *x = handle->data;
        Firesteel__KillExecutors ids = FIRESTEEL__KILL_EXECUTORS__INIT;
        char *id = (char *)x->options->executor_id;
        log_info(LOG, "Received SIG%s: asking the driver to decommission executor %s", sigabbrev_np(number), id);
        ids.n_ids = 1;
        ids.ids = &id;
        rpc_send_packed(x->driver, FIRESTEEL__CONTROL_TYPE__DECOMMISSION_EXECUTORS, &ids.base, NULL);
}

static int signal_number(const char *name)
{
        if (strncmp(name, "SIG", 3) == 0)
                name += 3;
        for (int i = 1; i < NSIG; i++)
                if (sigabbrev_np(i) && strcmp(sigabbrev_np(i), name) == 0)
                        return i;
        return -1;
}

int executor_watch_signal(struct executor *x, struct fst_error *error)
{
        _cleanup_free_ char *name = NULL;
        bool enabled;
        int r;
        if ((r = conf_get_bool(&x->conf, "spark.decommission.enabled", &enabled, error)) || !enabled ||
            (r = conf_get_string(&x->conf, "spark.executor.decommission.signal", &name, error)))
                return r;
        int number = signal_number(name);
        r = number > 0 ? uv_signal_start(&x->decommission, decommission_on_signal, number) : -EINVAL;
        if (r) /* as in Spark, the executor works without it */
                log_warn(LOG, "Failed to register SIG%s handler - disabling executor decommission feature.", name);
        else
                log_info(LOG, "Registering SIG%s handler to trigger decommissioning.", name);
        return 0;
}
