/* The kind of an application, as Spark derives it from the primary resource and the main class. */
#pragma once

#include "conf/compat.h"

#include <stdbool.h>

/* The language that the name implies: Python for *.py and pyspark-shell, R for *.R, *.r and sparkr-shell, else JVM. */
enum submit_language {
        LANGUAGE_JVM, /* or native: has a main class and goes on the class path */
        LANGUAGE_PYTHON,
        LANGUAGE_R
};

/* Spark 2.4 recognises only ".R" as an R file. */
enum submit_language submit_language_of(const char *primary_resource, enum submit_compat compat);

/* "spark-shell", "pyspark-shell", "sparkr-shell", or "connect-shell" (a file name before version 4). */
bool submit_is_shell(const char *primary_resource);

/* "spark-internal": the main class is one of Spark's own. */
bool submit_is_internal(const char *primary_resource);

/* Whether @primary_resource belongs on class paths: not a shell, not internal, not Python, not R. */
bool submit_is_user_jar(const char *primary_resource, enum submit_compat compat);

/* *.so or *.c, with or without a fragment. */
bool submit_is_native(const char *primary_resource);

/* Main classes that Spark treats specially. @class may be NULL. */
bool submit_is_connect_server(const char *class);
bool submit_is_sql_shell(const char *class);
bool submit_is_thrift_server(const char *class);
