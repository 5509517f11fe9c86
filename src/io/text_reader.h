/*
 * Lines of a split, as Hadoop's LineRecordReader gives them: a line ends at "\n", "\r\n" or a lone "\r", and the
 * last one also at the end of the file. A split owns the lines that begin after its first byte, up to and
 * including one that begins exactly where it ends; the first split of a file owns the first line too. So each
 * line of a file is in exactly one split, wherever the cuts are. A UTF-8 byte order mark at the beginning of a
 * file is left out.
 *
 * Lines are views into the reader's buffer: nothing is copied. One thread at a time; a reader is meant to be kept
 * by its task slot and opened again and again, which allocates nothing once it is warm.
 */
#pragma once

#include "io/text_plan.h"

#include <firesteel/types.h>

#include <stdint.h>

struct text_reader;

/* Bytes that may be read (not their values) behind the end of every line: wide loads need no care. */
#define TEXT_READER_SLACK 64

/* A reader whose buffer starts with @buffer_size bytes (0: the usual size). Aborts without memory. */
struct text_reader *text_reader_new(size_t buffer_size);
void text_reader_free(struct text_reader *r);

/* Begin with @split, whose path must live until the next open, close or free. A split read before is closed. */
int text_reader_open(struct text_reader *r, const struct input_split *split, struct fst_error *error);

/* Close the file, keep the memory. Also done by free. */
void text_reader_close(struct text_reader *r);

/*
 * The next lines: between 1 and @max of them into @lines (@max at least 1), *@n = 0 at the end. Valid until the
 * next call; all lie in the *@stable_size bytes from *@stable on (both may be NULL). Most calls give a little less
 * than @max: the scanner works 64 bytes at a time. Errors: what reading answers; -EBADMSG for corrupt compressed
 * input; -EMSGSIZE for a line of more than 2 GiB − 1; -ENOMEM when the buffer for a long line cannot be had. After
 * an error only open, close and free are allowed.
 */
int text_reader_next(struct text_reader *r, fst_bytes *lines, uint32_t max, uint32_t *n, const char **stable,
                     size_t *stable_size, struct fst_error *error);

/* Bytes read from the file for the present split (packed ones if it is compressed): inputMetrics' bytesRead. */
uint64_t text_reader_bytes(const struct text_reader *r);

/*
 * From now on give only lines of some blocks spread evenly over the split, about @budget bytes of them in all: a
 * sample for range partitioning. Called after open, before the first next. Compressed splits give lines from
 * their beginning.
 */
void text_reader_sample(struct text_reader *r, size_t budget);
