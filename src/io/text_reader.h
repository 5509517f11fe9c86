/*
 * Reads the lines of a split like Hadoop's LineRecordReader: a line ends at "\n", "\r\n" or a lone "\r", and the last
 * one also at the end of the file. A split owns the lines that begin after its first byte, up to and including one that
 * begins exactly at its end. The first split of a file also owns the first line. So each line of a file is in exactly
 * one split, whatever the cuts. A UTF-8 byte order mark at the beginning of a file is skipped.
 *
 * Lines are views into the reader's buffer. Nothing is copied. One thread at a time. A task slot keeps a reader and
 * reopens it, which needs no further allocation.
 */
#pragma once

#include "io/text_plan.h"

#include <firesteel/types.h>

#include <stdint.h>

struct text_reader;

/* Bytes after each line that may be read (with undefined values), so that wide loads are safe. */
#define TEXT_READER_SLACK 64

/* Creates a reader with an initial buffer of @buffer_size bytes (0: the default). Aborts if memory is exhausted. */
struct text_reader *text_reader_new(size_t buffer_size);
void text_reader_free(struct text_reader *r);

/* Opens @split, whose path must live until the next open, close or free. Closes an earlier split. */
int text_reader_open(struct text_reader *r, const struct input_split *split, struct fst_error *error);

/* Closes the file and keeps the memory. text_reader_free closes, too. */
void text_reader_close(struct text_reader *r);

/*
 * Returns the next lines in @lines: between 1 and @max (at least 1), *@n = 0 at the end. They are valid until the next
 * call, and all are within the *@stable_size bytes at *@stable (both may be NULL). Most calls return slightly fewer
 * than @max, because the scanner works on 64 bytes at a time. Errors: those of the read; -EBADMSG for corrupt
 * compressed input; -EMSGSIZE for a line longer than 2 GiB − 1; -ENOMEM if there is no memory for a long line. After an
 * error only open, close and free are allowed.
 */
int text_reader_next(struct text_reader *r, fst_bytes *lines, uint32_t max, uint32_t *n, const char **stable,
                     size_t *stable_size, struct fst_error *error);

/* Bytes read from the file for the current split (compressed bytes if it is compressed): inputMetrics' bytesRead. */
uint64_t text_reader_bytes(const struct text_reader *r);

/*
 * Restricts reading to lines of some blocks spread evenly over the split, about @budget bytes in all: a sample for
 * range partitioning. Compressed splits yield lines from their beginning. Call it after open and before the first next.
 */
void text_reader_sample(struct text_reader *r, size_t budget);
