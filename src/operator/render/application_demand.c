/* See application_demand.h. */
#include "operator/render/application_demand.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/units.h"
#include "kubernetes/api/quantity.h"
#include "operator/render/spec_edit.h"

#include <math.h>
#include <stdlib.h>

#define MIN_OVERHEAD (INT64_C(384) << 20)
#define DEFAULT_MEMORY "1g"
#define DEFAULT_EXECUTORS 2

int application_memory_read(const char *memory, const char *field, int64_t *out, struct fst_error *error)
{
        _cleanup_free_ char *quantity = kubernetes_memory(memory);
        if (units_parse_bytes(memory, UNIT_MIB, UNIT_B, out, NULL) == 0 || quantity_read(quantity, 0, out, NULL) == 0)
                return 0;
        return error_set(error, -EINVAL, "%s: \"%s\" is not an amount of memory; write 512m or 2g", field, memory);
}

char *quantity_of_cores(int64_t milli)
{
        return milli % 1000 == 0 ? mem_printf("%lld", (long long)(milli / 1000))
                                 : mem_printf("%lldm", (long long)milli);
}

char *quantity_of_bytes(int64_t bytes)
{
        return bytes % (1 << 20) == 0 ? mem_printf("%lldMi", (long long)(bytes >> 20))
                                      : mem_printf("%lld", (long long)bytes);
}

int64_t application_initial_executors(const struct spark_application_spec *s)
{
        const struct dynamic_allocation_fields *d = &s->dynamic_allocation;
        int64_t n = s->executor.instances.set ? s->executor.instances.value : 0;
        if (d->enabled != FIELD_TRUE)
                return s->executor.instances.set ? n : DEFAULT_EXECUTORS;
        n = d->initial_executors.set ? MAX(n, d->initial_executors.value) : n;
        return d->min_executors.set ? MAX(n, d->min_executors.value) : n;
}

/* ------------------------------------------------------------------------------------------------------------- pods */

/* Returns a value of sparkConf, or NULL. */
static const char *demand_conf(const struct spark_application_spec *s, const char *key)
{
        const char *value = json_string_value(json_object_get(s->spark_conf, key));
        return value && *value ? value : NULL;
}

/* The same for the key "spark.driver.cores" of @prefix "spark." and @suffix ".cores", or the executor's. */
static const char *demand_role_conf(const struct spark_application_spec *s, bool driver, const char *prefix,
                                    const char *suffix)
{
        _cleanup_free_ char *key = mem_printf("%s%s%s", prefix, driver ? "driver" : "executor", suffix);
        return demand_conf(s, key);
}

static int demand_read_cores(const char *text, const char *field, int64_t *out, struct fst_error *error)
{
        return quantity_read(text, 3, out, NULL) == 0
                       ? 0
                       : error_set(error, -EINVAL, "%s: \"%s\" is not a number of cores; write 2 or 500m", field, text);
}

static double demand_overhead_factor(const struct spark_application_spec *s)
{
        const char *text = s->memory_overhead_factor;
        text = text && *text ? text : demand_conf(s, "spark.kubernetes.memoryOverheadFactor");
        char *end = NULL;
        double factor = text ? strtod(text, &end) : 0;
        if (text && !*end && isfinite(factor) && factor >= 0)
                return factor;
        return text_equals(s->type, "Python") || text_equals(s->type, "R") ? 0.4 : 0.1;
}

