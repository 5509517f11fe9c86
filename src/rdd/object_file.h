/*
 * Object files: rows of any type in Firesteel's own format (docs/object-files.md). fst_save_as_object_file,
 * fst_object_file and checkpoints use them.
 *
 *      header    32 bytes   magic "FSOB", version, kinds and sizes of the type, checksum
 *      structs              descriptions of structs with fields, if the type has such, and their checksum
 *      frames               pages (store/page_frame.h), one after another
 *      index                the offset of each frame, u64
 *      footer    40 bytes   rows, frames, offset of the index, checksum of these and the index, magic "FSOE", version
 *
 * Each frame can be read alone, so several tasks share a large file: a split owns the frames that begin in it.
 * Checksums on the header, on each page, and on index and footer detect damage and truncation.
 *
 * A slot keeps a writer and a reader and reopens them. One thread at a time.
 */
#pragma once

#include "io/input_splits.h"

#include <firesteel/iter.h>

#define OBJECT_FILE_VERSION 1
#define OBJECT_FILE_HEADER 32
#define OBJECT_FILE_FOOTER 40

struct fst_error;

/* Checks that the file @path (full) has rows of @type. Returns 0, -EINVAL if it has others (the message names both), or
 * -EBADMSG for any other kind of file, -ENOTSUP for an unknown version (messages name the path), or the error of the
 * read. */
int object_file_check(const char *path, fst_type type, struct fst_error *error);

/* ------------------------------------------------------------------------------------------------------ writing */

struct object_writer;

struct object_writer *object_writer_new(void);
void object_writer_free(struct object_writer *w); /* NULL is allowed */

/* Creates the file of full path @path (copied) for rows of @type, and its directories. */
int object_writer_open(struct object_writer *w, const char *path, fst_type type, struct fst_error *error);

/* Appends the rows of @batch, which have that type. After an error only abandon and free are allowed. */
int object_writer_write(struct object_writer *w, const fst_batch *batch, struct fst_error *error);

/* Writes the remaining rows, index and footer, and closes. The file is complete only if this returns 0. */
int object_writer_close(struct object_writer *w, struct fst_error *error);

/* Discards the file. Does nothing if none is open. */
void object_writer_abandon(struct object_writer *w);

/* Counts since open. Bytes are complete only after close. */
uint64_t object_writer_bytes(const struct object_writer *w);
uint64_t object_writer_rows(const struct object_writer *w);

/* ------------------------------------------------------------------------------------------------------ reading */

struct object_reader;

struct object_reader *object_reader_new(void);
void object_reader_free(struct object_reader *r); /* NULL is allowed */

/*
 * Opens @split of a file for rows of @type. The split's path must live until the next open, close or free. Returns
 * -EINVAL if the rows have another type (the message names both), -EBADMSG for a damaged or truncated file, -ENOTSUP
 * for another version.
 */
int object_reader_open(struct object_reader *r, const struct input_split *split, fst_type type,
                       struct fst_error *error);

/* Returns the next rows, at least one; 0 with @batch->rows of 0 is the end. They are valid until the next call. BYTES
 * point into the *@stable_size bytes at *@stable. Errors as for open. */
int object_reader_next(struct object_reader *r, fst_batch *batch, const void **stable, size_t *stable_size,
                       struct fst_error *error);

void object_reader_close(struct object_reader *r);

/* Bytes read of the current split's frames. */
uint64_t object_reader_bytes(const struct object_reader *r);
