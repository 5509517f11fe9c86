/* What block_manager.c, block_server.c and remote_block.c share. */
#pragma once

#include "exec/blocks/block_manager.h"
#include "store/region.h"

#include <pthread.h>

/* A large result that waits for the driver. */
struct kept_task_result {
        struct kept_task_result *next;
        int64_t task_id;
        int refs; /* atomic: the list's, and those being served */
        struct region region;
};

struct block_manager {
        struct exec_env *env;
        struct block_network network;
        struct remote_blocks remote;
        pthread_mutex_t lock; /* of the results */
        struct kept_task_result *results;
};

extern const struct remote_blocks remote_block_operations;

/*
 * The pages of a held block, one by one: as an upload has them with @typed (behind the type of their rows), else as the
 * answer to a fetch. Of what is on disk a page at a time is in memory. Closing releases the block, too, if @release.
 * Negative when it cannot be read, and nothing was released.
 */
int block_stream_new(struct block *block, bool typed, bool release, struct transfer_stream **stream,
                     struct fst_error *error);

/* A reference, or NULL. */
struct kept_task_result *kept_result_find(struct block_manager *m, int64_t task_id);
void kept_result_unref(struct block_manager *m, struct kept_task_result *result);
