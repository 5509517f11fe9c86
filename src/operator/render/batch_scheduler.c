/*
 * See batch_scheduler.h.
 *
 * Differs from the genuine operator: the memory of a group is read in Java's units, as Spark reads it. There "1024m" is
 * a thousandth of 1024 bytes.
 */
#include "operator/render/batch_scheduler.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/units.h"
#include "kubernetes/api/quantity.h"
#include "operator/render/application_demand.h"
#include "operator/render/spec_edit.h"
#include "text/json.h"

#include <stdlib.h>

#define VOLCANO_GROUP "scheduling.k8s.io/group-name"
#define KUBE_GROUP_LABEL "scheduling.x-k8s.io/pod-group"
#define YUNIKORN "yunikorn.apache.org/"
#define MIN_OVERHEAD (INT64_C(384) << 20)

/* Whether the comma list @names has @name. */
static bool batch_list_has(const char *names, const char *name)
{
        size_t len = strlen(name);
        for (const char *at = names; at; at = strchr(at, ',')) {
                at += *at == ',';
                if (strncmp(at, name, len) == 0 && (at[len] == ',' || at[len] == '\0'))
                        return true;
        }
        return false;
}

static const char *batch_scheduler_name(const struct spark_application *app, const struct render_options *o)
{
        const char *own = app->spec.batch_scheduler;
        return own && *own ? own : o->default_batch_scheduler;
}

enum batch_scheduler batch_scheduler_of(const struct spark_application *app, const struct render_options *o)
{
        const char *name = batch_scheduler_name(app, o);
        if (!o->batch_scheduler || !name || !*name)
                return BATCH_NONE;
        if (strcmp(name, "volcano") == 0)
                return BATCH_VOLCANO;
        if (strcmp(name, "yunikorn") == 0)
                return BATCH_YUNIKORN;
        return o->kube_scheduler_names && batch_list_has(o->kube_scheduler_names, name) ? BATCH_KUBE : BATCH_NONE;
}

char *batch_group_name(const struct spark_application *app, enum batch_scheduler scheduler)
{
        if (scheduler == BATCH_VOLCANO)
                return mem_printf("spark-%s-pg", app->name);
        return scheduler == BATCH_KUBE ? mem_printf("%s-pg", app->name) : NULL;
}

const char *batch_group_version(enum batch_scheduler scheduler)
{
        return scheduler == BATCH_VOLCANO ? "scheduling.volcano.sh/v1beta1" : "scheduling.x-k8s.io/v1alpha1";
}

json_t *application_leftovers(const struct spark_application *app, const struct render_options *o)
{
        enum batch_scheduler scheduler = batch_scheduler_of(app, o);
        _cleanup_free_ char *name = batch_group_name(app, scheduler);
        json_t *list = json_array();
        if (name)
                json_array_append_new(list, json_pack("{s:s,s:s,s:{s:s,s:s}}", "apiVersion",
                                                      batch_group_version(scheduler), "kind", "PodGroup", "metadata",
                                                      "name", name, "namespace", app->namespace));
        return list;
}

/* --------------------------------------------------------------------------------------------------------- amounts */

struct batch_amount {
        int64_t milli_cores, bytes;
};

/* Reads the requests of a pod. A driver's coreRequest counts only with @with_request. */
static int batch_pod_amount(const struct spark_pod_fields *pod, bool with_request, struct batch_amount *out,
                            struct fst_error *error)
{
        int64_t overhead = 0;
        int r = 0;
        *out = (struct batch_amount){0};
        if (pod->core_request && with_request)
                r = quantity_read(pod->core_request, 3, &out->milli_cores, error);
        else if (pod->cores.set)
                out->milli_cores = pod->cores.value * 1000;
        else if (pod->core_limit)
                r = quantity_read(pod->core_limit, 3, &out->milli_cores, error);
        if (r == 0 && pod->memory)
                r = application_memory_read(pod->memory, "memory", &out->bytes, error);
        if (r == 0 && pod->memory && pod->memory_overhead)
                r = application_memory_read(pod->memory_overhead, "memoryOverhead", &overhead, error);
        out->bytes += overhead;
        return r;
}

/* ----------------------------------------------------------------------------------------------------------- groups */

