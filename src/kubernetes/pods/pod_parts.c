/* Builds parts of driver and executor pods. */
#include "kubernetes/pods/pod_parts.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/string_list.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/conf/kube_settings.h"

#include <math.h>

int pod_put_container(const struct kube_conf *c, struct spark_pod *pod, const char *name, struct fst_error *error)
{
        _cleanup_free_ char *key =
                mem_printf("spark.kubernetes.%s.securityContext.allowPrivilegeEscalation", kube_role_name(c));
        _cleanup_free_ char *image = NULL;
        _cleanup_free_ char *policy = NULL;
        bool escalation;
        int r = kube_image(c, &image, error);
        if (r == 0)
                r = kube_string(c, "spark.kubernetes.container.image.pullPolicy", &policy, error);
        if (r == 0)
                r = kube_bool(c, key, &escalation, error);
        if (r < 0)
                return r;
        if (!json_is_string(json_object_get(pod->container, "name")))
                kube_put(pod->container, "name", name);
        kube_put(pod->container, "image", image);
        kube_put(pod->container, "imagePullPolicy", policy);
        json_object_set_new(kube_child(pod->container, "securityContext"), "allowPrivilegeEscalation",
                            json_boolean(escalation));
        return 0;
}

static int add_pull_secrets(const struct kube_conf *c, json_t *spec, struct fst_error *error)
{
        _cleanup_(string_list_deinit) struct string_list secrets = {0};
        int r = kube_list(c, "spark.kubernetes.container.image.pullSecrets", &secrets, error);
        for (size_t i = 0; r == 0 && i < secrets.len; i++)
                json_array_append_new(kube_children(spec, "imagePullSecrets"),
                                      json_pack("{s:o}", "name", kube_text(secrets.data[i])));
        return r;
}

int pod_put_common(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_(strmap_deinit) struct strmap labels = STRMAP_INIT, annotations = STRMAP_INIT, nodes = STRMAP_INIT;
        _cleanup_free_ char *scheduler = NULL;
        json_t *metadata = pod_metadata(pod), *spec = pod_spec(pod);
        int r = kube_labels(c, &labels, error);
        if (r < 0)
                return r;
        kube_annotations(c, &annotations);
        kube_node_selectors(c, &nodes);
        kube_put_below(metadata, "labels", &labels);
        kube_put_below(metadata, "annotations", &annotations);
        kube_put_below(spec, "nodeSelector", &nodes);
        r = add_pull_secrets(c, spec, error);
        if (r == 0)
                r = kube_scheduler_name(c, &scheduler, error);
        if (r == 0)
                kube_put(spec, "schedulerName", scheduler);
        return r;
}

void pod_add_port(struct spark_pod *pod, const char *name, int64_t port, const char *protocol)
{
        json_t *added = json_pack("{s:s,s:I}", "name", name, "containerPort", (json_int_t)port);
        kube_put(added, "protocol", protocol);
        json_array_append_new(kube_children(pod->container, "ports"), added);
}

int driver_ports_read(const struct kube_conf *c, struct driver_ports *out, struct fst_error *error)
{
        int64_t others;
        int r = kube_number(c, "spark.driver.port", KUBE_DRIVER_PORT, &out->driver, error);
        if (r == 0)
                r = kube_number(c, "spark.blockManager.port", KUBE_BLOCK_MANAGER_PORT, &others, error);
        if (r == 0)
                r = kube_number(c, "spark.driver.blockManager.port", others, &out->block_manager, error);
        if (r == 0)
                r = kube_int(c, "spark.ui.port", &out->ui, error);
        return r < 0 ? r : kube_number(c, "spark.connect.grpc.binding.port", KUBE_CONNECT_PORT, &out->connect, error);
}

int64_t overhead_part(double factor, int64_t memory)
{
        double part = factor * (double)memory;
        return isnan(part) ? 0 : part >= INT32_MAX ? INT32_MAX : part <= INT32_MIN ? INT32_MIN : (int64_t)part;
}

int classic_memory_read(const struct kube_conf *c, struct classic_memory *out, struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("spark.%s.memory", kube_role_name(c));
        _cleanup_free_ char *overhead_key = mem_printf("spark.%s.memoryOverhead", kube_role_name(c));
        int64_t overhead;
        int r = kube_mib(c, key, &out->mib, error);
        if (r < 0)
                return r;
        overhead = MAX(overhead_part(0.1, out->mib), (int64_t)384);
        if (kube_is_set(c, overhead_key))
                r = kube_mib(c, overhead_key, &overhead, error);
        out->limit = out->mib + overhead;
        return r;
}

void classic_resources_put(struct spark_pod *pod, const char *cores, const char *limit,
                           const struct classic_memory *memory)
{
        _cleanup_free_ char *request = mem_printf("%lldMi", (long long)memory->mib);
        _cleanup_free_ char *most = mem_printf("%lldMi", (long long)memory->limit);
        json_t *resources = kube_child(pod->container, "resources");
        json_t *requests = kube_child(resources, "requests"), *limits = kube_child(resources, "limits");
        kube_put(requests, "cpu", cores);
        kube_put(requests, "memory", request);
        kube_put(limits, "memory", most);
        kube_put(limits, "cpu", limit);
}
