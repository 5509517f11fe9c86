/* See yarn_settings.h. */
#include "yarn/application/yarn_settings.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "conf/conf_list.h"

#define MIB ((int64_t)1 << 20)
#define AM_OVERHEAD_FACTOR 0.1
#define AM_MIN_OVERHEAD 384

void yarn_settings_deinit(struct yarn_settings *s)
{
        char *const texts[] = {s->name,           s->queue,          s->type,       s->node_label,
                               s->rolled_include, s->rolled_exclude, s->staging_dir};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        container_resources_deinit(&s->resources);
        yarn_executor_size_deinit(&s->executor);
        string_list_deinit(&s->tags);
        *s = (struct yarn_settings){0};
}

/* -------------------------------------------------------------------------------------------------------- memory */

static int yarn_settings_mib(const struct fst_conf *conf, const char *key, int64_t *out, struct fst_error *error)
{
        int64_t bytes;
        const int r = conf_get_bytes(conf, key, &bytes, error);
        if (r == 0)
                *out = bytes / MIB;
        return r;
}

/* The overhead of @memory: the value of @key if it is set, else a fraction, but not less than a minimum. */
static int yarn_settings_overhead(const struct fst_conf *conf, const char *key, const char *factor_key,
                                  const char *minimum_key, int64_t memory, int64_t *out, struct fst_error *error)
{
        double factor;
        int64_t minimum;
        if (conf_contains(conf, key))
                return yarn_settings_mib(conf, key, out, error);
        int r = yarn_overhead_factor_read(conf, factor_key, &factor, error);
        if (r == 0)
                r = yarn_settings_mib(conf, minimum_key, &minimum, error);
        if (r == 0)
                *out = MAX((int64_t)(factor * (double)memory), minimum);
        return r;
}

static int yarn_settings_read_driver(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        int r = yarn_settings_mib(conf, "spark.driver.memory", &s->memory, error);
        if (r == 0)
                r = yarn_settings_overhead(conf, "spark.driver.memoryOverhead", "spark.driver.memoryOverheadFactor",
                                           "spark.driver.minMemoryOverhead", s->memory, &s->overhead, error);
        return r < 0 ? r : conf_get_int(conf, "spark.driver.cores", &s->cores, error);
}

/* Its overhead has no factor and no minimum of its own. */
static int yarn_settings_read_am(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        int r = yarn_settings_mib(conf, "spark.yarn.am.memory", &s->memory, error);
        s->overhead = MAX((int64_t)(AM_OVERHEAD_FACTOR * (double)s->memory), (int64_t)AM_MIN_OVERHEAD);
        if (r == 0 && conf_contains(conf, "spark.yarn.am.memoryOverhead"))
                r = yarn_settings_mib(conf, "spark.yarn.am.memoryOverhead", &s->overhead, error);
        return r < 0 ? r : conf_get_int(conf, "spark.yarn.am.cores", &s->cores, error);
}

static int yarn_settings_read_sizes(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        const char *mode = conf_get_raw(conf, "spark.submit.deployMode");
        const bool cluster = mode && strcmp(mode, "cluster") == 0;
        int r = cluster ? yarn_settings_read_driver(s, conf, error) : yarn_settings_read_am(s, conf, error);
        if (r == 0 && (s->cores < 1 || s->cores > INT32_MAX))
                r = error_set(error, -EINVAL, "%s is %lld, but must be at least 1",
                              cluster ? "spark.driver.cores" : "spark.yarn.am.cores", (long long)s->cores);
        r = r < 0 ? r : yarn_executor_size_read_memory(conf, &s->executor, error);
        r = r < 0 ? r : container_resources_check(conf, error);
        return r < 0 ? r
                     : container_resources_read(conf, cluster ? "driver" : "am", "spark.driver.resource.",
                                                &s->resources, error);
}

/* ------------------------------------------------------------------------------------------------------- reading */

