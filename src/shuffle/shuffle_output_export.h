/*
 * Handing a map output over to another process of the same executor: its pages as a file, or in memory as a sealed
 * memfd which nobody can change any more, and an index (output_index.h) that
 * says which page belongs to which partition.
 *
 * The giver may be a process whose memory user code has damaged: what it says is checked, and pages
 * are verified when they are read.
 */
#pragma once

#include "base/buf.h"
#include "shuffle/shuffle_output.h"

/*
 * Writer's side: pages in memory move to a memfd, whose descriptor (or that of the file, if it was spilled) is *@fd:
 * the caller's to close; the key of @dirs encrypts it. The index is appended to @index. The output is of no further
 * use: unref it.
 */
int shuffle_handover_give(struct shuffle_output *output, struct disk_dirs *dirs, int *fd, struct buf *index,
                          struct fst_error *error);

/*
 * Receiver's side: a new output of what @index says is in @fd (stolen, also on failure). What is in memory is
 * storage of @store's manager @manager if there is room, and goes to disk otherwise. -EBADMSG with @error for an index
 * that cannot be, or that is not one for @partitions and @type.
 */
int shuffle_handover_take(struct shuffle_store *store, struct memory_manager *manager, int partitions, fst_type type,
                          int fd, const void *index, size_t len, struct shuffle_output **output,
                          struct fst_error *error);
