/*
 * Where the tasks of one task set would rather run, and how long a free core waits for one of them: delay
 * scheduling. For this room only.
 *
 * A task is listed under each executor, host and rack that it prefers, or under "no preference". Lists are stacks of
 * task indexes, lowest on top; one that was launched otherwise stays listed, and the taker drops it.
 */
#pragma once

#include "base/vec.h"
#include "sched/tasks/executors.h"
#include "sched/tasks/task_locality.h"

struct task_set;

struct place {
        int32_t executor; /* -1: none in particular */
        int32_t host;
};

typedef VEC(int32_t) index_list;

/* Lists of tasks by a small number. */
struct list_map {
        struct place_list {
                int32_t key;
                bool listed; /* in filled */
                index_list tasks;
        } * lists;
        size_t n, cap;
        int32_t *slots; /* list + 1 by key, open addressing */
        size_t n_slots;
        index_list filled; /* lists that may hold something */
};

struct locality {
        int32_t *first; /* by task: its places are places[first[i]] … places[first[i + 1] - 1] */
        VEC(struct place) places;
        struct list_map on_executor, on_host, on_rack;
        index_list no_pref;
        enum task_locality levels[LOCALITY_LEVELS]; /* that make sense now, nearest first; ANY last */
        int n_levels;
        int current;         /* of levels: what is allowed now */
        int64_t last_reset;  /* of the wait at it */
        uint64_t membership; /* of the executors when levels was computed */
};

/* Called for each task: fill @out with at most @max locations, return how many. */
typedef int locate_fn(void *owner, struct task_set *set, int index, struct task_location *out, int max);

/* The index for @set, or NULL if none of its tasks prefers anything. */
struct locality *locality_new(struct task_set *set, struct executors *x, const struct sched_ops *ops, void *ops_owner,
                              locate_fn *locate, void *owner, int64_t now);
void locality_free(struct locality *l);

/* Task @index waits for a core (again). */
void locality_add(struct locality *l, const struct executors *x, int32_t index);

/* Executors came or went since the last call: see which levels make sense. */
void locality_refresh(struct locality *l, const struct executors *x);

/* The farthest level that is allowed now; waits that are over, or for which nothing is left, are passed. */
enum task_locality locality_allowed(struct locality *l, const struct task_set *set, const struct executors *x,
                                    const struct locality_config *config, int64_t now);

/* Begin the wait anew, at @level. */
void locality_reset(struct locality *l, enum task_locality level, int64_t now);

/* When the wait at the current level is over; INT64_MAX if there is none. */
int64_t locality_deadline(const struct locality *l, const struct locality_config *config);

/* The list of exactly @level (not ANY) that serves @executor; NULL: none. */
index_list *locality_list(struct locality *l, const struct executors *x, enum task_locality level, int executor);

/* How near task @index would be on @executor. */
enum task_locality locality_of(const struct locality *l, const struct executors *x, int32_t index, int executor);
