/*
 * SparkApplication of spark.apache.org/v1, the kind of Apache's spark-kubernetes-operator: structs of its fields, and
 * the check of an object.
 *
 *      struct apache_application app;
 *      r = apache_application_read(object, &app, &problems, error);
 *      if (r == 0)
 *              r = apache_application_validate(&app, error);
 *      …                                                        → apache_objects.h
 *      apache_application_deinit(&app);
 */
#pragma once

#include "operator/resources/field.h"

struct fst_error;

#define APACHE_GROUP "spark.apache.org"
#define APACHE_API APACHE_GROUP "/v1"

/* Labels of pods, services and config maps. */
#define APACHE_LABEL_OPERATOR "spark.operator/name"
#define APACHE_LABEL_APPLICATION "spark.operator/spark-app-name"
#define APACHE_OPERATOR_NAME "spark-kubernetes-operator" /* the value of APACHE_LABEL_OPERATOR */

/* By which Apache's operator holds up deletions. */
#define APACHE_APPLICATION_FINALIZER "sparkapplications." APACHE_GROUP "/finalizer"
#define APACHE_CLUSTER_FINALIZER "sparkclusters." APACHE_GROUP "/finalizer"

#define APACHE_ANNOTATION_CONTAINER                                                                                    \
        "firesteel.dev/driver-container" /* of a driver's pod whose container has another name */

struct apache_restart_fields {
        const json_t *json;
        const char *policy; /* NULL: "Never" */
        struct field_int max_attempts, backoff_ms, counter_reset_ms;
        struct field_int max_on_failure, failure_backoff_ms;
        struct field_int max_on_scheduling_failure, scheduling_failure_backoff_ms;
};

struct apache_timeout_fields {
        const json_t *json;
        struct field_int driver_start_ms, driver_ready_ms, executor_start_ms;
        struct field_int force_termination_ms, termination_requeue_ms;
};

struct apache_instance_fields {
        const json_t *json;
        struct field_int init, min, max;
};

struct apache_toleration_fields {
        const json_t *json;
        struct apache_restart_fields restart;
        struct apache_timeout_fields timeouts;
        struct apache_instance_fields instances;
        const char *retain_policy; /* NULL: "Never" */
        struct field_int retain_ms, ttl_ms;
};

struct apache_version_fields {
        const json_t *json;
        const char *spark, *scala, *jdk;
};

struct apache_pod_fields {
        const json_t *json;
        const json_t *template;
};

struct apache_application_spec {
        const json_t *json;
        const char *main_class, *jars, *py_files, *spark_r_files, *files, *proxy_user, *deployment_mode;
        const json_t *driver_args, *spark_conf;
        const json_t *config_maps, *ingresses, *http_routes, *grpc_routes;
        struct apache_version_fields versions;
        struct apache_pod_fields driver, executor;
        struct apache_toleration_fields tolerations;
};

/* An element of driverServiceIngressList, driverHttpRouteList or driverGrpcRouteList. */
struct apache_exposure_fields {
        const json_t *json;
        const json_t *service_metadata, *service_spec, *metadata, *spec;
};

extern const struct field_table apache_application_fields, apache_application_status_fields;
extern const struct field_table apache_version_table; /* runtimeVersions, also of clusters */
extern const struct field_table apache_ingress_table, apache_http_route_table, apache_grpc_route_table;

struct apache_application {
        json_t *object; /* owned: a reference to the object */
        const char *namespace, *name, *uid;
        int64_t attempt; /* status.currentAttemptSummary.attemptInfo.id */
        struct apache_application_spec spec;
};

/* Whether @object has the API group spark.apache.org. */
bool apache_group_has(const json_t *object);

/*
 * Checks that @object has this kind, version v1 or v1beta1, and a spec, and appends all problems of its @fields to
 * @problems. Returns 0, or -EINVAL with @error, also for fields for which the genuine definition refuses the object.
 */
int apache_check_object(const json_t *object, const char *kind, const struct field_table *fields,
                        struct field_problems *problems, struct fst_error *error);

/*
 * Reads @object, of kind SparkApplication and version v1 or v1beta1, into @out, which refers to it. Appends all
 * problems of its fields to @problems, which may be NULL. Returns 0, or -EINVAL with @error for another kind or
 * version, and for fields for which the genuine definition refuses the object. Deinit @out in either case.
 */
int apache_application_read(const json_t *object, struct apache_application *out, struct field_problems *problems,
                            struct fst_error *error);
void apache_application_deinit(struct apache_application *app);

/*
 * Checks what the genuine operator checks when it submits (mode, routes), and what must not reach a submission: files
 * of the operator. Returns 0, or -EINVAL with @error.
 */
int apache_application_validate(const struct apache_application *app, struct fst_error *error);

/* Returns the value of a key of sparkConf, or NULL. Borrowed. */
const char *apache_application_conf(const struct apache_application *app, const char *key);

/*
 * Returns the id of an attempt, "NAME-ATTEMPT" unless sparkConf has spark.app.id (@own, else NULL): the label
 * spark-app-selector of its pods, and the prefix of their names. A long name is cut and ends with a hash. The caller
 * owns it.
 */
char *apache_attempt_id(const char *namespace, const char *name, int64_t attempt, const char *own);

/* The same of app->attempt. */
char *apache_application_id(const struct apache_application *app);

/* Returns the prefix of the names of an attempt's objects. The caller owns it. */
char *apache_attempt_prefix(const char *id);

/* Returns the name of the driver's pod: spark.kubernetes.driver.pod.name (@own, else NULL), or "PREFIX-driver". */
char *apache_attempt_driver_pod(const char *id, const char *own);

/*
 * Sets the id of the current attempt of @object, a SparkApplication that need not be valid, and the name of its
 * driver's pod. The caller owns both.
 */
void apache_object_names(const json_t *object, char **id, char **driver_pod);
