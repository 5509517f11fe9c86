/* The tables of fields of SparkCluster (operator/resources/field.h). */
#include "operator/apache/apache_cluster.h"
#include "operator/resources/field_rows.h"

/* clang-format off */
#define STRUCT struct apache_worker_count_fields
static const struct field_row cluster_worker_count_rows[] = {
        LONG("initWorkers", init, REQUIRED), LONG("minWorkers", min, REQUIRED), LONG("maxWorkers", max, REQUIRED),
};
#undef STRUCT
static const struct field_table cluster_worker_count_table = TABLE("WorkerInstanceConfig", cluster_worker_count_rows);

#define STRUCT struct apache_cluster_toleration_fields
static const struct field_row cluster_toleration_rows[] = {
        OBJECT("instanceConfig", workers, cluster_worker_count_table, REQUIRED),
};
#undef STRUCT
static const struct field_table cluster_toleration_table = TABLE("ClusterTolerations", cluster_toleration_rows);

#define STRUCT struct apache_role_fields
#define ROLE_ROWS                                                                                                      \
        KUBE("serviceMetadata", service_metadata, NULL), KUBE("serviceSpec", service_spec, NULL),                      \
        KUBE("statefulSetMetadata", set_metadata, NULL), KUBE("statefulSetSpec", set_spec, NULL)
static const struct field_row cluster_master_rows[] = {ROLE_ROWS};
static const struct field_row cluster_worker_rows[] = {
        ROLE_ROWS, KUBE("horizontalPodAutoscalerSpec", autoscaler, NULL),
};
#undef STRUCT
static const struct field_table cluster_master_table = TABLE("MasterSpec", cluster_master_rows);
static const struct field_table cluster_worker_table = TABLE("WorkerSpec", cluster_worker_rows);

#define STRUCT struct apache_cluster_spec
static const struct field_row cluster_spec_rows[] = {
        STRING_MAP("sparkConf", spark_conf),
        OBJECT("runtimeVersions", versions, apache_version_table, REQUIRED),
        OBJECT("clusterTolerations", tolerations, cluster_toleration_table, REQUIRED),
        OBJECT("masterSpec", master, cluster_master_table),
        OBJECT("workerSpec", worker, cluster_worker_table),
};
#undef STRUCT
const struct field_table apache_cluster_fields = TABLE("ClusterSpec", cluster_spec_rows);

/* --------------------------------------------------------------------------------------------------------------- status */

static const struct field_row cluster_state_rows[] = {
        BARE("currentStateSummary", FIELD_STRING,
             .words = "Submitted|SchedulingFailure|RunningHealthy|Failed|ResourceReleased"),
        BARE("lastTransitionTime", FIELD_STRING), BARE("message", FIELD_STRING),
};
static const struct field_table cluster_state_table = TABLE("ClusterState", cluster_state_rows);

static const struct field_row cluster_attempt_rows[] = {
        BARE("id", FIELD_INT, .wide = true), BARE("restartCounter", FIELD_INT, .wide = true),
};
static const struct field_table cluster_attempt_table = TABLE("BaseAttemptInfo", cluster_attempt_rows);

#define HISTORY BARE("stateTransitionHistory", FIELD_OBJECT_MAP, .of = &cluster_state_table)
static const struct field_row cluster_summary_rows[] = {
        BARE("attemptInfo", FIELD_OBJECT, .of = &cluster_attempt_table), HISTORY,
};
static const struct field_table cluster_summary_table = TABLE("ClusterAttemptSummary", cluster_summary_rows);

static const struct field_row cluster_status_rows[] = {
        BARE("currentState", FIELD_OBJECT, .of = &cluster_state_table),
        HISTORY,
        BARE("currentAttemptSummary", FIELD_OBJECT, .of = &cluster_summary_table),
        BARE("previousAttemptSummary", FIELD_OBJECT, .of = &cluster_summary_table),
};
const struct field_table apache_cluster_status_fields = TABLE("ClusterStatus", cluster_status_rows);
/* clang-format on */
