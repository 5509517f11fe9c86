/* Pods that users give us to begin with: spark.kubernetes.*.podTemplateFile, YAML or JSON. */
#pragma once

#include "kubernetes/pods/spark_pod.h"

struct fst_error;
struct kube_conf;

#define MAX_TEMPLATE ((size_t)1 << 20) /* bytes */

/*
 * The template of this role's pods as *@out, the caller's: its Spark container, named by podTemplateContainerName, or
 * else the first, is taken out of it. Without a template an empty pod. Negative with "Could not load pod from template
 * file." and the reason in @error.
 */
int pod_template_load(const struct kube_conf *c, struct spark_pod *out, struct fst_error *error);

/* Where the template at @uri is on this machine: *@out is the caller's. */
int template_path(const struct kube_conf *c, const char *uri, char **out, struct fst_error *error);

/* Read @path, YAML or JSON, as *@out, the caller's. */
int template_read(const char *path, json_t **out, struct fst_error *error);
