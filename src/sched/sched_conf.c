/*
 * Reads struct sched_config from the configuration, for drivers and simulations alike.
 *
 * A table maps keys to members. Functions below it read values that are not plain numbers.
 */
#include "sched/sched_conf.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <limits.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <strings.h>

enum kind { KIND_BOOL, KIND_COUNT, KIND_DOUBLE, KIND_TIME, KIND_BYTES };

static const struct member {
        const char *key;
        enum kind kind;
        size_t offset;
        int least; /* KIND_COUNT */
} members[] = {
#define MEMBER(key, kind, member, least)                                                                               \
        {                                                                                                              \
                key, kind, offsetof(struct sched_config, member), least                                                \
        }
        MEMBER("spark.task.maxFailures", KIND_COUNT, max_failures, 1),
        MEMBER("spark.task.cpus", KIND_COUNT, task_cpus, 1),
        MEMBER("spark.stage.maxConsecutiveAttempts", KIND_COUNT, max_stage_attempts, 1),
        MEMBER("spark.stage.maxAttempts", KIND_COUNT, max_total_attempts, 1),
        MEMBER("spark.stage.ignoreDecommissionFetchFailure", KIND_BOOL, ignore_decommission_failures, 0),
        MEMBER("spark.files.fetchFailure.unRegisterOutputOnHost", KIND_BOOL, unregister_outputs_on_host, 0),
        MEMBER("spark.dynamicAllocation.enabled", KIND_BOOL, dynamic_allocation, 0),
        MEMBER("spark.driver.maxResultSize", KIND_BYTES, max_result_size, 0),
        MEMBER("spark.scheduler.barrier.maxConcurrentTasksCheck.interval", KIND_TIME, barrier_check_interval, 0),
        MEMBER("spark.scheduler.barrier.maxConcurrentTasksCheck.maxFailures", KIND_COUNT, barrier_check_max_failures,
               1),
        MEMBER("spark.locality.wait.process", KIND_TIME, locality.wait_process, 0),
        MEMBER("spark.locality.wait.node", KIND_TIME, locality.wait_node, 0),
        MEMBER("spark.locality.wait.rack", KIND_TIME, locality.wait_rack, 0),
        MEMBER("spark.locality.wait.legacyResetOnTaskLaunch", KIND_BOOL, locality.legacy_reset, 0),
        MEMBER("spark.speculation", KIND_BOOL, speculation.enabled, 0),
        MEMBER("spark.speculation.interval", KIND_TIME, speculation.interval, 0),
        MEMBER("spark.speculation.multiplier", KIND_DOUBLE, speculation.multiplier, 0),
        MEMBER("spark.speculation.quantile", KIND_DOUBLE, speculation.quantile, 0),
        MEMBER("spark.speculation.minTaskRuntime", KIND_TIME, speculation.min_runtime, 0),
        MEMBER("spark.speculation.task.duration.threshold", KIND_TIME, speculation.threshold, 0),
        MEMBER("spark.speculation.efficiency.enabled", KIND_BOOL, speculation.efficiency, 0),
        MEMBER("spark.speculation.efficiency.processRateMultiplier", KIND_DOUBLE, speculation.rate_multiplier, 0),
        MEMBER("spark.speculation.efficiency.longRunTaskFactor", KIND_DOUBLE, speculation.long_run_factor, 0),
        MEMBER("spark.excludeOnFailure.enabled", KIND_BOOL, exclusion.stage, 0),
        MEMBER("spark.excludeOnFailure.enabled", KIND_BOOL, exclusion.application, 0),
        MEMBER("spark.excludeOnFailure.taskAndStage.enabled", KIND_BOOL, exclusion.stage, 0),
        MEMBER("spark.excludeOnFailure.application.enabled", KIND_BOOL, exclusion.application, 0),
        MEMBER("spark.excludeOnFailure.task.maxTaskAttemptsPerExecutor", KIND_COUNT,
               exclusion.max_task_attempts_per_executor, 1),
        MEMBER("spark.excludeOnFailure.task.maxTaskAttemptsPerNode", KIND_COUNT, exclusion.max_task_attempts_per_node,
               1),
        MEMBER("spark.excludeOnFailure.stage.maxFailedTasksPerExecutor", KIND_COUNT,
               exclusion.stage_max_failed_tasks_per_executor, 1),
        MEMBER("spark.excludeOnFailure.stage.maxFailedExecutorsPerNode", KIND_COUNT,
               exclusion.stage_max_failed_executors_per_node, 1),
        MEMBER("spark.excludeOnFailure.application.maxFailedTasksPerExecutor", KIND_COUNT,
               exclusion.max_failed_tasks_per_executor, 1),
        MEMBER("spark.excludeOnFailure.application.maxFailedExecutorsPerNode", KIND_COUNT,
               exclusion.max_failed_executors_per_node, 1),
        MEMBER("spark.excludeOnFailure.timeout", KIND_TIME, exclusion.timeout, 1),
        MEMBER("spark.excludeOnFailure.killExcludedExecutors", KIND_BOOL, exclusion.kill, 0),
        MEMBER("spark.excludeOnFailure.killExcludedExecutors.decommission", KIND_BOOL, exclusion.decommission, 0),
        MEMBER("spark.excludeOnFailure.application.fetchFailure.enabled", KIND_BOOL, exclusion.fetch_failure, 0),
        MEMBER("spark.scheduler.excludeOnFailure.unschedulableTaskSetTimeout", KIND_TIME,
               exclusion.unschedulable_timeout, 0),
#undef MEMBER
};

