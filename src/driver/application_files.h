/*
 * The application's files on the driver: fst_add_file, spark.files and their like (firesteel/shared.h). They are copied
 * into a directory of the driver's (exec/app/app_files.h), from where a cluster backend has them served.
 *
 * How the cluster backend is to call it: application_files_set_added tells of every file, those that are there already
 * too; it has each served (driver/backend/file_server.h) and tells executors of its name, hash, size and use.
 */
#pragma once

#include "exec/app/app_files.h"

#include <firesteel/shared.h>

struct application_files;

/* Never NULL. */
struct application_files *application_files_new(void);

/* NULL is allowed. */
void application_files_free(struct application_files *files);

/* Add what spark.files and spark.archives list. Negative with @error, which names the key. Before the first task. */
int application_files_configured(fst_context *sc, struct fst_error *error);

/* @path is of the copy, which does not change; of an archive, of the archive itself. Any thread of the application. */
typedef void (*application_file_added_fn)(void *owner, const char *name, const char *path, enum app_file_use use);

void application_files_set_added(fst_context *sc, application_file_added_fn added, void *owner);
