/* Places the tables of evaluate.h by keys, and groups them. */
#pragma once

#include "plan.h"

struct table table_new(struct plan *p, int partitions);
/* Appends @r, with its bytes copied into the plan's arena. */
void table_put(struct plan *p, struct table *t, int partition, struct row r);
/* Returns true if the table has the plan's maximum of rows. Further rows are then dropped. */
bool table_is_full(const struct plan *p, const struct table *t);

/* The partition of @key. Not BY_RANGE. */
int placement_of(const struct plan *p, struct placement by, struct cell key);

/* Returns the rows placed by their keys, or the same table if they already are. */
struct table table_placed(struct plan *p, const struct table *t, struct placement by);

/*
 * Places the rows of both sides of a join in @n partitions as fst_skewed_join does. @sides: bits of those whose keys may
 * be spread. Uses the engine's choice and placement, which rdd/cogroup/skewed_placer_test.c tests.
 */
void tables_placed_skewed(struct plan *p, const struct table *const in[2], int n, uint32_t sides,
                          struct table placed[2]);

/* True if the engine's sample of the keys has all of them. */
bool table_is_sampled_whole(const struct table *t);

/* Sorts rows by key (stable), or with @whole by the whole row. */
struct rows rows_sorted(struct plan *p, const struct rows *rows, bool whole, bool descending);

/* The rows of all partitions, one after another. */
struct rows table_all(struct plan *p, const struct table *t);

/* Returns true if all keys are distinct. */
bool rows_are_unique(struct plan *p, const struct rows *rows);

/* Iterates over the keys of several sorted sides: the next key, and its rows in each side. Starts with all at = 0. */
struct groups {
        struct rows sides[NODE_PARENTS];
        size_t at[NODE_PARENTS];
        int n;
        struct cell key;
        struct rows group[NODE_PARENTS];
};
struct groups groups_of(struct plan *p, const struct table *const *tables, int n, int partition);
bool groups_next(struct groups *g);

/* A whole row as a key: pairs as a list of one. */
struct cell row_packed(struct plan *p, struct row r);
