/* The tables of fields of SparkApplication and ScheduledSparkApplication (operator/resources/field.h). */
#include "operator/resources/field_rows.h"
#include "operator/resources/kubernetes_members.h"
#include "operator/resources/spark_application.h"

/* clang-format off */
/* ------------------------------------------------------------------------------------------- parts of driver, executor */

#define STRUCT struct secret_fields
static const struct field_row secret_rows[] = {
        TEXT("name", name, REQUIRED), TEXT("path", path, REQUIRED), TEXT("secretType", secret_type, REQUIRED),
};
static const struct field_row config_map_rows[] = {TEXT("name", name, REQUIRED), TEXT("path", path, REQUIRED)};
static const struct field_row secret_key_rows[] = {TEXT("name", name, REQUIRED), TEXT("key", key, REQUIRED)};
#undef STRUCT
const struct field_table secret_fields_table = TABLE("SecretInfo", secret_rows);
static const struct field_table config_map_table = TABLE("NamePath", config_map_rows);
static const struct field_table secret_key_table = TABLE("NameKey", secret_key_rows);

#define STRUCT struct gpu_spec
static const struct field_row gpu_rows[] = {TEXT("name", name, REQUIRED), LONG("quantity", quantity, REQUIRED)};
#undef STRUCT
static const struct field_table gpu_table = TABLE("GPUSpec", gpu_rows);

static const struct field_row port_rows[] = {
        BARE("name", FIELD_STRING, REQUIRED), BARE("protocol", FIELD_STRING, REQUIRED),
        BARE("containerPort", FIELD_INT, REQUIRED),
};
static const struct field_table port_table = TABLE("Port", port_rows);

/* v1beta1 has fractions of cores. */
#define POD_ROWS                                                                                                       \
        INT("cores", pod.cores, AT_LEAST(1), SINCE_V1BETA2),                                                           \
        {.name = "cores", .type = FIELD_NUMBER, .offset = AT(pod.cores_number), V1BETA1},                              \
        TEXT("coreRequest", pod.core_request), TEXT("coreLimit", pod.core_limit), TEXT("memory", pod.memory),          \
        TEXT("memoryLimit", pod.memory_limit, SINCE_V1BETA2), TEXT("memoryOverhead", pod.memory_overhead),             \
        OBJECT("gpu", pod.gpu, gpu_table), TEXT("image", pod.image),                                                   \
        OBJECTS("configMaps", pod.config_maps, config_map_table),                                                      \
        OBJECTS("secrets", pod.secrets, secret_fields_table),                                                          \
        {.name = "env", .type = FIELD_KUBERNETES_LIST, .offset = AT(pod.env),                                          \
         .members = kubernetes_env_members, SINCE_V1BETA2},                                                            \
        STRING_MAP("envVars", pod.env_vars),                                                                           \
        {.name = "envFrom", .type = FIELD_KUBERNETES_LIST, .offset = AT(pod.env_from),                                 \
         .members = kubernetes_env_from_members, SINCE_V1BETA2},                                                       \
        {.name = "envSecretKeyRefs", .type = FIELD_OBJECT_MAP, .offset = AT(pod.env_secret_key_refs),                  \
         .of = &secret_key_table},                                                                                     \
        STRING_MAP("labels", pod.labels), STRING_MAP("annotations", pod.annotations),                                  \
        KUBE_LIST("volumeMounts", pod.volume_mounts, kubernetes_volume_mount_members),                                 \
        KUBE("affinity", pod.affinity, kubernetes_affinity_members),                                                   \
        KUBE_LIST("tolerations", pod.tolerations, kubernetes_toleration_members),                                      \
        {.name = "podSecurityContext", .type = FIELD_KUBERNETES, .offset = AT(pod.pod_security_context),               \
         .members = kubernetes_pod_security_context_members, SINCE_V1BETA2},                                           \
        {.name = "securityContext", .type = FIELD_KUBERNETES, .offset = AT(pod.security_context),                      \
         .members = kubernetes_security_context_members, SINCE_V1BETA2},                                               \
        {.name = "securityContext", .type = FIELD_KUBERNETES, .offset = AT(pod.pod_security_context),                  \
         .members = kubernetes_pod_security_context_members, V1BETA1},                                                 \
        TEXT("schedulerName", pod.scheduler_name),                                                                     \
        KUBE_LIST("sidecars", pod.sidecars, kubernetes_container_members),                                             \
        {.name = "initContainers", .type = FIELD_KUBERNETES_LIST, .offset = AT(pod.init_containers),                   \
         .members = kubernetes_container_members, SINCE_V1BETA2},                                                      \
        FLAG("hostNetwork", pod.host_network), STRING_MAP("nodeSelector", pod.node_selector),                          \
        KUBE("dnsConfig", pod.dns_config, kubernetes_dns_config_members),                                              \
        LONG("terminationGracePeriodSeconds", pod.termination_grace_period_seconds),                                   \
        TEXT("serviceAccount", pod.service_account),                                                                   \
        KUBE_LIST("hostAliases", pod.host_aliases, kubernetes_host_alias_members),                                     \
        FLAG("shareProcessNamespace", pod.share_process_namespace),                                                    \
        TEXT("priorityClassName", pod.priority_class_name, SINCE_V1BETA2),                                             \
        {.name = "lifecycle", .type = FIELD_KUBERNETES, .offset = AT(pod.lifecycle),                                   \
         .members = kubernetes_lifecycle_members, SINCE_V1BETA2},                                                      \
        {.name = "ports", .type = FIELD_OBJECTS, .offset = AT(pod.ports), .of = &port_table, SINCE_V1BETA2},           \
        {.name = "template", .type = FIELD_KUBERNETES, .offset = AT(pod.template),                                     \
         .members = kubernetes_template_members, SINCE_V1BETA2},                                                       \
        TEXT("javaOptions", pod.java_options)

