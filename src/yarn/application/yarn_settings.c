/* See yarn_settings.h. */
#include "yarn/application/yarn_settings.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "yarn/conf/conf_list.h"

#define MIB ((int64_t)1 << 20)
#define DRIVER_TYPES "spark.yarn.driver.resource."
#define EXECUTOR_TYPES "spark.yarn.executor.resource."
#define AM_TYPES "spark.yarn.am.resource."
#define AMOUNT_SUFFIX ".amount"
#define AMOUNT_PATTERN "([0-9]+)([A-Za-z]*)"

void yarn_settings_deinit(struct yarn_settings *s)
{
        char *const texts[] = {s->name,           s->queue,          s->type,       s->node_label,
                               s->rolled_include, s->rolled_exclude, s->staging_dir};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        for (size_t i = 0; i < s->amounts.len; i++) {
                free(s->amounts.data[i].name);
                free(s->amounts.data[i].units);
        }
        vec_deinit(&s->amounts);
        string_list_deinit(&s->tags);
        *s = (struct yarn_settings){0};
}

/* ------------------------------------------------------------------------------------------------ resource types */

/* Resource types that have keys of Spark's own. */
static int yarn_settings_check_types(const struct fst_conf *conf, struct fst_error *error)
{
        static const char *const memory[] = {"memory", "mb", "memory-mb"}, *const cores[] = {"cores", "vcores",
                                                                                             "cpu-vcores"};
        static const struct {
                const char *prefix, *memory, *cores;
        } roles[] = {
                {AM_TYPES, "spark.yarn.am.memory", "spark.yarn.am.cores"},
                {DRIVER_TYPES, "spark.driver.memory", "spark.driver.cores"},
                {EXECUTOR_TYPES, "spark.executor.memory", "spark.executor.cores"},
        };
        static const struct {
                const char *type_key, *prefix, *better;
        } devices[] = {
                {"spark.yarn.resourceFpgaDeviceName", EXECUTOR_TYPES, "spark.executor.resource.fpga.amount"},
                {"spark.yarn.resourceFpgaDeviceName", DRIVER_TYPES, "spark.driver.resource.fpga.amount"},
                {"spark.yarn.resourceGpuDeviceName", EXECUTOR_TYPES, "spark.executor.resource.gpu.amount"},
                {"spark.yarn.resourceGpuDeviceName", DRIVER_TYPES, "spark.driver.resource.gpu.amount"},
        };
        _cleanup_(string_list_deinit) struct string_list pairs = {0}; /* wrong key, better key, … */
        _cleanup_(buf_deinit) struct buf message = BUF_INIT;
        for (size_t kind = 0; kind < 6; kind++)
                for (size_t i = 0; i < ARRAY_SIZE(roles); i++) {
                        string_list_take(
                                &pairs, mem_printf("%s%s", roles[i].prefix, kind < 3 ? memory[kind] : cores[kind - 3]));
                        string_list_add(&pairs, kind < 3 ? roles[i].memory : roles[i].cores);
                }
        for (size_t i = 0; i < ARRAY_SIZE(devices); i++) {
                string_list_take(&pairs,
                                 mem_printf("%s%s", devices[i].prefix, conf_get_value(conf, devices[i].type_key)));
                string_list_add(&pairs, devices[i].better);
        }
        for (size_t i = 0; i < pairs.len; i += 2) {
                _cleanup_free_ char *amount = mem_printf("%s" AMOUNT_SUFFIX, pairs.data[i]);
                const char *const keys[] = {pairs.data[i], amount};
                for (size_t k = 0; k < ARRAY_SIZE(keys); k++)
                        if (conf_contains(conf, keys[k]))
                                buf_printf(&message, "Error: Do not use %s, please use %s instead!\n", keys[k],
                                           pairs.data[i + 1]);
        }
        return message.len ? error_set(error, -EINVAL, "%s", buf_text(&message)) : 0;
}

