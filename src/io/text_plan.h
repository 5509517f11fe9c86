/*
 * Which pieces of which files a text RDD reads: Hadoop's FileInputFormat (the `mapred` one that textFile uses).
 *
 * Every split is one partition, in the order of the array: paths as given, the files of a directory or glob
 * by name. (Spark takes a directory's files as the disk has them; docs/differences.md.)
 */
#pragma once

#include "io/input_files.h"
#include "io/input_splits.h"

/*
 * Plan the files of @paths (io/input_files.h). @min_partitions is a wish: the split size is max(min_split_size,
 * min(bytes / min_partitions, block size)), the last split of a file may be 1.1 times as long; files whose suffix is a
 * codec's have one split. @splits must be initialised and empty; it stays so on failure. Errors: those of
 * input_files_find, -ENOTSUP for a file whose suffix is of a codec that we have not. Blocks; any thread.
 */
int text_plan(const char *paths, int min_partitions, const struct input_options *options, struct input_splits *splits,
              struct fst_error *error);

/* The same, of files that are never packed, whatever they are called. */
int plain_plan(const char *paths, int min_partitions, const struct input_options *options, struct input_splits *splits,
               struct fst_error *error);