#define STRUCT struct spark_driver_fields
static const struct field_row driver_rows[] = {
        POD_ROWS,
        TEXT("podName", pod_name),
        TEXT("kubernetesMaster", kubernetes_master),
        STRING_MAP("serviceAnnotations", service_annotations),
        STRING_MAP("serviceLabels", service_labels),
};
#undef STRUCT
static const struct field_table driver_table = TABLE("DriverSpec", driver_rows);

#define STRUCT struct spark_executor_fields
static const struct field_row executor_rows[] = {
        POD_ROWS,
        INT("instances", instances, AT_LEAST(1)),
        FLAG("deleteOnTermination", delete_on_termination, SINCE_V1BETA2),
};
#undef STRUCT
static const struct field_table executor_table = TABLE("ExecutorSpec", executor_rows);

/* -------------------------------------------------------------------------------------------------------- parts of spec */

#define STRUCT struct dependencies_fields
#define BY_DRIVER "the driver downloads its dependencies itself"
static const struct field_row dependencies_rows[] = {
        STRINGS("jars", jars),
        STRINGS("files", files),
        STRINGS("pyFiles", py_files),
        STRINGS("packages", packages, SINCE_V1BETA2),
        STRINGS("excludePackages", exclude_packages, SINCE_V1BETA2),
        STRINGS("repositories", repositories, SINCE_V1BETA2),
        STRINGS("archives", archives, SINCE_V1BETA2),
        TEXT("jarsDownloadDir", jars_download_dir, V1BETA1, .no_effect = BY_DRIVER),
        TEXT("filesDownloadDir", files_download_dir, V1BETA1, .no_effect = BY_DRIVER),
        INT("downloadTimeout", download_timeout, V1BETA1, .no_effect = BY_DRIVER),
        INT("maxSimultaneousDownloads", max_simultaneous_downloads, V1BETA1, .no_effect = BY_DRIVER),
};
#undef STRUCT
static const struct field_table dependencies_table = TABLE("Dependencies", dependencies_rows);

#define STRUCT struct restart_policy_fields
static const struct field_row restart_policy_rows[] = {
        TEXT("type", type, .words = "Never|Always|OnFailure"),
        INT("onSubmissionFailureRetries", on_submission_failure_retries, AT_LEAST(0)),
        INT("onFailureRetries", on_failure_retries, AT_LEAST(0)),
        LONG("onSubmissionFailureRetryInterval", on_submission_failure_retry_interval, AT_LEAST(1)),
        LONG("onFailureRetryInterval", on_failure_retry_interval, AT_LEAST(1)),
};
#undef STRUCT
static const struct field_table restart_policy_table = TABLE("RestartPolicy", restart_policy_rows);

#define STRUCT struct prometheus_fields
static const struct field_row prometheus_rows[] = {
        TEXT("jmxExporterJar", jmx_exporter_jar, REQUIRED),
        INT("port", port, AT_LEAST(1024), .maximum = {true, 49151}),
        TEXT("portName", port_name),
        TEXT("configFile", config_file),
        TEXT("configuration", configuration),
};
#undef STRUCT
static const struct field_table prometheus_table = TABLE("PrometheusSpec", prometheus_rows);

