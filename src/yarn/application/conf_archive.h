/*
 * __spark_conf__.zip: the configuration that the ApplicationMaster and the executors find in their directory.
 *
 *      log4j2.*, metrics.properties          of the configuration directories
 *      __hadoop_conf__/                      the files of HADOOP_CONF_DIR and YARN_CONF_DIR, and *.xml of
 * SPARK_CONF_DIR
 *      __spark_hadoop_conf__.xml             Hadoop's whole configuration on this machine, with its defaults
 *      __spark_conf__.properties             Spark's configuration
 *      __spark_dist_cache__.properties       the files that executors need
 *
 * Follows Client.createConfArchive of Spark 4.3.
 */
#pragma once

#include "base/buf.h"
#include "base/strmap.h"

struct fst_error;

struct conf_archive {
        const struct strmap *spark;     /* Spark's configuration */
        const struct strmap *overrides; /* entries that replace those of @spark, or NULL */
        const struct strmap *cache;     /* spark.yarn.cache.* */
        const char *(*env)(const char *name);
};

/* Appends the archive to @out. Returns 0, or negative with @error, which names the file. Blocks. */
int conf_archive_write(const struct conf_archive *a, struct buf *out, struct fst_error *error);

/*
 * Whether Spark's libraries in SPARK_HOME have no Hadoop (spark.yarn.isHadoopProvided of their build). False without
 * SPARK_HOME.
 */
bool spark_is_without_hadoop(const char *(*env)(const char *name));
