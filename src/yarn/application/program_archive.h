/*
 * This Firesteel as one archive (.tar.gz), for machines without it: bin/firesteel, lib/libfiresteel.so.N,
 * lib/firesteel/ with the modules, and lib/ with the libraries that they need, except those of the C library.
 *
 * The archive is kept in $XDG_CACHE_HOME/firesteel (~/.cache/firesteel) and built once for each build of Firesteel. The
 * same files give the same bytes.
 */
#pragma once

struct cluster_folder;
struct fst_conf;
struct fst_error;
struct local_resource;

#define PROGRAM_ARCHIVE_DIGEST 65 /* 64 hexadecimal digits and a NUL */

struct program_archive {
        char *path;                          /* owned */
        char sha256[PROGRAM_ARCHIVE_DIGEST]; /* of the archive */
};

/*
 * The archive of this build. Starts `firesteel yarn-am --write-archive` and waits for it if the archive is not cached
 * yet. The process remembers the archive for a minute, so a build that replaces this one meanwhile is used later. Any
 * thread may call it. @local_dir: directory of the cache if there is none in the home directory; NULL: /tmp. Returns 0,
 * or negative with @error.
 */
int program_archive_find(const char *local_dir, struct program_archive *out, struct fst_error *error);

/*
 * Finds the archive and stores it in @folder (spark.firesteel.yarn.cacheDir) on the cluster. @out is the file that
 * containers get as YARN_PROGRAM_LINK; the caller owns it. Returns 0, or negative with @error. Blocks.
 */
int program_archive_store(const struct fst_conf *conf, const struct cluster_folder *folder, struct local_resource *out,
                          struct fst_error *error);
void program_archive_deinit(struct program_archive *archive);

/*
 * Writes the archive to @path and its digest to @sha256. Loads all modules to find their libraries, so call it only in
 * a process that does nothing else. Returns 0, or negative with @error.
 */
int program_archive_write(const char *path, char sha256[PROGRAM_ARCHIVE_DIGEST], struct fst_error *error);
