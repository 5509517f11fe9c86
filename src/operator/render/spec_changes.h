/*
 * Changes that a SparkApplication's spec needs before it is submitted: the base path of the UI behind an ingress,
 * metrics for Prometheus, the group of a batch scheduler. The genuine operator changes the same fields before it forms
 * the words of spark-submit.
 */
#pragma once

#include "operator/render/application_objects.h"

/*
 * Changes app->object and reads app->spec again. Appends to @before, an array, the objects that must exist before the
 * pods: config map, pod group. Returns 0, or -EINVAL with @error for an invalid URL or quantity.
 */
int spec_changes_make(struct spark_application *app, const struct render_options *o, json_t *before,
                      struct fst_error *error);

/* Returns the name of the config map of Prometheus, or NULL if the application needs none. The caller owns it. */
char *spec_prometheus_map(const struct spark_application *app);

/* The port and its name of the Java agent of Prometheus. */
#define PROMETHEUS_PORT 8090
#define PROMETHEUS_PORT_NAME "jmx-exporter"
#define METRICS_DIR "/etc/metrics/conf"
