/*
 * How the ApplicationMaster is started in cluster mode: environment and command of its container. For an application
 * that Spark's ApplicationMaster runs they equal those of Spark's Client. A native one gets `firesteel yarn-am`. Pure,
 * except for the search for archives of Python.
 *
 *      _cleanup_(am_launch_deinit) struct am_launch launch = {0};
 *      r = am_arguments_parse(&arguments, s->arguments.data, s->arguments.len, error);
 *      r = am_launch_build(&launch, &request, error);
 */
#pragma once

#include "base/string_list.h"
#include "io/fs/hadoop_conf.h"
#include "yarn/application/container_launch.h"

#include <stdbool.h>

struct fst_conf;
struct fst_error;
struct yarn_settings;

/* The arguments of Spark's YARN client. Borrowed from the submission. */
struct am_arguments {
        const char *jar, *class, *python, *r; /* NULL: not given */
        struct string_list words;             /* the application's own */
};

/* Returns 0, or -EINVAL with @error for an unknown option or one without a value. Deinit @a in either case. */
int am_arguments_parse(struct am_arguments *a, char *const *words, size_t n, struct fst_error *error);
void am_arguments_deinit(struct am_arguments *a);

struct am_launch_request {
        struct fst_conf *conf; /* spark.executorEnv.PYTHONPATH is set for Python files */
        const struct hadoop_conf *hadoop;
        const struct am_arguments *arguments;
        const struct yarn_settings *settings;
        const char *(*env)(const char *name);
        const char *staging; /* the URI of the staging directory */
        const char *user, *application_id;
        const struct string_list *python_archives; /* pyspark.zip and py4j for PYTHONPATH; NULL: none */
        /* The same for a native program in Python, if the driver's Python in the container has none. NULL: none */
        const struct string_list *fallback_archives;
        bool without_hadoop; /* Spark's libraries have no Hadoop */
        bool native;         /* `firesteel yarn-am` instead of java */
};

struct am_launch {
        struct container_launch container;
        struct string_list warnings; /* lines for the log */
};

/* Returns 0, or -EINVAL with @error. Deinit @launch in either case. */
int am_launch_build(struct am_launch *launch, const struct am_launch_request *q, struct fst_error *error);
void am_launch_deinit(struct am_launch *launch);

/* @word in single quotes for YARN's bash -c. The caller owns it. */
char *am_launch_quote(const char *word);

/* The Python archives that Spark ships: PYSPARK_ARCHIVES_PATH, else those of SPARK_HOME. -ENOENT with Spark's message.
 */
int am_launch_python_archives(const char *(*env)(const char *name), struct string_list *out, struct fst_error *error);

/*
 * The archives of a native program in Python: those of PYSPARK_ARCHIVES_PATH into @archives, else those of the first
 * Python that the settings, the environment or PATH names and that has pyspark on this machine into @fallback. Both
 * stay empty if there are none, and the cluster's Python must have pyspark.
 */
void am_launch_native_python_archives(const struct fst_conf *conf, const char *(*env)(const char *name),
                                      struct string_list *archives, struct string_list *fallback);
