/* See am_settings.h. */
#include "yarn/conf/am_settings.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/conf_list.h"
#include "yarn/conf/yarn_conf.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_EXECUTORS 2
#define LEAST_FAILURES 3
#define MIN_FINAL_MESSAGE 4
#define ELLIPSIS "..."
#define RM_EXPIRY_MS 120000 /* Spark's default */
#define DEFAULT_EXCLUDE_MS (60 * 60 * 1000)

void am_settings_deinit(struct am_settings *s)
{
        string_list_deinit(&s->excluded);
        free(s->executor_label);
}

/* Reads a number into *@out, which keeps its value if @key is not set. */
static int am_read_int(const struct fst_conf *conf, const char *key, int *out, struct fst_error *error)
{
        int64_t value;
        if (!conf_get_value(conf, key))
                return 0;
        const int r = conf_get_int(conf, key, &value, error);
        if (r == 0)
                *out = (int)MAX(MIN(value, (int64_t)INT_MAX), (int64_t)0);
        return r;
}

static int am_read_failures(const struct fst_conf *conf, struct am_settings *s, struct fst_error *error)
{
        bool dynamic;
        int most = INT_MAX, configured = 0, r;
        s->initial_executors = DEFAULT_EXECUTORS;
        if ((r = conf_get_bool(conf, "spark.dynamicAllocation.enabled", &dynamic, error)) ||
            (r = am_read_int(conf, "spark.dynamicAllocation.maxExecutors", &most, error)) ||
            (r = am_read_int(conf, "spark.executor.instances", &s->initial_executors, error)) ||
            (r = am_read_int(conf, "spark.executor.instances", &configured, error)))
                return r;
        const int effective = dynamic ? most : configured;
        s->max_executor_failures = MAX(LEAST_FAILURES, effective > INT_MAX / 2 ? INT_MAX : 2 * effective);
        return am_read_int(conf, "spark.executor.maxNumFailures", &s->max_executor_failures, error);
}

/* Reads a time in ns; @otherwise_ms if @key is not set. */
static int am_read_time(const struct fst_conf *conf, const char *key, int64_t otherwise_ms, int64_t *out,
                        struct fst_error *error)
{
        int64_t ms = otherwise_ms;
        const int r = conf_get_value(conf, key) ? conf_get_ms(conf, key, &ms, error) : 0;
        *out = ms_to_ns(MAX(ms, (int64_t)0));
        return r;
}

/* As in Spark, executors whose map outputs a shuffle service keeps are not decommissioned. */
static int am_read_decommission(const struct fst_conf *conf, struct am_settings *s, struct fst_error *error)
{
        bool service;
        int r = conf_get_bool(conf, "spark.decommission.enabled", &s->decommission, error);
        r = r < 0 ? r : conf_get_bool(conf, "spark.shuffle.service.enabled", &service, error);
        if (r == 0 && s->decommission && service) {
                log_warn("YarnAllocator", "Yarn Executor Decommissioning is supported only when "
                                          "spark.shuffle.service.enabled is set to false. See: SPARK-39018.");
                s->decommission = false;
        }
        return r;
}

int am_wait_time_read(const struct fst_conf *conf, int64_t *out_ms, struct fst_error *error)
{
        const int r = conf_get_ms(conf, "spark.yarn.am.waitTime", out_ms, error);
        if (r == 0 && *out_ms < 0)
                return error_set(error, -EINVAL,
                                 "spark.yarn.am.waitTime is %lld ms, but must not be negative (write 100s)",
                                 (long long)*out_ms);
        return r;
}

int am_final_message_limit_read(const struct fst_conf *conf, int64_t *out, struct fst_error *error)
{
        const int r = conf_get_bytes(conf, "spark.yarn.am.finalMessageLimit", out, error);
        if (r == 0 && *out < MIN_FINAL_MESSAGE)
                return error_set(error, -EINVAL,
                                 "spark.yarn.am.finalMessageLimit is %lld bytes, but must be at least %d",
                                 (long long)*out, MIN_FINAL_MESSAGE);
        return r;
}

char *am_final_message(const char *text, int64_t limit)
{
        const size_t len = strlen(text);
        if (limit <= 0 || (uint64_t)limit >= len)
                return mem_strdup(text);
        size_t n = (size_t)limit - strlen(ELLIPSIS);
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) /* inside a character */
                n--;
        return mem_printf("%.*s" ELLIPSIS, (int)n, text);
}

int am_settings_read(const struct fst_conf *conf, struct am_settings *out, struct fst_error *error)
{
        int r;
        out->max_heartbeat_failures = 5;
        out->max_failures_per_node = 2;
        if ((r = conf_get_ms(conf, "spark.yarn.scheduler.heartbeat.interval-ms", &out->heartbeat_ms, error)) ||
            (r = conf_get_ms(conf, "spark.yarn.scheduler.initial-allocation.interval", &out->initial_ms, error)) ||
            (r = am_read_int(conf, "spark.yarn.scheduler.reporterThread.maxFailures", &out->max_heartbeat_failures,
                             error)) ||
            (r = am_final_message_limit_read(conf, &out->max_final_message, error)) ||
            (r = am_read_failures(conf, out, error)) ||
            (r = am_read_time(conf, "spark.executor.failuresValidityInterval", 0, &out->failures_validity, error)) ||
            (r = am_read_time(conf, "spark.excludeOnFailure.timeout", DEFAULT_EXCLUDE_MS, &out->exclude_timeout,
                              error)) ||
            (r = am_read_int(conf, "spark.excludeOnFailure.application.maxFailedExecutorsPerNode",
                             &out->max_failures_per_node, error)) ||
            (r = conf_get_bool(conf, "spark.yarn.executor.launch.excludeOnFailure.enabled",
                               &out->exclude_on_launch_failure, error)) ||
            (r = conf_list_read(conf, "spark.yarn.exclude.nodes", &out->excluded, error)) ||
            (r = conf_get_string(conf, "spark.yarn.executor.nodeLabelExpression", &out->executor_label, error)))
                return r;
        if (out->initial_ms <= 0)
                return error_set(error, -EINVAL,
                                 "spark.yarn.scheduler.initial-allocation.interval is %lld ms, but must be positive",
                                 (long long)out->initial_ms);
        out->heartbeat_ms = MAX(out->heartbeat_ms, (int64_t)1);
        out->initial_ms = MIN(out->initial_ms, out->heartbeat_ms);
        return am_read_decommission(conf, out, error);
}

int am_settings_limit(struct am_settings *s, const struct yarn_conf *yarn, struct fst_error *error)
{
        int64_t expiry;
        const int r =
                yarn_conf_get_int(yarn, "yarn.am.liveness-monitor.expiry-interval-ms", RM_EXPIRY_MS, &expiry, error);
        if (r < 0)
                return r;
        s->heartbeat_ms = MAX(MIN(s->heartbeat_ms, expiry / 2), (int64_t)1);
        s->initial_ms = MIN(s->initial_ms, s->heartbeat_ms);
        return 0;
}