static int sched_conf_read_count(const struct fst_conf *conf, const struct member *m, int *out, struct fst_error *error)
{
        int64_t value;
        int r = conf_get_int(conf, m->key, &value, error);

        if (r)
                return r;
        if (value < m->least || value > INT_MAX)
                return error_set(error, -EINVAL, "%s is %lld, but must be from %d to %d", m->key, (long long)value,
                                 m->least, INT_MAX);
        *out = (int)value;
        return 0;
}

static int sched_conf_read_time(const struct fst_conf *conf, const struct member *m, int64_t *out,
                                struct fst_error *error)
{
        int64_t ms;
        int r = conf_get_ms(conf, m->key, &ms, error);

        if (r)
                return r;
        if (ms < m->least)
                return error_set(error, -EINVAL, "%s is %lld ms, but must be at least %d ms", m->key, (long long)ms,
                                 m->least);
        *out = ms_to_ns(ms);
        return 0;
}

static int read_member(struct sched_config *config, const struct fst_conf *conf, const struct member *m,
                       struct fst_error *error)
{
        void *at = (char *)config + m->offset;

        if (!conf_get_value(conf, m->key))
                return 0;
        switch (m->kind) {
        case KIND_BOOL:
                return conf_get_bool(conf, m->key, at, error);
        case KIND_COUNT:
                return sched_conf_read_count(conf, m, at, error);
        case KIND_DOUBLE:
                return conf_get_double(conf, m->key, at, error);
        case KIND_TIME:
                return sched_conf_read_time(conf, m, at, error);
        case KIND_BYTES:
                return conf_get_bytes(conf, m->key, at, error);
        }
        return 0;
}

static int sched_conf_read_mode(struct sched_config *config, const struct fst_conf *conf, struct fst_error *error)
{
        _cleanup_free_ char *mode = NULL;
        int r = conf_get_string(conf, "spark.scheduler.mode", &mode, error);

        if (r || !mode)
                return r;
        if (strcasecmp(mode, "FAIR") != 0 && strcasecmp(mode, "FIFO") != 0)
                return error_set(error, -EINVAL, "Unrecognized spark.scheduler.mode: %s (use FIFO or FAIR)", mode);
        config->mode = strcasecmp(mode, "FAIR") == 0 ? SCHEDULING_FAIR : SCHEDULING_FIFO;
        return 0;
}

#define RESOURCE_PREFIX "spark.task.resource."
#define RESOURCE_SUFFIX ".amount"

