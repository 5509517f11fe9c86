/*
 * Scheduling pools: a tree whose leaves are task sets, and which leaf is offered the next core.
 *
 * FIFO: the lower job id first, then the lower stage id. FAIR: who has less than its minimum share first (the
 * smaller part of it, the more urgent), then the smaller number of running tasks for its weight.
 */
#pragma once

#include <stdbool.h>

enum scheduling_mode { SCHEDULING_FIFO, SCHEDULING_FAIR };

/* A pool as fairscheduler.xml describes it. */
struct pool_spec {
        char *name;
        enum scheduling_mode mode;
        int min_share;
        int weight;
};

#define POOL_DEFAULT_NAME "default"

/* What a pool and a task set have in common; embedded in both. */
struct schedulable {
        struct pool *parent;
        struct pool *pool;               /* itself, if it is a pool; NULL for a task set */
        struct schedulable *prev, *next; /* among the parent's active ones */
        bool active;                     /* has something to launch */
        int min_share, weight;
        int running;                     /* runs that are out, each on one core (of the whole subtree) */
        int priority, stage_id, attempt; /* task set: job id, and what tells it from its siblings */
};

struct pool {
        struct schedulable node;
        char *name;
        enum scheduling_mode mode;
        struct schedulable *first, *last; /* active children; FIFO: in order */
        struct pool *children, *sibling;  /* pools below, in no order */
};

/* @weight below 1 counts as 1. */
struct pool *pool_new(const char *name, enum scheduling_mode mode, int min_share, int weight);

/* With all pools below; task sets must have been deactivated. */
void pool_free(struct pool *pool);
void pool_add_child(struct pool *parent, struct pool *child);

/* A pool by name, in the whole tree; NULL if there is none. */
struct pool *pool_find(struct pool *root, const char *name);

/*
 * The tree for an application: a root of @mode; for FAIR with the pools of @specs and "default". In FIFO mode
 * pools are not used. A pool described twice keeps its last description. Never NULL.
 */
struct pool *pool_build(enum scheduling_mode mode, const struct pool_spec *specs, int n);

/*
 * The pool that a job with the property spark.scheduler.pool = @name (NULL: none) goes to. One that does not
 * exist is made with Spark's warning and defaults.
 */
struct pool *pool_for_job(struct pool *root, const char *name);

/* A leaf has something to launch, or has nothing any more; pools above follow. */
void schedulable_activate(struct schedulable *leaf, struct pool *parent);
void schedulable_deactivate(struct schedulable *leaf);

/* One more run is out (+1) or back (-1). @leaf need not be active; its pool is @pool. */
void schedulable_running(struct schedulable *leaf, struct pool *pool, int change);

/* The active leaf that comes first; NULL if none is active. */
struct schedulable *pool_pick(const struct pool *root);
