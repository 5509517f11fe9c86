/*
 * The staging directory of a submission, and the files that its containers get: uploads what is not in the cluster's
 * file system yet, and records each file's exact size and time, on which NodeManagers insist.
 *
 *      r = staging_init(&staging, &options, error);
 *      r = staging_fill(&staging, error);                  creates the directory, uploads
 *      … staging.resources …
 *      staging_remove(&staging);                           unless the submission succeeded
 *      staging_deinit(&staging);
 *
 * Native applications need no directory unless spark.yarn.stagingDir is set: local files go to the files by SHA-256
 * (cluster_file.h), and the configuration to the container's credentials (conf_secrets.h). The directory is made for
 * what may not stay on the cluster (a keytab) and for what is too large or comes from elsewhere.
 *
 * Follows Client.prepareLocalResources and ClientDistributedCacheManager of Spark 4.3. Differs from Spark: archives
 * that Spark writes to a temporary file first are streamed.
 */
#pragma once

#include "base/strmap.h"
#include "base/string_list.h"
#include "io/fs/file_system.h"
#include "yarn/application/local_resource.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;
struct hadoop_conf;
struct hadoop_credentials;
struct remote_fs;
struct yarn_settings;

struct staging_options {
        struct fst_conf *conf; /* receives what the driver must know: spark.yarn.jars, spark.yarn.secondary.jars, … */
        const struct hadoop_conf *hadoop;
        const struct yarn_settings *settings;
        const char *jar;                           /* the application: a jar, or a shared object; NULL: none */
        const char *python;                        /* its main file in Python; NULL: none */
        const struct string_list *python_archives; /* NULL: none */
        const char *(*env)(const char *name);
        const char *user, *application_id;
        bool native;              /* Firesteel (staging_store_program) instead of Spark's libraries */
        struct remote_fs *remote; /* file systems of @hadoop that are in use already; NULL: opened here */
        const char *owner;        /* files on the cluster are remembered for this name; NULL: they are not */
        struct hadoop_credentials *credentials; /* receive the configuration of a native application */
        const int *stopped;                     /* atomic; once it is nonzero, filling ends with -EINTR. NULL: never */
};

struct staging {
        struct staging_options options;
        struct remote_fs *remote; /* opened with the first remote path, unless the options have one */
        struct local_resource program;
        char *text; /* the directory, as in Spark's messages and in SPARK_YARN_STAGING_DIR */
        char *path; /* its full path */
        const struct file_system *fs;
        bool created;
        int replication;
        struct strmap uris, names; /* that were distributed */
        struct local_resources resources;
        struct file_statuses seen;
        struct strmap overrides; /* Spark's configuration as the driver gets it, where it differs */
};

/* Chooses the directory and creates nothing. Borrows the options. Returns 0, or negative with @error. */
int staging_init(struct staging *s, const struct staging_options *options, struct fst_error *error);
void staging_deinit(struct staging *s);

/*
 * Stores Firesteel on the cluster, in spark.firesteel.yarn.cacheDir, for a native application. Blocks. Returns 0, or
 * negative with @error.
 */
int staging_store_program(struct staging *s, struct fst_error *error);

/*
 * Creates the directory, and puts all files of the submission there. @created tells whether a native application has
 * one. Blocks. Returns 0, or negative with @error.
 */
int staging_fill(struct staging *s, struct fst_error *error);

/* Removes the directory, with Spark's log lines. Does nothing before staging_fill or with
 * spark.yarn.preserve.staging.files. */
void staging_remove(struct staging *s);

/* The application has failed: what is remembered of its files may be wrong. */
void staging_forget(const struct staging *s);

/* Whether the full paths @a and @b are on the same file system, so that nothing has to be copied. */
bool staging_is_same_system(const char *a, const char *b);
