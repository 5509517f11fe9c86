/* The tables of fields of spark.apache.org's SparkApplication (operator/resources/field.h). */
#include "operator/apache/apache_application.h"
#include "operator/resources/field_rows.h"
#include "operator/resources/kubernetes_members.h"

/* clang-format off */
#define MILLIS(n, member) LONG(n, member)

/* ----------------------------------------------------------------------------------------------------------- tolerations */

#define STRUCT struct apache_restart_fields
static const struct field_row apache_restart_rows[] = {
        TEXT("restartPolicy", policy, .words = "Always|Never|OnFailure|OnInfrastructureFailure"),
        LONG("maxRestartAttempts", max_attempts),
        MILLIS("restartBackoffMillis", backoff_ms),
        MILLIS("restartCounterResetMillis", counter_reset_ms),
        LONG("maxRestartOnFailure", max_on_failure),
        MILLIS("restartBackoffMillisForFailure", failure_backoff_ms),
        LONG("maxRestartOnSchedulingFailure", max_on_scheduling_failure),
        MILLIS("restartBackoffMillisForSchedulingFailure", scheduling_failure_backoff_ms),
};
#undef STRUCT
static const struct field_table apache_restart_table = TABLE("RestartConfig", apache_restart_rows);

#define STRUCT struct apache_timeout_fields
static const struct field_row apache_timeout_rows[] = {
        MILLIS("driverStartTimeoutMillis", driver_start_ms),
        MILLIS("driverReadyTimeoutMillis", driver_ready_ms),
        MILLIS("executorStartTimeoutMillis", executor_start_ms),
        MILLIS("forceTerminationGracePeriodMillis", force_termination_ms),
        LONG("terminationRequeuePeriodMillis", termination_requeue_ms,
             .no_effect = "the operator looks at an application as soon as its pods or its object change"),
};
#undef STRUCT
static const struct field_table apache_timeout_table = TABLE("ApplicationTimeoutConfig", apache_timeout_rows);

#define STRUCT struct apache_instance_fields
static const struct field_row apache_instance_rows[] = {
        LONG("initExecutors", init), LONG("minExecutors", min), LONG("maxExecutors", max),
};
#undef STRUCT
static const struct field_table apache_instance_table = TABLE("ExecutorInstanceConfig", apache_instance_rows);

#define STRUCT struct apache_toleration_fields
static const struct field_row apache_toleration_rows[] = {
        OBJECT("restartConfig", restart, apache_restart_table),
        OBJECT("applicationTimeoutConfig", timeouts, apache_timeout_table),
        OBJECT("instanceConfig", instances, apache_instance_table),
        TEXT("resourceRetainPolicy", retain_policy, .words = "Always|Never|OnFailure"),
        MILLIS("resourceRetainDurationMillis", retain_ms),
        MILLIS("ttlAfterStopMillis", ttl_ms),
};
#undef STRUCT
static const struct field_table apache_toleration_table = TABLE("ApplicationTolerations", apache_toleration_rows);

/* ----------------------------------------------------------------------------------------------------------------- spec */

#define STRUCT struct apache_version_fields
static const struct field_row apache_version_rows[] = {
        TEXT("sparkVersion", spark, REQUIRED), TEXT("scalaVersion", scala), TEXT("jdkVersion", jdk),
};
#undef STRUCT
const struct field_table apache_version_table = TABLE("RuntimeVersions", apache_version_rows);

#define STRUCT struct apache_pod_fields
static const struct field_row apache_pod_rows[] = {
        KUBE("podTemplateSpec", template, kubernetes_template_members),
};
#undef STRUCT
static const struct field_table apache_pod_table = TABLE("BaseApplicationTemplateSpec", apache_pod_rows);

static const struct field_row apache_config_map_rows[] = {
        BARE("name", FIELD_STRING, REQUIRED), BARE("labels", FIELD_STRING_MAP), BARE("annotations", FIELD_STRING_MAP),
        BARE("data", FIELD_STRING_MAP),
};
static const struct field_table apache_config_map_table = TABLE("ConfigMapSpec", apache_config_map_rows);

#define STRUCT struct apache_exposure_fields
#define KUBE_REQUIRED(n, member) {.name = n, .type = FIELD_KUBERNETES, .offset = AT(member), REQUIRED}
#define EXPOSURE_ROWS(prefix)                                                                                          \
        KUBE_REQUIRED("serviceMetadata", service_metadata), KUBE_REQUIRED("serviceSpec", service_spec),                \
        KUBE_REQUIRED(prefix "Metadata", metadata), KUBE(prefix "Spec", spec, NULL)
