/*
 * The work directory of a worker: work/APP/N of executors, work/DRIVER of drivers, each with stdout and stderr.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

/* Creates a directory and its parents. An existing one is fine. Negative with @error, which names it. */
int work_dir_make(const char *path, struct fst_error *error);

/* Removes the directories in @path without a file changed since @before (ms since 1970), except those that @used
 * returns true for. Logs each and returns their number. Blocks: run it on a pool thread. Negative with @error if
 * @path cannot be read.
 */
int work_dir_clean(const char *path, int64_t before, bool (*used)(void *context, const char *name), void *context,
                   struct fst_error *error);
