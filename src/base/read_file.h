/* The whole content of a small file. */
#pragma once

#include "base/buf.h"

#include <stddef.h>

struct fst_error;

/*
 * Append what the file at @path holds to @out. -errno with "PATH: …" in @error if it cannot be read, -EFBIG from more
 * than @most bytes on; @out is what it was then.
 */
int file_text_read(const char *path, size_t most, struct buf *out, struct fst_error *error);
