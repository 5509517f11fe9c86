/*
 * The application's files in one process, by name (firesteel/shared.h: fst_add_file, fst_file). The driver copies them
 * to its own directory. An executor receives their hashes and fetches files on demand through the host's cache
 * (exec/app/file_cache.h). Archives are unpacked into directories of their names.
 *
 * An executor process calls
 *
 *      app_files_new                   with a directory of its own, and the cache
 *      exec_env.files                  = the result, before the first task (fst_file uses it)
 *      AppConfig.files, and later ones app_files_announce
 *      before the tasks of a stage     app_files_link into the working directory, unless others share it
 *      modules                         app_files_path, then the loader
 *
 * Threads: any, for all functions.
 */
#pragma once

#include "exec/app/archive.h"

#include "exec/app/file_cache.h"

#include <stdbool.h>

struct app_files;

/* Values of File.Use in rpc/control.proto. */
enum app_file_use { APP_FILE, APP_ARCHIVE, APP_MODULE };

/* Makes @dir. app_files_free removes it with its content. @cache is borrowed; NULL: nothing is fetched. */
int app_files_new(const char *dir, struct file_cache *cache, const struct archive_limits *archives,
                  struct app_files **files, struct fst_error *error);

/* NULL is allowed. */
void app_files_free(struct app_files *files);

/*
 * Copies the file at @path and registers it as @name (NULL: the last part of @path). Putting the same name and bytes
 * again has no effect. Returns -EEXIST if the name has other bytes, -EISDIR, -EINVAL for an invalid name, or an error
 * of reading or writing.
 */
int app_files_put(struct app_files *files, const char *path, const char *name, enum app_file_use use,
                  struct fst_error *error);

/* Registers a file of the driver for fetching. Returns -EEXIST for another file of that name, -EINVAL as above. */
int app_files_announce(struct app_files *files, const char *name, const uint8_t hash[static FILE_HASH_SIZE],
                       uint64_t size, enum app_file_use use, struct fst_error *error);

/*
 * Registers the file or directory at @path, which lives longer than @files and is neither copied nor linked: the
 * cluster manager has put it there. Returns 0, -EEXIST for another file of that name, -ENOENT, or -EINVAL as above.
 */
int app_files_add_in_place(struct app_files *files, const char *name, const char *path, enum app_file_use use,
                           struct fst_error *error);

/* Files with unknown names are looked for in the directory @dir, which is copied: a container of YARN has files there.
 */
void app_files_set_container(struct app_files *files, const char *dir);

/*
 * Returns the local path, which lives as long as @files. One caller fetches and unpacks the file if needed. The others
 * wait. Returns -ENOENT with @error, which lists the known files, or an error of fetching or unpacking.
 */
int app_files_path(struct app_files *files, const char *name, const int *stopped, const char **path,
                   struct fst_error *error);

/* The directory with the files by name, as long as @files. */
const char *app_files_directory(const struct app_files *files);

/*
 * Returns the directory with every file and archive by name, after it has fetched those that are missing. It lives as
 * long as @files. Errors as above.
 */
int app_files_dir(struct app_files *files, const int *stopped, const char **dir, struct fst_error *error);

/*
 * Returns the copy of a file that was put (of an archive, the packed file), for serving it. -ENOENT if it is unknown.
 */
int app_files_source(struct app_files *files, const char *name, const char **path);

/*
 * Fetches every file and archive that is new since the last call and links it by name in @dir. An existing link of ours
 * stays. Any other existing file is an error. The first such error is reported after all files were tried. A fetch
 * error ends the call at once. The next call continues there.
 */
int app_files_link(struct app_files *files, const char *dir, struct fst_error *error);

/* True if app_files_link has nothing to do. */
bool app_files_are_linked(struct app_files *files);
