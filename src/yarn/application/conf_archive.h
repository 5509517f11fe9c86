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
struct hadoop_conf;

struct conf_archive {
        const struct strmap *spark;     /* Spark's configuration */
        const struct strmap *overrides; /* entries that replace those of @spark, or NULL */
        const struct strmap *cache;     /* spark.yarn.cache.* */
        const char *(*env)(const char *name);
};

/* Appends the archive to @out. Returns 0, or negative with @error, which names the file. Blocks. */
int conf_archive_write(const struct conf_archive *a, struct buf *out, struct fst_error *error);

/* Receives one file; @name is its path in the archive. Returns 0, or negative with @error to end. */
typedef int conf_archive_sink(void *context, const char *name, const void *data, size_t n, struct fst_error *error);

/*
 * Passes @add the files that a native application needs: those of the archive, but Hadoop's configuration @hadoop in
 * one file, core-site.xml, without defaults and without the user of this process. Returns 0, or negative with @error.
 */
int conf_archive_list(const struct conf_archive *a, const struct hadoop_conf *hadoop, conf_archive_sink *add,
                      void *context, struct fst_error *error);

/*
 * Whether Spark's libraries in SPARK_HOME have no Hadoop (spark.yarn.isHadoopProvided of their build). False without
 * SPARK_HOME.
 */
bool spark_is_without_hadoop(const char *(*env)(const char *name));
