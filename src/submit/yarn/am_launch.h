/*
 * How the ApplicationMaster of a JVM or Python application is started in cluster mode: environment and command of its
 * container, equal to those of Spark's Client. Pure.
 *
 *      _cleanup_(am_launch_deinit) struct am_launch launch = {0};
 *      r = am_arguments_parse(&arguments, s->arguments.data, s->arguments.len, error);
 *      r = am_launch_build(&launch, &request, error);
 *
 * YARN replaces {{NAME}} by a variable, <CPS> by the separator of class paths and <LOG_DIR> by the log directory, and
 * runs the command through `bash -c "…"`, unescaped.
 */
#pragma once

#include "base/strmap.h"
#include "base/string_list.h"
#include "io/fs/hadoop_conf.h"

#include <stdbool.h>

struct fst_conf;
struct fst_error;
struct yarn_settings;

#define YARN_APP_JAR "__app__.jar"
#define YARN_CONF_LINK "__spark_conf__"
#define YARN_LIBS_LINK "__spark_libs__"
#define YARN_PROGRAM_LINK "__firesteel__" /* as EXECUTOR_LAUNCH_PROGRAM */
#define YARN_PYTHON_LINK "__pyfiles__"
#define YARN_HADOOP_CONF "__hadoop_conf__"
#define YARN_CONF_FILE "__spark_conf__.properties"
#define YARN_CACHE_FILE "__spark_dist_cache__.properties"

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
        const struct string_list *python_archives; /* pyspark.zip and py4j, for Python */
        bool without_hadoop;                       /* Spark's libraries have no Hadoop */
        bool native;                               /* `firesteel yarn-am` instead of java */
};

struct am_launch {
        struct strmap environment;
        struct string_list command;  /* words as they are; YARN joins them with blanks */
        struct string_list warnings; /* lines for the log */
};

/* Returns 0, or -EINVAL with @error. Deinit @launch in either case. */
int am_launch_build(struct am_launch *launch, const struct am_launch_request *q, struct fst_error *error);
void am_launch_deinit(struct am_launch *launch);

/* @word in single quotes for YARN's bash -c. The caller owns it. */
char *am_launch_quote(const char *word);

/* "user,user group": who may view (or else modify) the application. The caller owns it. */
int am_launch_acl(const struct fst_conf *conf, const char *os_user, const char *user, bool view, char **out,
                  struct fst_error *error);

/* The Python archives that Spark ships: PYSPARK_ARCHIVES_PATH, else those of SPARK_HOME. -ENOENT with Spark's message.
 */
int am_launch_python_archives(const char *(*env)(const char *name), struct string_list *out, struct fst_error *error);
