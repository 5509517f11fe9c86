/*
 * Hands a map output to another process of the same executor: its pages as a file or a sealed memfd, which cannot be
 * changed any more, and an index (output_index.h) with the partition of each page.
 *
 * User code may have corrupted the sender's memory: the index is checked, and pages are verified when they are read.
 */
#pragma once

#include "base/buf.h"
#include "shuffle/shuffle_output.h"

/*
 * Sender's side: moves pages in memory to a memfd. *@fd is its descriptor, or that of the file if the output was
 * spilled. The caller closes it. The key of @dirs encrypts it. The index is appended to @index. The caller can only
 * unref the output afterwards.
 */
int shuffle_handover_give(struct shuffle_output *output, struct disk_dirs *dirs, int *fd, struct buf *index,
                          struct fst_error *error);

/*
 * Receiver's side: makes an output from @index and @fd (stolen, also on failure). An output in memory becomes storage
 * of @manager if there is room, else it goes to disk. Returns -EBADMSG with @error for an invalid index, or one that
 * does not match @partitions and @type.
 */
int shuffle_handover_take(struct shuffle_store *store, struct memory_manager *manager, int partitions, fst_type type,
                          int fd, const void *index, size_t len, struct shuffle_output **output,
                          struct fst_error *error);
