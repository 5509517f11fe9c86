/*
 * The pods of an application as they are known at one time: executor id → pod_state, in order of ids.
 *
 *      struct pods_snapshot pods = {0};
 *      pods_snapshot_set(&pods, pod);
 *      for (const struct pod_state *p = NULL; (p = pods_snapshot_next(&pods, p));) …
 *      pods_snapshot_deinit(&pods);
 *
 * Ids only grow, so a new pod comes at the end; a place that became empty stays until half of them are.
 */
#pragma once

#include "base/vec.h"
#include "kubernetes/api/pod_state.h"

struct pods_place {
        int32_t id;
        bool mark;             /* for who compares it with a list */
        struct pod_state *pod; /* NULL: it is gone */
};

struct pods_snapshot {
        VEC(struct pods_place) places;
        size_t n;        /* pods */
        int64_t full_at; /* `now` when it was last known to be all pods that there are; 0: never */
};

void pods_snapshot_deinit(struct pods_snapshot *s);

/* NULL: there is none. Borrowed. */
struct pod_state *pods_snapshot_get(const struct pods_snapshot *s, int32_t id);

/* The pod of that name; NULL: there is none. */
struct pod_state *pods_snapshot_named(const struct pods_snapshot *s, const char *name);

/* Put a pod in, in place of the one with its id. Takes a reference of its own. */
struct pods_place *pods_snapshot_set(struct pods_snapshot *s, struct pod_state *pod);

/* False: there was none. */
bool pods_snapshot_remove(struct pods_snapshot *s, int32_t id);

/* The first pod with an id above that of @after, which need not be in; NULL: the first of all. Nothing may be removed
 * meanwhile. */
const struct pod_state *pods_snapshot_next(const struct pods_snapshot *s, const struct pod_state *after);