static int sched_conf_read_amount(const char *key, const char *text, int64_t *amount, struct fst_error *error)
{
        char *end = NULL;
        double value = strtod(text, &end);

        if (end == text || *end || !isfinite(value) || value <= 0 || value > 1000)
                return error_set(error, -EINVAL, "%s is '%s', but must be a number above 0 and at most 1000", key,
                                 text);
        if (value > 1 && value != floor(value))
                return error_set(error, -EINVAL,
                                 "The resource amount %s of %s must be either <= 1.0, or a whole number", text, key);
        *amount = value >= 1 ? (int64_t)value * RESOURCE_ONE : MAX((int64_t)1, (int64_t)(value * (double)RESOURCE_ONE));
        return 0;
}

static void free_requests(const struct resource_request *requests, int n)
{
        for (int i = 0; i < n; i++)
                free(requests[i].name);
        free((void *)requests);
}

/* Reads every spark.task.resource.<name>.amount that is set. */
static int sched_conf_read_resources(const struct fst_conf *conf, struct resource_request **out, int *n,
                                     struct fst_error *error)
{
        const size_t prefix = strlen(RESOURCE_PREFIX), suffix = strlen(RESOURCE_SUFFIX);
        struct resource_request *requests = NULL;
        int count = 0;

        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));) {
                size_t length = strlen(e->key);
                int64_t amount = 0;

                if (strncmp(e->key, RESOURCE_PREFIX, prefix) != 0 || length <= prefix + suffix ||
                    strcmp(e->key + length - suffix, RESOURCE_SUFFIX) != 0)
                        continue;
                int r = sched_conf_read_amount(e->key, e->value, &amount, error);

                if (r) {
                        free_requests(requests, count);
                        return r;
                }
                requests = mem_grow(requests, (size_t)(count + 1) * sizeof(*requests));
                requests[count++] = (struct resource_request){
                        .name = mem_strndup(e->key + prefix, length - prefix - suffix), .amount = amount};
        }
        *out = requests;
        *n = count;
        return 0;
}

/* Spark: HealthTracker.validateExcludeOnFailureConfs. */
static int sched_conf_check_exclusion(const struct sched_config *config, struct fst_error *error)
{
        if (!config->exclusion.application && !config->exclusion.stage)
                return 0;
        if (config->exclusion.max_task_attempts_per_node < config->max_failures)
                return 0;
        return error_set(
                error, -EINVAL,
                "spark.excludeOnFailure.task.maxTaskAttemptsPerNode ( = %d) was >= spark.task.maxFailures "
                "( = %d ). Though excludeOnFailure is enabled, with this configuration, Spark will not be "
                "robust to one bad node. Decrease spark.excludeOnFailure.task.maxTaskAttemptsPerNode, increase "
                "spark.task.maxFailures, or disable excludeOnFailure with spark.excludeOnFailure.enabled",
                config->exclusion.max_task_attempts_per_node, config->max_failures);
}

int sched_config_read(const struct fst_conf *conf, struct sched_config *config, struct fst_error *error)
{
        struct sched_config read = SCHED_CONFIG_DEFAULT;
        struct resource_request *requests;
        int r = sched_conf_read_mode(&read, conf, error);

        for (size_t i = 0; i < ARRAY_SIZE(members) && r == 0; i++)
                r = read_member(&read, conf, &members[i], error);
        if (r == 0 && !(read.speculation.quantile >= 0 && read.speculation.quantile <= 1))
                r = error_set(error, -EINVAL, "spark.speculation.quantile is %g, but must be from 0.0 to 1.0",
                              read.speculation.quantile);
        if (r == 0)
                r = sched_conf_check_exclusion(&read, error);
        if (r == 0)
                r = sched_conf_read_resources(conf, &requests, &read.n_resources, error);
        if (r)
                return r;
        read.resources = requests;
        *config = read;
        return 0;
}

void sched_config_deinit(struct sched_config *config)
{
        free_requests(config->resources, config->n_resources);
        config->resources = NULL;
        config->n_resources = 0;
}
