/*
 * Pods of Spark 2.3, with init containers that download remote files. spark.kubernetes.initContainer.image selects
 * them. For this directory and the builders only.
 */
#pragma once

#include "base/string_list.h"
#include "kubernetes/conf/kube_conf.h"

#include <stdbool.h>

#define INIT_IMAGE "spark.kubernetes.initContainer.image"
#define INIT_MAP "spark.kubernetes.initContainer.configMapName"
#define INIT_MAP_KEY "spark.kubernetes.initContainer.configMapKey"

/* Whether to build the pods of Spark 2.3. */
bool pods_are_classic(const struct kube_conf *c);

/* Appends the elements of the list @key. The application itself counts as one of spark.jars. */
int classic_files(const struct kube_conf *c, const char *key, struct string_list *out, struct fst_error *error);