#define STRUCT struct monitoring_fields
static const struct field_row monitoring_rows[] = {
        FLAG("exposeDriverMetrics", expose_driver_metrics, REQUIRED),
        FLAG("exposeExecutorMetrics", expose_executor_metrics, REQUIRED),
        TEXT("metricsProperties", metrics_properties),
        TEXT("metricsPropertiesFile", metrics_properties_file),
        OBJECT("prometheus", prometheus, prometheus_table),
};
#undef STRUCT
static const struct field_table monitoring_table = TABLE("MonitoringSpec", monitoring_rows);

#define STRUCT struct batch_scheduler_fields
static const struct field_row batch_scheduler_rows[] = {
        TEXT("queue", queue),
        TEXT("priorityClassName", priority_class_name),
        {.name = "resources", .type = FIELD_QUANTITY_MAP, .offset = AT(resources)},
};
#undef STRUCT
static const struct field_table batch_scheduler_table = TABLE("BatchSchedulerConfiguration", batch_scheduler_rows);

#define SERVICE_ROWS                                                                                                   \
        TEXT("serviceType", service_type), STRING_MAP("serviceAnnotations", service_annotations),                      \
        STRING_MAP("serviceLabels", service_labels), STRING_MAP("ingressAnnotations", ingress_annotations),            \
        KUBE_LIST("ingressTLS", ingress_tls, kubernetes_ingress_tls_members)

#define STRUCT struct ui_fields
static const struct field_row ui_rows[] = {
        INT("servicePort", service_port),
        TEXT("servicePortName", service_port_name),
        SERVICE_ROWS,
};
#undef STRUCT
static const struct field_table ui_table = TABLE("SparkUIConfiguration", ui_rows);

#define STRUCT struct driver_ingress_fields
static const struct field_row driver_ingress_rows[] = {
        INT("servicePort", service_port, REQUIRED),
        TEXT("servicePortName", service_port_name, REQUIRED),
        TEXT("ingressURLFormat", ingress_url_format),
        SERVICE_ROWS,
};
#undef STRUCT
const struct field_table driver_ingress_table = TABLE("DriverIngressConfiguration", driver_ingress_rows);

#define STRUCT struct dynamic_allocation_fields
static const struct field_row dynamic_allocation_rows[] = {
        FLAG("enabled", enabled),
        INT("initialExecutors", initial_executors),
        INT("minExecutors", min_executors),
        INT("maxExecutors", max_executors),
        FLAG("shuffleTrackingEnabled", shuffle_tracking_enabled),
        LONG("shuffleTrackingTimeout", shuffle_tracking_timeout),
};
#undef STRUCT
static const struct field_table dynamic_allocation_table = TABLE("DynamicAllocation", dynamic_allocation_rows);

/* ----------------------------------------------------------------------------------------------------------------- spec */

#define STRUCT struct spark_application_spec
#define LEGACY "use restartPolicy"
static const struct field_row spec_rows[] = {
        TEXT("type", type, REQUIRED, .words = "Java|Python|Scala|R"),
        TEXT("sparkVersion", spark_version, REQUIRED),
        TEXT("mode", mode, .words = "cluster|client"),
        TEXT("proxyUser", proxy_user, SINCE_V1BETA2),
        TEXT("image", image),
        TEXT("initContainerImage", init_container_image, V1BETA1, .no_effect = BY_DRIVER),
        TEXT("imagePullPolicy", image_pull_policy),
        STRINGS("imagePullSecrets", image_pull_secrets),
        TEXT("mainClass", main_class),
        TEXT("mainApplicationFile", main_application_file, REQUIRED),
        STRINGS("arguments", arguments),
        STRING_MAP("sparkConf", spark_conf),
        STRING_MAP("hadoopConf", hadoop_conf),
        TEXT("sparkConfigMap", spark_config_map),
        TEXT("hadoopConfigMap", hadoop_config_map),
        KUBE_LIST("volumes", volumes, kubernetes_volume_members),
        OBJECT("driver", driver, driver_table, REQUIRED),
        OBJECT("executor", executor, executor_table, REQUIRED),
        OBJECT("deps", deps, dependencies_table),
        OBJECT("restartPolicy", restart_policy, restart_policy_table),
        STRING_MAP("nodeSelector", node_selector),
        INT("failureRetries", failure_retries, .no_effect = LEGACY),
        LONG("retryInterval", retry_interval, .no_effect = LEGACY),
        TEXT("pythonVersion", python_version, .words = "2|3"),
        TEXT("memoryOverheadFactor", memory_overhead_factor),
        OBJECT("monitoring", monitoring, monitoring_table),
        TEXT("batchScheduler", batch_scheduler),
        OBJECT("batchSchedulerOptions", batch_scheduler_options, batch_scheduler_table, SINCE_V1BETA2),
        LONG("timeToLiveSeconds", time_to_live_seconds, SINCE_V1BETA2),
        OBJECT("sparkUIOptions", ui, ui_table, SINCE_V1BETA2),
        OBJECT("dynamicAllocation", dynamic_allocation, dynamic_allocation_table, SINCE_V1BETA2),
        FLAG("suspend", suspend, SINCE_V1BETA2),
        {.name = "driverIngressOptions", .type = FIELD_OBJECTS, .offset = AT(driver_ingress_options),
         .of = &driver_ingress_table, SINCE_V1BETA2},
        FLAG("driverPodDisruptionBudget", driver_pod_disruption_budget, SINCE_V1BETA2),
};
#undef STRUCT
const struct field_table spark_application_fields = TABLE("SparkApplicationSpec", spec_rows);

