/*
 * See executor_pods.h: the store, the allocator and the lifecycle manager, and what goes from one to the other. Events
 * of pods are only stored; subscribers hear of them in executor_pods_tick, when they are due. The allocator does what
 * its answers and targets allow at once.
 *
 * Spark's counterpart is what KubernetesClusterSchedulerBackend ties together.
 */
#include "kubernetes/executors/executor_pods.h"

#include "base/error.h"
#include "base/mem.h"

/* How often the allocator looks at news when the user has not set a pace. */
enum { POLL_INTERVAL_MS = 100 };

struct executor_pods {
        const struct executor_pods_ops *ops;
        void *owner;
        struct snapshots_store *store;
        struct pods_allocator *allocator;
        struct lifecycle_manager *lifecycle;
        bool stopped;
};

/* ---------------------------------------------------------------------------------------------------- the allocator's
 */

static void a_create_pod(void *owner, int32_t id, int32_t profile, bool recovery)
{
        struct executor_pods *p = owner;
        p->ops->create_pod(p->owner, id, profile, recovery);
}

static void a_delete_pods(void *owner, const int32_t *ids, int n, bool pending)
{
        struct executor_pods *p = owner;
        p->ops->delete_pods(p->owner, ids, n, pending);
}

static void a_list_claims(void *owner)
{
        struct executor_pods *p = owner;
        p->ops->list_claims(p->owner);
}

static void a_creation_failed(void *owner, int32_t id, int64_t now)
{
        struct executor_pods *p = owner;
        lifecycle_manager_creation_failed(p->lifecycle, now);
}

static void say(void *owner, enum log_level level, const char *component, const char *line)
{
        struct executor_pods *p = owner;
        p->ops->log(p->owner, level, component, line);
}

static const struct pods_allocator_ops allocator_ops = {
        .create_pod = a_create_pod,
        .delete_pods = a_delete_pods,
        .list_claims = a_list_claims,
        .creation_failed = a_creation_failed,
        .log = say,
};

static void to_allocator(void *owner, const struct pods_batch *batch, int64_t now)
{
        struct executor_pods *p = owner;
        pods_allocator_snapshot(p->allocator, batch, now);
}

/* ------------------------------------------------------------------------------------------- the lifecycle manager's
 */

static void l_remove_executor(void *owner, int32_t id, const struct exit_reason *reason)
{
        struct executor_pods *p = owner;

        if (reason->out_of_memory) {
                say(p, LOG_WARN, "KubernetesClusterSchedulerBackend", "OOM is detected.");
                pods_allocator_recover(p->allocator);
        }
        p->ops->remove_executor(p->owner, id, reason);
}

static void l_delete_pod(void *owner, const struct pod_state *pod, bool log_first)
{
        struct executor_pods *p = owner;
        p->ops->delete_pod(p->owner, pod, log_first);
}

static void l_label_inactive(void *owner, const struct pod_state *pod)
{
        struct executor_pods *p = owner;
        p->ops->label_inactive(p->owner, pod);
}

static void l_stop_application(void *owner, int exit_code, const char *message)
{
        struct executor_pods *p = owner;

        pods_allocator_stop(p->allocator);
        p->ops->stop_application(p->owner, exit_code, message);
}

static const struct lifecycle_ops lifecycle_ops = {
        .remove_executor = l_remove_executor,
        .delete_pod = l_delete_pod,
        .label_inactive = l_label_inactive,
        .stop_application = l_stop_application,
        .log = say,
};

static void to_lifecycle(void *owner, const struct pods_batch *batch, int64_t now)
{
        struct executor_pods *p = owner;
        lifecycle_manager_snapshot(p->lifecycle, batch, now);
}

/* --------------------------------------------------------------------------------------------------------- life */

int executor_pods_config_check(const struct executor_pods_config *config, struct fst_error *error)
{
        if (config->event_interval <= 0)
                return error_set(error, -EINVAL,
                                 "spark.kubernetes.executor.eventProcessingInterval: Event processing interval must be "
                                 "a positive time value.");
        return pods_allocator_config_check(&config->allocation, error);
}

struct executor_pods *executor_pods_new(const struct executor_pods_config *config, const struct executor_pods_ops *ops,
                                        void *owner)
{
        struct executor_pods *p = new0(struct executor_pods);

        p->ops = ops;
        p->owner = owner;
        p->store = snapshots_store_new(&config->lifecycle.rules);
        p->allocator = pods_allocator_new(&config->allocation, &allocator_ops, p);
        p->lifecycle = lifecycle_manager_new(&config->lifecycle, &lifecycle_ops, p);
        /* First why an executor ended, then another one in its place. */
        snapshots_store_subscribe(p->store, config->event_interval, to_lifecycle, p, 0);
        snapshots_store_subscribe(p->store,
                                  config->allocation.batch_size_set ? config->allocation.batch_delay : POLL_INTERVAL_MS,
                                  to_allocator, p, 0);
        return p;
}

