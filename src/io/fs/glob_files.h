/* Which files a pattern (io/fs/glob.h) matches, as Hadoop's FileSystem.globStatus finds them. */
#pragma once

#include "io/fs/file_system.h"

/*
 * Append what @pattern, a full path (io/fs/path.h) with magic or without, matches on @fs to @found, sorted by the bytes
 * of their paths; the file system's stat and list are all that is used. Nothing is added for what is not there.
 * -EINVAL for a pattern that is none, -E2BIG for one that stands for too many, and what the file system answers.
 */
int glob_files(const struct file_system *fs, const char *pattern, struct file_list *found, struct fst_error *error);
