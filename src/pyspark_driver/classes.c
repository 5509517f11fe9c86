/* The table of classes, and the packages that Firesteel refuses. */
#include "pyspark_driver/classes.h"

#include "base/mem.h"
#include "pyspark_driver/broadcast_class.h"
#include "pyspark_driver/python_rdd_class.h"
#include "pyspark_driver/rdd_object.h"

static const struct py4j_class *const pyspark_classes[] = {
        &conf_class,
        &context_class,
        &status_tracker_class,
        &system_class,
        &thread_class,
        &string_class,
        &class_class,
        &file_class,
        &utils_class,
        &files_class,
        &python_utils_class,
        &type_util_class,
        &java_conversions_class,
        &scala_conversions_class,
        &storage_level_class,
        &bytes_to_string_class,
        &log4j_level_class,
        &log_manager_class,
        &java_rdd_class,
        &java_pair_rdd_class,
        &java_double_rdd_class,
        &serde_class,
        &executor_requests_class,
        &task_requests_class,
        &profile_builder_class,
        &parallelize_server_class,
        &python_rdd_class,
        &pairwise_rdd_class,
        &python_function_class,
        &python_partitioner_class,
        &accumulator_class,
        &native_class,
};

static const struct py4j_refusal pyspark_refusals[] = {
        {"org.apache.spark.sql.", "Firesteel has no SQL: use RDDs, or run this program on genuine Spark"},
        {"org.apache.spark.ml.", "Firesteel has no MLlib: use RDDs, or run this program on genuine Spark"},
        {"org.apache.spark.mllib.", "Firesteel has no MLlib: use RDDs, or run this program on genuine Spark"},
        {"org.apache.spark.streaming.", "Firesteel has no streaming: run this program on genuine Spark"},
        {"org.apache.hadoop.", "Firesteel has no classes of Hadoop: run this program on genuine Spark"},
};

struct py4j_gateway_options pyspark_gateway_options(struct pyspark *p)
{
        return (struct py4j_gateway_options){.classes = pyspark_classes,
                                             .n_classes = ARRAY_SIZE(pyspark_classes),
                                             .refusals = pyspark_refusals,
                                             .n_refusals = ARRAY_SIZE(pyspark_refusals),
                                             .context = p,
                                             .enter = pyspark_enter,
                                             .leave = pyspark_leave,
                                             .interrupted = pyspark_interrupted};
}
