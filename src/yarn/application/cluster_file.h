/*
 * Files on the cluster's file system that containers get (YARN's local resources). A file is stored once under the
 * SHA-256 of its content, so later applications upload nothing, and NodeManagers that have it download nothing.
 */
#pragma once

#include <stdint.h>

struct fst_conf;
struct fst_error;

enum cluster_file_visibility { CLUSTER_FILE_PUBLIC = 1, CLUSTER_FILE_PRIVATE, CLUSTER_FILE_APPLICATION };

/* A local resource. */
struct cluster_file {
        char *path;                /* full path: "hdfs://127.0.0.1:9000/user/me/…"; owned */
        int64_t size, modified_ms; /* exactly as the file system says: YARN refuses others */
        enum cluster_file_visibility visibility;
};

/*
 * Stores the local file @local in the directory @folder (any user's text, "" or NULL: .firesteel in the user's home
 * directory on fs.defaultFS) as @sha256@suffix, unless it is there. Blocks. Returns 0, or negative with @error.
 */
int cluster_file_store(const char *folder, const char *local, const char *sha256, const char *suffix,
                       struct cluster_file *out, struct fst_error *error);
void cluster_file_deinit(struct cluster_file *file);

/*
 * The file with the link @link among those that a submission has distributed: spark.yarn.cache.* of @conf. Returns 0,
 * or -ENOENT with @error.
 */
int cluster_file_of_cache(const struct fst_conf *conf, const char *link, struct cluster_file *out,
                          struct fst_error *error);
