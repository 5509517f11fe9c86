/*
 * The settings of a submission, merged from all sources: options, --conf, properties files, environment.
 *
 * Precedence, strongest first: a dedicated option (--executor-memory), --conf, files named by --extra-properties-file
 * (the last one first), the file named by --properties-file, spark-defaults.conf (only without --properties-file, or
 * with --load-spark-defaults), the environment (SPARK_EXECUTOR_MEMORY), the built-in default. --driver-memory,
 * --driver-class-path, --driver-library-path and --driver-java-options rank with the equivalent --conf: the last one
 * wins, because Spark's launcher needs these to start the JVM and passes them on as settings.
 *
 *      struct submit_arguments a;
 *      submit_arguments_init(&a);
 *      int r = submit_arguments_parse(&a, argc - 1, argv + 1, &error);
 *      if (r == 0)
 *              r = submit_arguments_complete(&a, "conf/spark-defaults.conf", env, &error);
 *      if (r == 0)
 *              r = submit_arguments_validate(&a, env, &error);
 *      …
 *      submit_arguments_deinit(&a);
 *
 * In Spark two programs read a command line: first the launcher of bin/spark-submit, which prints the usage under each
 * error that it finds, then SparkSubmit. These functions keep that order, because it decides which of two errors the
 * user sees.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"
#include "submit/options/application_kind.h"
#include "submit/options/options.h"

#include <stdbool.h>

struct cluster_manager_class;
struct fst_error;

enum submit_action {
        SUBMIT_ACTION_SUBMIT,
        SUBMIT_ACTION_KILL,
        SUBMIT_ACTION_STATUS,
        SUBMIT_ACTION_VERSION,
        SUBMIT_ACTION_HELP
};

/*
 * The form of --dry-run's output: the lines of --verbose, one JSON object for programs, or the Kubernetes objects that
 * would be created.
 */
enum submit_output { SUBMIT_OUTPUT_TEXT, SUBMIT_OUTPUT_JSON, SUBMIT_OUTPUT_OBJECTS };

struct submit_arguments {
        enum submit_action action;
        char *value[SUBMIT_FIELDS]; /* NULL if not set */
        char *submission;           /* --kill, --status */
        char *kubernetes_namespace; /* --kubernetes-namespace, until complete; NULL if not set */
        char *application;          /* as given, or NULL */
        char *primary_resource;     /* the application (Spark: primary resource), a URI once complete */
        VEC(char *) application_arguments;
        VEC(char *) extra_properties_files;
        bool supervise, verbose, load_spark_defaults;
        bool dry_run;    /* prepare and print, but start nothing */
        bool has_output; /* --output was given, which needs --dry-run */
        enum submit_output output;
        bool usage_error; /* print the usage under the error; with SUBMIT_ACTION_HELP: help was caused by an error */
        struct strmap properties;  /* spark.* from --conf and files */
        enum submit_compat compat; /* spark.firesteel.compat: the Spark version whose rules apply */
        VEC(char *) messages;      /* warnings, and --verbose lines about files */

        /* Used between parse and complete. */
        bool is_special; /* --kill and others that need no application */
        char *remedy;    /* a line that helps to correct the reported error, or NULL */
        char *conflict;  /* an error that is reported only after the launcher's errors, or NULL */
};

void submit_arguments_init(struct submit_arguments *a);
void submit_arguments_deinit(struct submit_arguments *a);

/*
 * Parses the command line alone. Returns -EINVAL with Spark's message in @error. a->usage_error says whether Spark's
 * launcher would have found the error, which prints the usage under it.
 *
 * The classes of Spark's shells and servers (--class org.apache.spark.repl.Main) set the primary resource themselves
 * and allow application arguments among the options.
 */
int submit_arguments_parse(struct submit_arguments *a, int n, char *const *words, struct fst_error *error);

/*
 * Fills the settings that the command line left open from @defaults (the path of spark-defaults.conf, or NULL), the
 * named files, and the environment through @env (getenv). Then derives the name and other values. Returns negative with
 * @error, and sets a->usage_error as parse does.
 */
int submit_arguments_complete(struct submit_arguments *a, const char *defaults, const char *(*env)(const char *name),
                              struct fst_error *error);

/* Reads a properties file that the user named. Returns -EINVAL with the message of Spark's launcher. */
int submit_read_properties(const char *path, struct strmap *out, struct fst_error *error);

/* Validates the settings in Spark's order. Returns -EINVAL with Spark's message for the first error. */
int submit_arguments_validate(struct submit_arguments *a, const char *(*env)(const char *name),
                              struct fst_error *error);

/* The value of --master, or Spark's default. */
const char *submit_arguments_master(const struct submit_arguments *a);

/*
 * Whether the driver runs in the cluster, because of --deploy-mode or of a master URL that implies it (yarn-cluster).
 */
bool submit_arguments_cluster_mode(const struct submit_arguments *a);

/* Returns -ENOTSUP with @error if Firesteel cannot run native applications on @manager in this mode. */
int submit_check_built(const struct cluster_manager_class *manager, bool cluster_mode, struct fst_error *error);

/* The --verbose report: "Parsed arguments:" and the properties, with secrets redacted. Owned by the caller. */
char *submit_arguments_report(const struct submit_arguments *a);
