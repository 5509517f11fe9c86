/*
 * The map outputs of this executor: found by shuffle id, map partition and the id of the map task that wrote them; and,
 * of those in memory, oldest first, where they go when memory is needed for something else: to disk, whole outputs at a
 * time, unless a reader has them pinned.
 *
 * Two attempts at one map partition may both have written; the driver says whose output counts, by the task's id.
 */
#pragma once

#include "shuffle/shuffle_output.h"

struct shuffle_map;
struct shuffle_index;

struct shuffle_store {
        struct spill_space space; /* constant */
        pthread_mutex_t lock;     /* of all below */
        struct shuffle_output *oldest, *newest;
        struct shuffle_index *shuffles; /* ordered by shuffle id */
        size_t n_shuffles, cap_shuffles;
};

struct shuffle_store *shuffle_store_new(const struct spill_space *space);

/* Removes what is in it. Nobody else may have a reference to an output by then. NULL is allowed. */
void shuffle_store_free(struct shuffle_store *store);

/* Keep @output (steals the reference), in the place of an earlier one of the same task. Any thread. */
void shuffle_store_put(struct shuffle_store *store, int shuffle_id, int map_partition, int64_t task_id,
                       struct shuffle_output *output);

/* A reference to an output, or NULL. Any thread. */
struct shuffle_output *shuffle_store_get(struct shuffle_store *store, int shuffle_id, int map_partition,
                                         int64_t task_id);

/*
 * The same for all map partitions i of a shuffle whose output is at @location: outputs[i] for the task maps[i].task_id,
 * NULL where there is none or it is elsewhere. One lock for all of them.
 */
void shuffle_store_get_all(struct shuffle_store *store, int shuffle_id, const struct shuffle_map *maps, int n,
                           int32_t location, struct shuffle_output **outputs);

/* One output, by what it is found by. */
struct shuffle_output_id {
        int shuffle_id, map_partition;
        int64_t task_id;
};

/* All outputs that there are now, shuffle by shuffle: an array that the caller frees, and how many. Any thread. */
struct shuffle_output_id *shuffle_store_list(struct shuffle_store *store, size_t *n);

/* Forget one output; whoever reads it still has it. True if there was one. Any thread. */
bool shuffle_store_remove(struct shuffle_store *store, int shuffle_id, int map_partition, int64_t task_id);

/* Forget all outputs of a shuffle; returns how many there were. Any thread. */
size_t shuffle_store_remove_shuffle(struct shuffle_store *store, int shuffle_id);

/* For outputs: one whose pages are storage memory, so that it can be evicted; it leaves when it is freed. Any thread.
 */
void shuffle_store_enlist(struct shuffle_store *store, struct shuffle_output *output);
void shuffle_store_delist(struct shuffle_store *store, struct shuffle_output *output);

/* Move outputs to disk until @want bytes are free, or nothing is left; returns the bytes. Any thread, no locks held. */
size_t shuffle_store_evict(struct shuffle_store *store, size_t want);
