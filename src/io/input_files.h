/* Finds the input files of an RDD like Hadoop's FileInputFormat, and reads the configuration for finding and splitting
 * them. */
#pragma once

#include "io/fs/file_system.h"

struct fst_conf;
struct fst_error;

struct input_options {
        uint64_t min_split_size; /* spark.hadoop.mapreduce.input.fileinputformat.split.minsize, 1 */
        uint64_t max_split_size; /* for binary records: spark.hadoop.mapreduce.input.fileinputformat.split.maxsize */
        uint64_t block_size;     /* for local files: spark.hadoop.fs.local.block.size; 0: 32 MiB */
        bool ignore_empty;       /* spark.hadoopRDD.ignoreEmptySplits */
        bool recursive;          /* spark.hadoop.mapreduce.input.fileinputformat.input.dir.recursive, false */
        bool places;             /* find the hosts of the blocks */
        /* spark.files.ignoreMissingFiles: a missing path gives no partitions instead of an error */
        bool ignore_missing;
};
#define INPUT_OPTIONS_INIT                                                                                             \
        ((struct input_options){.min_split_size = 1, .max_split_size = INT64_MAX, .ignore_empty = true})

/* Reads the options from a configuration. Returns -EINVAL with key and value for an invalid value. */
int input_options_read(const struct fst_conf *conf, struct input_options *options, struct fst_error *error);

/*
 * Appends the files of @paths to @files. @paths is a comma list of files, directories and globs (`*`, `?`, `[a-c]`,
 * `[^a]`, `{a,b}`, `\` quotes). Files follow the order of the list, those of a directory or glob are sorted by name.
 * Names that begin with '.' or '_' are skipped. *@bytes is their total size. Errors: -ENOENT "Input path does not
 * exist: file:/…" or "Input Pattern file:/… matches 0 files" (all of them, a line each), -EISDIR for a directory in a
 * directory, -EINVAL for an invalid glob, or the error of the file system. On failure @files is empty.
 */
int input_files_find(const char *paths, const struct input_options *options, struct file_list *files, uint64_t *bytes,
                     struct fst_error *error);

/* The block size of @file; for local files that of @options, if set. */
uint64_t input_block_size(const struct file_status *file, const struct input_options *options);
