/* What kind of application a primary resource and a main class name, as Spark sees it. */
#pragma once

#include "conf/compat.h"

#include <stdbool.h>

/* What an application is written in, by its name: *.py and pyspark-shell, *.R, *.r and sparkr-shell, all others. */
enum submit_language {
        LANGUAGE_JVM, /* or native: what has a class and goes on the class path */
        LANGUAGE_PYTHON,
        LANGUAGE_R
};

/* Spark 2.4 knows an R file by ".R" alone. */
enum submit_language submit_language_of(const char *primary_resource, enum submit_compat compat);

/* "spark-shell", "pyspark-shell", "sparkr-shell", "connect-shell" (which is a file for versions before 4). */
bool submit_is_shell(const char *primary_resource);

/* "spark-internal": a class of Spark's own. */
bool submit_is_internal(const char *primary_resource);

/* What is to go on class paths: neither of these, nor Python nor R. */
bool submit_is_user_jar(const char *primary_resource, enum submit_compat compat);

/* *.so or *.c, which may have a fragment. */
bool submit_is_native(const char *primary_resource);

/* Classes that Spark treats in a way of their own. @class may be NULL. */
bool submit_is_connect_server(const char *class);
bool submit_is_sql_shell(const char *class);
bool submit_is_thrift_server(const char *class);
