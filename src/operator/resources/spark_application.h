/*
 * SparkApplication and ScheduledSparkApplication of sparkoperator.k8s.io: their structs and tables of fields.
 *
 *      struct spark_application app;
 *      r = spark_application_read(object, &app, &problems, error);
 *      …                                                  app borrows from app.object
 *      spark_application_deinit(&app);
 *
 * A v1beta1 object is converted first. Defaults are those that the genuine operator writes
 * (spark_application_defaults).
 */
#pragma once

#include "operator/resources/field.h"

struct fst_error;

#define OPERATOR_GROUP "sparkoperator.k8s.io"
#define LABEL_APP_NAME "sparkoperator.k8s.io/app-name"
#define LABEL_SCHEDULED_APP_NAME "sparkoperator.k8s.io/scheduled-app-name"
#define LABEL_LAUNCHED "sparkoperator.k8s.io/launched-by-spark-operator"
#define LABEL_MUTATED "sparkoperator.k8s.io/mutated-by-spark-operator"
#define LABEL_CREATED "sparkoperator.k8s.io/created-by-spark-operator"
#define LABEL_SUBMISSION_ID "sparkoperator.k8s.io/submission-id"
#define ANNOTATION_SPEC_HASH "firesteel.dev/spec-hash" /* of the driver's pod: the spec that it was made from */

struct gpu_spec {
        const json_t *json;
        const char *name;
        struct field_int quantity;
};

/* The fields that driver and executor share. A part of their structs. */
struct spark_pod_fields {
        struct field_int cores;
        const json_t *cores_number; /* v1beta1 */
        const char *core_request, *core_limit, *memory, *memory_limit, *memory_overhead, *image, *java_options;
        const char *service_account, *scheduler_name, *priority_class_name;
        struct gpu_spec gpu;
        const json_t *config_maps, *secrets, *env, *env_vars, *env_from, *env_secret_key_refs, *labels, *annotations;
        const json_t *volume_mounts, *affinity, *tolerations, *pod_security_context, *security_context, *sidecars;
        const json_t *init_containers, *node_selector, *dns_config, *host_aliases, *lifecycle, *ports, *template;
        enum field_bool host_network, share_process_namespace;
        struct field_int termination_grace_period_seconds;
};

struct spark_driver_fields {
        const json_t *json;
        struct spark_pod_fields pod;
        const char *pod_name, *kubernetes_master;
        const json_t *service_annotations, *service_labels;
};

struct spark_executor_fields {
        const json_t *json;
        struct spark_pod_fields pod;
        struct field_int instances;
        enum field_bool delete_on_termination;
};

struct restart_policy_fields {
        const json_t *json;
        const char *type;
        struct field_int on_submission_failure_retries, on_failure_retries;
        struct field_int on_submission_failure_retry_interval, on_failure_retry_interval; /* s */
};

struct dependencies_fields {
        const json_t *json;
        const json_t *jars, *files, *py_files, *packages, *exclude_packages, *repositories, *archives;
        const char *jars_download_dir, *files_download_dir; /* v1beta1 */
        struct field_int download_timeout, max_simultaneous_downloads;
};

struct prometheus_fields {
        const json_t *json;
        const char *jmx_exporter_jar, *port_name, *config_file, *configuration;
        struct field_int port;
};

struct monitoring_fields {
        const json_t *json;
        enum field_bool expose_driver_metrics, expose_executor_metrics;
        const char *metrics_properties, *metrics_properties_file;
        struct prometheus_fields prometheus;
};

struct batch_scheduler_fields {
        const json_t *json;
        const char *queue, *priority_class_name;
        const json_t *resources;
};

struct ui_fields {
        const json_t *json;
        struct field_int service_port;
        const char *service_port_name, *service_type;
        const json_t *service_annotations, *service_labels, *ingress_annotations, *ingress_tls;
};

/* One of driverIngressOptions. */
struct driver_ingress_fields {
        const json_t *json;
        struct field_int service_port;
        const char *service_port_name, *service_type, *ingress_url_format;
        const json_t *service_annotations, *service_labels, *ingress_annotations, *ingress_tls;
};

struct dynamic_allocation_fields {
        const json_t *json;
        enum field_bool enabled, shuffle_tracking_enabled;
        struct field_int initial_executors, min_executors, max_executors, shuffle_tracking_timeout; /* ms */
};

/* One of secrets, of configMaps, of envSecretKeyRefs. */
struct secret_fields {
        const json_t *json;
        const char *name, *path, *secret_type, *key;
};

struct spark_application_spec {
        const json_t *json;
        const char *type, *spark_version, *mode, *proxy_user, *image, *image_pull_policy, *main_class;
        const char *main_application_file, *spark_config_map, *hadoop_config_map, *python_version;
        const char *memory_overhead_factor, *batch_scheduler, *init_container_image;
        const json_t *image_pull_secrets, *arguments, *spark_conf, *hadoop_conf, *volumes, *node_selector;
        const json_t *driver_ingress_options;
        struct field_int failure_retries, retry_interval, time_to_live_seconds;
        enum field_bool suspend, driver_pod_disruption_budget;
        struct spark_driver_fields driver;
        struct spark_executor_fields executor;
        struct dependencies_fields deps;
        struct restart_policy_fields restart_policy;
        struct monitoring_fields monitoring;
        struct batch_scheduler_fields batch_scheduler_options;
        struct ui_fields ui;
        struct dynamic_allocation_fields dynamic_allocation;
};

struct schedule_spec {
        const json_t *json;
        const char *schedule, *time_zone, *concurrency_policy;
        struct field_int successful_run_history_limit, failed_run_history_limit;
        enum field_bool suspend;
        struct spark_application_spec template;
};

/* The fields of spec and status of both kinds, and of elements of lists: secrets and configMaps, driverIngressOptions.
 */
extern const struct field_table spark_application_fields, spark_application_status_fields;
extern const struct field_table scheduled_application_fields, scheduled_application_status_fields;
extern const struct field_table secret_fields_table, driver_ingress_table;

struct spark_application {
        json_t *object; /* owned: the object with defaults, of version v1beta2 */
        const char *namespace, *name, *uid;
        const json_t *labels;
        uint64_t spec_hash; /* of the spec as it was read, without defaults */
        struct spark_application_spec spec;
};

/*
 * Reads @object, of kind SparkApplication, into @out. @object is borrowed and unchanged. Appends all problems of its
 * fields to @problems, which may be NULL. Returns 0, or -EINVAL with @error for another kind or version, and for fields
 * for which the genuine definition refuses the object. Deinit @out in either case.
 */
int spark_application_read(const json_t *object, struct spark_application *out, struct field_problems *problems,
                           struct fst_error *error);
void spark_application_deinit(struct spark_application *app);

/*
 * Checks what the genuine webhook checks beyond the definition: name, node selectors, templates, ports and URLs of
 * driverIngressOptions, keys of sparkConf. Returns 0, or -EINVAL with the genuine message.
 */
int spark_application_validate(const struct spark_application *app, struct fst_error *error);

/*
 * Writes the genuine operator's defaults into @spec: type, mode, restart policy, cores, memory, instances,
 * shuffleTrackingEnabled.
 */
void spark_application_defaults(json_t *spec);

/* Returns the driver pod's name. The caller owns it. */
char *spark_application_driver_pod(const struct spark_application *app);

/*
 * Returns a hash of a spec (without suspend and timeToLiveSeconds) that does not depend on the order of members. A
 * change of it restarts the application.
 */
uint64_t spark_spec_hash(const json_t *spec);
