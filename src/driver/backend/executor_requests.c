/* Requests and ends executors through the manager, for the driver's endpoint and the scheduler. */
#include "driver/backend/cluster_backend_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "driver/context.h"
#include "driver/backend/driver_transfer.h"
#include "rpc/control.pb-c.h"
#include "sched/allocation/executor_allocation.h"

static int executor_requests_count(const struct cluster_backend *b)
{
        int n = 0;
        for (int i = 0; i < b->executors.n; i++)
                n += b->executors.at[i]->state != EXECUTOR_GONE && !b->executors.at[i]->killed;
        return n;
}

static void executor_requests_one_fewer(struct cluster_backend *b)
{
        int target = b->requested < 0 ? executor_requests_count(b) - 1 : b->requested - 1;
        struct executor_request request = {.target = MAX(target, 0)};
        b->requested = request.target;
        b->manager->class->request_executors(b->manager, &request, 1);
}

void cluster_backend_offer(struct cluster_backend *b, const char *const *ids, const int *cores, int n)
{
        int *executors = new_array(int, (size_t)MAX(n, 1)), *lent = new_array(int, (size_t)MAX(n, 1)), known = 0;
        for (int i = 0; i < n; i++) {
                const struct remote_executor *x = executor_table_find(&b->executors, ids[i]);
                if (!x || x->state != EXECUTOR_ALIVE)
                        continue;
                int busy = 0;
                for (int s = 0; s < x->slots; s++)
                        busy += x->running[s] != NULL;
                executors[known] = x->index;
                lent[known++] = MAX(MIN(cores[i], x->cores - busy), 0);
        }
        if (!b->closing)
                job_runner_offer(b->runner, executors, lent, known);
        free(executors);
        free(lent);
}

void cluster_backend_task_ended(struct cluster_backend *b, const char *executor_id, int64_t task_id, const char *reason)
{
        const struct remote_executor *x = executor_table_find(&b->executors, executor_id);
        if (x && !b->closing)
                b->backend.class->kill_task(&b->backend, x->index, task_id, false, reason);
}

bool cluster_request_executors(struct scheduler_backend *backend, const struct executor_request *requests, int n)
{
        struct cluster_backend *b = container_of(backend, struct cluster_backend, backend);
        b->requested = 0;
        for (int i = 0; i < n; i++)
                b->requested += requests[i].target;
        return b->manager->class->request_executors(b->manager, requests, n);
}

bool cluster_request_more(struct scheduler_backend *backend, int more)
{
        struct cluster_backend *b = container_of(backend, struct cluster_backend, backend);
        int64_t total = (int64_t)(b->requested < 0 ? executor_requests_count(b) : b->requested) + more;
        struct executor_request request = {.target = (int)MIN(total, (int64_t)INT32_MAX)};
        return cluster_request_executors(backend, &request, 1);
}

bool cluster_lends_cores(struct scheduler_backend *backend)
{
        return container_of(backend, struct cluster_backend, backend)->manager->class->launching;
}

int64_t cluster_expected_cores(struct scheduler_backend *backend, double *ratio)
{
        const struct executor_manager *manager = container_of(backend, struct cluster_backend, backend)->manager;
        *ratio = 0; /* Spark's value, except on YARN and Kubernetes */
        return manager->class->expected_cores ? manager->class->expected_cores(manager, ratio) : 0;
}

const char *cluster_rack(struct scheduler_backend *backend, const char *host)
{
        struct cluster_backend *b = container_of(backend, struct cluster_backend, backend);
        return b->manager->class->rack ? b->manager->class->rack(b->manager, host) : NULL;
}

void cluster_host_excluded(struct scheduler_backend *backend, const char *host, bool excluded)
{
        struct cluster_backend *b = container_of(backend, struct cluster_backend, backend);
        struct string_list *hosts = &b->excluded_hosts;
        size_t i = 0;
        while (i < hosts->len && strcmp(hosts->data[i], host) != 0)
                i++;
        if (excluded == (i < hosts->len))
                return;
        if (excluded) {
                string_list_add(hosts, host);
        } else {
                free(hosts->data[i]);
                hosts->data[i] = hosts->data[--hosts->len];
        }
        if (b->manager->class->set_excluded_hosts && !b->closing)
                b->manager->class->set_excluded_hosts(b->manager, (const char *const *)hosts->data, hosts->len);
}

int cluster_kill_executors(struct scheduler_backend *backend, const char *const *ids, int n)
{
        struct cluster_backend *b = container_of(backend, struct cluster_backend, backend);
        int killed = 0;
        for (int i = 0; i < n; i++) {
                struct remote_executor *x = executor_table_find(&b->executors, ids[i]);
                if (!x || x->state == EXECUTOR_GONE || x->killed) {
                        log_warn("CoarseGrainedSchedulerBackend", "Executor to kill %s does not exist!", ids[i]);
                        continue;
                }
                job_runner_executor_killed(b->runner, x->index);
                cluster_kill(b, x->id, false);
                killed++;
        }
        return killed;
}

