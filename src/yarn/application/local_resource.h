/*
 * A file on the cluster that containers get: YARN's LocalResource. NodeManagers refuse a file whose size or time
 * differs from what the file system says.
 *
 * The files that executors get travel to the ApplicationMaster of cluster mode as spark.yarn.cache.*, in Spark's form.
 */
#pragma once

#include "base/vec.h"
#include "io/fs/file_system.h"

#include <stdbool.h>
#include <stdint.h>

struct arena;
struct buf;
struct fst_conf;
struct fst_error;
struct strmap;
typedef struct Firesteel__Yarn__NamedResource Firesteel__Yarn__NamedResource;

/* Strings are owned. */
struct local_resource {
        char *link; /* its name in the container's directory */
        char *path; /* full path (io/fs/path.h): "hdfs://127.0.0.1:9000/user/me/…" */
        int64_t size, modified_ms;
        bool archive;   /* unpacked into a directory of the link's name */
        bool is_public; /* all users may read it: NodeManagers share one copy */
        bool driver_only;
};

struct local_resources {
        VEC(struct local_resource) list;
};

void local_resource_deinit(struct local_resource *r);
void local_resources_deinit(struct local_resources *all);
void local_resources_add_copy(struct local_resources *all, const struct local_resource *r);

/* The file with the link @link, or NULL. Borrowed. */
const struct local_resource *local_resources_find(const struct local_resources *all, const char *link);

/* The message of @r. It lies in @arena and borrows @r. */
Firesteel__Yarn__NamedResource *local_resource_message(const struct local_resource *r, struct arena *arena);

/*
 * Puts the files that executors get into @out: spark.yarn.cache.*. @conf_archive is the URI of __spark_conf__.zip, or
 * NULL.
 */
void local_resources_describe(const struct local_resources *all, const char *conf_archive, struct strmap *out);

/* Appends the files of spark.yarn.cache.* of @conf. Returns 0, or -EINVAL with @error if the lists are damaged. */
int local_resources_read(struct local_resources *all, const struct fst_conf *conf, struct fst_error *error);

/* Statuses of files by path, which are asked for once. */
struct file_statuses {
        VEC(struct file_status) list;
};

void file_statuses_deinit(struct file_statuses *s);

/* The status of @path; borrowed until the next call. Returns 0, or the error of @fs. */
int file_statuses_get(struct file_statuses *s, const struct file_system *fs, const char *path,
                      const struct file_status **out, struct fst_error *error);

/* Sets path, size, time and is_public of @r from the file at @path. Returns 0, or the error of @fs. */
int local_resource_look(struct local_resource *r, struct file_statuses *s, const struct file_system *fs,
                        const char *path, struct fst_error *error);
