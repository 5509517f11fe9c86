/*
 * The map outputs that this executor keeps in memory, oldest first, and where they go when memory is needed for
 * something else: to disk, whole outputs at a time, unless a reader has them pinned.
 */
#pragma once

#include "shuffle/shuffle_output.h"

struct shuffle_store {
        struct spill_space space; /* constant */
        pthread_mutex_t lock;
        struct shuffle_output *oldest, *newest;
};

struct shuffle_store *shuffle_store_new(const struct spill_space *space);

/* Outputs must be gone by then. NULL is allowed. */
void shuffle_store_free(struct shuffle_store *store);

/* An output whose pages are storage memory; it leaves when it is freed. Any thread. */
void shuffle_store_add(struct shuffle_store *store, struct shuffle_output *output);
void shuffle_store_remove(struct shuffle_store *store, struct shuffle_output *output);

/* Move outputs to disk until @want bytes are free, or nothing is left; returns the bytes. Any thread, no locks held. */
size_t shuffle_store_evict(struct shuffle_store *store, size_t want);
