/*
 * Which pieces of which files a text RDD reads: Hadoop's FileInputFormat (the `mapred` one that textFile uses).
 *
 * Every split is one partition, in the order of the array: paths as given, the files of a directory or glob
 * by name. (Spark takes a directory's files as the disk has them; docs/differences.md.)
 */
#pragma once

#include "base/arena.h"
#include "base/vec.h"
#include "io/codec.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_conf;
struct fst_error;

struct input_split {
        const char *path;       /* full; owned by the plan */
        uint64_t start, length; /* in bytes of the file as it is stored */
        enum codec_kind codec;  /* how the file is packed: CODEC_NONE, or one split from 0 to its end */
        const char *hosts; /* that have it, names with a '\n' behind each; owned by the plan. NULL: none is nearer */
};

struct input_splits {
        struct input_split *data;
        size_t len, cap;
        struct arena arena;
        uint64_t bytes; /* of all files */
        size_t files;
};
#define INPUT_SPLITS_INIT ((struct input_splits){0})

struct text_plan_options {
        uint64_t min_split_size; /* spark.hadoop.mapreduce.input.fileinputformat.split.minsize, 1 */
        uint64_t block_size;     /* of local files: spark.hadoop.fs.local.block.size; 0: 32 MiB */
        bool ignore_empty;       /* spark.hadoopRDD.ignoreEmptySplits */
        bool recursive;          /* spark.hadoop.mapreduce.input.fileinputformat.input.dir.recursive, false */
        bool places;             /* ask which hosts have the blocks */
        bool ignore_missing;     /* spark.files.ignoreMissingFiles: a missing path is no error but no partitions */
};
#define TEXT_PLAN_OPTIONS_INIT ((struct text_plan_options){.min_split_size = 1, .ignore_empty = true})

/*
 * Plan @paths: a comma list of files, directories and globs (`*`, `?`, `[a-c]`, `[^a]`, `{a,b}`, `\` quotes).
 * @min_partitions is a wish: the split size is max(min_split_size, min(bytes / min_partitions, block size)), the
 * last split of a file may be 1.1 times as long. @splits must be initialised and empty; it stays so on failure.
 * Errors: -ENOENT "Input path does not exist: file:/…" or "Input Pattern file:/… matches 0 files" (all of them,
 * a line each), -EISDIR "Not a file: file:/…" (a directory in a directory), -ENOTSUP for a file whose
 * suffix is of a codec that we have not, -EINVAL for a broken glob, and what
 * the file system answers. Blocks; any thread.
 */
int text_plan(const char *paths, int min_partitions, const struct text_plan_options *options,
              struct input_splits *splits, struct fst_error *error);

void input_splits_deinit(struct input_splits *splits);

/* The options that a configuration asks for; -EINVAL for a value that cannot be read, with key and value. */
int text_plan_options_read(const struct fst_conf *conf, struct text_plan_options *options, struct fst_error *error);
