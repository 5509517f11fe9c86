/*
 * A pod under construction and, apart from it, its Spark container, as JSON trees. Steps add to both with these
 * functions.
 *
 *      _cleanup_(spark_pod_deinit) struct spark_pod pod = spark_pod_new();
 *      pod_add_env(&pod, "SPARK_USER", user);
 *      pod_add_volume(&pod, json_pack("{s:s,s:{}}", "name", "x", "emptyDir"));
 *
 * Texts may hold any bytes. Invalid UTF-8 becomes U+FFFD, as in Java.
 */
#pragma once

#include "base/strmap.h"

#include <jansson.h>

struct spark_pod {
        json_t *pod;       /* owned; its spec.containers holds the other containers */
        json_t *container; /* owned */
};

/* Returns {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {}} and the container {}. */
struct spark_pod spark_pod_new(void);
void spark_pod_deinit(struct spark_pod *pod);

/* Returns a JSON string that the caller owns. */
json_t *kube_text(const char *text);

/* Returns the object or array of that name. Creates it if it is missing or has another type. Borrowed. */
json_t *kube_child(json_t *object, const char *name);
json_t *kube_children(json_t *object, const char *name);

/* Set members. A NULL @value sets nothing. */
void kube_put(json_t *object, const char *name, const char *value);
void kube_put_new(json_t *object, const char *name, const char *value); /* unless the member exists */
void kube_put_all(json_t *object, const struct strmap *values);

/* As kube_put_all below @name, without creating an empty object. */
void kube_put_below(json_t *object, const char *name, const struct strmap *values);

json_t *pod_metadata(struct spark_pod *pod);
json_t *pod_spec(struct spark_pod *pod);

/* Append to the container. A NULL @value appends nothing. */
void pod_add_env(struct spark_pod *pod, const char *name, const char *value);
void pod_add_field_env(struct spark_pod *pod, const char *name, const char *path);
void pod_add_argument(struct spark_pod *pod, const char *argument);
void pod_add_mount(struct spark_pod *pod, const char *name, const char *path);

/* Appends to the pod. Steals @volume. */
void pod_add_volume(struct spark_pod *pod, json_t *volume);

/*
 * Return {"name": NAME, "configMap": {"name": MAP}} and {"name": NAME, "secret": {"secretName": SECRET}}. The caller
 * owns them.
 */
json_t *config_map_volume(const char *name, const char *map);
json_t *secret_volume(const char *name, const char *secret);

/* Returns {"key": KEY, "path": PATH}. The caller owns it. */
json_t *key_to_path(const char *key, const char *path);

/* Returns an immutable object, {"apiVersion": "v1", "kind": KIND, "metadata": {"name": NAME}, …}. */
json_t *kube_immutable(const char *kind, const char *name);

/* Sets the pod's service account under both of its names. */
void pod_set_service_account(struct spark_pod *pod, const char *account);
