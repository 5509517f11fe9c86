/*
 * Files of records that all have the same number of bytes: Hadoop's FixedLengthBinaryInputFormat, which Spark's
 * binaryRecords uses. They are split between records, by blocks alone: there is no number of partitions to wish for.
 */
#pragma once

#include "io/input_files.h"
#include "io/input_splits.h"

/*
 * Plan the files of @paths, whose records have @record bytes (more than 0). Errors: those of input_files_find; -EINVAL
 * for a file whose length is no multiple of @record; -ENOTSUP for one whose suffix is a codec's. (Hadoop tells of both
 * when a task comes to it.) @splits stays empty then.
 */
int binary_records_plan(const char *paths, uint32_t record, const struct input_options *options,
                        struct input_splits *splits, struct fst_error *error);

/* Reads one split after another; kept by a slot. One thread. */
struct binary_records;

struct binary_records *binary_records_new(uint32_t record);
void binary_records_free(struct binary_records *r); /* NULL is allowed */

/* Begin with @split, whose path must live until the next open, close or free. */
int binary_records_open(struct binary_records *r, const struct input_split *split, struct fst_error *error);

/*
 * From now on give only records of some blocks spread evenly over the split, about @budget bytes of them in all: a
 * sample for range partitioning. Called after open, before the first next.
 */
void binary_records_sample(struct binary_records *r, size_t budget);

/* Between 1 and @max records, one behind the other at *@records until the next call; *@n is 0 at the end. -EBADMSG for
 * a file that has become shorter, and what reading answers. */
int binary_records_next(struct binary_records *r, uint32_t max, const char **records, uint32_t *n,
                        struct fst_error *error);

void binary_records_close(struct binary_records *r);

/* Bytes read of the present split. */
uint64_t binary_records_bytes(const struct binary_records *r);
