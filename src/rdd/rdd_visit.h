/* Lists an RDD and its ancestors, each once, parents before children, however many paths lead to it. The RDD itself is
 * last. Time and memory grow with the number of RDDs. */
#pragma once

#include "rdd/rdd.h"

enum rdd_visit_extent {
        /* Stops at shuffles: an RDD_SHUFFLED is listed without its parents, a broadcast join without the small one. */
        RDD_VISIT_STAGE,
        RDD_VISIT_ALL,
};

struct rdd_visit {
        fst_rdd **rdds;
        fst_rdd **sources; /* for each checkpointed RDD, its checkpoint; its former parents are not listed */
        uint32_t n, cap;
        uint32_t *slots; /* index + 1 by hash of the pointer; NULL for a chain: rdds[i] is the parent of rdds[i + 1] */
        uint32_t n_slots;
        enum rdd_visit_extent extent;
};

/* Borrows the RDDs; rdd_visit_deinit frees the rest. Any thread. */
void rdd_visit_init(struct rdd_visit *walk, fst_rdd *final, enum rdd_visit_extent extent);
void rdd_visit_deinit(struct rdd_visit *walk);

/* The index of @rdd, which must be in the walk. */
uint32_t rdd_visit_index(const struct rdd_visit *walk, const fst_rdd *rdd);

/* The parents of RDD @i within the extent, or its checkpoint. The walk remembers which, because a checkpoint may appear
 * at any time. */
fst_rdd *const *rdd_visit_parents(const struct rdd_visit *walk, uint32_t i, int *n);
