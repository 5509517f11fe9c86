/*
 * SparkCluster of spark.apache.org/v1: a standalone cluster in pods. Its fields, the check of an object, and the
 * objects that the operator applies for it.
 *
 *      struct apache_cluster cluster;
 *      r = apache_cluster_read(object, &cluster, &problems, error);
 *      if (r == 0)
 *              r = apache_cluster_validate(&cluster, error);
 *      if (r == 0)
 *              objects = apache_cluster_objects(&cluster);
 *      apache_cluster_deinit(&cluster);
 *
 * Behaviour: the objects of Apache's operator, with its names and labels.
 *
 * Differs from Apache's operator: the containers run spark-class instead of scripts that need bash, so that images of
 * Spark and of Firesteel do. The stateful sets select the pods of their own cluster only. Without an image, the cluster
 * is refused.
 */
#pragma once

#include "operator/apache/apache_application.h"

#define APACHE_LABEL_CLUSTER "spark.operator/spark-cluster-name"

struct apache_role_fields {
        const json_t *json;
        const json_t *service_metadata, *service_spec, *set_metadata, *set_spec, *autoscaler;
};

struct apache_worker_count_fields {
        const json_t *json;
        struct field_int init, min, max;
};

struct apache_cluster_toleration_fields {
        const json_t *json;
        struct apache_worker_count_fields workers;
};

struct apache_cluster_spec {
        const json_t *json;
        const json_t *spark_conf;
        struct apache_version_fields versions;
        struct apache_cluster_toleration_fields tolerations;
        struct apache_role_fields master, worker;
};

extern const struct field_table apache_cluster_fields, apache_cluster_status_fields;

struct apache_cluster {
        json_t *object; /* owned: a reference to the object */
        const char *namespace, *name, *uid;
        struct apache_cluster_spec spec;
};

/*
 * Reads @object, of kind SparkCluster, into @out, which refers to it. Appends all problems of its fields to @problems,
 * which may be NULL. Returns 0, or -EINVAL with @error for another kind or version, and for fields for which the
 * genuine definition refuses the object. Deinit @out in either case.
 */
int apache_cluster_read(const json_t *object, struct apache_cluster *out, struct field_problems *problems,
                        struct fst_error *error);
void apache_cluster_deinit(struct apache_cluster *cluster);

/* Returns 0, or -EINVAL with @error: a name that no service may have, invalid numbers of workers, no image. */
int apache_cluster_validate(const struct apache_cluster *cluster, struct fst_error *error);

/*
 * Returns an array: the services and stateful sets of master and workers, the network policy of workers, an autoscaler
 * if the number of workers varies, a disruption budget if there is a minimum. The cluster owns them. The caller owns
 * the array.
 */
json_t *apache_cluster_objects(const struct apache_cluster *cluster);
