/*
 * The RDDs that one is computed from, each once, parents before their children, the one itself last: however many
 * paths lead to an RDD. Takes time and memory by their number.
 */
#pragma once

#include "rdd/rdd.h"

enum rdd_walk_extent {
        RDD_WALK_STAGE, /* down to the shuffles that it reads: RDD_SHUFFLED without its parents */
        RDD_WALK_ALL,
};

struct rdd_walk {
        fst_rdd **rdds;
        fst_rdd **sources; /* of each, if it is checkpointed: what it is read from. What it is computed from is left out
                            */
        uint32_t n, cap;
        uint32_t *slots; /* index + 1 by hash of the pointer; NULL: there are no forks, rdds[i] is parent of rdds[i + 1]
                          */
        uint32_t n_slots;
        enum rdd_walk_extent extent;
};

/* Borrows the RDDs; rdd_walk_deinit frees the rest. Any thread. */
void rdd_walk_init(struct rdd_walk *walk, fst_rdd *final, enum rdd_walk_extent extent);
void rdd_walk_deinit(struct rdd_walk *walk);

/* The index of @rdd, which must be one of them. */
uint32_t rdd_walk_index(const struct rdd_walk *walk, const fst_rdd *rdd);

/*
 * What RDD @i is computed from, within the extent: its parents, or its checkpoint. As it was found once: a checkpoint
 * may come into being at any time.
 */
fst_rdd *const *rdd_walk_parents(const struct rdd_walk *walk, uint32_t i, int *n);