#define STRUCT struct schedule_spec
static const struct field_row schedule_rows[] = {
        TEXT("schedule", schedule, REQUIRED),
        TEXT("timeZone", time_zone, SINCE_V1BETA2),
        OBJECT("template", template, spark_application_fields, REQUIRED),
        FLAG("suspend", suspend),
        TEXT("concurrencyPolicy", concurrency_policy),
        INT("successfulRunHistoryLimit", successful_run_history_limit),
        INT("failedRunHistoryLimit", failed_run_history_limit),
};
#undef STRUCT
const struct field_table scheduled_application_fields = TABLE("ScheduledSparkApplicationSpec", schedule_rows);

/* --------------------------------------------------------------------------------------------------------------- status */

static const struct field_row state_rows[] = {
        BARE("state", FIELD_STRING, REQUIRED), BARE("errorMessage", FIELD_STRING),
};
static const struct field_table state_table = TABLE("ApplicationState", state_rows);

static const struct field_row driver_info_rows[] = {
        BARE("podName", FIELD_STRING),          BARE("webUIServiceName", FIELD_STRING),
        BARE("webUIPort", FIELD_INT),           BARE("webUIAddress", FIELD_STRING),
        BARE("webUIIngressName", FIELD_STRING), BARE("webUIIngressAddress", FIELD_STRING),
};
static const struct field_table driver_info_table = TABLE("DriverInfo", driver_info_rows);

/* Ours: the genuine definition has no conditions. */
static const struct field_row condition_rows[] = {
        BARE("type", FIELD_STRING, REQUIRED),    BARE("status", FIELD_STRING, REQUIRED),
        BARE("reason", FIELD_STRING),            BARE("message", FIELD_STRING),
        BARE("lastTransitionTime", FIELD_TIME),  BARE("observedGeneration", FIELD_INT, .wide = true),
};
static const struct field_table condition_table = TABLE("Condition", condition_rows);

static const struct field_row status_rows[] = {
        BARE("sparkApplicationId", FIELD_STRING),
        BARE("submissionID", FIELD_STRING),
        BARE("lastSubmissionAttemptTime", FIELD_TIME, .nullable = true),
        BARE("terminationTime", FIELD_TIME, .nullable = true),
        BARE("driverInfo", FIELD_OBJECT, .of = &driver_info_table),
        BARE("applicationState", FIELD_OBJECT, .of = &state_table),
        BARE("executorState", FIELD_STRING_MAP),
        BARE("executionAttempts", FIELD_INT),
        BARE("submissionAttempts", FIELD_INT),
        BARE("conditions", FIELD_OBJECTS, .of = &condition_table),
        BARE("observedGeneration", FIELD_INT, .wide = true),
};
const struct field_table spark_application_status_fields = TABLE("SparkApplicationStatus", status_rows);

static const struct field_row schedule_status_rows[] = {
        BARE("lastRun", FIELD_TIME, .nullable = true),
        BARE("nextRun", FIELD_TIME, .nullable = true),
        BARE("lastRunName", FIELD_STRING),
        BARE("pastSuccessfulRunNames", FIELD_STRINGS),
        BARE("pastFailedRunNames", FIELD_STRINGS),
        BARE("scheduleState", FIELD_STRING),
        BARE("reason", FIELD_STRING),
};
const struct field_table scheduled_application_status_fields =
        TABLE("ScheduledSparkApplicationStatus", schedule_status_rows);
/* clang-format on */
