/* Delay scheduling: preferred locations of the tasks of one task set, and how long a free core waits for them.
 * Internal to this room.
 *
 * A task is listed under each executor, host and rack that it prefers, or under "no preference". Lists are stacks of
 * task indexes, lowest on top. A task launched from another list stays listed, and its taker drops it.
 */
#pragma once

#include "base/vec.h"
#include "sched/tasks/executors.h"
#include "sched/tasks/task_locality.h"

struct task_set;

struct place {
        int32_t executor; /* -1: any */
        int32_t host;
};

typedef VEC(int32_t) index_list;

/* Maps small numbers to lists of tasks. */
struct list_map {
        struct place_list {
                int32_t key;
                bool listed; /* in filled */
                index_list tasks;
        } * lists;
        size_t n, cap;
        int32_t *slots; /* list + 1 by key, open addressing */
        size_t n_slots;
        index_list filled; /* lists that may be non-empty */
};

struct locality {
        int32_t *first; /* by task: its locations are places[first[i]] … places[first[i + 1] - 1] */
        VEC(struct place) places;
        struct list_map on_executor, on_host, on_rack;
        index_list no_pref;
        enum task_locality levels[LOCALITY_LEVELS]; /* levels that are useful now, nearest first; ANY last */
        int n_levels;
        int current;         /* index of the level that is allowed now */
        int64_t last_reset;  /* when the wait at that level began */
        uint64_t membership; /* value for executors when levels was computed */
};

/* Called for each task: fills @out with at most @max locations and returns their number. */
typedef int locate_fn(void *owner, struct task_set *set, int index, struct task_location *out, int max);

/* The index for @set, or NULL if no task has a preferred location. */
struct locality *locality_new(struct task_set *set, struct executors *x, const struct sched_ops *ops, void *ops_owner,
                              locate_fn *locate, void *owner, int64_t now);
void locality_free(struct locality *l);

/* Task @index waits for a core (again). */
void locality_add(struct locality *l, const struct executors *x, int32_t index);

/* Recomputes the useful levels if executors were added or lost since the last call. */
void locality_refresh(struct locality *l, const struct executors *x);

/* The farthest level that is allowed now. Skips levels whose wait is over or whose tasks are all launched. */
enum task_locality locality_allowed(struct locality *l, const struct task_set *set, const struct executors *x,
                                    const struct locality_config *config, int64_t now);

/* Restarts the wait at @level. */
void locality_reset(struct locality *l, enum task_locality level, int64_t now);

/* When the wait at the current level ends; INT64_MAX if there is none. */
int64_t locality_deadline(const struct locality *l, const struct locality_config *config);

/* The list of exactly @level (not ANY) for @executor; NULL: none. */
index_list *locality_list(struct locality *l, const struct executors *x, enum task_locality level, int executor);

/* The locality level of task @index on @executor. */
enum task_locality locality_of(const struct locality *l, const struct executors *x, int32_t index, int executor);
