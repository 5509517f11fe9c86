/* See executor_size.h. */
#include "yarn/conf/executor_size.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <firesteel/context.h>

#include <errno.h>
#include <limits.h>
#include <string.h>

#define CUSTOM_RESOURCES "spark.executor.resource."

void yarn_executor_size_deinit(struct yarn_executor_size *size)
{
        container_resources_deinit(&size->resources);
}

/* Reads a size of @conf in MiB; @otherwise if it is not set and has no default. */
static int executor_size_mib(const struct fst_conf *conf, const char *key, int64_t otherwise, int64_t *out,
                             struct fst_error *error)
{
        int64_t bytes;
        *out = otherwise;
        if (!conf_get_value(conf, key))
                return 0;
        const int r = conf_get_bytes(conf, key, &bytes, error);
        if (r < 0)
                return r;
        if (bytes < 0)
                return error_set(error, -EINVAL, "%s is \"%s\", but a size cannot be negative", key,
                                 conf_get_value(conf, key));
        *out = bytes >> 20;
        return 0;
}

int yarn_overhead_factor_read(const struct fst_conf *conf, const char *key, double *out, struct fst_error *error)
{
        double factor;
        const int r = conf_get_double(conf, key, &factor, error);
        if (r < 0)
                return r;
        if (!(factor > 0)) {
                _cleanup_free_ char *text = mem_printf("%g", factor);
                return error_set(error, -EINVAL,
                                 "[INVALID_CONF_VALUE.REQUIREMENT] The value '%s%s' in the config \"%s\" is invalid. "
                                 "Ensure that memory overhead is a double greater than 0 SQLSTATE: 22022",
                                 text, strpbrk(text, ".en") ? "" : ".0", key);
        }
        *out = factor;
        return 0;
}

int yarn_executor_size_read_memory(const struct fst_conf *conf, struct yarn_executor_size *size,
                                   struct fst_error *error)
{
        int64_t least, off_heap;
        double factor;
        bool uses_off_heap;
        int r;
        if ((r = executor_size_mib(conf, "spark.executor.memory", 1024, &size->heap_mb, error)) ||
            (r = executor_size_mib(conf, "spark.executor.minMemoryOverhead", 384, &least, error)) ||
            (r = yarn_overhead_factor_read(conf, "spark.executor.memoryOverheadFactor", &factor, error)) ||
            (r = executor_size_mib(conf, "spark.executor.memoryOverhead",
                                   MAX((int64_t)((double)size->heap_mb * factor), least), &size->overhead_mb, error)) ||
            (r = conf_get_bool(conf, "spark.memory.offHeap.enabled", &uses_off_heap, error)) ||
            (r = executor_size_mib(conf, "spark.memory.offHeap.size", 0, &off_heap, error)))
                return r;
        if (uses_off_heap && off_heap <= 0)
                return error_set(error, -EINVAL,
                                 "requirement failed: spark.memory.offHeap.size must be at least 1MiB when "
                                 "spark.memory.offHeap.enabled == true");
        size->off_heap_mb = uses_off_heap ? off_heap : 0;
        const char *python = conf_get_value(conf, "spark.yarn.isPython");
        if (python && strcmp(python, "true") == 0)
                r = executor_size_mib(conf, "spark.executor.pyspark.memory", 0, &size->python_mb, error);
        size->total_mb = size->heap_mb + size->off_heap_mb + size->overhead_mb + size->python_mb;
        return r;
}

int yarn_executor_size_read(const struct fst_conf *conf, struct yarn_executor_size *out, struct fst_error *error)
{
        int64_t cores = 1, cpus = 1;
        int r = conf_get_value(conf, "spark.executor.cores") ? conf_get_int(conf, "spark.executor.cores", &cores, error)
                                                             : 0;
        if (r == 0 && (cores < 1 || cores > INT_MAX))
                r = error_set(error, -EINVAL, "spark.executor.cores is %lld, but must be at least 1", (long long)cores);
        r = r < 0 ? r : conf_get_int(conf, "spark.task.cpus", &cpus, error);
        out->cores = (int)cores;
        out->tasks = (int)MAX(cores / MAX(cpus, (int64_t)1), (int64_t)1);
        r = r < 0 ? r : yarn_executor_size_read_memory(conf, out, error);
        return r < 0 ? r : container_resources_read(conf, "executor", CUSTOM_RESOURCES, &out->resources, error);
}

int yarn_executor_size_read_profile(const struct fst_conf *conf, const struct strmap *settings,
                                    struct yarn_executor_size *out, struct fst_error *error)
{
        struct fst_conf *changed = fst_conf_new();
        struct yarn_executor_size plain = {0};
        int r = yarn_executor_size_read_memory(conf, &plain, error);
        for (struct strmap_entry *e = NULL; (e = strmap_next(&conf->set, e));)
                if (strncmp(e->key, CUSTOM_RESOURCES, strlen(CUSTOM_RESOURCES)) != 0)
                        conf_set(changed, e->key, e->value);
        _cleanup_free_ char *overhead = mem_printf("%lldm", (long long)plain.overhead_mb);
        conf_set(changed, "spark.executor.memoryOverhead", overhead);
        for (struct strmap_entry *e = NULL; (e = strmap_next(settings, e));)
                conf_set(changed, e->key, e->value);
        if (r == 0)
                r = yarn_executor_size_read(changed, out, error);
        fst_conf_free(changed);
        return r;
}

int yarn_executor_size_check(const struct yarn_executor_size *size, int64_t most_mb, struct fst_error *error)
{
        if (size->total_mb <= most_mb)
                return 0;
        return error_set(error, -EINVAL,
                         "Required executor memory (%lld MB), offHeap memory (%lld) MB, overhead (%lld MB), and "
                         "PySpark memory (%lld MB) is above the max threshold (%lld MB) of this cluster! Please check "
                         "the values of 'yarn.scheduler.maximum-allocation-mb' and/or "
                         "'yarn.nodemanager.resource.memory-mb'.",
                         (long long)size->heap_mb, (long long)size->off_heap_mb, (long long)size->overhead_mb,
                         (long long)size->python_mb, (long long)most_mb);
}
