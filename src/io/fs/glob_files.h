/* Finds the files that a pattern (io/fs/glob.h) matches, like Hadoop's FileSystem.globStatus. */
#pragma once

#include "io/fs/file_system.h"

/*
 * Appends the matches of @pattern, a full path (io/fs/path.h) with or without magic, on @fs to @found, sorted by the
 * bytes of their paths. Uses only the file system's stat and list. Ignores paths that do not exist. Returns -EINVAL for
 * an invalid pattern, -E2BIG if it expands to too many, or the error of the file system.
 */
int glob_files(const struct file_system *fs, const char *pattern, struct file_list *found, struct fst_error *error);
