/*
 * A side of a cogroup: its rows go into a sorter, which spills by itself, and come out in the order of keys. The rows
 * of one key can be read through an iterator, straight from the sorter: they are nowhere gathered.
 */
#pragma once

#include "rdd/pipeline/op.h"

struct sorter;

struct cogroup_side {
        struct op op;            /* takes the rows */
        struct fst_error *error; /* the cogroup's: why reading failed */
        struct sorter *sorter;
        fst_batch batch; /* rows in order; none at the end. Views are valid until the next batch is read */
        uint32_t at;     /* the present one */
        bool started;

        /* The rows of one key, between side_open and side_close. */
        fst_iter values;         /* their values, as rows of one column */
        const fst_batch *key;    /* one row */
        bool more;               /* there may be further rows of it */
        const char *const *name; /* of the function that reads them */
};

/* @error and @name outlive the side. */
void side_init(struct cogroup_side *side, struct task_run *run, fst_type type, struct fst_error *error,
               const char *const *name);
void side_deinit(struct cogroup_side *side);

/* No further rows: the first ones in order. Negative as sorter_finish; so are the others here. */
int side_sort(struct cogroup_side *side);

/* The next batch. */
int side_read(struct cogroup_side *side);

/* The task has ended, or is given up: forget the rows. */
void side_end(struct cogroup_side *side);

static inline bool side_ended(const struct cogroup_side *side)
{
        return side->batch.rows == 0;
}

/* The next row. */
static inline int side_advance(struct cogroup_side *side)
{
        return ++side->at < side->batch.rows ? 0 : side_read(side);
}

/* Order of row @i of @a and row @j of @b by their keys, which have one type: <0, 0, >0. */
int batch_compare(const fst_batch *a, uint32_t i, const fst_batch *b, uint32_t j);

/* The first row of @batch behind @at that has another key than that; batch->rows if there is none. */
uint32_t batch_run_end(const fst_batch *batch, uint32_t at);

/* Order of the present rows of two sides. */
static inline int side_compare(const struct cogroup_side *a, const struct cogroup_side *b)
{
        return batch_compare(&a->batch, a->at, &b->batch, b->at);
}

/* Whether both are at rows of one key. */
static inline bool sides_meet(const struct cogroup_side *a, const struct cogroup_side *b)
{
        return !side_ended(a) && !side_ended(b) && side_compare(a, b) == 0;
}

/*
 * Rows of *@key (one row, which outlives this) are to be read through `values`, or by side_next_run; @has: the present
 * row is the first of them; else there are none.
 */
void side_open(struct cogroup_side *side, const fst_batch *key, bool has);

/*
 * Further rows of the key: rows *@from … *@to of `batch`, behind which the side is then; *@from == *@to if there are no
 * more. Negative: reading failed, or the task was stopped.
 */
int side_next_run(struct cogroup_side *side, uint32_t *from, uint32_t *to);

/* Go behind the rows that were not read. Negative: as side_next_run, also of an earlier one through `values`. */
int side_close(struct cogroup_side *side);

/* Whether @iter is one of a side's; and whose. */
struct cogroup_side *side_of_iter(fst_iter *iter);
