/*
 * See pod_template.h. Follows KubernetesUtils.loadPodFromTemplate. What the API has as text may be written as a number
 * or truth value: it becomes text, as in Spark's client.
 */
#include "deploy/kubernetes/pod_template.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/file_text.h"
#include "base/log.h"
#include "base/mem.h"
#include "deploy/kubernetes/kube_conf.h"
#include "deploy/kubernetes/kube_value.h"
#include "io/uri.h"

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
                return error_set(error, -EINVAL, "%s: only files of this machine can be read here", uri);
        return c->files.fetch(c->files.owner, uri, out, error);
}

int template_read(const char *path, json_t **out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        json_error_t at;
        int r = file_text_read(path, TEMPLATE_MOST, &text, error);
        if (r < 0)
                return r;
        json_t *tree = json_loadb(buf_text(&text), text.len, 0, &at);
        if (!tree)
                return error_set(error, -EINVAL, "%s: line %d: %s", path, at.line, at.text);
        *out = tree;
        return 0;
}

/* A number or truth value as text, in its place. */
static json_t *as_text(const json_t *value)
{
        char *text = json_is_string(value) || json_is_object(value) || json_is_array(value) || json_is_null(value)
                             ? NULL
                             : json_dumps(value, JSON_ENCODE_ANY);
        json_t *string = text ? json_string(text) : NULL;
        free(text);
        return string;
}

static void members_to_text(json_t *object)
{
        const char *key;
        json_t *value;
        void *next;
        json_object_foreach_safe(object, next, key, value)
        {
                json_t *text = as_text(value);
                if (text)
                        json_object_set_new(object, key, text);
        }
}

static void elements_to_text(json_t *array)
{
        json_t *value;
        size_t i;
        json_array_foreach(array, i, value) {
                json_t *text = as_text(value);
                if (text)
                        json_array_set_new(array, i, text);
        }
}

static void containers_to_text(json_t *containers)
{
        json_t *container, *variable;
        size_t i, k;
        json_array_foreach(containers, i, container) {
                json_t *resources = json_object_get(container, "resources");
                members_to_text(json_object_get(resources, "limits"));
                members_to_text(json_object_get(resources, "requests"));
                elements_to_text(json_object_get(container, "args"));
                elements_to_text(json_object_get(container, "command"));
                json_array_foreach(json_object_get(container, "env"), k, variable)
                        members_to_text(variable);
        }
}

static void pod_to_text(json_t *pod)
{
        json_t *metadata = json_object_get(pod, "metadata"), *spec = json_object_get(pod, "spec");
        members_to_text(json_object_get(metadata, "labels"));
        members_to_text(json_object_get(metadata, "annotations"));
        members_to_text(json_object_get(spec, "nodeSelector"));
        containers_to_text(json_object_get(spec, "containers"));
        containers_to_text(json_object_get(spec, "initContainers"));
}

/* Take the Spark container out of the pod. */
static json_t *take_container(json_t *pod, const char *name)
{
        json_t *containers = json_object_get(json_object_get(pod, "spec"), "containers"), *container;
        size_t chosen = 0, found = 0, i;
        json_array_foreach(containers, i, container) {
                const char *own = json_string_value(json_object_get(container, "name"));
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

static int load(const struct kube_conf *c, const char *key, const char *container, struct spark_pod *out,
                struct fst_error *error)
{
        _cleanup_free_ char *uri = NULL;
        _cleanup_free_ char *path = NULL;
        json_t *pod = NULL;
        int r = kube_string(c, key, &uri, error);
        if (r == 0)
                r = template_path(c, uri, &path, error);
        if (r == 0)
                r = template_read(path, &pod, error);
        if (r == 0 && !json_is_object(json_object_get(pod, "spec")))
                r = error_set(error, -EINVAL, "%s: it has no spec, and so is no pod", path);
        if (r < 0) {
                json_decref(pod);
                return r;
        }
        pod_to_text(pod);
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
        if (!kube_is_set(c, key)) {
                *out = spark_pod_new();
                return 0;
        }
        int r = kube_string(c, container_key, &container, error);
        if (r < 0)
                return r;
        r = load(c, key, container, out, &reason);
        if (r == 0)
                return 0;
        log_error("KubernetesUtils", "Encountered exception while attempting to load initial pod spec from file: %s",
                  error_message(&reason));
        return error_set(error, -EINVAL, "Could not load pod from template file.");
}
