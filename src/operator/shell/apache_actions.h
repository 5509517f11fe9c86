/*
 * Performs the actions of SparkApplications and SparkClusters of spark.apache.org through the API server: submits and
 * deletes drivers, applies the objects of clusters, writes the status. Submissions happen in this process.
 */
#pragma once

#include "operator/shell/daemon_internal.h"

/* Performs all actions that the core has emitted. */
void apache_actions_drain(struct operator_daemon *d);

/*
 * Events of the watches: pass objects and pods to the core, and queue the object. @listed: the first list was complete
 * before.
 */
void apache_watch_on_application(struct operator_daemon *d, enum kube_event what, const json_t *object, bool listed);
void apache_watch_on_cluster(struct operator_daemon *d, enum kube_event what, const json_t *object);
void apache_watch_on_pod(struct operator_daemon *d, enum kube_event what, const json_t *object);

/* Adds the applications that run to the metrics. */
void apache_metrics_add_running(const struct operator_context *c);
