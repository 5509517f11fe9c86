/* Reads the user's pod templates: spark.kubernetes.*.podTemplateFile, YAML or JSON. */
#pragma once

#include "kubernetes/pods/spark_pod.h"

struct fst_error;
struct kube_conf;

#define MAX_TEMPLATE ((size_t)1 << 20) /* bytes */

/*
 * Reads the template of this role's pods into *@out, which the caller owns. Moves the Spark container
 * (podTemplateContainerName, or the first) out of it. Without a template the pod is empty. Returns a negative code with
 * "Could not load pod from template file." and the reason in @error.
 */
int pod_template_load(const struct kube_conf *c, struct spark_pod *out, struct fst_error *error);

/* Sets *@out to the local path of the template at @uri. The caller owns it. */
int template_path(const struct kube_conf *c, const char *uri, char **out, struct fst_error *error);

/* Reads @path, YAML or JSON, into *@out. The caller owns it. */
int template_read(const char *path, json_t **out, struct fst_error *error);
