/*
 * The application's files in one process, by their names (firesteel/shared.h: fst_add_file, fst_file). On the driver
 * they are copied here; an executor learns of their hashes and fetches what is asked for through the host's cache
 * (exec/app/file_cache.h). Archives are unpacked into directories of their names.
 *
 * An executor process calls
 *
 *      app_files_new                   with a directory of its own, and the cache
 *      exec_env.files                  = it, before the first task (fst_file asks there)
 *      AppConfig.files, and later ones app_files_announce
 *      before the tasks of a stage     app_files_link into the working directory, unless others share it
 *      modules                         app_files_path, then the loader
 *
 * Threads: all functions from any.
 */
#pragma once

#include "exec/app/archive.h"

#include "exec/app/file_cache.h"

#include <stdbool.h>

struct app_files;

/* As in rpc/control.proto, File.Use. */
enum app_file_use { APP_FILE, APP_ARCHIVE, APP_MODULE };

/* @dir is made, and removed by app_files_free with all that is in it. @cache is borrowed; NULL: nothing is fetched. */
int app_files_new(const char *dir, struct file_cache *cache, const struct archive_limits *archives,
                  struct app_files **files, struct fst_error *error);

/* NULL is allowed. */
void app_files_free(struct app_files *files);

/*
 * Copy the file at @path and know it by @name (NULL: the last part of @path). A file of the same name and bytes is that
 * file. -EEXIST for another; -EISDIR; -EINVAL for a name that is none; what reading and writing answer.
 */
int app_files_put(struct app_files *files, const char *path, const char *name, enum app_file_use use,
                  struct fst_error *error);

/* A file of the driver's that may be asked for. -EEXIST if there is another of that name; -EINVAL as above. */
int app_files_announce(struct app_files *files, const char *name, const uint8_t hash[static FILE_HASH_SIZE],
                       uint64_t size, enum app_file_use use, struct fst_error *error);

/*
 * Where it lies here, fetched and unpacked if need be, by one of those who ask: *@path lives as long as @files. -ENOENT
 * with @error, which says what files there are; and what fetching and unpacking answer.
 */
int app_files_path(struct app_files *files, const char *name, const int *stopped, const char **path,
                   struct fst_error *error);

/* Of a file that was put: its copy, of an archive the archive itself, as it is to be served. -ENOENT. */
int app_files_source(struct app_files *files, const char *name, const char **path);

/*
 * Fetch every file and archive that this was not asked for yet, and have each under its name in @dir, as a symbolic
 * link. What is there already is left alone if it is such a link, and an error otherwise, of which the first is told
 * when all was tried. It ends where something cannot be fetched; the next call begins there.
 */
int app_files_link(struct app_files *files, const char *dir, struct fst_error *error);

/* Whether there is nothing that app_files_link would do. */
bool app_files_are_linked(struct app_files *files);
