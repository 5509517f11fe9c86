/*
 * The application's files on the driver: fst_add_file, spark.files and similar (firesteel/shared.h). Each is copied
 * into a directory of the driver (exec/app/app_files.h).
 *
 * A cluster backend calls application_files_set_added. Its function is called for every file, including the files added
 * before. It serves the file (driver/backend/file_server.h) and sends executors its name, hash, size and use.
 */
#pragma once

#include "exec/app/app_files.h"

#include <firesteel/shared.h>

struct application_files;

/* Never NULL. */
struct application_files *application_files_new(void);

/* NULL is allowed. */
void application_files_free(struct application_files *files);

/*
 * Add the files of spark.files, spark.archives and the cluster manager's own keys. Called before the first task.
 * Returns 0, or a negative status with
 * @error, which names the key.
 */
int application_files_configured(fst_context *sc, struct fst_error *error);

/*
 * Adds the file at @path, which must not change, as @name. Executors fetch it only when they ask for it, and it is not
 * among the application's files for programs. Returns as fst_add_file, with @error.
 */
int application_files_add_module(fst_context *sc, const char *name, const char *path, struct fst_error *error);

/*
 * @path is the copy, which does not change. For an archive it is the archive itself. Runs on any thread of the
 * application.
 */
typedef void (*application_file_added_fn)(void *owner, const char *name, const char *path, enum app_file_use use);

void application_files_set_added(fst_context *sc, application_file_added_fn added, void *owner);

/*
 * The directory with the files of this driver by name, to which a program may add its own. Makes it if needed. NULL
 * with
 * @error on failure. Valid until the context stops.
 */
const char *application_files_directory(fst_context *sc, struct fst_error *error);
