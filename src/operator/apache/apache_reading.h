/* Objects and pods of spark.apache.org as the core sees them. */
#pragma once

#include "operator/apache/apache_cluster.h"
#include "operator/apache/apache_core.h"

/* An object, and what its observation borrows. */
struct apache_reading {
        struct apache_observation observation;
        struct apache_application app;
        struct apache_cluster cluster;
        char *invalid; /* owned */
};

/* Returns false if @object has no name or uid. Deinit @out in either case. @object must outlive @out. */
bool apache_reading_make(const json_t *object, struct apache_reading *out);

/* The same of a SparkCluster. */
bool apache_reading_make_cluster(const json_t *object, struct apache_reading *out);
void apache_reading_deinit(struct apache_reading *r);

/*
 * Reads a pod, which must outlive @out. Returns false if it is neither driver nor executor of an application of
 * spark.apache.org. The driver's container is the one that APACHE_ANNOTATION_CONTAINER names, else
 * "spark-kubernetes-driver"; without either, each container counts, as in Apache's operator.
 */
bool apache_pod_read(const json_t *pod, struct apache_pod *out);
