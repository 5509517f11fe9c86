/*
 * The work directory of a worker: work/APP/N of executors, work/DRIVER of drivers, each with stdout and stderr.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

/* A directory with its parents; one that is there is fine. Negative with @error, which names it. */
int work_dir_make(const char *path, struct fst_error *error);

/*
 * Remove the directories in @path in which no file was changed since @before (ms since 1970), but for those that @used
 * names. Blocks; for a thread of its own. How many were removed; each is told in the log. Negative with @error if @path
 * cannot be read.
 */
int work_dir_clean(const char *path, int64_t before, bool (*used)(void *context, const char *name), void *context,
                   struct fst_error *error);