static int demand_read_pod_cores(const struct spark_application_spec *s, bool driver, struct application_demand *out,
                                 struct fst_error *error)
{
        const struct spark_pod_fields *pod = driver ? &s->driver.pod : &s->executor.pod;
        const char *request = pod->core_request, *limit = pod->core_limit;
        const char *cores = demand_role_conf(s, driver, "spark.", ".cores");
        request = request ? request : demand_role_conf(s, driver, "spark.kubernetes.", ".request.cores");
        limit = limit ? limit : demand_role_conf(s, driver, "spark.kubernetes.", ".limit.cores");
        int r = 0;
        out->milli_cores = 1000;
        if (request)
                r = demand_read_cores(request, driver ? "driver.coreRequest" : "executor.coreRequest",
                                      &out->milli_cores, error);
        else if (pod->cores.set)
                out->milli_cores = pod->cores.value * 1000;
        else if (cores)
                r = demand_read_cores(cores, driver ? "spark.driver.cores" : "spark.executor.cores", &out->milli_cores,
                                      error);
        out->milli_core_limit = out->milli_cores;
        if (r == 0 && limit)
                r = demand_read_cores(limit, driver ? "driver.coreLimit" : "executor.coreLimit", &out->milli_core_limit,
                                      error);
        return r;
}

static int demand_read_pod_memory(const struct spark_application_spec *s, bool driver, int64_t *out,
                                  struct fst_error *error)
{
        const struct spark_pod_fields *pod = driver ? &s->driver.pod : &s->executor.pod;
        const char *memory = pod->memory ? pod->memory : demand_role_conf(s, driver, "spark.", ".memory");
        const char *overhead =
                pod->memory_overhead ? pod->memory_overhead : demand_role_conf(s, driver, "spark.", ".memoryOverhead");
        int64_t bytes, extra;
        int r = application_memory_read(memory ? memory : DEFAULT_MEMORY, driver ? "driver.memory" : "executor.memory",
                                        &bytes, error);
        if (r < 0)
                return r;
        double share = (double)bytes * demand_overhead_factor(s);
        extra = MAX((int64_t)MIN(share, 0x1p60), MIN_OVERHEAD);
        if (overhead)
                r = application_memory_read(overhead, driver ? "driver.memoryOverhead" : "executor.memoryOverhead",
                                            &extra, error);
        if (r == 0 && __builtin_add_overflow(bytes, extra, out))
                r = error_set(error, -EINVAL, "%s.memory exceeds 64 bits", driver ? "driver" : "executor");
        return r;
}

static int demand_read_pod(const struct spark_application_spec *s, bool driver, struct application_demand *out,
                           struct fst_error *error)
{
        int r = demand_read_pod_cores(s, driver, out, error);
        return r < 0 ? r : demand_read_pod_memory(s, driver, &out->bytes, error);
}

/* The executors that the driver requests first, also by keys of sparkConf. */
static int64_t demand_executors(const struct spark_application_spec *s)
{
        const char *conf = demand_conf(s, "spark.executor.instances");
        char *end = NULL;
        long long n = conf ? strtoll(conf, &end, 10) : 0;
        if (!s->executor.instances.set && s->dynamic_allocation.enabled != FIELD_TRUE && conf && !*end && n >= 0)
                return n;
        return application_initial_executors(s);
}

int application_demand_read(const struct spark_application *app, struct application_demand *out,
                            struct fst_error *error)
{
        struct application_demand driver, executor, sum = {0};
        int64_t n = demand_executors(&app->spec);
        int r = demand_read_pod(&app->spec, true, &driver, error);
        if (r == 0)
                r = demand_read_pod(&app->spec, false, &executor, error);
        if (r < 0)
                return r;
        driver.pods = executor.pods = 1;
        const struct {
                int64_t driver, executor, *sum;
        } parts[] = {{driver.milli_cores, executor.milli_cores, &sum.milli_cores},
                     {driver.milli_core_limit, executor.milli_core_limit, &sum.milli_core_limit},
                     {driver.bytes, executor.bytes, &sum.bytes},
                     {driver.pods, executor.pods, &sum.pods}};
        for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
                if (__builtin_mul_overflow(parts[i].executor, n, parts[i].sum) ||
                    __builtin_add_overflow(*parts[i].sum, parts[i].driver, parts[i].sum))
                        return error_set(error, -EINVAL,
                                         "the resources of all pods exceed 64 bits: lower executor.instances");
        *out = sum;
        return 0;
}
