/* Small things about files and directories that block: read, write, make, remove. */
#pragma once

#include "base/buf.h"

#include <stddef.h>
#include <sys/types.h>

struct fst_error;

/*
 * Appends the content of the file at @path to @out. Returns 0, -EFBIG if it is longer than @most bytes, or another
 * -errno with "PATH: …" in @error if it cannot be read; then @out is as it was.
 */
int file_text_read(const char *path, size_t most, struct buf *out, struct fst_error *error);

/*
 * Writes @n bytes, with as many calls as that takes. Returns 0, or the -errno of the write that failed: some bytes may
 * be written then. For descriptors that block.
 */
int write_all(int fd, const void *data, size_t n);

/*
 * Makes a directory and those above it, as mkdir -p. @mode, less the umask, is that of new ones. Returns 0 if @path is
 * a directory in the end, or the -errno of what could not be made: -ENOTDIR if something else has a name on the way.
 */
int make_dirs(const char *path, mode_t mode);

/*
 * Removes a directory with all that is in it. Links are removed, not followed; what cannot be removed stays. @path may
 * be NULL, or may not exist.
 */
void remove_tree(const char *path);
