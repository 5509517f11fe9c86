/*
 * Map outputs as files that outlive the executor that wrote them (spark.shuffle.service.enabled): two for each output,
 * in directories that nobody sweeps.
 *
 *      shuffle_<shuffle>_<map partition>_<task>.data     the frames of its pages (store/page_frame.h)
 *      shuffle_<shuffle>_<map partition>_<task>.index    "FSTINDX1", its index (output_index.h), xxh3 of both u64
 *
 * The index is written last: an output is there if its index is whole.
 */
#pragma once

#include "store/spill_space.h"

#include <stdint.h>

struct file_key;
struct fst_error;
struct memory_manager;
struct shuffle_files;
struct shuffle_output;

/*
 * The executor's side: new directories in those of @list (store/disk_dirs.h), whose files are encrypted with @key
 * (stolen; NULL: they are not) and compressed as @space says.
 */
int shuffle_files_new(const char *list, int subdirectories, const struct spill_space *space, struct file_key *key,
                      struct shuffle_files **files, struct fst_error *error);

/* The files stay. NULL is allowed. */
void shuffle_files_free(struct shuffle_files *files);

/* The directories and all that is in them go as well. NULL is allowed. */
void shuffle_files_remove_all(struct shuffle_files *files);

/* Where they are: for who serves them. Borrowed. */
const struct disk_dirs *shuffle_files_dirs(const struct shuffle_files *files);

/*
 * Write @output (finished) to files, partition by partition: *@kept is the same output, with its pages in its file and
 * nowhere else; the caller's, as @output still is. Any thread. Negative when disks are full or broken: no file is left.
 */
int shuffle_files_keep(struct shuffle_files *files, int shuffle, int map_partition, int64_t task_id,
                       struct shuffle_output *output, struct shuffle_output **kept, struct fst_error *error);

/* Remove an output's files, if they are there. Any thread. */
void shuffle_files_remove(struct shuffle_files *files, int shuffle, int map_partition, int64_t task_id);

/* The same for all outputs of a shuffle. */
void shuffle_files_remove_shuffle(struct shuffle_files *files, int shuffle);

/* ----------------------------------------------------------------------------------------------- the other side */

/* Directories that some executor wrote to. */
struct shuffle_roots {
        char **at; /* absolute */
        size_t n;
        int subdirectories;
};

/*
 * An output out of its files, to be served: its pages can be passed on, not looked into. *@bytes is what it takes of
 * memory. 0 and a reference; -ENOENT if it is not there; -EBADMSG with @error for files that are damaged.
 */
int shuffle_files_open(const struct shuffle_roots *roots, int shuffle, int map_partition, int64_t task_id,
                       struct shuffle_output **output, size_t *bytes, struct fst_error *error);

/* Remove an output's files there. True if there were any. */
bool shuffle_roots_remove(const struct shuffle_roots *roots, int shuffle, int map_partition, int64_t task_id);

/* The same for all outputs of a shuffle. How many files there were. */
size_t shuffle_roots_remove_shuffle(const struct shuffle_roots *roots, int shuffle);

/* The same for all shuffles, and the directories themselves if nothing else is in them. */
void shuffle_roots_remove_all(const struct shuffle_roots *roots);
