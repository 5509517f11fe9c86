/*
 * Writes a tar (ustar) into memory with libarchive. Its bytes depend only on the arguments: times are 0, owner names
 * are empty.
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

/* @out receives the bytes and must outlive the writer. Returns -ENOTSUP without libarchive. */
int tar_writer_init(struct tar_writer *w, struct buf *out, struct fst_error *error);
void tar_writer_deinit(struct tar_writer *w);

/*
 * Adds an entry. @name is relative, without a leading slash. @mode includes the type (S_IFREG, S_IFDIR, S_IFLNK). @data
 * is a file's content, or a link's target as a string.
 */
int tar_writer_add(struct tar_writer *w, const char *name, mode_t mode, int user, const void *data, size_t n,
                   struct fst_error *error);

/* Writes the end of the archive. */
int tar_writer_end(struct tar_writer *w, struct fst_error *error);
