/* See pod_patch.h. */
#include "operator/render/pod_patch.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/quantity.h"
#include "net/sha256.h"
#include "operator/render/spec_changes.h"
#include "operator/render/spec_edit.h"
#include "operator/render/submission_words.h"
#include "text/json.h"

#include <stdlib.h>

#define SPARK_CONF_MOUNT "/etc/spark/conf"
#define HADOOP_CONF_MOUNT "/etc/hadoop/conf"

struct pod_patch {
        const struct spark_application *app;
        const struct spark_pod_fields *fields;
        bool driver;
        json_t *spec, *container; /* borrowed from the pod */
};

/* Returns the Spark container, or the first one. */
static json_t *patch_find_container(const json_t *spec, bool driver)
{
        static const char *const names[] = {"spark-kubernetes-driver", "executor", KUBE_EXECUTOR_CONTAINER};
        const json_t *containers = json_object_get(spec, "containers");
        for (size_t i = driver ? 0 : 1; i < (driver ? 1 : ARRAY_SIZE(names)); i++) {
                json_t *found = json_find_named(containers, names[i]);
                if (found)
                        return found;
        }
        return json_array_get(containers, 0);
}

/* Appends copies of the elements of @list to @object[@name]. */
static void patch_append(json_t *object, const char *name, const json_t *list)
{
        json_t *element;
        size_t i;
        json_array_foreach((json_t *)list, i, element)
                json_array_append_new(kube_children(object, name), json_deep_copy(element));
}

static void patch_replace(json_t *object, const char *name, const json_t *value)
{
        if (value)
                json_object_set_new(object, name, json_deep_copy(value));
}

static void patch_mount_config_map(struct pod_patch *p, const char *volume, const char *map, const char *path)
{
        json_array_append_new(kube_children(p->spec, "volumes"), config_map_volume(volume, map));
        json_array_append_new(kube_children(p->container, "volumeMounts"),
                              json_pack("{s:s,s:s,s:b}", "name", volume, "mountPath", path, "readOnly", 1));
}

static void patch_config_dir(struct pod_patch *p, const char *map, const char *volume, const char *path,
                             const char *variable)
{
        if (!map)
                return;
        patch_mount_config_map(p, volume, map, path);
        json_array_append_new(kube_children(p->container, "env"),
                              json_pack("{s:s,s:s}", "name", variable, "value", path));
}

/* --------------------------------------------------------------------------------------------- config maps, volumes */

/* Names of config maps may have dots and be long, names of volumes may not. */
static char *patch_config_map_volume(const char *map)
{
        char *name = mem_printf("%s-vol", map);
        const struct sha256_ops *sha256;
        uint8_t digest[SHA256_SIZE];
        char hex[2 * SHA256_SIZE + 1] = "";
        if (strlen(name) <= MAX_KUBE_LABEL && !strchr(name, '.'))
                return name;
        free(name);
        if (sha256_load(&sha256, NULL) == 0) {
                sha256->hash(map, strlen(map), digest);
                sha256_text(digest, hex);
        }
        _cleanup_free_ char *clean = mem_strndup(map, MIN(strlen(map), (size_t)MAX_KUBE_LABEL - 13));
        for (char *c = clean; *c; c++)
                if (*c == '.')
                        *c = '-';
        for (size_t n = strlen(clean); n > 0 && clean[n - 1] == '-'; n--)
                clean[n - 1] = '\0';
        return mem_printf("%s-%.8s-vol", clean, hex);
}

static void patch_config_maps(struct pod_patch *p)
{
        json_t *map;
        size_t i;
        json_array_foreach((json_t *)p->fields->config_maps, i, map) {
                const char *name = json_text_or_empty(map, "name");
                _cleanup_free_ char *volume = patch_config_map_volume(name);
                patch_mount_config_map(p, volume, name, json_text_or_empty(map, "path"));
        }
}

/* Mounts without a volume and volumes without a mount are left out. Spark makes the volumes of local directories. */
static void patch_volumes(struct pod_patch *p)
{
        json_t *mount, *volumes = kube_children(p->spec, "volumes");
        size_t i;
        json_array_foreach((json_t *)p->fields->volume_mounts, i, mount) {
                const char *name = json_text_or_empty(mount, "name");
                const json_t *volume = json_find_named(p->app->spec.volumes, name);
                if (!volume || text_starts_with(name, LOCAL_DIR_PREFIX))
                        continue;
                bool added = false;
                json_t *present = json_find_named(volumes, name);
                added = present && json_equal(present, (json_t *)volume);
                if (!added)
                        json_array_append_new(volumes, json_deep_copy(volume));
                json_array_append_new(kube_children(p->container, "volumeMounts"), json_deep_copy(mount));
        }
        if (json_array_size(volumes) == 0)
                json_object_del(p->spec, "volumes");
}

