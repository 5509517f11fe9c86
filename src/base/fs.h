/* Blocking helpers for files and directories (read, write, create, remove) and unique names for them. */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <sys/types.h>

struct fst_error;

/*
 * Appends the content of the file at @path to @out. Returns 0, -EFBIG if the file is longer than @most bytes, or
 * another -errno with "PATH: …" in @error. @out is unchanged on failure.
 */
int file_text_read(const char *path, size_t most, struct buf *out, struct fst_error *error);

/*
 * Writes @n bytes with as many calls as needed. Returns 0, or the -errno of the failed write, before which some bytes
 * may have been written. @fd must be blocking.
 */
int write_all(int fd, const void *data, size_t n);

/*
 * Creates a directory and its parents, as mkdir -p. New directories get @mode less the umask. Returns 0 if @path is a
 * directory in the end, else the -errno of the failed mkdir: -ENOTDIR if a part of the path is not a directory.
 */
int make_dirs(const char *path, mode_t mode);

/*
 * Removes a directory tree. Does not follow symbolic links. Skips entries that it cannot remove. @path may be NULL or
 * missing.
 */
void remove_tree(const char *path);

#define UUID_TEXT 37 /* with the NUL */

/* Writes a random UUID (version 4), "0d1e2f3a-…", into @text, for names that must be unique. Any thread. */
void uuid_draw(char text[static UUID_TEXT]);
