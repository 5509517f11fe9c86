/*
 * Writes one part file of saved rows: as text, one row a line as Spark's saveAsTextFile prints it (io/row_text.h), or
 * as contiguous records: FIXED unchanged, I64 and F64 as in memory, a pair as key and value.
 *
 * One thread at a time. Keep a writer and reopen it: later files need no allocation.
 */
#pragma once

#include <firesteel/iter.h>

#include <stdint.h>

struct fst_error;
struct part_writer;

enum part_form {
        PART_TEXT,
        PART_RECORDS,
};

/* True if rows of @type can be records: BYTES have no fixed length. */
static inline bool part_records_of(fst_type type)
{
        return type.key != FST_KIND_BYTES && type.value != FST_KIND_BYTES;
}

/* Aborts if memory is exhausted. */
struct part_writer *part_writer_new(void);

/* Closes an open file but does not remove it. NULL is allowed. */
void part_writer_free(struct part_writer *w);

/* Creates the file of full path @path (io/fs/path.h; copied) and its directories. If its suffix belongs to a codec
 * (io/codec/codec.h), the content is compressed. Errors name the path. */
int part_writer_open(struct part_writer *w, const char *path, enum part_form form, struct fst_error *error);

/* Appends the rows of @batch. Errors: -ENOSPC, -EDQUOT, -EFBIG, -EIO …, with the path. After an error only
 * part_writer_abandon is allowed. */
int part_writer_write(struct part_writer *w, const fst_batch *batch, struct fst_error *error);

/* Writes buffered data and closes. The file is complete only if this returns 0. */
int part_writer_close(struct part_writer *w, struct fst_error *error);

/* Closes without writing buffered data. The committer's abort removes the file. Does nothing if no file is open. */
void part_writer_abandon(struct part_writer *w);

/* Since open: bytes given to the file (after close outputMetrics' bytesWritten), and rows. */
uint64_t part_writer_bytes(const struct part_writer *w);
uint64_t part_writer_rows(const struct part_writer *w);
