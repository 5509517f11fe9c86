/*
 * The classes of Spark and Java that a Python program uses, and what their files share. classes.c has the table.
 *
 * A class is what Python needs of it, by the names of Spark: one class here may stand for several of Spark's, such as
 * JavaSparkContext and SparkContext, which Python never tells apart.
 */
#pragma once

#include "pyspark_driver/pyspark.h"

#include "py4j/gateway.h"

/* The options of the gateway of @p. */
struct py4j_gateway_options pyspark_gateway_options(struct pyspark *p);

extern const struct py4j_class conf_class;
extern const struct py4j_class native_class;

struct py4j_object *conf_object_new(const struct strmap *settings);

/* Copies the settings into @out. */
void conf_object_read(struct py4j_object *conf, struct strmap *out);

extern const struct py4j_class context_class;

/* The session of a context object, borrowed. */
struct driver_session *context_object_session(const struct py4j_object *context);

/* The session of argument @i, a context; or NULL, and the call throws: also for a context that was stopped. */
struct driver_session *context_argument(struct py4j_call *call, size_t i);

extern const struct py4j_class status_tracker_class, job_info_class, stage_info_class;
struct py4j_object *status_tracker_new(struct driver_session *session);

/* java.lang.System and other static classes. */
extern const struct py4j_class system_class, string_class, class_class, utils_class, python_utils_class, type_util_class,
        java_conversions_class, scala_conversions_class, files_class, storage_level_class, bytes_to_string_class,
        log4j_level_class, log_manager_class, file_class, thread_class;

/* The name of an object of java.lang.Class, such as a codec's. Borrowed. */
const char *class_class_codec(const struct py4j_object *object);

extern const struct py4j_class executor_requests_class, task_requests_class, profile_builder_class;

/* Argument @i as a resource profile of @session's context; or NULL, and the call throws. */
const fst_resource_profile *profile_argument(struct py4j_call *call, size_t i, struct driver_session *session);

/* A storage level as Spark's constructor takes it. */
struct storage_flags {
        bool disk, memory, off_heap, deserialized;
        int replication;
};
struct py4j_object *storage_level_new(struct storage_flags flags);
struct storage_flags storage_level_flags(const struct py4j_object *level);
