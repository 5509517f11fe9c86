/*
 * Map outputs as files that outlive their executor (spark.shuffle.service.enabled). Each output has two files, in
 * directories that disk_dirs_sweep keeps.
 *
 *      shuffle_<shuffle>_<map partition>_<task>.data     the frames of its pages (store/page_frame.h)
 *      shuffle_<shuffle>_<map partition>_<task>.index    "FSTINDX1", its index (output_index.h), xxh3 of both u64
 *
 * The index is written last: an output exists if its index is complete.
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
 * Executor's side: creates new directories in those of @list (store/disk_dirs.h). Files are encrypted with @key
 * (stolen; NULL: not encrypted) and compressed according to @space.
 */
int shuffle_files_new(const char *list, int subdirectories, const struct spill_space *space, struct file_key *key,
                      struct shuffle_files **files, struct fst_error *error);

/* Keeps the files. NULL is allowed. */
void shuffle_files_free(struct shuffle_files *files);

/* Removes the directories with their content and frees @files. NULL is allowed. */
void shuffle_files_remove_all(struct shuffle_files *files);

/* Returns the directories, for a server. Borrowed. */
const struct disk_dirs *shuffle_files_dirs(const struct shuffle_files *files);

/*
 * Writes the finished @output to files, partition by partition. *@kept is the same output with all pages in its file.
 * The caller owns both. Any thread. Returns negative and leaves no file if disks are full or broken.
 */
int shuffle_files_keep(struct shuffle_files *files, int shuffle, int map_partition, int64_t task_id,
                       struct shuffle_output *output, struct shuffle_output **kept, struct fst_error *error);

/* Removes an output's files if they exist. Any thread. */
void shuffle_files_remove(struct shuffle_files *files, int shuffle, int map_partition, int64_t task_id);

/* Removes the files of all outputs of a shuffle. */
void shuffle_files_remove_shuffle(struct shuffle_files *files, int shuffle);

/* ------------------------------------------------------------------------------------------------ server's side */

/* Directories that an executor wrote to. */
struct shuffle_roots {
        char **at; /* absolute paths */
        size_t n;
        int subdirectories;
};

/*
 * Opens an output for serving: its pages can be sent but not decoded. *@bytes is its size in memory. Returns 0 and a
 * reference; -ENOENT if it does not exist; -EBADMSG with @error for damaged files.
 */
int shuffle_files_open(const struct shuffle_roots *roots, int shuffle, int map_partition, int64_t task_id,
                       struct shuffle_output **output, size_t *bytes, struct fst_error *error);

/* Removes an output's files. Returns true if there were any. */
bool shuffle_roots_remove(const struct shuffle_roots *roots, int shuffle, int map_partition, int64_t task_id);

/* Removes the files of all outputs of a shuffle and returns their number. */
size_t shuffle_roots_remove_shuffle(const struct shuffle_roots *roots, int shuffle);

/* Removes the files of all shuffles, and the directories if they are then empty. */
void shuffle_roots_remove_all(const struct shuffle_roots *roots);
