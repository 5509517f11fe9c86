/* Copies a file from one file system to another. */
#pragma once

#include "io/fs/file_system.h"

/*
 * Copies @from, open for reading, to @path on @fs, and replaces a file that exists. Removes an incomplete copy. Returns
 * 0, or the error of either file system.
 */
int file_copy(struct open_file *from, const struct file_system *fs, const char *path, struct fst_error *error);

/* Writes the @n bytes at @data to the file @path on @fs. As file_copy. */
int file_put(const struct file_system *fs, const char *path, const void *data, size_t n, struct fst_error *error);

/*
 * Creates @path on @fs with what @write sends to the file. As file_copy, and returns the error of @write.
 */
typedef int file_writer(void *context, struct open_file *file, struct fst_error *error);
int file_create(const struct file_system *fs, const char *path, file_writer *write, void *context,
                struct fst_error *error);
