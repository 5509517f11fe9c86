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
 * Follows Client.prepareLocalResources and ClientDistributedCacheManager of Spark 4.3. Differs from Spark: archives
 * that Spark writes to a temporary file first are streamed.
 */
#pragma once

#include "base/strmap.h"
#include "base/string_list.h"
#include "base/vec.h"
#include "io/fs/file_system.h"

#include <stdbool.h>
#include <stdint.h>

struct am_arguments;
struct fst_conf;
struct fst_error;
struct hadoop_conf;
struct remote_fs;
struct yarn_settings;

/* A file that containers get: YARN's LocalResource. Strings are owned. */
struct staged_file {
        char *link; /* its name in the container's directory */
        char *path; /* full path (io/fs/path.h) */
        uint64_t size;
        int64_t modified_ms;
        bool archive;   /* unpacked into a directory of the link's name */
        bool is_public; /* all users may read it: NodeManagers share one copy */
        bool driver_only;
};

struct staging_options {
        struct fst_conf *conf; /* receives what the driver must know: spark.yarn.jars, spark.yarn.secondary.jars, … */
        const struct hadoop_conf *hadoop;
        const struct yarn_settings *settings;
        const struct am_arguments *arguments;
        const struct string_list *python_archives;
        const char *(*env)(const char *name);
        const char *user, *application_id;
        const char *program; /* the archive of Firesteel, for a native application; NULL: Spark's libraries */
        const int *stopped;  /* atomic; once it is nonzero, filling ends with -EINTR. NULL: never */
};

struct staging {
        struct staging_options options;
        struct remote_fs *remote; /* opened with the first remote path */
        char *text;               /* the directory, as in Spark's messages and in SPARK_YARN_STAGING_DIR */
        char *path;               /* its full path */
        const struct file_system *fs;
        bool created;
        int replication;
        struct strmap uris, names; /* that were distributed */
        VEC(struct staged_file) resources;
        VEC(struct file_status) seen; /* by path, to decide who may read a file */
        struct strmap overrides;      /* Spark's configuration as the driver gets it, where it differs */
};

/* Chooses the directory and creates nothing. Borrows the options. Returns 0, or negative with @error. */
int staging_init(struct staging *s, const struct staging_options *options, struct fst_error *error);
void staging_deinit(struct staging *s);

/* Creates the directory, and puts all files of the submission there. Blocks. Returns 0, or negative with @error. */
int staging_fill(struct staging *s, struct fst_error *error);

/* Removes the directory, with Spark's log lines. Does nothing before staging_fill or with
 * spark.yarn.preserve.staging.files. */
void staging_remove(struct staging *s);

/* Whether the full paths @a and @b are on the same file system, so that nothing has to be copied. */
bool staging_is_same_system(const char *a, const char *b);

/*
 * Puts the lists of files that executors get into @out: spark.yarn.cache.*. @conf_archive is the URI of
 * __spark_conf__.zip.
 */
void staging_describe(const struct staging *s, const char *conf_archive, struct strmap *out);
