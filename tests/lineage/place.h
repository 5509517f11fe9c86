/* Where rows go: the tables of evaluate.h placed by keys and grouped by them. */
#pragma once

#include "plan.h"

struct table table_new(struct plan *p, int partitions);
/* @r with its bytes in the plan's arena. */
void table_put(struct plan *p, struct table *t, int partition, struct row r);
/* Whether rows are more than the plan can bear; then what is added is left out. */
bool table_is_full(const struct plan *p, const struct table *t);

/* The partition of @key. Not BY_RANGE. */
int placement_of(const struct plan *p, struct placement by, struct cell key);

/* The rows placed by their keys; the same table if they already are. */
struct table table_placed(struct plan *p, const struct table *t, struct placement by);

/* Rows in the order of their keys, equal keys as they come; or of whole rows. */
struct rows rows_sorted(struct plan *p, const struct rows *rows, bool whole, bool descending);

/* The rows of all partitions, one after another. */
struct rows table_all(struct plan *p, const struct table *t);

/* Whether no two rows have one key. */
bool rows_are_unique(struct plan *p, const struct rows *rows);

/* Of several sides, sorted by key, the next key and the rows that it has in each; begins with all at = 0. */
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
