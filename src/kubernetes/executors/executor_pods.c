/*
 * Connects the store, the lifecycle manager and the allocator of executor pods, and fixes their order.
 *
 * Pod events are only stored. executor_pods_tick passes them on when they are due. The allocator acts on responses and
 * targets at once.
 *
 * Spark's counterpart is KubernetesClusterSchedulerBackend.
 */
#include "kubernetes/executors/executor_pods.h"

#include "base/error.h"

/* The allocator's interval for pod changes, unless the user has set batch.delay. */
#define POLL_INTERVAL (100 * NS_PER_MS)

int executor_pods_config_check(const struct executor_pods_config *config, struct fst_error *error)
{
        if (config->event_interval <= 0)
                return error_set(error, -EINVAL,
                                 "spark.kubernetes.executor.eventProcessingInterval: Event processing interval must be "
                                 "a positive time value.");
        return pods_allocator_config_check(&config->allocation, error);
}

void executor_pods_init(struct executor_pods *p, const struct executor_pods_config *config)
{
        *p = (struct executor_pods){.store = snapshots_store_new(&config->lifecycle.rules)};
        p->lifecycle = lifecycle_manager_new(&config->lifecycle, &p->actions);
        p->allocator = pods_allocator_new(&config->allocation, p->lifecycle, &p->actions);
        p->lifecycle_news = snapshots_store_subscribe(p->store, config->event_interval, 0);
        p->allocator_news = snapshots_store_subscribe(
                p->store, config->allocation.batch_size_set ? config->allocation.batch_delay : POLL_INTERVAL, 0);
}

void executor_pods_deinit(struct executor_pods *p)
{
        lifecycle_manager_free(p->lifecycle);
        pods_allocator_free(p->allocator);
        snapshots_store_free(p->store);
        pod_actions_deinit(&p->actions);
}

void executor_pods_stop(struct executor_pods *p)
{
        p->stopped = true;
        pods_allocator_stop(p->allocator);
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
        struct pods_batch batch;

        if (p->stopped)
                return;
        /* The lifecycle manager first, so that an executor's end is reported before its replacement is requested. */
        if (pods_subscription_next(p->lifecycle_news, &batch, now))
                lifecycle_manager_snapshot(p->lifecycle, &batch, now);
        if (pods_subscription_next(p->allocator_news, &batch, now))
                pods_allocator_snapshot(p->allocator, &batch, now);
        lifecycle_manager_tick(p->lifecycle, snapshots_store_pods(p->store), now);
        pods_allocator_tick(p->allocator, now);
}

const struct pod_action *executor_pods_next_action(struct executor_pods *p)
{
        return pod_actions_next(&p->actions);
}