/* Adds up the requests of the driver and its first executors. */
static int batch_min_resources(const struct spark_application *app, json_t **out, struct fst_error *error)
{
        struct batch_amount driver, executor, total = {0};
        int64_t n = application_initial_executors(&app->spec);
        int r = batch_pod_amount(&app->spec.driver.pod, false, &driver, error);
        if (r == 0)
                r = batch_pod_amount(&app->spec.executor.pod, true, &executor, error);
        if (r == 0 && (__builtin_mul_overflow(executor.milli_cores, n, &total.milli_cores) ||
                       __builtin_mul_overflow(executor.bytes, n, &total.bytes) ||
                       __builtin_add_overflow(total.milli_cores, driver.milli_cores, &total.milli_cores) ||
                       __builtin_add_overflow(total.bytes, driver.bytes, &total.bytes)))
                r = error_set(error, -EINVAL, "the resources of all pods exceed 64 bits: lower executor.instances");
        if (r < 0)
                return r;
        _cleanup_free_ char *cores = quantity_of_cores(total.milli_cores);
        _cleanup_free_ char *bytes = quantity_of_bytes(total.bytes);
        *out = json_object();
        if (total.milli_cores)
                kube_put(*out, "cpu", cores);
        if (total.bytes)
                kube_put(*out, "memory", bytes);
        return 0;
}

static int batch_add_group(const struct spark_application *app, enum batch_scheduler scheduler, const char *name,
                           json_t *before, struct fst_error *error)
{
        const struct batch_scheduler_fields *options = &app->spec.batch_scheduler_options;
        json_t *resources = NULL;
        int r = 0;
        if (scheduler == BATCH_VOLCANO && json_object_size(options->resources) > 0)
                resources = json_deep_copy(options->resources);
        else
                r = batch_min_resources(app, &resources, error);
        if (r < 0)
                return r;
        json_t *group = owned_object(app, batch_group_version(scheduler), "PodGroup", name);
        json_t *spec = json_pack("{s:i,s:o}", "minMember", 1, "minResources", resources);
        json_object_set_new(group, "spec", spec);
        if (scheduler == BATCH_VOLCANO) {
                kube_put(spec, "queue", options->queue);
                kube_put(spec, "priorityClassName", options->priority_class_name);
        }
        json_array_append_new(before, group);
        return 0;
}

static int batch_apply_volcano(struct spark_application *app, json_t *before, struct fst_error *error)
{
        _cleanup_free_ char *name = batch_group_name(app, BATCH_VOLCANO);
        json_t *driver = kube_child(spec_role(app, true), "annotations");
        if (json_object_get(driver, VOLCANO_GROUP)) /* the user's own group */
                return 0;
        int r = batch_add_group(app, BATCH_VOLCANO, name, before, error);
        kube_put(driver, VOLCANO_GROUP, name);
        kube_put(kube_child(spec_role(app, false), "annotations"), VOLCANO_GROUP, name);
        return r;
}

static int batch_apply_kube(struct spark_application *app, json_t *before, struct fst_error *error)
{
        _cleanup_free_ char *name = batch_group_name(app, BATCH_KUBE);
        int r = batch_add_group(app, BATCH_KUBE, name, before, error);
        kube_put(kube_child(kube_child(app->object, "metadata"), "labels"), KUBE_GROUP_LABEL, name);
        return r;
}

/* --------------------------------------------------------------------------------------------------------- YuniKorn */

static int yunikorn_conf_bytes(const struct spark_application *app, const char *key, enum unit bare, int64_t *out,
                               struct fst_error *error)
{
        const char *text = json_string_value(json_object_get(app->spec.spark_conf, key));
        *out = 0;
        return text ? units_parse_bytes(text, bare, UNIT_B, out, error) : 0;
}

/* The memory that Spark requests for a pod. */
static int yunikorn_memory(const struct spark_application *app, bool driver, int64_t *out, struct fst_error *error)
{
        const struct spark_application_spec *s = &app->spec;
        const struct spark_pod_fields *pod = driver ? &s->driver.pod : &s->executor.pod;
        bool python = text_equals(s->type, "Python"),
             jvm = text_equals(s->type, "Java") || text_equals(s->type, "Scala");
        double factor = s->memory_overhead_factor ? strtod(s->memory_overhead_factor, NULL) : jvm ? 0.1 : 0.4;
        const char *off_heap = json_string_value(json_object_get(s->spark_conf, "spark.memory.offHeap.enabled"));
        int64_t memory = 0, overhead = 0, more = 0, python_memory = 0;
        int r = pod->memory ? application_memory_read(pod->memory, "memory", &memory, error) : 0;
        if (r == 0 && pod->memory_overhead)
                r = application_memory_read(pod->memory_overhead, "memoryOverhead", &overhead, error);
        else if (r == 0)
                overhead = MAX((int64_t)((double)memory * factor), MIN_OVERHEAD);
        if (r == 0 && !driver && off_heap && strcmp(off_heap, "false") != 0)
                r = yunikorn_conf_bytes(app, "spark.memory.offHeap.size", UNIT_B, &more, error);
        if (r == 0 && !driver && python)
                r = yunikorn_conf_bytes(app, "spark.executor.pyspark.memory", UNIT_MIB, &python_memory, error);
        *out = memory + overhead + more + python_memory;
        return r;
}

