/* Selection of keys by their rank, without sorting; see task_keys.h. */
#pragma once

#include "status/columns/task_keys.h"

enum { MAX_KEY_RANKS = 64, KEY_BUCKETS = 1 << 12 };

/*
 * A range of keys in @n buckets of 1 << shift keys each, from @low on. Keys that are less are in bucket 0, those of the
 * range in the buckets from 1 to @n, and all greater ones in bucket @n + 1.
 */
struct key_window {
        uint64_t low;
        unsigned shift;
        size_t n;
};

/* Returns the window of the keys from @low to @high, and maybe more, whose buckets are as narrow as possible. */
struct key_window key_window_of(uint64_t low, uint64_t high);

/* Sets the bucket of each key of a run. @buckets has room for TASK_CHUNK_ROWS. */
void key_run_find_buckets(const struct key_run *run, const struct key_window *w, uint16_t *buckets);

/* The key of a rank, and how many keys are less. */
struct ranked_key {
        uint64_t key;
        size_t n_less;
};

/* Returns the number of keys. */
size_t task_keys_count(const struct task_keys *k);

/* Finds the keys of at most MAX_KEY_RANKS ranks, which ascend and are less than @n, the number of keys. */
void task_keys_select(const struct task_keys *k, size_t n, const size_t *ranks, size_t n_ranks,
                      struct ranked_key *found);
