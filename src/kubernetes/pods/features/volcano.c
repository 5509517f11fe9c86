/*
 * Volcano's pod groups: the scheduler starts all pods of a group or none. VolcanoFeatureStep. It runs if
 * spark.kubernetes.*.pod.featureSteps names it.
 */
#include "kubernetes/pods/feature_step.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_template.h"
#include "text/yaml.h"

#include <errno.h>

#define TEMPLATE "spark.kubernetes.scheduler.volcano.podGroupTemplate"

static char *group_name(const struct kube_conf *c)
{
        return mem_printf("%s-podgroup", c->app_id);
}

static int volcano_configure(const struct kube_conf *c, struct spark_pod *pod, struct fst_error *error)
{
        _cleanup_free_ char *name = group_name(c);
        kube_put(kube_child(pod_metadata(pod), "annotations"), "scheduling.k8s.io/group-name", name);
        return 0;
}

static int read_template(const struct kube_conf *c, json_t **out, struct fst_error *error)
{
        const char *file = conf_get_raw(c->conf, TEMPLATE "File"), *text = conf_get_raw(c->conf, TEMPLATE "Json");
        _cleanup_free_ char *path = NULL;
        if (!file && !text) {
                *out = json_object();
                return 0;
        }
        int r = file ? template_path(c, file, &path, error) : yaml_parse(text, strlen(text), out, error);
        if (r == 0 && file)
                r = template_read(path, out, error);
        if (r == 0 && !json_is_object(*out)) {
                json_decref(*out);
                r = error_set(error, -EINVAL, "not a mapping");
        }
        return r < 0 ? error_wrap(error, r, "%s", file ? TEMPLATE "File" : TEMPLATE "Json") : 0;
}

static int pre_resources(const struct kube_conf *c, json_t *out, struct fst_error *error)
{
        _cleanup_free_ char *name = group_name(c);
        _cleanup_free_ char *namespace = NULL;
        json_t *group = NULL;
        int r = kube_string(c, "spark.kubernetes.namespace", &namespace, error);
        if (r == 0)
                r = read_template(c, &group, error);
        if (r < 0)
                return r;
        if (!json_object_get(group, "apiVersion"))
                kube_put(group, "apiVersion", "scheduling.volcano.sh/v1beta1");
        if (!json_object_get(group, "kind"))
                kube_put(group, "kind", "PodGroup");
        kube_put(kube_child(group, "metadata"), "name", name);
        kube_put(kube_child(group, "metadata"), "namespace", namespace);
        kube_child(group, "spec");
        json_array_append_new(out, group);
        return 0;
}

const struct feature_step volcano_step = {
        .class_name = "org.apache.spark.deploy.k8s.features.VolcanoFeatureStep",
        .configure = volcano_configure,
        .pre_resources = pre_resources,
};
