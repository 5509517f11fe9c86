/*
 * Reads the settings of executor pods. Keys without a value or a default in the key table keep EXECUTOR_PODS_DEFAULT.
 */
#include "kubernetes/executors/executor_pods_conf.h"

#include "base/error.h"
#include "conf/conf.h"

#define K8S "spark.kubernetes."
#define DEFAULT_EXECUTORS 2

static int executor_pods_conf_read_time(const struct fst_conf *conf, const char *key, int64_t *out,
                                        struct fst_error *error)
{
        int64_t ms;
        int r;

        if (!conf_get_value(conf, key))
                return 0;
        r = conf_get_ms(conf, key, &ms, error);
        if (r == 0)
                *out = ms_to_ns(ms);
        return r;
}

/* Reads the maximum number of executors, @otherwise if there is none. */
static int read_executors(const struct fst_conf *conf, int otherwise, int *out, struct fst_error *error)
{
        bool is_dynamic = false;
        int r = conf_read_bool(conf, "spark.dynamicAllocation.enabled", &is_dynamic, error);

        *out = is_dynamic ? INT32_MAX : otherwise;
        if (r)
                return r;
        return conf_read_int(conf, is_dynamic ? "spark.dynamicAllocation.maxExecutors" : "spark.executor.instances",
                             out, error);
}

static int read_pace(const struct fst_conf *conf, struct pods_allocator_config *a, struct fst_error *error)
{
        int64_t idle = a->idle_timeout;
        int r = conf_read_int(conf, K8S "allocation.batch.size", &a->batch_size, error);

        a->batch_size_set = conf_get_raw(conf, K8S "allocation.batch.size") != NULL;
        r = r ? r : executor_pods_conf_read_time(conf, K8S "allocation.batch.delay", &a->batch_delay, error);
        r = r ? r : conf_read_int(conf, K8S "allocation.maxPendingPods", &a->max_pending, error);
        r = r ? r : conf_read_int(conf, K8S "allocation.maxPendingPodsPerRp", &a->max_pending_per_profile, error);
        r = r ? r : conf_read_int(conf, K8S "allocation.maximum", &a->maximum, error);
        r = r ? r : executor_pods_conf_read_time(conf, K8S "allocation.executor.timeout", &a->creation_timeout, error);
        r = r ? r
              : executor_pods_conf_read_time(conf, K8S "allocation.driver.readinessTimeout", &a->driver_timeout, error);
        r = r ? r : executor_pods_conf_read_time(conf, K8S "executor.missingPodDetectDelta", &a->missing_delta, error);
        r = r ? r : executor_pods_conf_read_time(conf, "spark.dynamicAllocation.executorIdleTimeout", &idle, error);
        a->idle_timeout = idle / NS_PER_SECOND * NS_PER_SECOND; /* a time in whole seconds */
        return r;
}

static int read_claims(const struct fst_conf *conf, bool driver_pod, struct pods_allocator_config *a,
                       struct fst_error *error)
{
        bool owns = true, reuses = true, waits = false;
        int r = conf_read_bool(conf, K8S "driver.ownPersistentVolumeClaim", &owns, error);

        r = r ? r : conf_read_bool(conf, K8S "driver.reusePersistentVolumeClaim", &reuses, error);
        r = r ? r : conf_read_bool(conf, K8S "driver.waitToReusePersistentVolumeClaim", &waits, error);
        a->reuse_claims = owns && reuses && driver_pod;
        a->wait_for_claims = a->reuse_claims && waits;
        return r ? r : read_executors(conf, DEFAULT_EXECUTORS, &a->max_claims, error);
}

static int read_allocation(const struct fst_conf *conf, bool driver_pod, struct pods_allocator_config *a,
                           struct fst_error *error)
{
        bool publishes = false, by_address = true, recovers = false;
        int r = read_pace(conf, a, error);

        r = r ? r : read_claims(conf, driver_pod, a, error);
        r = r ? r : conf_read_bool(conf, K8S "driver.service.publishNotReadyAddresses", &publishes, error);
        r = r ? r : conf_read_bool(conf, K8S "executor.useDriverPodIP", &by_address, error);
        r = r ? r : conf_read_bool(conf, K8S "executor.deleteOnTermination", &a->delete_executors, error);
        r = r ? r : conf_read_bool(conf, K8S "allocation.recoveryMode.enabled", &recovers, error);
        /* The service's name resolves only to ready pods. An address needs no service. */
        a->wait_for_driver = driver_pod && !publishes && !by_address;
        a->recovery = conf_get_value(conf, K8S "allocation.recoveryMode.enabled") ? recovers : -1;
        return r;
}

static int read_lifecycle(const struct fst_conf *conf, struct lifecycle_config *l, struct fst_error *error)
{
        int executors = 0;
        int r = conf_read_bool(conf, K8S "executor.deleteOnTermination", &l->delete_executors, error);

        r = r ? r : executor_pods_conf_read_time(conf, K8S "executor.missingPodDetectDelta", &l->missing_delta, error);
        r = r ? r
              : executor_pods_conf_read_time(conf, K8S "executor.deletedExecutorsCacheTimeout", &l->removed_memory,
                                             error);
        r = r ? r
              : executor_pods_conf_read_time(conf, K8S "dynamicAllocation.deleteGracePeriod", &l->kill_grace, error);
        r = r ? r
              : executor_pods_conf_read_time(conf, "spark.executor.failuresValidityInterval", &l->failure_validity,
                                             error);
        r = r ? r : conf_read_bool(conf, K8S "executor.checkAllContainers", &l->rules.check_all, error);
        r = r ? r : read_executors(conf, 0, &executors, error);
        l->max_failures = lifecycle_max_failures(executors);
        l->rules.container = conf_get_value(conf, K8S "executor.podTemplateContainerName");
        return r ? r : conf_read_int(conf, "spark.executor.maxNumFailures", &l->max_failures, error);
}

int executor_pods_config_read(const struct fst_conf *conf, bool driver_pod, struct executor_pods_config *config,
                              struct fst_error *error)
{
        struct executor_pods_config read = EXECUTOR_PODS_DEFAULT;
        int r = read_allocation(conf, driver_pod, &read.allocation, error);

        r = r ? r : read_lifecycle(conf, &read.lifecycle, error);
        r = r ? r
              : executor_pods_conf_read_time(conf, K8S "executor.eventProcessingInterval", &read.event_interval, error);
        r = r ? r : executor_pods_config_check(&read, error);
        if (r == 0)
                *config = read;
        return r;
}

int executor_instances_read(const struct fst_conf *conf, int *out, struct fst_error *error)
{
        int64_t n = DEFAULT_EXECUTORS;
        int r = conf_contains(conf, "spark.executor.instances")
                        ? conf_get_int(conf, "spark.executor.instances", &n, error)
                        : 0;
        *out = (int)MAX(MIN(n, (int64_t)INT32_MAX), (int64_t)0);
        return r;
}
