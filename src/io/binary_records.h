/* Files of records of equal length, as Hadoop's FixedLengthBinaryInputFormat, which Spark's binaryRecords uses. Splits
 * begin at records and depend on the block size only. The caller cannot request a number of partitions. */
#pragma once

#include "io/input_files.h"
#include "io/input_splits.h"

/*
 * Plans the files of @paths, whose records have @record bytes (more than 0). Errors: those of input_files_find; -EINVAL
 * if a file's length is not a multiple of @record; -ENOTSUP if its suffix belongs to a codec. (Hadoop reports both only
 * when a task opens the file.) On failure @splits stays empty.
 */
int binary_records_plan(const char *paths, uint32_t record, const struct input_options *options,
                        struct input_splits *splits, struct fst_error *error);

/* Reads one split after another. A slot keeps it. One thread. */
struct binary_records;

struct binary_records *binary_records_new(uint32_t record);
void binary_records_free(struct binary_records *r); /* NULL is allowed */

/* Opens @split, whose path must live until the next open, close or free. */
int binary_records_open(struct binary_records *r, const struct input_split *split, struct fst_error *error);

/* Restricts reading to some blocks spread evenly over the split, about @budget bytes in all: a sample for range
 * partitioning. Call it after open and before the first next. */
void binary_records_sample(struct binary_records *r, size_t budget);

/* Returns between 1 and @max contiguous records at *@records, valid until the next call; *@n is 0 at the end. Returns
 * -EBADMSG if the file has become shorter, or the error of the read. */
int binary_records_next(struct binary_records *r, uint32_t max, const char **records, uint32_t *n,
                        struct fst_error *error);

void binary_records_close(struct binary_records *r);

/* Bytes read of the current split. */
uint64_t binary_records_bytes(const struct binary_records *r);
