/* A side of a cogroup: its rows go into a sorter, which spills on its own, and come out in key order. An iterator reads
 * the rows of one key directly from the sorter, so they are never collected. */
#pragma once

#include "rdd/pipeline/struct_view.h"

struct sorter;

struct cogroup_side {
        struct op op;            /* takes the rows */
        struct fst_error *error; /* the cogroup's: the error of a failed read */
        struct sorter *sorter;
        fst_batch batch; /* rows in key order; none at the end. Views are valid until the next batch is read */
        uint32_t at;     /* index of the current row */
        bool started;

        /* The rows of one key, between side_open and side_close. */
        fst_iter values;         /* the values, as rows of one column */
        struct struct_column structs; /* of values that are structs with fields */
        const fst_batch *key;    /* one row */
        bool more;               /* the key may have further rows */
        const char *const *name; /* the name of the function that reads them */
};

/* @error and @name must outlive the side. */
void side_init(struct cogroup_side *side, struct task_run *run, fst_type type, struct fst_error *error,
               const char *const *name);
void side_deinit(struct cogroup_side *side);

/* Sorts after the last row and reads the first rows. Negative as sorter_finish, as in the functions below. */
int side_sort(struct cogroup_side *side);

/* Reads the next batch. */
int side_read(struct cogroup_side *side);

/* Discards the rows when the task has ended or is abandoned. */
void side_end(struct cogroup_side *side);

static inline bool side_ended(const struct cogroup_side *side)
{
        return side->batch.rows == 0;
}

/* Moves to the next row. */
static inline int side_advance(struct cogroup_side *side)
{
        return ++side->at < side->batch.rows ? 0 : side_read(side);
}

/* Compares the keys, of the same type, of row @i of @a and row @j of @b: <0, 0, >0. */
int batch_compare(const fst_batch *a, uint32_t i, const fst_batch *b, uint32_t j);

/* The first row of @batch after @at with another key, or batch->rows. */
uint32_t batch_run_end(const fst_batch *batch, uint32_t at);

/* Compares the keys of the current rows of two sides. */
static inline int side_compare(const struct cogroup_side *a, const struct cogroup_side *b)
{
        return batch_compare(&a->batch, a->at, &b->batch, b->at);
}

/* True if the current rows of both sides have the same key. */
static inline bool sides_meet(const struct cogroup_side *a, const struct cogroup_side *b)
{
        return !side_ended(a) && !side_ended(b) && side_compare(a, b) == 0;
}

/* Starts reading the rows of *@key (one row, which must outlive the reading) through `values` or side_next_run. @has:
 * the current row is the first of them; otherwise there are none. */
void side_open(struct cogroup_side *side, const fst_batch *key, bool has);

/* Returns further rows of the key: rows *@from … *@to of `batch`. The side moves past them. *@from == *@to: there are
 * no more. Negative: reading failed or the task was stopped. */
int side_next_run(struct cogroup_side *side, uint32_t *from, uint32_t *to);

/* Skips unread rows. Negative as side_next_run, also for an earlier failure through `values`. */
int side_close(struct cogroup_side *side);
