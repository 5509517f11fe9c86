/*
 * Files of Spark's saveAsObjectFile for an RDD of byte arrays, which PySpark's saveAsPickleFile and pickleFile write and
 * read: a SequenceFile (io/sequence_file.h) whose values are arrays of up to JAVA_OBJECT_GROUP byte arrays
 * (io/java_arrays.h). Rows are frames (firesteel/frames.h): one byte array, or null.
 *
 * A slot keeps a writer and a reader and reopens them. One thread at a time.
 */
#pragma once

#include "io/input_splits.h"

#include <firesteel/iter.h>

struct fst_error;

#define JAVA_OBJECT_GROUP 10 /* Spark's */

struct java_object_writer;

struct java_object_writer *java_object_writer_new(void);
void java_object_writer_free(struct java_object_writer *w); /* NULL is allowed */

/* Creates the file of full path @path (copied), and its directories. */
int java_object_writer_open(struct java_object_writer *w, const char *path, struct fst_error *error);

/* Appends rows of BYTES. Returns -EBADMSG for a row that is not one frame. After an error only abandon and free are
 * allowed. */
int java_object_writer_write(struct java_object_writer *w, const fst_batch *batch, struct fst_error *error);

/* The file is complete only if this returns 0. */
int java_object_writer_close(struct java_object_writer *w, struct fst_error *error);
void java_object_writer_abandon(struct java_object_writer *w);
uint64_t java_object_writer_bytes(const struct java_object_writer *w);
uint64_t java_object_writer_rows(const struct java_object_writer *w);

struct java_object_reader;

struct java_object_reader *java_object_reader_new(void);
void java_object_reader_free(struct java_object_reader *r); /* NULL is allowed */

/* Opens @split. Returns as sequence_reader_open. */
int java_object_reader_open(struct java_object_reader *r, const struct input_split *split, struct fst_error *error);

/* Returns the next rows as frames, valid until the next call; 0 with @batch->rows of 0 is the end. Errors as
 * sequence_reader_next and java_arrays_read. */
int java_object_reader_next(struct java_object_reader *r, fst_batch *batch, struct fst_error *error);

void java_object_reader_close(struct java_object_reader *r);
uint64_t java_object_reader_bytes(const struct java_object_reader *r);
