/*
 * An installation of Spark: its directory, version and jars.
 *
 * The version comes from the name of the launcher's jar (spark-launcher_2.13-4.3.0.jar), which every Spark has.
 */
#pragma once

#include "text/shell_words.h"

#include <stdbool.h>

struct fst_error;

struct spark_home {
        char *path;        /* the value of SPARK_HOME */
        char *jars;        /* absolute; NULL if it does not exist */
        char *jars_wanted; /* the expected path */
        char *scala;       /* "2.13"; NULL if unknown */
        int major, minor;  /* 4 and 3; without a jar 4 and a large number, or 3.5 with Scala 2.12 */
};

/*
 * Examines the installation in SPARK_HOME. @env is getenv. Returns -ENOENT with Spark's message if it is unset. If
 * there are no jars, jars is NULL, and callers that need them must check.
 */
int spark_home_find(struct spark_home *home, const char *(*env)(const char *name), struct fst_error *error);
void spark_home_deinit(struct spark_home *home);

/* Whether SPARK_HOME is a distribution of Spark: programs in Python and R then run on its JVM. */
bool spark_home_has_jvm(const char *(*env)(const char *name));

/* Whether it is this version or a later one. */
bool spark_home_since(const struct spark_home *home, int major, int minor);

/*
 * The entries of directory @path as full names, in the system's order, which is that of Java's listFiles. Returns 0 or
 * -errno.
 */
int spark_home_list(const char *path, struct option_words *out);

/* As Java's File: @child below @parent (NULL: none), absolute, without double or trailing slashes. */
char *spark_home_file(const char *parent, const char *child);
bool spark_home_is_dir(const char *path);
bool spark_home_is_file(const char *path);
