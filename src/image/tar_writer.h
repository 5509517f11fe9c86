/*
 * A tar (ustar) in memory whose bytes depend on nothing but what is said here: times are 0, names of owners are empty.
 * By libarchive.
 */
#pragma once

#include "base/buf.h"

#include <sys/types.h>

struct archive;
struct fst_error;

struct tar_writer {
        const struct archive_library *lib;
        struct archive *tar;
        struct buf *out;
};

/* @out takes the bytes and outlives the writer. -ENOTSUP without libarchive. */
int tar_writer_init(struct tar_writer *w, struct buf *out, struct fst_error *error);
void tar_writer_deinit(struct tar_writer *w);

/*
 * An entry: @name relative, without a slash at its beginning; @mode with its type (S_IFREG, S_IFDIR, S_IFLNK); @data is
 * a file's content or a link's target, a string.
 */
int tar_writer_add(struct tar_writer *w, const char *name, mode_t mode, int user, const void *data, size_t n,
                   struct fst_error *error);

/* Write the end. */
int tar_writer_end(struct tar_writer *w, struct fst_error *error);
