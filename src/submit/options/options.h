/*
 * The options of spark-submit as data, and the parser of its command line.
 *
 * Options precede the application: `--name value` or `--name=value`. Some have an alias. A switch ignores a value given
 * with "=". The first word that is not an option is the application, and all later words are its arguments, whatever
 * they look like.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct fst_error;

/* The targets of options, in the order in which --verbose prints them. */
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
        SUBMIT_FIELDS, /* the number of plain values; the targets below are not plain values */
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
        SUBMIT_DRY_RUN, /* Firesteel's own, like the next one */
        SUBMIT_OUTPUT,
        SUBMIT_KUBERNETES_NAMESPACE, /* Spark 2.1 and 2.2 on Kubernetes */
};

struct submit_option {
        const char *name;    /* "--master" */
        const char *alias;   /* "-v", or NULL */
        bool is_switch;      /* takes no value */
        bool is_uris;        /* a comma list of files or URIs */
        bool is_early;       /* read by Spark's launcher itself, so it counts at any position */
        bool is_conf;        /* also sets the key keys[0], as --conf would */
        const char *label;   /* its name in --verbose; NULL: not printed */
        const char *keys[2]; /* the equivalent configuration keys, the first one stronger, or NULL */
        const char *env;     /* the equivalent environment variable, or NULL */
};

/*
 * Returns the name of the option that the unknown option @word, of @len characters, probably means, or NULL. Static
 * storage.
 */
const char *submit_option_suggestion(const char *word, size_t len);

/* The row of @field. */
const struct submit_option *submit_option_of(enum submit_field field);

/*
 * The length of the name that Spark reads from @word, which is not a known option: it stops before "=" if the word has
 * the form of an option with a value.
 */
size_t submit_option_name_length(const char *word);

/*
 * Receives the parts of a command line in their order. Each function returns 0 to continue, 1 to stop, negative to
 * fail.
 */
struct submit_visitor {
        /* @value is NULL for switches. */
        int (*option)(void *context, enum submit_field field, const char *value, struct fst_error *error);
        /* The first word that is not an option: the application, or a mistyped option. */
        int (*application)(void *context, const char *word, int n_rest, char *const *rest, struct fst_error *error);
};

/*
 * Parses @n words, without the program's name. Returns 0, -EINVAL with Spark's message in @error, or the negative
 * result of a visitor. Pure.
 */
int submit_options_read(int n, char *const *words, const struct submit_visitor *visitor, void *context,
                        struct fst_error *error);
