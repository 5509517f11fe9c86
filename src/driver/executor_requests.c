/*
 * How many executors a cluster backend has its manager keep up, and which of them are to end: for whoever asks, from
 * outside (the driver's endpoint) or inside.
 */
#include "driver/cluster_backend_internal.h"

#include "base/log.h"
#include "driver/job_runner.h"
#include "rpc/control.pb-c.h"
#include "sched/executor_allocation.h"

static int count_executors(const struct cluster_backend *b)
{
        int n = 0;
        for (int i = 0; i < b->executors.n; i++)
                n += b->executors.at[i]->state != EXECUTOR_GONE && !b->executors.at[i]->killed;
        return n;
}

static void request_one_fewer(struct cluster_backend *b)
{
        int target = b->requested < 0 ? count_executors(b) - 1 : b->requested - 1;
        struct executor_request request = {.target = MAX(target, 0)};
        if (!b->manager->class->request_executors)
                return;
        b->requested = request.target;
        b->manager->class->request_executors(b->manager, &request, 1);
}

void cluster_kill(struct cluster_backend *b, const char *executor_id, bool replace)
{
        struct remote_executor *x = executor_table_find(&b->executors, executor_id);
        bool again = x && x->killed;
        if (!replace && !again)
                request_one_fewer(b);
        if (x)
                x->killed = true;
        b->manager->class->kill(b->manager, executor_id);
}

void cluster_decommission(struct cluster_backend *b, struct remote_executor *x, bool host_too, const char *reason)
{
        if (x->state != EXECUTOR_ALIVE || x->decommissioned)
                return;
        log_info("CoarseGrainedSchedulerBackend", "Decommission executor %s: %s", x->id, reason);
        x->decommissioned = true;
        job_runner_executor_decommissioned(b->runner, x->index, host_too);
        cluster_flush(x);
        rpc_send(x->ref, FIRESTEEL__CONTROL_TYPE__DECOMMISSION_EXECUTOR, NULL, 0, NULL);
}

void cluster_backend_executor_decommissioned(struct cluster_backend *b, const char *executor_id, bool host_too,
                                             const char *reason)
{
        struct remote_executor *x = executor_table_find(&b->executors, executor_id);
        if (x && !b->closing)
                cluster_decommission(b, x, host_too, reason);
}