void executor_pods_free(struct executor_pods *p)
{
        if (!p)
                return;
        lifecycle_manager_free(p->lifecycle);
        pods_allocator_free(p->allocator);
        snapshots_store_free(p->store);
        free(p);
}

void executor_pods_start(struct executor_pods *p, int64_t now)
{
        pods_allocator_start(p->allocator, now);
}

void executor_pods_driver_ready(struct executor_pods *p, int64_t now)
{
        pods_allocator_driver_ready(p->allocator, now);
}

void executor_pods_stop(struct executor_pods *p)
{
        p->stopped = true;
        pods_allocator_stop(p->allocator);
}

/* ------------------------------------------------------------------------------------------- from the scheduler */

void executor_pods_set_target(struct executor_pods *p, int32_t profile, int target, int64_t now)
{
        pods_allocator_set_target(p->allocator, profile, target, now);
}

void executor_pods_registered(struct executor_pods *p, int32_t id, int64_t now)
{
        pods_allocator_known(p->allocator, id, true, now);
        lifecycle_manager_registered(p->lifecycle, id, now);
}

void executor_pods_unregistered(struct executor_pods *p, int32_t id, int64_t now)
{
        pods_allocator_known(p->allocator, id, false, now);
        lifecycle_manager_unregistered(p->lifecycle, id, now);
}

bool executor_pods_is_excluded(const struct executor_pods *p, int32_t id)
{
        return pods_allocator_refuses(p->allocator, id);
}

void executor_pods_kill(struct executor_pods *p, const int32_t *ids, int n, int64_t now)
{
        lifecycle_manager_killed(p->lifecycle, ids, n, now);
}

/* ------------------------------------------------------------------------------------------ from the API server */

void executor_pods_throttled(struct executor_pods *p)
{
        pods_allocator_throttled(p->allocator);
}

void executor_pods_created(struct executor_pods *p, int32_t id, int64_t now)
{
        pods_allocator_created(p->allocator, id, now);
}

void executor_pods_create_failed(struct executor_pods *p, int32_t id, enum create_outcome outcome, int64_t retry_after,
                                 const char *message, int64_t now)
{
        pods_allocator_create_failed(p->allocator, id, outcome, retry_after, message, now);
}

void executor_pods_claims(struct executor_pods *p, const struct pod_claim *claims, int n, int64_t now)
{
        pods_allocator_claims(p->allocator, claims, n, now);
}

const char *executor_pods_take_claim(struct executor_pods *p, int32_t id, const char *storage_class, int64_t size)
{
        return pods_allocator_take_claim(p->allocator, id, storage_class, size);
}

void executor_pods_pod(struct executor_pods *p, const json_t *pod, int64_t now)
{
        snapshots_store_update(p->store, pod, now);
}

void executor_pods_pod_gone(struct executor_pods *p, const json_t *pod, int64_t now)
{
        snapshots_store_delete(p->store, pod, now);
}

void executor_pods_synced(struct executor_pods *p, int64_t now)
{
        snapshots_store_synced(p->store, now);
}

void executor_pods_list_begin(struct executor_pods *p)
{
        snapshots_store_list_begin(p->store);
}

void executor_pods_list_pod(struct executor_pods *p, const json_t *pod, int64_t now)
{
        snapshots_store_list_pod(p->store, pod, now);
}

void executor_pods_list_end(struct executor_pods *p, const char *version, int64_t now)
{
        snapshots_store_list_end(p->store, version, now);
}

/* -------------------------------------------------------------------------------------------------------- time */

int64_t executor_pods_deadline(const struct executor_pods *p)
{
        int64_t first = snapshots_store_deadline(p->store);

        if (p->stopped)
                return INT64_MAX;
        first = MIN(first, pods_allocator_deadline(p->allocator));
        first = MIN(first, lifecycle_manager_deadline(p->lifecycle));
        return MAX(first, 0);
}

void executor_pods_tick(struct executor_pods *p, int64_t now)
{
        if (p->stopped)
                return;
        snapshots_store_tick(p->store, now);
        lifecycle_manager_tick(p->lifecycle, snapshots_store_pods(p->store), now);
        pods_allocator_tick(p->allocator, now);
}

/* ------------------------------------------------------------------------------------------------------- looks */

struct pods_allocator_counts executor_pods_counts(const struct executor_pods *p, int32_t profile)
{
        return pods_allocator_counts(p->allocator, profile);
}

int executor_pods_in_flight(const struct executor_pods *p)
{
        return pods_allocator_in_flight(p->allocator);
}

const struct pod_state *executor_pods_get(const struct executor_pods *p, int32_t id)
{
        return pods_snapshot_get(snapshots_store_pods(p->store), id);
}

const struct pods_snapshot *executor_pods_known(const struct executor_pods *p)
{
        return snapshots_store_pods(p->store);
}

int executor_pods_failures(struct executor_pods *p, int64_t now)
{
        return lifecycle_manager_failures(p->lifecycle, now);
}
