/*
 * A pod that is being made, its Spark container apart from it, as trees of JSON; and what steps put into them.
 *
 *      _cleanup_(spark_pod_deinit) struct spark_pod pod = spark_pod_new();
 *      pod_add_env(&pod, "SPARK_USER", user);
 *      pod_add_volume(&pod, json_pack("{s:s,s:{}}", "name", "x", "emptyDir"));
 *
 * Texts may hold any bytes: those that are not UTF-8 become U+FFFD, as in Java.
 */
#pragma once

#include "base/strmap.h"

#include <jansson.h>

struct spark_pod {
        json_t *pod;       /* owned; its spec.containers are the others */
        json_t *container; /* owned */
};

/* {"apiVersion": "v1", "kind": "Pod", "metadata": {}, "spec": {}} and {}. */
struct spark_pod spark_pod_new(void);
void spark_pod_deinit(struct spark_pod *pod);

/* A string, owned by the caller. */
json_t *kube_text(const char *text);

/* The object or array of that name, made if it is not there or is something else. Borrowed. */
json_t *kube_child(json_t *object, const char *name);
json_t *kube_children(json_t *object, const char *name);

/* Set members; a NULL @value: nothing is set. */
void kube_put(json_t *object, const char *name, const char *value);
void kube_put_new(json_t *object, const char *name, const char *value); /* unless it is there */
void kube_put_all(json_t *object, const struct strmap *values);

/* The same, and make no empty object of it. */
void kube_put_below(json_t *object, const char *name, const struct strmap *values);

json_t *pod_metadata(struct spark_pod *pod);
json_t *pod_spec(struct spark_pod *pod);

/* Append to the container. A NULL @value: nothing is appended. */
void pod_add_env(struct spark_pod *pod, const char *name, const char *value);
void pod_add_field_env(struct spark_pod *pod, const char *name, const char *path);
void pod_add_argument(struct spark_pod *pod, const char *argument);
void pod_add_mount(struct spark_pod *pod, const char *name, const char *path);

/* Append to the pod; steals @volume. */
void pod_add_volume(struct spark_pod *pod, json_t *volume);

/* {"name": NAME, "configMap": {"name": MAP}} and {"name": NAME, "secret": {"secretName": SECRET}}. The caller's. */
json_t *config_map_volume(const char *name, const char *map);
json_t *secret_volume(const char *name, const char *secret);

/* {"key": KEY, "path": PATH}. The caller's. */
json_t *key_to_path(const char *key, const char *path);

/* An object that nobody changes any more, {"apiVersion": "v1", "kind": KIND, "metadata": {"name": NAME}, …}. */
json_t *kube_immutable(const char *kind, const char *name);

/* @account as the pod's service account, under both names that it has. */
void pod_set_service_account(struct spark_pod *pod, const char *account);
