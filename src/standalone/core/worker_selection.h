/* Workers ordered by a number (free cores, free memory), then by id. A treap whose nodes are embedded in the workers.
 * Insert, remove and a step to a neighbour take O(log n).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct index_node {
        struct index_node *left, *right, *parent;
        int64_t number;
        const char *name; /* borrowed */
        uint32_t priority;
        bool inside;
};

struct worker_index {
        struct index_node *root;
};

/* @node must not be inside yet; @name must stay valid while it is. */
void worker_index_insert(struct worker_index *index, struct index_node *node, int64_t number, const char *name);

/* Does nothing if it is not inside. */
void worker_index_remove(struct worker_index *index, struct index_node *node);

/* Removes and inserts if the number has changed. */
void worker_index_move(struct worker_index *index, struct index_node *node, int64_t number);

/* The greatest node; the first with a number of at least @number; the neighbours. NULL: none. */
struct index_node *worker_index_last(const struct worker_index *index);
struct index_node *worker_index_from(const struct worker_index *index, int64_t number);
struct index_node *worker_index_next(const struct index_node *node);
struct index_node *worker_index_previous(const struct index_node *node);
