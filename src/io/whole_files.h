/*
 * Plans and reads whole files, several to a partition: Hadoop's CombineFileInputFormat as Spark's wholeTextFiles and
 * binaryFiles configure it, without regard to hosts. Files keep the order of io/input_files.h, with empty files last. A
 * partition ends with the file that makes it large enough.
 */
#pragma once

#include "base/buf.h"
#include "io/input_files.h"
#include "io/split_packing.h"

struct fst_conf;

/* Limit of a file's size, compressed and decompressed: that of Java's arrays. */
#define MAX_WHOLE_FILE ((uint64_t)INT32_MAX)

struct whole_files_options {
        struct input_options input;
        bool unpack; /* decompress by suffix (wholeTextFiles); binaryFiles keeps the stored bytes */
        int min_partitions;
        struct split_packing packing; /* binaryFiles only; its cores: the application's default parallelism */
};

/* Reads all options except unpack, min_partitions and packing.cores from a configuration. Returns -EINVAL with key and
 * value. */
int whole_files_options_read(const struct fst_conf *conf, struct whole_files_options *options, struct fst_error *error);

/*
 * Plans one split for each file, from 0 to its end. Partition i of *@partitions has the files firsts[i] … firsts[i + 1]
 * - 1. The target size of a partition is bytes / min_partitions (with unpack), otherwise that of Spark's file
 * partitions, split_packing_size with max(cores, min_partitions). The caller frees *@firsts, an array of *@partitions +
 * 1 numbers. Errors: those of input_files_find, -EFBIG for a file that is too large; @splits is then empty.
 */
int whole_files_plan(const char *paths, const struct whole_files_options *options, struct input_splits *splits,
                     uint32_t **firsts, size_t *partitions, struct fst_error *error);

/*
 * Appends the content of the file @split to @content, decompressed by @decoder (io/codec/codec.h) if it is compressed.
 * Adds the bytes read to *@bytes. Returns -EFBIG, -ENOMEM, -EBADMSG for a file that has become shorter, or the error of
 * the read.
 */
int whole_file_read(const struct input_split *split, struct decoder *decoder, struct buf *content, uint64_t *bytes,
                    struct fst_error *error);
