/*
 * Whole files, several to a partition: Hadoop's CombineFileInputFormat as Spark's wholeTextFiles and binaryFiles set it
 * up, where all files are equally near. Files follow each other in the order of io/input_files.h, empty ones behind the
 * others; a partition ends with the file that makes it as large as it should be.
 */
#pragma once

#include "base/buf.h"
#include "io/input_files.h"
#include "io/input_splits.h"

struct fst_conf;

/* What one file may have, packed and unpacked, as for Java's arrays. */
#define MAX_WHOLE_FILE ((uint64_t)INT32_MAX)

struct whole_files_options {
        struct input_options input;
        bool unpack; /* by suffix, as wholeTextFiles; binaryFiles gives the bytes as they are */
        int min_partitions;
        int parallelism;    /* the default parallelism of the application; of binary files alone */
        int64_t most_bytes; /* spark.files.maxPartitionBytes; likewise */
        int64_t open_cost;  /* spark.files.openCostInBytes; likewise */
};

/* All but unpack, min_partitions and parallelism, from a configuration; -EINVAL with key and value. */
int whole_files_options_read(const struct fst_conf *conf, struct whole_files_options *options, struct fst_error *error);

/*
 * One split for each file, from 0 to its end; partition i is the files firsts[i] … firsts[i + 1] - 1 of *@partitions.
 * A partition should have (unpack) bytes / min_partitions bytes, else what Spark's partitions of files have: min
 * (most_bytes, max(open_cost, (bytes + files * open_cost) / max(parallelism, min_partitions))). The caller frees
 * *@firsts, of *@partitions + 1 numbers. Errors: those of input_files_find, -EFBIG for a file that is too large; then
 * @splits is empty.
 */
int whole_files_plan(const char *paths, const struct whole_files_options *options, struct input_splits *splits,
                     uint32_t **firsts, size_t *partitions, struct fst_error *error);

/*
 * The content of the file @split, appended to @content; unpacked by @decoder (io/codec/codec.h) if it is packed.
 * *@bytes are added that were read. -EFBIG, -ENOMEM, -EBADMSG for a file that has become shorter, what reading answers.
 */
int whole_file_read(const struct input_split *split, struct decoder *decoder, struct buf *content, uint64_t *bytes,
                    struct fst_error *error);
