/*
 * The options of spark-submit, as data, and the reading of a command line by them.
 *
 * Options stand before the application: `--name value` or `--name=value`, some with a second spelling; what a switch
 * is given with "=" is ignored. The first word that is no option is the application; all that follows is the
 * application's own, whatever it looks like.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_error;

/* What options set, in the order in which --verbose prints it. */
enum submit_field {
        SUBMIT_MASTER,
        SUBMIT_REMOTE,
        SUBMIT_DEPLOY_MODE,
        SUBMIT_EXECUTOR_MEMORY,
        SUBMIT_EXECUTOR_CORES,
        SUBMIT_TOTAL_EXECUTOR_CORES,
        SUBMIT_PROPERTIES_FILE,
        SUBMIT_DRIVER_MEMORY,
        SUBMIT_DRIVER_CORES,
        SUBMIT_DRIVER_CLASS_PATH,
        SUBMIT_DRIVER_LIBRARY_PATH,
        SUBMIT_DRIVER_JAVA_OPTIONS,
        SUBMIT_QUEUE,
        SUBMIT_NUM_EXECUTORS,
        SUBMIT_FILES,
        SUBMIT_PY_FILES,
        SUBMIT_ARCHIVES,
        SUBMIT_CLASS,
        SUBMIT_NAME,
        SUBMIT_JARS,
        SUBMIT_PACKAGES,
        SUBMIT_EXCLUDE_PACKAGES,
        SUBMIT_REPOSITORIES,
        SUBMIT_PRINCIPAL,
        SUBMIT_KEYTAB,
        SUBMIT_PROXY_USER,
        SUBMIT_FIELDS, /* so many are plain values; what follows is more than that */
        SUBMIT_DRIVER_DEFAULT_CLASS_PATH = SUBMIT_FIELDS,
        SUBMIT_CONF,
        SUBMIT_EXTRA_PROPERTIES_FILE,
        SUBMIT_KILL,
        SUBMIT_STATUS,
        SUBMIT_SUPERVISE,
        SUBMIT_VERBOSE,
        SUBMIT_LOAD_SPARK_DEFAULTS,
        SUBMIT_HELP,
        SUBMIT_VERSION,
        SUBMIT_USAGE_ERROR,
        SUBMIT_DRY_RUN, /* Firesteel's own, with the next */
        SUBMIT_OUTPUT,
        SUBMIT_KUBERNETES_NAMESPACE, /* of Spark 2.1 and 2.2 on Kubernetes */
};

struct submit_option {
        const char *name;    /* "--master" */
        const char *alias;   /* "-v", or NULL */
        bool is_switch;      /* takes no value */
        bool is_uris;        /* a comma list of files or URIs */
        bool is_early;       /* what Spark's launcher itself reads: it counts wherever it stands */
        bool is_conf;        /* and turns into the setting keys[0]: as if --conf had said it */
        const char *label;   /* what --verbose calls it; NULL: it does not print it */
        const char *keys[2]; /* the configuration keys that say the same, the first stronger; or NULL */
        const char *env;     /* the environment variable that says the same, or NULL */
};

/* The row whose name or alias is @word; NULL for none. */
const struct submit_option *submit_option_find(const char *word);

/* The row of @field. */
const struct submit_option *submit_option_of(enum submit_field field);

/*
 * How much of @word, which is no option, Spark takes for its name: without "=" and what follows, if it has the form of
 * an option with a value.
 */
size_t submit_option_name_length(const char *word);

/* What a command line holds, told in its order. Each answers 0 to go on, 1 to stop there, negative to fail. */
struct submit_visitor {
        /* @value is NULL for switches. */
        int (*option)(void *context, enum submit_field field, const char *value, struct fst_error *error);
        /* The first word that is none of the options: where the application begins, unless it is a mistyped option. */
        int (*application)(void *context, const char *word, int n_rest, char *const *rest, struct fst_error *error);
};

/*
 * Read @n words (without the program's name). 0, or -EINVAL with Spark's sentence in @error, or what a visitor
 * answered below 0. Pure.
 */
int submit_options_read(int n, char *const *words, const struct submit_visitor *visitor, void *context,
                        struct fst_error *error);
