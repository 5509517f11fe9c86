/*
 * Files on the cluster's file system that are stored once under the SHA-256 of their content, so later applications
 * upload nothing, and NodeManagers that have them download nothing.
 *
 *      r = cluster_file_digest(local, sha256, error);
 *      r = cluster_file_store(&folder, local, sha256, "-data.txt", &resource, error);
 *
 * Files found on the cluster are remembered for CLUSTER_FILE_MEMORY_MS, so many submissions of one process ask once;
 * several threads may ask at the same time, and one of them uploads. A file that is removed meanwhile makes the
 * application fail, with the file's name; then cluster_files_forget makes the next submission upload it again.
 */
#pragma once

#include <stdbool.h>

struct file_system;
struct fst_error;
struct local_resource;

#define CLUSTER_FILE_DIGEST 65 /* 64 hexadecimal digits and a NUL */
#define CLUSTER_FILE_MEMORY_MS 60000

/* A directory with such files. */
struct cluster_folder {
        const struct file_system *fs; /* borrowed */
        char *path;                   /* full path; owned */
        char *owner;                  /* files are remembered for this name; NULL: they are not. Owned */
        bool is_private;              /* only its user may enter it (mode 0700) */
};

/*
 * Finds the directory @text (a user's, "" or NULL: .firesteel in the user's home directory on fs.defaultFS) in the file
 * systems of the process (io/fs/file_systems.h), and creates nothing. Returns 0, or negative with @error.
 */
int cluster_folder_open(const char *text, struct cluster_folder *out, struct fst_error *error);
void cluster_folder_deinit(struct cluster_folder *folder);

/* The digest of the local file @path, which is read once unless its size or time changes. Returns 0, or -errno with
 * @error. */
int cluster_file_digest(const char *path, char sha256[static CLUSTER_FILE_DIGEST], struct fst_error *error);

/*
 * Stores the local file @local in @folder as @sha256@suffix, unless it is there. Blocks. Returns 0 with path, size,
 * time and visibility in @out, or negative with @error: -EACCES for a private directory that other users may enter.
 */
int cluster_file_store(const struct cluster_folder *folder, const char *local, const char *sha256, const char *suffix,
                       struct local_resource *out, struct fst_error *error);

/* Forgets what is remembered of the file at @path. */
void cluster_files_forget(const char *path);