static json_t *yunikorn_selectors(const struct spark_application_spec *s, const struct spark_pod_fields *pod)
{
        json_t *all = s->node_selector ? json_copy((json_t *)s->node_selector) : json_object();
        json_object_update(all, (json_t *)pod->node_selector);
        return all;
}

static int yunikorn_add_group(const struct spark_application *app, bool driver, int64_t members, json_t *groups,
                              struct fst_error *error)
{
        const struct spark_application_spec *s = &app->spec;
        const struct spark_pod_fields *pod = driver ? &s->driver.pod : &s->executor.pod;
        int64_t memory = 0;
        int r = pod->core_request ? quantity_check(pod->core_request, error) : 0;
        if (r == 0)
                r = yunikorn_memory(app, driver, &memory, error);
        if (r < 0)
                return r;
        _cleanup_free_ char *cores = pod->core_request
                                             ? mem_strdup(pod->core_request)
                                             : quantity_of_cores(pod->cores.set ? pod->cores.value * 1000 : 1000);
        _cleanup_free_ char *bytes = mem_printf("%lldMi", (long long)(memory >> 20));
        json_t *group = json_pack("{s:s,s:I,s:{s:s,s:s}}", "name", driver ? "spark-driver" : "spark-executor",
                                  "minMember", (json_int_t)members, "minResource", "cpu", cores, "memory", bytes);
        json_t *selectors = yunikorn_selectors(s, pod);
        if (json_object_size(selectors) > 0)
                json_object_set(group, "nodeSelector", selectors);
        json_decref(selectors);
        const struct {
                const char *name;
                const json_t *value;
        } others[] = {{"tolerations", pod->tolerations}, {"affinity", pod->affinity}, {"labels", pod->labels}};
        for (size_t i = 0; i < ARRAY_SIZE(others); i++)
                if (json_array_size(others[i].value) > 0 || json_object_size(others[i].value) > 0)
                        json_object_set(group, others[i].name, (json_t *)others[i].value);
        json_array_append_new(groups, group);
        return 0;
}

static int batch_apply_yunikorn(struct spark_application *app, struct fst_error *error)
{
        int64_t executors = application_initial_executors(&app->spec);
        json_t *groups = json_array();
        int r = yunikorn_add_group(app, true, 1, groups, error);
        if (r == 0 && executors > 0)
                r = yunikorn_add_group(app, false, executors, groups, error);
        _cleanup_free_ char *text = json_dumps(groups, JSON_COMPACT);
        json_decref(groups);
        for (int driver = 0; r == 0 && driver < 2; driver++) {
                json_t *role = spec_role(app, driver), *annotations = kube_child(role, "annotations");
                kube_put(role, "schedulerName", "yunikorn");
                kube_put(annotations, YUNIKORN "task-group-name", driver ? "spark-driver" : "spark-executor");
                if (driver)
                        kube_put(annotations, YUNIKORN "task-groups", text);
                if (app->spec.batch_scheduler_options.queue)
                        kube_put(kube_child(role, "labels"), "queue", app->spec.batch_scheduler_options.queue);
        }
        return r;
}

int batch_scheduler_apply(struct spark_application *app, const struct render_options *o, json_t *before,
                          struct fst_error *error)
{
        enum batch_scheduler scheduler = batch_scheduler_of(app, o);
        int r = scheduler == BATCH_VOLCANO    ? batch_apply_volcano(app, before, error)
                : scheduler == BATCH_YUNIKORN ? batch_apply_yunikorn(app, error)
                : scheduler == BATCH_KUBE     ? batch_apply_kube(app, before, error)
                                              : 0;
        if (r == 0 && scheduler != BATCH_NONE && !app->spec.batch_scheduler)
                kube_put(spec_of(app), "batchScheduler", o->default_batch_scheduler);
        return r < 0 ? error_wrap(error, r, "failed to process batch scheduler") : 0;
}
