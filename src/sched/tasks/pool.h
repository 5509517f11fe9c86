/* Scheduling pools: a tree whose leaves are task sets. It decides which leaf gets the next core.
 *
 * FIFO: the lower job id first, then the lower stage id. FAIR: first pools below their minimum share (the smaller
 * fraction of it first), then the fewest running tasks relative to weight.
 */
#pragma once

#include <stdbool.h>

enum scheduling_mode { SCHEDULING_FIFO, SCHEDULING_FAIR };

/* A pool of fairscheduler.xml. */
struct pool_spec {
        char *name;
        enum scheduling_mode mode;
        int min_share;
        int weight;
};

#define POOL_DEFAULT_NAME "default"

/* The common part of a pool and a task set. Embedded in both. */
struct schedulable {
        struct pool *parent;
        struct pool *pool;               /* itself, if it is a pool; NULL for a task set */
        struct schedulable *prev, *next; /* active siblings */
        bool active;                     /* has something to launch */
        int min_share, weight;
        int running;                     /* runs that are out, one core each (of the whole subtree) */
        int priority, stage_id, attempt; /* task set: job id, stage and attempt order siblings */
};

struct pool {
        struct schedulable node;
        char *name;
        enum scheduling_mode mode;
        struct schedulable *first, *last; /* active children; FIFO: in order */
        struct pool *children, *sibling;  /* child pools, unordered */
};

/* @weight below 1 counts as 1. */
struct pool *pool_new(const char *name, enum scheduling_mode mode, int min_share, int weight);

/* Frees the pool and its children. Task sets must have been deactivated. */
void pool_free(struct pool *pool);
void pool_add_child(struct pool *parent, struct pool *child);

/* Finds a pool by name in the whole tree; NULL if there is none. */
struct pool *pool_find(struct pool *root, const char *name);

/* The pool tree of an application: a root of @mode; for FAIR with the pools of @specs and "default". FIFO uses no
 * pools. The last description of a pool counts. Never NULL.
 */
struct pool *pool_build(enum scheduling_mode mode, const struct pool_spec *specs, int n);

/* The pool of a job with the property spark.scheduler.pool = @name (NULL: none). Creates an unknown pool with Spark's
 * warning and defaults.
 */
struct pool *pool_for_job(struct pool *root, const char *name);

/* The leaf has something to launch, or nothing any more. Updates the pools above. */
void schedulable_activate(struct schedulable *leaf, struct pool *parent);
void schedulable_deactivate(struct schedulable *leaf);

/* A run was launched (+1) or has ended (-1). @leaf need not be active. Its pool is @pool. */
void schedulable_running(struct schedulable *leaf, struct pool *pool, int change);

/* The first active leaf; NULL if none is active. */
struct schedulable *pool_pick(const struct pool *root);
