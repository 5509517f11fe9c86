/*
 * Pods as Spark 2.3 made them, with init containers that fetch what is remote: spark.kubernetes.initContainer.image
 * selects them. For this folder and the builders only.
 */
#pragma once

#include "base/string_list.h"
#include "kubernetes/conf/kube_conf.h"

#include <stdbool.h>

#define INIT_IMAGE "spark.kubernetes.initContainer.image"
#define INIT_MAP "spark.kubernetes.initContainer.configMapName"
#define INIT_MAP_KEY "spark.kubernetes.initContainer.configMapKey"

/* Whether pods are to look like those of 2.3. */
bool pods_are_classic(const struct kube_conf *c);

/* Append what the list @key holds, the application itself being one of spark.jars. */
int classic_files(const struct kube_conf *c, const char *key, struct string_list *out, struct fst_error *error);
