/*
 * What a submission says, from all places where it can say it: options, --conf, properties files, environment.
 *
 * Precedence, strongest first: an option of its own (--executor-memory), --conf, the properties file (or
 * spark-defaults.conf), the environment (SPARK_EXECUTOR_MEMORY), the built-in default. Matches Spark 4's
 * SparkSubmitArguments, and keeps what it dropped.
 */
#pragma once

#include "base/strmap.h"
#include "base/vec.h"
#include "deploy/submit/options.h"

#include <stdbool.h>

struct fst_conf;

enum submit_action {
        SUBMIT_ACTION_SUBMIT,
        SUBMIT_ACTION_KILL,
        SUBMIT_ACTION_STATUS,
        SUBMIT_ACTION_VERSION,
        SUBMIT_ACTION_HELP
};

/* What --dry-run answers in: the lines of --verbose, or one JSON object for programs. */
enum submit_output {
        SUBMIT_OUTPUT_TEXT,
        SUBMIT_OUTPUT_JSON
};

struct submit_arguments {
        enum submit_action action;
        char *value[SUBMIT_FIELDS]; /* NULL where nothing was said */
        char *submission;           /* --kill, --status */
        char *application;          /* as it was given; NULL: none */
        char *primary_resource;     /* the application as a URI, Spark's "primary resource" */
        VEC(char *) application_arguments;
        VEC(char *) extra_properties_files;
        bool supervise, verbose, load_spark_defaults;
        bool dry_run;              /* prepare, show, and stop */
        bool has_output;           /* --output was given: only with --dry-run */
        enum submit_output output;
        bool usage_error;          /* the error is one of usage: help belongs under it */
        struct strmap properties; /* spark.* from --conf and files */
        VEC(char *) messages;     /* warnings, and what --verbose tells of files: one line each */
};

void submit_arguments_init(struct submit_arguments *a);
void submit_arguments_deinit(struct submit_arguments *a);

/*
 * Read the command line alone. -EINVAL with Spark's sentence in @error; a->usage_error says whether Spark's launcher
 * would have found it, which prints the usage under it.
 */
int submit_arguments_parse(struct submit_arguments *a, int n, char *const *words, struct fst_error *error);

/*
 * Fill what the command line left open: from @defaults (the path of spark-defaults.conf, or NULL), the files that were
 * named, and the environment through @env (getenv). Then the name and other derived values. Negative with @error.
 */
int submit_arguments_complete(struct submit_arguments *a, const char *defaults, const char *(*env)(const char *name),
                              struct fst_error *error);

/* Check it as Spark does, in its order: -EINVAL with its sentence for the first thing that is wrong. */
int submit_arguments_validate(struct submit_arguments *a, const char *(*env)(const char *name),
                              struct fst_error *error);

/* --master, or what Spark takes without it. */
const char *submit_arguments_master(const struct submit_arguments *a);

/* The --verbose report: "Parsed arguments:" and the properties, secrets redacted. The caller owns it. */
char *submit_arguments_report(const struct submit_arguments *a);

/* The configuration of an application whose driver runs here, with a local master: Spark's table of assignments. */
void submit_arguments_configure(const struct submit_arguments *a, struct fst_conf *conf);

/*
 * A file or URI as an absolute URI: "a.so" becomes "file:/here/a.so"; what has a scheme stays. The caller owns it.
 * The other for comma lists; names that are empty or blank are dropped, others keep their blanks.
 */
char *submit_resolve_uri(const char *path);
char *submit_resolve_uris(const char *list);
