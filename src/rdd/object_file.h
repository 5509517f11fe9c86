/*
 * Object files: rows as they are, of any type, in a format of our own (docs/object-files.md). What
 * fst_save_as_object_file writes and fst_object_file reads, and what is kept of a checkpoint.
 *
 *      header    32 bytes   magic "FSOB", version, kinds and sizes of the type, checksum
 *      frames               pages (store/page_frame.h), one behind the other
 *      index                where each frame begins, u64
 *      footer    40 bytes   rows, frames, where the index begins, checksum of these and the index, magic "FSOE",
 * version
 *
 * Frames can be read alone, so that several tasks share a large file: a split of it owns the frames that begin in it.
 * Whatever is damaged or cut off is noticed: each page, the header, and index and footer have checksums.
 *
 * A writer and a reader are kept by a slot and opened again; one thread at a time.
 */
#pragma once

#include "io/input_splits.h"

#include <firesteel/iter.h>

#define OBJECT_FILE_VERSION 1
#define OBJECT_FILE_HEADER 32
#define OBJECT_FILE_FOOTER 40

struct fst_error;
struct open_file;

/* The type of the rows of the file @path (full): 0; -EBADMSG for what is no object file, -ENOTSUP for a version that is
 * not known, each with the path; what reading answers. */
int object_file_type(const char *path, fst_type *type, struct fst_error *error);

/* ------------------------------------------------------------------------------------------------------ writing */

struct object_writer;

struct object_writer *object_writer_new(void);
void object_writer_free(struct object_writer *w); /* NULL is allowed */

/* Create the file of full path @path (copied) for rows of @type, with its directories. */
int object_writer_open(struct object_writer *w, const char *path, fst_type type, struct fst_error *error);

/* Append the rows of @batch, which are of that type. After an error only abandon and free. */
int object_writer_write(struct object_writer *w, const fst_batch *batch, struct fst_error *error);

/* Write what is left, index and footer, and close. Only after 0 is the file whole. */
int object_writer_close(struct object_writer *w, struct fst_error *error);

/* Give up the file. Nothing open: nothing. */
void object_writer_abandon(struct object_writer *w);

/* Since open. Bytes are all of the file's once it is closed. */
uint64_t object_writer_bytes(const struct object_writer *w);
uint64_t object_writer_rows(const struct object_writer *w);

/* ------------------------------------------------------------------------------------------------------ reading */

struct object_reader;

struct object_reader *object_reader_new(void);
void object_reader_free(struct object_reader *r); /* NULL is allowed */

/*
 * Begin with @split of a file whose rows are of @type; its path lives until the next open, close or free. -EINVAL for
 * rows of another type, naming both; -EBADMSG for what is damaged or ends too early; -ENOTSUP for another version.
 */
int object_reader_open(struct object_reader *r, const struct input_split *split, fst_type type,
                       struct fst_error *error);

/*
 * The next rows, at least one: 0 with @batch->rows of 0 at the end. Valid until the next call; BYTES point into the
 * *@stable_size bytes from *@stable on. Errors as open.
 */
int object_reader_next(struct object_reader *r, fst_batch *batch, const void **stable, size_t *stable_size,
                       struct fst_error *error);

void object_reader_close(struct object_reader *r);

/* Bytes read of the present split's frames. */
uint64_t object_reader_bytes(const struct object_reader *r);