static int yarn_settings_read_application(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        const struct {
                const char *key;
                char **out;
        } texts[] = {
                {"spark.app.name", &s->name},
                {"spark.yarn.queue", &s->queue},
                {"spark.yarn.applicationType", &s->type},
                {"spark.yarn.am.nodeLabelExpression", &s->node_label},
                {"spark.yarn.rolledLog.includePattern", &s->rolled_include},
                {"spark.yarn.rolledLog.excludePattern", &s->rolled_exclude},
                {"spark.yarn.stagingDir", &s->staging_dir},
        };
        const struct {
                const char *key;
                int64_t *out;
        } numbers[] = {
                {"spark.yarn.maxAppAttempts", &s->max_attempts},
                {"spark.yarn.priority", &s->priority},
                {"spark.yarn.submit.file.replication", &s->replication},
        };
        int r = 0;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(texts); i++)
                r = conf_get_string(conf, texts[i].key, texts[i].out, error);
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(numbers); i++) {
                *numbers[i].out = -1;
                if (conf_contains(conf, numbers[i].key))
                        r = conf_get_int(conf, numbers[i].key, numbers[i].out, error);
        }
        s->has_replication = conf_contains(conf, "spark.yarn.submit.file.replication");
        s->has_priority = conf_contains(conf, "spark.yarn.priority");
        s->validity_ms = -1;
        if (r == 0 && conf_contains(conf, "spark.yarn.am.attemptFailuresValidityInterval"))
                r = conf_get_ms(conf, "spark.yarn.am.attemptFailuresValidityInterval", &s->validity_ms, error);
        if (r == 0)
                r = conf_list_read(conf, "spark.yarn.tags", &s->tags, error);
        if (r == 0 && !s->name)
                s->name = mem_strdup("Spark");
        return r;
}

/* Settings that Spark's client reads too, whose values do not matter here. */
static int yarn_settings_check(const struct fst_conf *conf, struct fst_error *error)
{
        static const char *const keys[] = {"spark.acls.enable", "spark.yarn.unmanagedAM.enabled"};
        int r = 0;
        bool ignored;
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(keys); i++)
                r = conf_get_bool(conf, keys[i], &ignored, error);
        return r;
}

static int yarn_settings_read_client(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        int r = conf_get_bool(conf, "spark.yarn.preserve.staging.files", &s->preserve_staging, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.yarn.submit.waitAppCompletion", &s->wait, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.yarn.includeDriverLogsLink", &s->driver_logs_link, error);
        if (r == 0)
                r = conf_get_ms(conf, "spark.yarn.report.interval", &s->report_interval_ms, error);
        if (r == 0)
                r = conf_get_int(conf, "spark.yarn.report.loggingFrequency", &s->report_frequency, error);
        if (r == 0 && s->report_frequency <= 0)
                return error_set(error, -EINVAL,
                                 "'%lld' in spark.yarn.report.loggingFrequency is invalid. logging frequency should be "
                                 "positive",
                                 (long long)s->report_frequency);
        return r;
}

int yarn_settings_read(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        *s = (struct yarn_settings){0};
        int r = conf_get_bool(conf, "spark.yarn.isPython", &s->python, error);
        if (r == 0)
                r = yarn_settings_read_sizes(s, conf, error);
        if (r == 0)
                r = yarn_settings_read_application(s, conf, error);
        if (r == 0)
                r = yarn_settings_check(conf, error);
        return r == 0 ? yarn_settings_read_client(s, conf, error) : r;
}

int yarn_settings_verify(const struct yarn_settings *s, int64_t maximum, struct fst_error *error)
{
        const int r = yarn_executor_size_check(&s->executor, maximum, error);
        if (r < 0 || s->memory + s->overhead <= maximum)
                return r;
        return error_set(error, -EINVAL,
                         "Required AM memory (%lld+%lld MB) is above the max threshold (%lld MB) of this cluster! "
                         "Please check the values of 'yarn.scheduler.maximum-allocation-mb' and/or "
                         "'yarn.nodemanager.resource.memory-mb'.",
                         (long long)s->memory, (long long)s->overhead, (long long)maximum);
}
