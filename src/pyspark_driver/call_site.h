/*
 * The places that Spark shows for the calls of a Python program. pyspark names a place in the program for actions and
 * shuffles, by setCallSite: the local property callSite.short, which the library prefers to any other. For all other
 * calls Spark shows a line of its own source, or Java's reflection. People and tools know these texts, so they are
 * shown here, too.
 */
#pragma once

#include <firesteel/types.h>

/* Lines of Spark's source, which differ from release to release. */
enum spark_line {
        SPARK_PYTHON_RDD,     /* "RDD at PythonRDD.scala:59" */
        SPARK_READ_FILE,      /* "readRDDFromFile at PythonRDD.scala:326", in the scope "parallelize" */
        SPARK_READ_STREAM,    /* the same from a socket: "readRDDFromInputStream" */
        SPARK_VALUE_OF_PAIR,  /* "mapPartitions at PythonRDD.scala:197" */
        SPARK_RUN_JOB,        /* "runJob at PythonRDD.scala:218" */
        SPARK_PYTHON_TO_JAVA, /* "mapPartitions at SerDeUtil.scala:119" */
        SPARK_SAVE,           /* "runJob at SparkHadoopWriter.scala:85" */
};

/* The place in Spark's release @version, as far as it is known; else in the newest known release. */
fst_site call_site_in_spark(enum spark_line line, const char *version);

/* SPARK_SAVE as the place of the action @operation, which is the scope. */
fst_site call_site_of_save(const char *operation, const char *version);

/* The place of a method that Python calls: "@operation at NativeMethodAccessorImpl.java:0". @operation is static. */
fst_site call_site(const char *operation);
