/*
 * The known pods of an application: a map from executor id to pod_state, in order of ids.
 *
 *      struct pods_snapshot pods = {0};
 *      pods_snapshot_set(&pods, pod);
 *      for (const struct pod_state *p = NULL; (p = pods_snapshot_next(&pods, p));) …
 *      pods_snapshot_deinit(&pods);
 *
 * Ids only grow, so a new pod is appended. Empty places are removed when they are half of all.
 */
#pragma once

#include "base/vec.h"
#include "kubernetes/api/pod_state.h"

struct pods_place {
        int32_t id;
        bool mark;             /* set by a caller that compares it with a list */
        struct pod_state *pod; /* NULL: removed */
};

struct pods_snapshot {
        VEC(struct pods_place) places;
        size_t n;        /* pods */
        int64_t full_at; /* `now` of the last full list; 0: none yet */
};

void pods_snapshot_deinit(struct pods_snapshot *s);

/* Returns the pod or NULL. Borrowed. */
struct pod_state *pods_snapshot_get(const struct pods_snapshot *s, int32_t id);

/* Returns the pod of that name, or NULL. */
struct pod_state *pods_snapshot_named(const struct pods_snapshot *s, const char *name);

/* Adds or replaces the pod of its id. Takes a reference of its own. */
struct pods_place *pods_snapshot_set(struct pods_snapshot *s, struct pod_state *pod);

/* Returns false if there was none. */
bool pods_snapshot_remove(struct pods_snapshot *s, int32_t id);

/*
 * Returns the first pod with an id above that of @after, which need not be present, or the first of all for NULL.
 * Remove nothing during the loop.
 */
const struct pod_state *pods_snapshot_next(const struct pods_snapshot *s, const struct pod_state *after);
