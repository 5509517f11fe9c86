/*
 * Spark's table of OptionAssigners as data: which option of spark-submit sets which configuration key, for which
 * cluster managers and deploy modes. Rows are applied in order, and later rows override earlier ones.
 */
#pragma once

#include "base/strmap.h"
#include "conf/compat.h"
#include "submit/options/options.h"

#include <stddef.h>

/* Sources that are not command-line options, or that preparing computes. */
enum option_source {
        OPTION_IVY_PATH = SUBMIT_USAGE_ERROR + 1, /* spark.jars.ivy */
        OPTION_LOCAL_JARS,                        /* --jars after their download */
        OPTION_SUPERVISE_TEXT                     /* "true" or "false" */
};

/* Bits of the cluster managers: cluster_manager_class.option_bit. The numbers equal those of Spark's SparkSubmit. */
#define OPTIONS_YARN 1u
#define OPTIONS_STANDALONE 2u
#define OPTIONS_MESOS 4u
#define OPTIONS_LOCAL 8u
#define OPTIONS_KUBERNETES 16u

#define MODE_CLIENT 1u
#define MODE_CLUSTER 2u

struct option_row {
        int source;        /* enum submit_field or enum option_source */
        unsigned managers; /* OPTIONS_… bits */
        unsigned modes;    /* MODE_CLIENT and MODE_CLUSTER bits */
        const char *key;
        bool merge; /* append to the list that the key holds */
};

/* The rows of a version. Stores their number in *@n. */
const struct option_row *option_table(enum submit_compat compat, size_t *n);

/*
 * Applies the rows of @manager, an option bit, to @conf. @value returns the value of a source, or NULL to skip the row.
 */
void option_table_apply(enum submit_compat compat, unsigned manager, bool cluster_mode,
                        const char *(*value)(void *context, int source), void *context, struct strmap *conf);

/*
 * Joins the names of two comma lists, trims them and drops empty ones (Spark: mergeFileLists). Returns NULL if no name
 * remains. Either may be NULL. Owned by the caller.
 */
char *file_list_merge(const char *first, const char *second);
