/*
 * The map outputs of this executor, found by shuffle id, map partition and id of the map task. When memory is needed,
 * whole outputs move to disk, oldest first, unless a reader pins them.
 *
 * Two attempts of a map partition may both have written an output. The driver selects one by its task id.
 */
#pragma once

#include "shuffle/shuffle_output.h"

struct shuffle_map;
struct shuffle_index;

struct shuffle_store {
        struct spill_space space; /* constant */
        pthread_mutex_t lock;     /* protects all fields below */
        struct shuffle_output *oldest, *newest;
        struct shuffle_index *shuffles; /* ordered by shuffle id */
        size_t n_shuffles, cap_shuffles;
};

struct shuffle_store *shuffle_store_new(const struct spill_space *space);

/* Removes all outputs. The store must hold the only references. NULL is allowed. */
void shuffle_store_free(struct shuffle_store *store);

/* Adds @output (steals the reference) and replaces an earlier one of the same task. Any thread. */
void shuffle_store_put(struct shuffle_store *store, int shuffle_id, int map_partition, int64_t task_id,
                       struct shuffle_output *output);

/*
 * Adds @output, which is stored outside of executors, too, so that tasks of this executor read it here. Steals the
 * reference. The copy is dropped when memory is needed, and never written to disk: an output with a file, or with
 * dropped pages, is not added. shuffle_store_list leaves copies out. Any thread.
 */
void shuffle_store_put_copy(struct shuffle_store *store, int shuffle_id, int map_partition, int64_t task_id,
                            struct shuffle_output *output);

/* Returns a new reference, or NULL. Any thread. */
struct shuffle_output *shuffle_store_get(struct shuffle_store *store, int shuffle_id, int map_partition,
                                         int64_t task_id);

/*
 * Gets the outputs of a shuffle at @location: outputs[i] for the task maps[i].task_id. Entries of missing outputs, and
 * of those elsewhere, stay as they are. Takes the lock once for all.
 */
void shuffle_store_get_all(struct shuffle_store *store, int shuffle_id, const struct shuffle_map *maps, int n,
                           int32_t location, struct shuffle_output **outputs);

/* Identifies one output. */
struct shuffle_output_id {
        int shuffle_id, map_partition;
        int64_t task_id;
};

/* Lists all outputs, shuffle by shuffle, in an array of *@n that the caller frees. Any thread. */
struct shuffle_output_id *shuffle_store_list(struct shuffle_store *store, size_t *n);

/* Removes an output. Its readers keep it. Returns true if there was one. Any thread. */
bool shuffle_store_remove(struct shuffle_store *store, int shuffle_id, int map_partition, int64_t task_id);

/* Removes all outputs of a shuffle and returns their number. Any thread. */
size_t shuffle_store_remove_shuffle(struct shuffle_store *store, int shuffle_id);

/* For outputs whose pages are storage memory: makes the output evictable until it is freed. Any thread. */
void shuffle_store_enlist(struct shuffle_store *store, struct shuffle_output *output);
void shuffle_store_delist(struct shuffle_store *store, struct shuffle_output *output);

/*
 * Moves outputs to disk, or drops copies, until @want bytes are free or none is left. Returns the bytes freed. Any
 * thread, no locks held.
 */
size_t shuffle_store_evict(struct shuffle_store *store, size_t want);
