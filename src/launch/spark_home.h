/*
 * An installation of Spark: where it is, which version, where its jars are.
 *
 * The version is read from the name of the launcher's jar (spark-launcher_2.13-4.3.0.jar), which every Spark has.
 */
#pragma once

#include "text/shell_words.h"

#include <stdbool.h>

struct fst_error;

struct spark_home {
        char *path;        /* as SPARK_HOME has it */
        char *jars;        /* absolute; NULL when it is not there */
        char *jars_wanted; /* where it would be */
        char *scala;       /* "2.13"; NULL when nothing says it */
        int major, minor;  /* 4, 3; 4 and a large number, or with Scala 2.12 3.5, when no jar says it */
};

/*
 * Look at the installation in SPARK_HOME; @env is getenv. -ENOENT with Spark's sentence when that is not set.
 * jars is NULL when there are none: whoever needs them asks.
 */
int spark_home_find(struct spark_home *home, const char *(*env)(const char *name), struct fst_error *error);
void spark_home_deinit(struct spark_home *home);

/* Whether it is this version or a later one. */
bool spark_home_since(const struct spark_home *home, int major, int minor);

/* The entries of folder @path in the system's order, which is Java's listFiles: full names. 0, or -errno. */
int spark_home_list(const char *path, struct option_words *out);

/* As Java's File has it: @child below @parent (NULL: none), without double or trailing slashes, made absolute. */
char *spark_home_file(const char *parent, const char *child);
bool spark_home_is_dir(const char *path);
bool spark_home_is_file(const char *path);