static bool executor_requests_is_busy(const struct remote_executor *x)
{
        for (int s = 0; s < x->slots; s++)
                if (x->running[s])
                        return true;
        return false;
}

int cluster_remove_executors(struct scheduler_backend *backend, const int32_t *executors, int n, bool decommission,
                             int32_t *accepted)
{
        struct cluster_backend *b = container_of(backend, struct cluster_backend, backend);
        int gone = 0;
        for (int i = 0; i < n; i++) {
                struct remote_executor *x = executor_table_at(&b->executors, executors[i]);
                if (!x || x->state != EXECUTOR_ALIVE || x->killed || x->decommissioned || executor_requests_is_busy(x))
                        continue;
                if (decommission) {
                        cluster_decommission(b, x, false, "spark scale down");
                } else {
                        job_runner_executor_killed(b->runner, x->index);
                        cluster_kill(b, x->id, true);
                }
                accepted[gone++] = x->index;
        }
        return gone;
}

void cluster_kill(struct cluster_backend *b, const char *executor_id, bool replace)
{
        struct remote_executor *x = executor_table_find(&b->executors, executor_id);
        bool again = x && x->killed;
        if (b->closing) /* the manager ends all of them, and may no longer be able to end one */
                return;
        if (!replace && !again)
                executor_requests_one_fewer(b);
        if (x)
                x->killed = true;
        b->manager->class->kill(b->manager, executor_id);
}

/* Its time to migrate blocks is over. */
static void executor_requests_on_timeout(uv_timer_t *timer)
{
        struct remote_executor *x = timer->data;
        struct cluster_backend *b = x->backend;
        if (x->state == EXECUTOR_GONE || b->closing)
                return;
        log_info("CoarseGrainedSchedulerBackend", "%s failed to decommission in %lld ms, killing.", x->id,
                 (long long)b->decommission_ms);
        cluster_kill(b, x->id, true);
}

int cluster_read_decommission(struct cluster_backend *b, struct fst_error *error)
{
        static const char force[] = "spark.executor.decommission.forceKillTimeout";
        const struct fst_conf *conf = b->sc->conf;
        b->decommission_ms = -1;
        return conf_contains(conf, force) ? conf_get_ms(conf, force, &b->decommission_ms, error) : 0;
}

void cluster_decommission(struct cluster_backend *b, struct remote_executor *x, bool host_too, const char *reason)
{
        if (x->state != EXECUTOR_ALIVE || x->decommissioned)
                return;
        log_info("CoarseGrainedSchedulerBackend", "Decommission executor %s: %s", x->id, reason);
        x->decommissioned = true;
        x->decommission_reason = mem_strdup(reason);
        job_runner_executor_decommissioned(b->runner, x->index, host_too);
        driver_transfer_decommission(b->transfer, x);
        cluster_flush(x);
        rpc_send(x->ref, FIRESTEEL__CONTROL_TYPE__DECOMMISSION_EXECUTOR, NULL, 0, NULL);
        if (b->manager->class->decommissioned)
                b->manager->class->decommissioned(b->manager, x->id);
        if (b->decommission_ms >= 0)
                uv_timer_start(&x->timeout, executor_requests_on_timeout, (uint64_t)b->decommission_ms, 0);
}

void cluster_backend_executor_decommissioned(struct cluster_backend *b, const char *executor_id, bool host_too,
                                             const char *reason)
{
        struct remote_executor *x = executor_table_find(&b->executors, executor_id);
        if (x && !b->closing)
                cluster_decommission(b, x, host_too, reason);
}

/* -------------------------------------------------------------------------------------------------- thread dumps */

struct threads_ask {
        void (*answered)(void *owner, const uint8_t *dump, size_t len);
        void *owner;
};

static void threads_ask_on_answer(void *context, struct rpc_answer *answer)
{
        struct threads_ask *ask = context;
        bool is_dump = answer->status == 0 && answer->type == FIRESTEEL__CONTROL_TYPE__THREAD_DUMP;
        ask->answered(ask->owner, is_dump ? (answer->len ? answer->body : (const uint8_t *)"") : NULL, answer->len);
        free(ask);
}

bool cluster_ask_threads(struct scheduler_backend *backend, const char *executor_id,
                         void (*answered)(void *owner, const uint8_t *dump, size_t len), void *owner)
{
        enum { TIMEOUT_MS = 5000 };
        struct cluster_backend *b = container_of(backend, struct cluster_backend, backend);
        const struct remote_executor *x = executor_table_find(&b->executors, executor_id);
        if (!x || x->state != EXECUTOR_ALIVE || !x->ref || b->stopping)
                return false;
        struct threads_ask *ask = new0(struct threads_ask);
        *ask = (struct threads_ask){answered, owner};
        if (rpc_ask(x->ref, FIRESTEEL__CONTROL_TYPE__THREAD_DUMP, NULL, 0, NULL, TIMEOUT_MS, threads_ask_on_answer,
                    ask) < 0) {
                free(ask);
                return false;
        }
        return true;
}
