/*
 * Plans the splits of a text RDD like Hadoop's FileInputFormat (the `mapred` one, which textFile uses).
 *
 * Every split is one partition, in order: paths as given, the files of a directory or glob sorted by name. (Spark uses
 * the disk's order of a directory; docs/differences.md.)
 */
#pragma once

#include "io/input_files.h"
#include "io/input_splits.h"

/*
 * Plans the files of @paths (io/input_files.h). @min_partitions is a hint: the split size is max(min_split_size,
 * min(bytes / min_partitions, block size)), and the last split of a file may be 1.1 times as long. A compressed file,
 * recognized by its suffix, is one split. @splits must be initialised and empty, and stays empty on failure. Errors:
 * those of input_files_find, -ENOTSUP for the suffix of an unsupported codec. Blocks; any thread.
 */
int text_plan(const char *paths, int min_partitions, const struct input_options *options, struct input_splits *splits,
              struct fst_error *error);

/* The same for files that are never decompressed, whatever their suffix. */
int plain_plan(const char *paths, int min_partitions, const struct input_options *options, struct input_splits *splits,
               struct fst_error *error);