/* Adds @value, a number with an optional unit, of resource type @name. */
static int yarn_settings_add_amount(struct yarn_settings *s, const char *name, const char *value,
                                    struct fst_error *error)
{
        char *units;
        errno = 0;
        const long long number = strtoll(value, &units, 10);
        const size_t letters = strspn(units, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ");
        if (errno || *value < '0' || *value > '9' || units[letters])
                return error_set(error, -EINVAL, "Resource request for '%s' ('%s') does not match pattern %s.", name,
                                 value, AMOUNT_PATTERN);
        vec_push(&s->amounts,
                 (struct yarn_amount){.name = mem_strdup(name), .units = mem_strdup(units), .value = number});
        return 0;
}

/* spark.yarn.driver.resource.TYPE.amount, then spark.driver.resource.{gpu,fpga}.amount. */
static int yarn_settings_read_amounts(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        static const char *const devices[][2] = {
                {"spark.driver.resource.gpu.amount", "spark.yarn.resourceGpuDeviceName"},
                {"spark.driver.resource.fpga.amount", "spark.yarn.resourceFpgaDeviceName"},
        };
        const size_t prefix = strlen(DRIVER_TYPES);
        int r = 0;
        for (struct strmap_entry *e = NULL; r == 0 && (e = strmap_next(&conf->set, e));) {
                if (strncmp(e->key, DRIVER_TYPES, prefix) != 0)
                        continue;
                const char *type = e->key + prefix, *dot = strrchr(type, '.');
                if (!dot)
                        return error_set(error, -EINVAL,
                                         "Missing suffix for %s, you must specify a suffix - amount is currently the "
                                         "only supported suffix.",
                                         e->key);
                if (strcmp(dot, AMOUNT_SUFFIX) != 0)
                        return error_set(error, -EINVAL, "Unsupported suffix: %s in: %s, only .amount is supported.",
                                         dot + 1, e->key);
                _cleanup_free_ char *name = mem_strndup(type, (size_t)(dot - type));
                r = yarn_settings_add_amount(s, name, e->value, error);
        }
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(devices); i++) {
                const char *amount = conf_get_value(conf, devices[i][0]);
                if (amount && strtoll(amount, NULL, 10) > 0)
                        r = yarn_settings_add_amount(s, conf_get_value(conf, devices[i][1]), amount, error);
        }
        return r;
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
        int r = conf_get_double(conf, factor_key, &factor, error);
        if (r == 0)
                r = yarn_settings_mib(conf, minimum_key, &minimum, error);
        if (r == 0)
                *out = MAX((int64_t)(factor * (double)memory), minimum);
        return r;
}

static int yarn_settings_read_off_heap(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        bool enabled;
        int64_t bytes = 0;
        int r = conf_get_bool(conf, "spark.memory.offHeap.enabled", &enabled, error);
        if (r == 0 && enabled)
                r = conf_get_bytes(conf, "spark.memory.offHeap.size", &bytes, error);
        if (r == 0 && enabled && bytes / MIB <= 0)
                return error_set(error, -EINVAL,
                                 "requirement failed: spark.memory.offHeap.size must be > 0 when "
                                 "spark.memory.offHeap.enabled == true");
        s->executor_off_heap = bytes / MIB;
        return r;
}

static int yarn_settings_read_memory(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        int r = yarn_settings_mib(conf, "spark.driver.memory", &s->memory, error);
        if (r == 0)
                r = yarn_settings_overhead(conf, "spark.driver.memoryOverhead", "spark.driver.memoryOverheadFactor",
                                           "spark.driver.minMemoryOverhead", s->memory, &s->overhead, error);
        if (r == 0)
                r = conf_get_int(conf, "spark.driver.cores", &s->cores, error);
        if (r == 0)
                r = yarn_settings_mib(conf, "spark.executor.memory", &s->executor_memory, error);
        if (r == 0)
                r = yarn_settings_read_off_heap(s, conf, error);
        if (r == 0)
                r = yarn_settings_overhead(conf, "spark.executor.memoryOverhead", "spark.executor.memoryOverheadFactor",
                                           "spark.executor.minMemoryOverhead", s->executor_memory,
                                           &s->executor_overhead, error);
        if (r == 0 && s->python && conf_contains(conf, "spark.executor.pyspark.memory"))
                r = yarn_settings_mib(conf, "spark.executor.pyspark.memory", &s->executor_python, error);
        return r;
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

static int yarn_settings_read_client(struct yarn_settings *s, const struct fst_conf *conf, struct fst_error *error)
{
        int r = conf_get_bool(conf, "spark.yarn.preserve.staging.files", &s->preserve_staging, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.yarn.submit.waitAppCompletion", &s->wait, error);
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
                r = yarn_settings_read_memory(s, conf, error);
        if (r == 0)
                r = yarn_settings_check_types(conf, error);
        if (r == 0)
                r = yarn_settings_read_amounts(s, conf, error);
        if (r == 0)
                r = yarn_settings_read_application(s, conf, error);
        return r == 0 ? yarn_settings_read_client(s, conf, error) : r;
}

#define THRESHOLD_ADVICE                                                                                               \
        "Please check the values of 'yarn.scheduler.maximum-allocation-mb' and/or "                                    \
        "'yarn.nodemanager.resource.memory-mb'."

int yarn_settings_verify(const struct yarn_settings *s, int64_t maximum, struct fst_error *error)
{
        if (s->executor_memory + s->executor_off_heap + s->executor_overhead + s->executor_python > maximum)
                return error_set(
                        error, -EINVAL,
                        "Required executor memory (%lld MB), offHeap memory (%lld) MB, overhead (%lld MB), "
                        "and PySpark memory (%lld MB) is above the max threshold (%lld MB) of this cluster! " THRESHOLD_ADVICE,
                        (long long)s->executor_memory, (long long)s->executor_off_heap, (long long)s->executor_overhead,
                        (long long)s->executor_python, (long long)maximum);
        if (s->memory + s->overhead > maximum)
                return error_set(error, -EINVAL,
                                 "Required AM memory (%lld+%lld MB) is above the max threshold (%lld MB) of this "
                                 "cluster! " THRESHOLD_ADVICE,
                                 (long long)s->memory, (long long)s->overhead, (long long)maximum);
        return 0;
}
