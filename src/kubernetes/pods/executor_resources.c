/* Computes the memory (with overhead) and the cores of an executor pod. */
#include "kubernetes/pods/executor_resources.h"

#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_parts.h"
#include "kubernetes/pods/resource_request.h"
#include "kubernetes/pods/spark_pod.h"
#include "conf/conf.h"

#include <errno.h>

#define FACTOR "spark.kubernetes.memoryOverheadFactor"
#define EXECUTOR_FACTOR "spark.executor.memoryOverheadFactor"

/* The parts of a container's memory, in MiB. */
struct memory_sizes {
        int64_t heap, overhead, off_heap, python;
};

static int check_off_heap(const struct kube_conf *c, int64_t mib, int64_t *out, struct fst_error *error)
{
        bool enabled;
        int r = kube_bool(c, "spark.memory.offHeap.enabled", &enabled, error);
        if (r == 0 && enabled && mib <= 0)
                r = error_set(error, -EINVAL,
                              "requirement failed: spark.memory.offHeap.size must be at least 1MiB when "
                              "spark.memory.offHeap.enabled == true");
        if (r == 0)
                *out = enabled ? mib : 0;
        return r;
}

/* Reads the size @key, or @otherwise if it is not set. */
static int mib_or(const struct kube_conf *c, const char *key, int64_t otherwise, int64_t *out, struct fst_error *error)
{
        *out = otherwise;
        return kube_is_set(c, key) ? kube_mib(c, key, out, error) : 0;
}

/* Reads the configuration's sizes. */
static int executor_resources_read_memory(const struct kube_conf *c, struct memory_sizes *m, struct fst_error *error)
{
        int64_t least, off_heap = 0;
        double factor;
        int r = kube_mib(c, "spark.executor.minMemoryOverhead", &least, error);
        if (r == 0)
                r = kube_double(c, kube_is_set(c, EXECUTOR_FACTOR) ? EXECUTOR_FACTOR : FACTOR, &factor, error);
        if (r == 0)
                r = kube_mib(c, "spark.executor.memory", &m->heap, error);
        if (r == 0)
                r = mib_or(c, "spark.executor.memoryOverhead", MAX(overhead_part(factor, m->heap), least), &m->overhead,
                           error);
        if (r == 0)
                r = mib_or(c, "spark.executor.pyspark.memory", 0, &m->python, error);
        if (r == 0)
                r = conf_get_bytes(c->conf, "spark.memory.offHeap.size", &off_heap, error);
        const int64_t sizes[] = {m->heap, m->overhead, m->python, off_heap};
        for (size_t i = 0; r == 0 && i < ARRAY_SIZE(sizes); i++)
                if (sizes[i] < 0)
                        r = error_set(error, -EINVAL,
                                      "Size must be specified as bytes (b), kibibytes (k), mebibytes (m), gibibytes "
                                      "(g), tebibytes (t), or pebibytes(p). E.g. 50b, 100k, or 250m.\nFailed to parse "
                                      "byte string: %lld",
                                      (long long)sizes[i]);
        return r < 0 ? r : check_off_heap(c, off_heap >> 20, &m->off_heap, error);
}

/* Replaces a size by the amount of a resource profile. */
static int take_amount(const struct kube_conf *c, const struct kube_amount *amount, struct memory_sizes *m,
                       struct executor_size *out, struct fst_error *error)
{
        if (strcmp(amount->name, "memory") == 0)
                m->heap = amount->amount;
        else if (strcmp(amount->name, "memoryOverhead") == 0)
                m->overhead = amount->amount;
        else if (strcmp(amount->name, "pyspark.memory") == 0)
                m->python = amount->amount;
        else if (strcmp(amount->name, "offHeap") == 0)
                return check_off_heap(c, amount->amount, &m->off_heap, error);
        else if (strcmp(amount->name, "cores") == 0)
                out->cores = amount->amount;
        else
                return resource_request_put(amount->name, amount->amount, amount->vendor, &out->custom, error);
        return 0;
}

int executor_size_read(const struct kube_conf *c, struct executor_size *out, struct fst_error *error)
{
        _cleanup_free_ char *type = NULL;
        struct memory_sizes m = {0};
        *out = (struct executor_size){0};
        int r = kube_int(c, "spark.executor.cores", &out->cores, error);
        if (r == 0)
                r = executor_resources_read_memory(c, &m, error);
        if (r == 0 && (!c->profile || c->profile->id == 0))
                r = resource_requests_read(c, "spark.executor.resource.", &out->custom, error);
        else
                for (size_t i = 0; r == 0 && i < c->profile->n; i++)
                        r = take_amount(c, &c->profile->amounts[i], &m, out, error);
        if (r == 0)
                r = kube_string(c, "spark.kubernetes.resource.type", &type, error);
        if (r < 0)
                return r;
        bool python = type && strcmp(type, "python") == 0;
        out->memory = m.heap;
        out->total = m.heap + m.overhead + m.off_heap + (python ? m.python : 0);
        return 0;
}

void executor_size_deinit(struct executor_size *size)
{
        strmap_deinit(&size->custom);
}

/* Adds the driver settings that executor sizes depend on. */
static void put_driver_settings(const struct kube_conf *c, struct strmap *settings)
{
        if (c->language != KUBE_JAVA && !strmap_get(settings, FACTOR))
                strmap_set(settings, FACTOR, KUBE_NATIVE_OVERHEAD);
        strmap_set(settings, "spark.kubernetes.resource.type", c->language == KUBE_PYTHON ? "python" : "java");
}

int executor_requests_read(const struct kube_conf *c, json_t **out, struct fst_error *error)
{
        _cleanup_(executor_size_deinit) struct executor_size size = {0};
        _cleanup_free_ char *cores = NULL;
        struct fst_conf conf;
        struct kube_conf executor = *c;
        conf_init(&conf);
        strmap_merge(&conf.set, &c->conf->set);
        put_driver_settings(c, &conf.set);
        executor.role = KUBE_EXECUTOR;
        executor.conf = &conf;
        int r = executor_size_read(&executor, &size, error);
        if (r == 0)
                r = kube_string(&executor, "spark.kubernetes.executor.request.cores", &cores, error);
        if (r == 0) {
                _cleanup_free_ char *memory = mem_printf("%lldMi", (long long)size.total);
                if (!cores)
                        cores = mem_printf("%lld", (long long)size.cores);
                *out = json_object();
                kube_put(*out, "cpu", cores);
                kube_put(*out, "memory", memory);
                kube_put_all(*out, &size.custom);
        }
        conf_deinit(&conf);
        return r;
}
