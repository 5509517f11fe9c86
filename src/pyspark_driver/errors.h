/*
 * Exceptions as PySpark users know them, from the messages of failed calls.
 *
 * A program reads the Java class and the text of an exception: "Input path does not exist", the traceback of a worker.
 * The class follows from the message. pyspark before 4.0 finds a worker's traceback inside "Job aborted due to stage
 * failure", later versions find it alone.
 */
#pragma once

#include "pyspark_driver/pyspark.h"

/* The exception that Spark throws for a message. */
struct spark_exception {
        const char *class; /* static */
        char *message;     /* owned */
        char *trace;       /* as printStackTrace prints it; owned */
};

/* The exception for @message of a failed action, for a pyspark of version @major.@minor. Pure. */
struct spark_exception spark_exception_of(const char *message, int major, int minor);

/* Throws the failure of the last call of the public interface on this thread; @otherwise if it has no message. */
void throw_failure(struct py4j_call *call, const char *otherwise);

/* Throws the exception for @message. */
void throw_message(struct py4j_call *call, const char *message);
