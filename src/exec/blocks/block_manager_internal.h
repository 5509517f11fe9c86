/* Shared by block_manager.c, block_server.c and remote_block.c. */
#pragma once

#include "exec/blocks/block_manager.h"
#include "store/region.h"

#include <pthread.h>

/* A large result that the driver has not fetched yet. */
struct kept_task_result {
        struct kept_task_result *next;
        int64_t task_id;
        int refs; /* atomic: one for the list, one for each stream */
        struct region region;
};

struct block_manager {
        struct exec_env *env;
        struct block_network network;
        struct remote_blocks remote;
        pthread_mutex_t lock; /* protects the results */
        struct kept_task_result *results;
};

extern const struct remote_blocks remote_block_operations;

/*
 * Streams the pages of a held block one by one. With @typed (an upload) the type of the rows comes first. Of a block on
 * disk one page at a time is in memory. Closing the stream also releases the block if @release. Returns negative if the
 * block cannot be read. Then it is not released.
 */
int block_stream_new(struct block *block, bool typed, bool release, struct transfer_stream **stream,
                     struct fst_error *error);

/* Returns a new reference, or NULL. */
struct kept_task_result *kept_result_find(struct block_manager *m, int64_t task_id);
void kept_result_unref(struct block_manager *m, struct kept_task_result *result);
