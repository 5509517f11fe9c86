/*
 * What a submission says, from all places where it can say it: options, --conf, properties files, environment.
 *
 * Precedence, strongest first: an option of its own (--executor-memory), --conf, files named by
 * --extra-properties-file (the last one first), the one named by --properties-file, spark-defaults.conf (only without
 * --properties-file, or with --load-spark-defaults), the environment (SPARK_EXECUTOR_MEMORY), the built-in default.
 * Of --driver-memory, --driver-class-path, --driver-library-path, --driver-java-options and the --conf that says the
 * same, the last one wins: Spark's launcher needs these to start the JVM, and hands them on as settings.
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
 * In Spark two programs read a command line: bin/spark-submit's launcher, which prints the usage under what it finds
 * wrong, then SparkSubmit. So do these functions, in that order, since it shows which of two mistakes is told.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"
#include "submit/options/application_kind.h"
#include "submit/options/options.h"

#include <stdbool.h>

struct cluster_manager_class;
struct fst_conf;
struct fst_error;

enum submit_action {
        SUBMIT_ACTION_SUBMIT,
        SUBMIT_ACTION_KILL,
        SUBMIT_ACTION_STATUS,
        SUBMIT_ACTION_VERSION,
        SUBMIT_ACTION_HELP
};

/*
 * What --dry-run answers in: the lines of --verbose, one JSON object for programs, or what would be created in a
 * Kubernetes cluster.
 */
enum submit_output { SUBMIT_OUTPUT_TEXT, SUBMIT_OUTPUT_JSON, SUBMIT_OUTPUT_OBJECTS };

struct submit_arguments {
        enum submit_action action;
        char *value[SUBMIT_FIELDS]; /* NULL where nothing was said */
        char *submission;           /* --kill, --status */
        char *kubernetes_namespace; /* --kubernetes-namespace: until complete; NULL: not said */
        char *application;          /* as it was given; NULL: none */
        char *primary_resource;     /* the application, Spark's "primary resource": a URI once it is complete */
        VEC(char *) application_arguments;
        VEC(char *) extra_properties_files;
        bool supervise, verbose, load_spark_defaults;
        bool dry_run;    /* prepare, show, and stop */
        bool has_output; /* --output was given: only with --dry-run */
        enum submit_output output;
        bool usage_error;          /* the usage belongs under the error; with SUBMIT_ACTION_HELP: to be told as one */
        struct strmap properties;  /* spark.* from --conf and files */
        enum submit_compat compat; /* spark.firesteel.compat: whose rules are followed */
        VEC(char *) messages;      /* warnings, and what --verbose tells of files: one line each */

        /* Between parse and complete. */
        bool is_special; /* --kill and others that need no application */
        char *conflict;  /* what is wrong, but told only after what Spark's launcher looks for; or NULL */
};

void submit_arguments_init(struct submit_arguments *a);
void submit_arguments_deinit(struct submit_arguments *a);

/*
 * Read the command line alone. -EINVAL with Spark's sentence in @error; a->usage_error says whether Spark's launcher
 * would have found it, which prints the usage under it.
 *
 * The classes of Spark's shells and servers (--class org.apache.spark.repl.Main) bring their resource along, and
 * allow words of theirs among the options.
 */
int submit_arguments_parse(struct submit_arguments *a, int n, char *const *words, struct fst_error *error);

/*
 * Fill what the command line left open: from @defaults (the path of spark-defaults.conf, or NULL), the files that were
 * named, and the environment through @env (getenv). Then the name and other derived values. Negative with @error,
 * a->usage_error as for parse.
 */
int submit_arguments_complete(struct submit_arguments *a, const char *defaults, const char *(*env)(const char *name),
                              struct fst_error *error);

/* Read a properties file that was named: what is wrong with it in the words of Spark's launcher, -EINVAL. */
int submit_read_properties(const char *path, struct strmap *out, struct fst_error *error);

/* Check it as Spark does, in its order: -EINVAL with its sentence for the first thing that is wrong. */
int submit_arguments_validate(struct submit_arguments *a, const char *(*env)(const char *name),
                              struct fst_error *error);

/* --master, or what Spark takes without it. */
const char *submit_arguments_master(const struct submit_arguments *a);

/* Whether the driver runs in the cluster: by --deploy-mode, or because the master URL implies it (yarn-cluster). */
bool submit_arguments_cluster_mode(const struct submit_arguments *a);

/* -ENOTSUP with @error if native applications on @manager are not built in this mode. */
int submit_check_built(const struct cluster_manager_class *manager, bool cluster_mode, struct fst_error *error);

/* The --verbose report: "Parsed arguments:" and the properties, secrets redacted. The caller owns it. */
char *submit_arguments_report(const struct submit_arguments *a);