static const struct field_row apache_ingress_rows[] = {EXPOSURE_ROWS("ingress")};
static const struct field_row apache_http_route_rows[] = {EXPOSURE_ROWS("httpRoute")};
static const struct field_row apache_grpc_route_rows[] = {EXPOSURE_ROWS("grpcRoute")};
#undef STRUCT
const struct field_table apache_ingress_table = TABLE("DriverServiceIngressSpec", apache_ingress_rows);
const struct field_table apache_http_route_table = TABLE("DriverHttpRouteSpec", apache_http_route_rows);
const struct field_table apache_grpc_route_table = TABLE("DriverGrpcRouteSpec", apache_grpc_route_rows);

#define STRUCT struct apache_application_spec
static const struct field_row apache_spec_rows[] = {
        TEXT("mainClass", main_class),
        TEXT("jars", jars),
        TEXT("pyFiles", py_files),
        TEXT("sparkRFiles", spark_r_files),
        TEXT("files", files),
        STRINGS("driverArgs", driver_args),
        STRING_MAP("sparkConf", spark_conf),
        TEXT("proxyUser", proxy_user),
        TEXT("deploymentMode", deployment_mode, .words = "ClientMode|ClusterMode"),
        OBJECT("runtimeVersions", versions, apache_version_table, REQUIRED),
        OBJECT("driverSpec", driver, apache_pod_table),
        OBJECT("executorSpec", executor, apache_pod_table),
        OBJECTS("configMapSpecs", config_maps, apache_config_map_table),
        OBJECTS("driverServiceIngressList", ingresses, apache_ingress_table),
        OBJECTS("driverHttpRouteList", http_routes, apache_http_route_table),
        OBJECTS("driverGrpcRouteList", grpc_routes, apache_grpc_route_table),
        OBJECT("applicationTolerations", tolerations, apache_toleration_table),
};
#undef STRUCT
const struct field_table apache_application_fields = TABLE("ApplicationSpec", apache_spec_rows);

/* --------------------------------------------------------------------------------------------------------------- status */

#define STATES                                                                                                         \
        "Submitted|ScheduledToRestart|DriverRequested|DriverStarted|DriverReady|InitializedBelowThresholdExecutors|"   \
        "RunningHealthy|RunningWithPartialCapacity|RunningWithBelowThresholdExecutors|DriverStartTimedOut|"            \
        "ExecutorsStartTimedOut|DriverReadyTimedOut|Succeeded|Failed|SchedulingFailure|DriverEvicted|"                 \
        "ResourceReleased|TerminatedWithoutReleaseResources"

static const struct field_row apache_state_rows[] = {
        BARE("currentStateSummary", FIELD_STRING, .words = STATES),
        BARE("lastTransitionTime", FIELD_STRING),
        BARE("message", FIELD_STRING),
        BARE("lastObservedDriverStatus", FIELD_KUBERNETES),
};
static const struct field_table apache_state_table = TABLE("ApplicationState", apache_state_rows);

static const struct field_row apache_attempt_rows[] = {
        BARE("id", FIELD_INT, .wide = true), BARE("restartCounter", FIELD_INT, .wide = true),
        BARE("failureRestartCounter", FIELD_INT, .wide = true),
        BARE("schedulingFailureRestartCounter", FIELD_INT, .wide = true),
};
static const struct field_table apache_attempt_table = TABLE("ApplicationAttemptInfo", apache_attempt_rows);

#define HISTORY BARE("stateTransitionHistory", FIELD_OBJECT_MAP, .of = &apache_state_table)
static const struct field_row apache_summary_rows[] = {
        BARE("attemptInfo", FIELD_OBJECT, .of = &apache_attempt_table), HISTORY,
};
static const struct field_table apache_summary_table = TABLE("ApplicationAttemptSummary", apache_summary_rows);

static const struct field_row apache_status_rows[] = {
        BARE("currentState", FIELD_OBJECT, .of = &apache_state_table),
        HISTORY,
        BARE("currentAttemptSummary", FIELD_OBJECT, .of = &apache_summary_table),
        BARE("previousAttemptSummary", FIELD_OBJECT, .of = &apache_summary_table),
};
const struct field_table apache_application_status_fields = TABLE("ApplicationStatus", apache_status_rows);
/* clang-format on */
