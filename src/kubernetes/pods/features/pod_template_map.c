/* The executors' template in a config map that the driver mounts. PodTemplateConfigMapStep. */
#include "kubernetes/pods/feature_step.h"

#include "base/mem.h"
#include "kubernetes/pods/conf_files.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_template.h"
#include "text/yaml_writer.h"

#define TEMPLATE "spark.kubernetes.executor.podTemplateFile"
#define VOLUME "pod-template-volume"
#define FOLDER "/opt/spark/pod-template"
#define FILE_NAME "pod-spec-template.yml"
#define ITEM "podspec-configmap-key"

static char *pod_template_map_map_name(const struct kube_conf *c)
{
        return mem_printf("%s-driver-podspec-conf-map", c->prefix);
}

static bool pod_template_map_is_needed(const struct kube_conf *c)
{
        return c->executor_template || kube_is_set(c, TEMPLATE);
}

static int pod_template_map_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *name = pod_template_map_map_name(c);
        if (!pod_template_map_is_needed(c))
                return 0;
        json_t *volume = config_map_volume(VOLUME, name);
        json_array_append_new(kube_children(kube_child(volume, "configMap"), "items"), key_to_path(ITEM, FILE_NAME));
        pod_add_volume(pod, volume);
        pod_add_mount(pod, VOLUME, FOLDER);
        return 0;
}

static int pod_template_map_properties(const struct kube_conf *c, struct strmap *out, struct fst_error *error)
{
        if (pod_template_map_is_needed(c))
                strmap_set(out, TEMPLATE, FOLDER "/" FILE_NAME);
        return 0;
}

static int pod_template_map_resources(const struct kube_conf *c, json_t *out, struct fst_error *error)
{
        _cleanup_free_ char *name = pod_template_map_map_name(c);
        _cleanup_free_ char *uri = NULL;
        _cleanup_free_ char *path = NULL;
        if (!pod_template_map_is_needed(c))
                return 0;
        int r = c->executor_template ? 0 : kube_string(c, TEMPLATE, &uri, error);
        if (r == 0 && uri)
                r = template_path(c, uri, &path, error);
        if (r < 0)
                return r;
        json_t *map = kube_immutable("ConfigMap", name);
        json_array_append_new(out, map);
        if (c->executor_template) {
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                yaml_write(&text, c->executor_template);
                kube_put(kube_child(map, "data"), ITEM, buf_text(&text));
                return 0;
        }
        return file_content_put(kube_child(map, "data"), ITEM, path, MAX_TEMPLATE, error);
}

const struct feature_step pod_template_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.PodTemplateConfigMapStep",
        .configure = pod_template_map_configure,
        .properties = pod_template_map_properties,
        .resources = pod_template_map_resources,
};