static void patch_prometheus(struct pod_patch *p)
{
        const struct monitoring_fields *m = &p->app->spec.monitoring;
        enum field_bool exposed = p->driver ? m->expose_driver_metrics : m->expose_executor_metrics;
        _cleanup_free_ char *map = spec_prometheus_map(p->app);
        if (!map || exposed != FIELD_TRUE)
                return;
        _cleanup_free_ char *volume = mem_printf("%s-vol", map);
        patch_mount_config_map(p, volume, map, METRICS_DIR);
        json_array_append_new(
                kube_children(p->container, "ports"),
                json_pack("{s:s,s:I,s:s}", "name",
                          m->prometheus.port_name ? m->prometheus.port_name : PROMETHEUS_PORT_NAME, "containerPort",
                          (json_int_t)(m->prometheus.port.set ? m->prometheus.port.value : PROMETHEUS_PORT), "protocol",
                          "TCP"));
}

/* --------------------------------------------------------------------------------------------------------- the rest */

static void patch_ports(struct pod_patch *p)
{
        json_t *port;
        size_t i;
        json_array_foreach((json_t *)p->fields->ports, i, port)
                json_array_append_new(kube_children(p->container, "ports"), json_deep_copy(port));
}

/* Containers with the name and image of a present one are left out. */
static void patch_containers(json_t *spec, const char *list, const json_t *more)
{
        json_t *container, *other;
        size_t i, k;
        json_array_foreach((json_t *)more, i, container) {
                bool present = false;
                json_array_foreach(json_object_get(spec, list), k, other)
                        present = present ||
                                  (text_equals(json_text_at(other, "name"), json_text_at(container, "name")) &&
                                   text_equals(json_text_at(other, "image"), json_text_at(container, "image")));
                if (!present)
                        json_array_append_new(kube_children(spec, list), json_deep_copy(container));
        }
}

static void patch_scheduling(struct pod_patch *p)
{
        const struct spark_pod_fields *f = p->fields;
        const char *batch = p->app->spec.batch_scheduler, *scheduler = batch ? batch : f->scheduler_name;
        const char *name;
        json_t *value;
        if (f->priority_class_name && *f->priority_class_name) {
                kube_put(p->spec, "priorityClassName", f->priority_class_name);
                json_object_del(p->spec, "priority");
                json_object_del(p->spec, "preemptionPolicy");
        }
        if (scheduler && *scheduler)
                kube_put(p->spec, "schedulerName", scheduler);
        json_object_foreach((json_t *)f->node_selector, name, value)
                json_object_set(kube_child(p->spec, "nodeSelector"), name, value);
        patch_replace(p->spec, "affinity", f->affinity);
        patch_append(p->spec, "tolerations", f->tolerations);
}

static int patch_memory_limit(struct pod_patch *p, struct field_problems *warnings, struct fst_error *error)
{
        const char *limit = p->fields->memory_limit;
        if (!limit)
                return 0;
        if (!p->driver) {
                field_problems_add(warnings, FIELD_INEFFECTIVE,
                                   "spec.executor.memoryLimit: it has no effect: the driver creates the executors and "
                                   "sets their limit to memory and memoryOverhead");
                return 0;
        }
        _cleanup_free_ char *quantity = kubernetes_memory(limit);
        int64_t bytes;
        int r = quantity_read(quantity, 0, &bytes, error);
        if (r < 0)
                return error_wrap(error, r, "spec.driver.memoryLimit: \"%s\"", limit);
        kube_put(kube_child(kube_child(p->container, "resources"), "limits"), "memory", quantity);
        return 0;
}

static void patch_gpu(struct pod_patch *p)
{
        const struct gpu_spec *gpu = &p->fields->gpu;
        if (!gpu->json || !gpu->name || !*gpu->name || gpu->quantity.value <= 0)
                return;
        _cleanup_free_ char *quantity = mem_printf("%lld", (long long)gpu->quantity.value);
        kube_put(kube_child(kube_child(p->container, "resources"), "limits"), gpu->name, quantity);
}

