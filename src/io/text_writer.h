/*
 * One part file of text: a row a line, as Spark's saveAsTextFile prints it. BYTES go as they are, I64 and F64 as
 * Java prints them, FIXED as two hexadecimal digits a byte, pairs as "(key,value)".
 *
 * One thread at a time; meant to be kept and opened again, which allocates nothing once it is warm.
 */
#pragma once

#include <firesteel/iter.h>

#include <stdint.h>

struct fst_error;
struct text_writer;

/* Aborts without memory. */
struct text_writer *text_writer_new(void);

/* An open file is closed, but not removed. NULL is allowed. */
void text_writer_free(struct text_writer *w);

/*
 * Create the file of full path @path (io/paths.h; copied) with its directories; if its suffix is a codec's
 * (io/codec.h), what goes into it is packed by that. Errors name the path.
 */
int text_writer_open(struct text_writer *w, const char *path, struct fst_error *error);

/*
 * Append the rows of @batch. Errors: -ENOSPC, -EDQUOT, -EFBIG, -EIO …, with the path; the file is then only good for
 * text_writer_abandon.
 */
int text_writer_write(struct text_writer *w, const fst_batch *batch, struct fst_error *error);

/* Write what is buffered and close. Only after 0 is the file whole. */
int text_writer_close(struct text_writer *w, struct fst_error *error);

/* Close without writing what is buffered. The file stays for the committer's abort to remove. Nothing open: nothing. */
void text_writer_abandon(struct text_writer *w);

/* Since open: bytes given, which are those of the file (outputMetrics' bytesWritten) once it is closed, and rows. */
uint64_t text_writer_bytes(const struct text_writer *w);
uint64_t text_writer_rows(const struct text_writer *w);
