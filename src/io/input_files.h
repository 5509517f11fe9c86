/*
 * Which files an RDD reads, as Hadoop's FileInputFormat finds them; what a configuration says about that and about how
 * they are cut.
 */
#pragma once

#include "io/fs/file_system.h"

struct fst_conf;
struct fst_error;

struct input_options {
        uint64_t min_split_size; /* spark.hadoop.mapreduce.input.fileinputformat.split.minsize, 1 */
        uint64_t max_split_size; /* of binary records: spark.hadoop.mapreduce.input.fileinputformat.split.maxsize */
        uint64_t block_size;     /* of local files: spark.hadoop.fs.local.block.size; 0: 32 MiB */
        bool ignore_empty;       /* spark.hadoopRDD.ignoreEmptySplits */
        bool recursive;          /* spark.hadoop.mapreduce.input.fileinputformat.input.dir.recursive, false */
        bool places;             /* ask which hosts have the blocks */
        bool ignore_missing;     /* spark.files.ignoreMissingFiles: a missing path is no error but no partitions */
};
#define INPUT_OPTIONS_INIT                                                                                             \
        ((struct input_options){.min_split_size = 1, .max_split_size = INT64_MAX, .ignore_empty = true})

/* The options that a configuration asks for; -EINVAL for a value that cannot be read, with key and value. */
int input_options_read(const struct fst_conf *conf, struct input_options *options, struct fst_error *error);

/*
 * The files of @paths, a comma list of files, directories and globs (`*`, `?`, `[a-c]`, `[^a]`, `{a,b}`, `\` quotes),
 * appended to @files in the order of the list, those of a directory or glob by name; what begins with '.' or '_' is
 * left out. *@bytes is how many there are in them. Errors: -ENOENT "Input path does not exist: file:/…" or "Input
 * Pattern file:/… matches 0 files" (all of them, a line each), -EISDIR for a directory in a directory, -EINVAL for a
 * broken glob, and what the file system answers; @files is empty then.
 */
int input_files_find(const char *paths, const struct input_options *options, struct file_list *files, uint64_t *bytes,
                     struct fst_error *error);

/* The size of the blocks of @file, where @options have none for local files. */
uint64_t input_block_size(const struct file_status *file, const struct input_options *options);