static void patch_warn_gpu(const struct pod_patch *p, struct field_problems *warnings)
{
        const struct gpu_spec *gpu = &p->fields->gpu;
        if (gpu->json && (!gpu->name || !*gpu->name || gpu->quantity.value <= 0))
                field_problems_add(warnings, FIELD_INEFFECTIVE,
                                   "spec.%s.gpu: it has no effect: set a name such as nvidia.com/gpu, and a quantity "
                                   "above 0",
                                   p->driver ? "driver" : "executor");
}

/* Spark's template of executors loses mounts and volumes that have no partner. Say so. */
static void patch_warn_volumes(const struct pod_patch *p, struct field_problems *warnings)
{
        json_t *mount;
        size_t i;
        json_array_foreach((json_t *)p->fields->volume_mounts, i, mount) {
                const char *name = json_text_or_empty(mount, "name");
                if (!json_find_named(p->app->spec.volumes, name))
                        field_problems_add(warnings, FIELD_INEFFECTIVE,
                                           "spec.%s.volumeMounts[%zu]: it has no effect: spec.volumes has no \"%s\"",
                                           p->driver ? "driver" : "executor", i, name);
        }
}

static void patch_put_owner(const struct spark_application *app, bool driver, json_t *metadata)
{
        json_t *owners = kube_children(metadata, "ownerReferences"), *owner = owner_reference(app, driver), *other;
        size_t i;
        bool present = false;
        json_array_foreach(owners, i, other)
                present = present || json_equal(other, owner);
        if (!present)
                json_array_append(owners, owner);
        json_decref(owner);
}

int pod_patch_apply(const struct spark_application *app, bool driver, json_t *pod, struct field_problems *warnings,
                    struct fst_error *error)
{
        const struct spark_pod_fields *f = driver ? &app->spec.driver.pod : &app->spec.executor.pod;
        struct pod_patch p = {.app = app, .fields = f, .driver = driver, .spec = kube_child(pod, "spec")};
        p.container = patch_find_container(p.spec, driver);
        if (!json_is_object(p.container))
                return error_set(error, -EINVAL, "spec.%s.template: it has no container; name one %s",
                                 driver ? "driver" : "executor",
                                 driver ? "spark-kubernetes-driver" : KUBE_EXECUTOR_CONTAINER);
        patch_put_owner(app, driver, kube_child(pod, "metadata"));
        patch_append(p.container, "env", f->env);
        patch_append(p.container, "envFrom", f->env_from);
        patch_config_dir(&p, app->spec.hadoop_config_map, "hadoop-configmap-volume", HADOOP_CONF_MOUNT,
                         "HADOOP_CONF_DIR");
        patch_config_dir(&p, app->spec.spark_config_map, "spark-configmap-volume", SPARK_CONF_MOUNT, "SPARK_CONF_DIR");
        patch_config_maps(&p);
        patch_volumes(&p);
        patch_ports(&p);
        if (f->host_network == FIELD_TRUE) {
                json_object_set_new(p.spec, "hostNetwork", json_true());
                kube_put(p.spec, "dnsPolicy", "ClusterFirstWithHostNet");
        }
        patch_append(p.spec, "hostAliases", f->host_aliases);
        patch_containers(p.spec, "initContainers", f->init_containers);
        patch_containers(p.spec, "containers", f->sidecars);
        patch_replace(p.spec, "dnsConfig", f->dns_config);
        patch_scheduling(&p);
        int r = patch_memory_limit(&p, warnings, error);
        patch_gpu(&p);
        patch_prometheus(&p);
        patch_replace(p.container, "securityContext", f->security_context);
        patch_replace(p.spec, "securityContext", f->pod_security_context);
        if (f->termination_grace_period_seconds.set)
                json_object_set_new(p.spec, "terminationGracePeriodSeconds",
                                    json_integer((json_int_t)f->termination_grace_period_seconds.value));
        patch_replace(p.container, "lifecycle", f->lifecycle);
        if (f->share_process_namespace == FIELD_TRUE)
                json_object_set_new(p.spec, "shareProcessNamespace", json_true());
        patch_warn_gpu(&p, warnings);
        patch_warn_volumes(&p, warnings);
        return r;
}

json_t *pod_patch_template(const struct spark_application *app, bool driver)
{
        const struct spark_pod_fields *f = driver ? &app->spec.driver.pod : &app->spec.executor.pod;
        json_t *template = f->template ? json_deep_copy(f->template)
                                       : json_pack("{s:{s:[{s:s}]}}", "spec", "containers", "name",
                                                   driver ? "spark-kubernetes-driver" : KUBE_EXECUTOR_CONTAINER);
        patch_put_owner(app, driver, kube_child(template, "metadata"));
        return template;
}
