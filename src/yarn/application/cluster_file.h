/*
 * Files on the cluster's file system that are stored once under the SHA-256 of their content, so later applications
 * upload nothing, and NodeManagers that have them download nothing.
 */
#pragma once

struct fst_error;
struct local_resource;

/*
 * Stores the local file @local in the directory @folder (any user's text, "" or NULL: .firesteel in the user's home
 * directory on fs.defaultFS) as @sha256@suffix, unless it is there. Blocks. Returns 0 with path, size, time and
 * visibility in @out, or negative with @error.
 */
int cluster_file_store(const char *folder, const char *local, const char *sha256, const char *suffix,
                       struct local_resource *out, struct fst_error *error);
