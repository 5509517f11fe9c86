/* Reads pod templates as Spark's KubernetesUtils.loadPodFromTemplate does. */
#include "kubernetes/pods/pod_template.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubernetes/conf/kube_conf.h"
#include "kubernetes/conf/kube_settings.h"
#include "kubernetes/pods/pod_types.h"
#include "io/fs/uri.h"
#include "text/json.h"
#include "text/yaml.h"

#include <errno.h>

int template_path(const struct kube_conf *c, const char *uri, char **out, struct fst_error *error)
{
        struct uri parts;
        if (!uri_parse(uri, &parts) || !parts.scheme.text) {
                *out = mem_strdup(uri);
                return 0;
        }
        if (uri_has_scheme(&parts, "file") || uri_has_scheme(&parts, "local")) {
                *out = uri_decode(parts.path);
                return 0;
        }
        if (!c->files.fetch)
                return error_set(error, -EINVAL, "%s: not a local file", uri);
        return c->files.fetch(c->files.owner, uri, out, error);
}

int template_read(const char *path, json_t **out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        int r = file_text_read(path, MAX_TEMPLATE, &text, error);
        if (r < 0)
                return r;
        r = yaml_parse(buf_text(&text), text.len, out, error);
        return r < 0 ? error_wrap(error, r, "%s", path) : 0;
}

/* Moves the Spark container out of the pod. */
static json_t *take_container(json_t *pod, const char *name)
{
        json_t *containers = json_at(pod, "spec.containers"), *container;
        size_t chosen = 0, found = 0, i;
        json_array_foreach(containers, i, container) {
                const char *own = json_text_at(container, "name");
                if (name && own && strcmp(own, name) == 0) {
                        chosen = i;
                        found++;
                }
        }
        if (name && found != 1) {
                log_warn("KubernetesUtils",
                         "specified container %s not found on pod template, falling back to taking the first container",
                         name);
                chosen = 0;
        }
        container = json_incref(json_array_get(containers, chosen));
        json_array_remove(containers, chosen);
        return container ? container : json_object();
}

/* Returns the template that the caller gave in place of a file, or NULL. */
static const json_t *pod_template_given(const struct kube_conf *c)
{
        return c->role == KUBE_DRIVER ? c->driver_template : c->executor_template;
}

/* The steps that follow add members to each container. */
static int pod_template_check_containers(const json_t *pod, const char *name, struct fst_error *error)
{
        static const char *const lists[] = {"containers", "initContainers"};
        json_t *container;
        size_t at;
        for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
                json_array_foreach(json_object_get(json_object_get(pod, "spec"), lists[i]), at, container) {
                        if (!json_is_object(container))
                                return error_set(error, -EINVAL, "%s: spec.%s[%zu] is not an object", name, lists[i],
                                                 at);
                }
        }
        return 0;
}

static int pod_template_load_file(const struct kube_conf *c, const char *key, const char *container,
                                  struct spark_pod *out, struct fst_error *error)
{
        const json_t *given = pod_template_given(c);
        _cleanup_free_ char *uri = NULL;
        _cleanup_free_ char *path = NULL;
        json_t *pod = given ? json_deep_copy(given) : NULL;
        int r = given ? 0 : kube_string(c, key, &uri, error);
        if (r == 0 && !given)
                r = template_path(c, uri, &path, error);
        if (r == 0 && !given)
                r = template_read(path, &pod, error);
        if (r == 0 && !json_is_object(json_object_get(pod, "spec")))
                r = error_set(error, -EINVAL, "%s: not a pod (it has no spec)", given ? "the template" : path);
        if (r == 0)
                r = pod_template_check_containers(pod, given ? "the template" : path, error);
        if (r == 0)
                r = pod_types_convert_pod(pod, error);
        if (r < 0) {
                json_decref(pod);
                return r;
        }
        if (!json_object_get(pod, "apiVersion"))
                json_object_set_new(pod, "apiVersion", json_string("v1"));
        if (!json_object_get(pod, "kind"))
                json_object_set_new(pod, "kind", json_string("Pod"));
        *out = (struct spark_pod){.container = take_container(pod, container), .pod = pod};
        return 0;
}

int pod_template_load(const struct kube_conf *c, struct spark_pod *out, struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("spark.kubernetes.%s.podTemplateFile", kube_role_name(c));
        _cleanup_free_ char *container_key =
                mem_printf("spark.kubernetes.%s.podTemplateContainerName", kube_role_name(c));
        _cleanup_free_ char *container = NULL;
        _cleanup_(error_deinit) struct fst_error reason = FST_ERROR_INIT;
        if (!kube_is_set(c, key) && !pod_template_given(c)) {
                *out = spark_pod_new();
                return 0;
        }
        int r = kube_string(c, container_key, &container, error);
        if (r < 0)
                return r;
        r = pod_template_load_file(c, key, container, out, &reason);
        if (r == 0)
                return 0;
        return error_set(error, -EINVAL, "Could not load pod from template file. %s", error_message(&reason));
}
