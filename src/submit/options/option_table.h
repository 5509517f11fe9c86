/*
 * Spark's table of OptionAssigners, as data: which option of spark-submit becomes which configuration key, for which
 * cluster managers and in which deploy modes. Rows are applied in order, a later one overriding an earlier one.
 */
#pragma once

#include "base/strmap.h"
#include "conf/compat.h"
#include "submit/options/options.h"

#include <stddef.h>

/* Values beyond the options: they are no options of the command line, or are made while preparing. */
enum option_source {
        OPTION_IVY_PATH = SUBMIT_USAGE_ERROR + 1, /* spark.jars.ivy */
        OPTION_LOCAL_JARS,                        /* --jars where they were downloaded to */
        OPTION_SUPERVISE_TEXT                     /* "true" or "false" */
};

/* Managers in the table: cluster_manager_class.option_bit. The numbers are those of Spark's SparkSubmit. */
#define OPTIONS_YARN 1u
#define OPTIONS_STANDALONE 2u
#define OPTIONS_MESOS 4u
#define OPTIONS_LOCAL 8u
#define OPTIONS_KUBERNETES 16u

#define MODE_CLIENT 1u
#define MODE_CLUSTER 2u

struct option_row {
        int source;        /* an enum submit_field or enum option_source */
        unsigned managers; /* OPTIONS_… together */
        unsigned modes;    /* MODE_CLIENT, MODE_CLUSTER */
        const char *key;
        bool merge; /* a list that is appended to what the key holds */
};

/* The rows of a version, *@n of them. */
const struct option_row *option_table(enum submit_compat compat, size_t *n);

/*
 * Apply the rows of @manager, an option bit, to @conf. @value answers what a source holds, NULL for nothing: that row
 * is skipped.
 */
void option_table_apply(enum submit_compat compat, unsigned manager, bool cluster_mode,
                        const char *(*value)(void *context, int source), void *context, struct strmap *conf);

/*
 * Spark's mergeFileLists: the names of both comma lists in one, blanks around them and empty names dropped; NULL when
 * there is none. Either may be NULL. The caller owns it.
 */
char *file_list_merge(const char *first, const char *second);
