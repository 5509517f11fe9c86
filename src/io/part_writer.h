/*
 * One part file of saved rows: as text, a row a line as Spark's saveAsTextFile prints it (io/row_text.h), or as records,
 * one behind the other and nothing else: FIXED as it is, I64 and F64 as they are in memory, of a pair the key and then
 * the value.
 *
 * One thread at a time; meant to be kept and opened again, which allocates nothing once it is warm.
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

/* Whether rows of @type can be records: BYTES have no one length. */
static inline bool part_records_of(fst_type type)
{
        return type.key != FST_KIND_BYTES && type.value != FST_KIND_BYTES;
}

/* Aborts without memory. */
struct part_writer *part_writer_new(void);

/* An open file is closed, but not removed. NULL is allowed. */
void part_writer_free(struct part_writer *w);

/*
 * Create the file of full path @path (io/fs/path.h; copied) with its directories; if its suffix is a codec's
 * (io/codec/codec.h), what goes into it is packed by that. Errors name the path.
 */
int part_writer_open(struct part_writer *w, const char *path, enum part_form form, struct fst_error *error);

/*
 * Append the rows of @batch. Errors: -ENOSPC, -EDQUOT, -EFBIG, -EIO …, with the path; the file is then only good for
 * part_writer_abandon.
 */
int part_writer_write(struct part_writer *w, const fst_batch *batch, struct fst_error *error);

/* Write what is buffered and close. Only after 0 is the file whole. */
int part_writer_close(struct part_writer *w, struct fst_error *error);

/* Close without writing what is buffered. The file stays for the committer's abort to remove. Nothing open: nothing. */
void part_writer_abandon(struct part_writer *w);

/* Since open: bytes given, which are those of the file (outputMetrics' bytesWritten) once it is closed, and rows. */
uint64_t part_writer_bytes(const struct part_writer *w);
uint64_t part_writer_rows(const struct part_writer *w);
