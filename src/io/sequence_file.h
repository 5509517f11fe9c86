/*
 * Hadoop's SequenceFile, version 6, uncompressed, with keys NullWritable and values BytesWritable.
 *
 *      header   "SEQ" 6, the classes of key and value, whether it is compressed, metadata, 16 random bytes (the sync)
 *      record   length int32 | length of the key int32 (0) | value: length int32, bytes
 *      mark     -1 int32 | the sync
 *
 * Numbers are big-endian. A mark comes before a record that begins SEQUENCE_SYNC_INTERVAL bytes or more after the last
 * one. A split has the records between the first mark at or after its start (for start 0: the header) and the first mark
 * at or after its end. Compressed files are refused.
 *
 * A slot keeps a writer and a reader and reopens them. One thread at a time.
 */
#pragma once

#include "io/input_splits.h"

#include <firesteel/types.h>

struct fst_error;

#define SEQUENCE_SYNC_INTERVAL 102400

/* ------------------------------------------------------------------------------------------------------ writing */

struct sequence_writer;

struct sequence_writer *sequence_writer_new(void);
void sequence_writer_free(struct sequence_writer *w); /* NULL is allowed */

/* Creates the file of full path @path (copied), and its directories. */
int sequence_writer_open(struct sequence_writer *w, const char *path, struct fst_error *error);

/* Appends a record. Returns -E2BIG for 2 GiB. After an error only abandon and free are allowed. */
int sequence_writer_append(struct sequence_writer *w, fst_bytes value, struct fst_error *error);

/* The file is complete only if this returns 0. */
int sequence_writer_close(struct sequence_writer *w, struct fst_error *error);

/* Discards the file. Does nothing if none is open. */
void sequence_writer_abandon(struct sequence_writer *w);

/* Bytes written since open; complete only after close. */
uint64_t sequence_writer_bytes(const struct sequence_writer *w);

/* ------------------------------------------------------------------------------------------------------ reading */

struct sequence_reader;

struct sequence_reader *sequence_reader_new(void);
void sequence_reader_free(struct sequence_reader *r); /* NULL is allowed */

/*
 * Opens @split of a file, whose path must live until the next open, close or free. Returns -EBADMSG if it is not a
 * SequenceFile or is damaged, -ENOTSUP for compressed files, other classes and other versions. Messages name the path.
 */
int sequence_reader_open(struct sequence_reader *r, const struct input_split *split, struct fst_error *error);

/* Reads the next value, valid until the next call. Returns 1, 0 at the end of the split, or negative as open. */
int sequence_reader_next(struct sequence_reader *r, fst_bytes *value, struct fst_error *error);

void sequence_reader_close(struct sequence_reader *r);

/* Bytes of the split's records read so far. */
uint64_t sequence_reader_bytes(const struct sequence_reader *r);
