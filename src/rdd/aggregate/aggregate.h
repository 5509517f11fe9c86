/*
 * Hash aggregation: one row for each key, values combined as they arrive. reduce_by_key uses it twice: before the
 * shuffle (AGGREGATE_MAP, partial results are good enough, so it never spills) and behind it (AGGREGATE_REDUCE,
 * each key comes out exactly once, through disk if memory does not suffice).
 *
 *      struct aggregate *a = aggregate_new();                  once for a task slot
 *      aggregate_start(a, &options, error);                    for each task
 *      for each batch:
 *              for (uint32_t at = 0; (r = aggregate_add(a, batch, &at, error)) == FST_AGGREGATE_E_FULL;)
 *                      while ((r = aggregate_next(a, &out, hashes, error)) == 0 && out.rows) … hand on
 *      while ((r = aggregate_next(a, &out, hashes, error)) == 0 && out.rows) … hand on
 *      aggregate_reset(a);
 *      aggregate_free(a);
 *
 * Rows come out in no order that means anything, but in the same order for the same input.
 *
 * An aggregate belongs to one thread at a time. Its table is kept from task to task, because a fresh one costs the
 * page faults again; between aggregate_reset and aggregate_start that memory is not reserved from anyone, so
 * whoever keeps idle aggregates bounds their number (one for each task slot).
 */
#pragma once

#include "store/memory.h"

#include <firesteel/function.h>

struct aggregate;
struct fst_error;
struct spill_space;

/* Rows that come in with values of another kind than the accumulators that they are taken into. */
struct aggregate_values {
        fst_type type;    /* of the rows; their keys are those of the accumulators */
        const void *zero; /* what a new accumulator is before the first value: a value of its kind. NULL: */
        fst_fn create;    /* makes it of the first value: a form of map */
        fst_fn merge;     /* takes a further value in: a form for aggregate, or as `combine` */
};

/* Which side of a shuffle: tables of the two sides place keys differently, so that neither's order hurts the other. */
enum aggregate_side { AGGREGATE_MAP, AGGREGATE_REDUCE };

struct aggregate_options {
        enum aggregate_side side;
        struct memory_task *memory;
        fst_type type;  /* of rows in and out; a type that is no pair gives each distinct row once */
        fst_fn combine; /* of reduce's forms (function.h), or fst_fn_sum, fst_fn_min, fst_fn_max (I64, F64),
                           fst_fn_first */
        const struct aggregate_values
                *values; /* rows in have other values; NULL: they have not. Borrowed until reset */
        fst_task *task;  /* what the function is called with; `captured` is set here. NULL for the engine's own */
        /*
         * For a function of the application's that emits: what it emits into (rows of one accumulator), and how that is
         * emptied again after each call (rows and copied bytes). One row is expected of each call. NULL otherwise.
         */
        fst_out *out;
        void (*out_reset)(fst_out *out);
        size_t expected_keys; /* a hint; 0 is unknown */
        /* Where AGGREGATE_REDUCE writes what memory cannot hold; NULL: FST_AGGREGATE_E_FULL. Borrowed until reset. */
        const struct spill_space *spill;
};

/* A table without memory; never NULL. */
struct aggregate *aggregate_new(void);

/* Releases everything, files too. NULL is allowed. */
void aggregate_free(struct aggregate *a);

/*
 * Make ready for a task; @options is copied. Errors: -EINVAL when a function does not go with values of this
 * type; -ENOMEM when the task may not even have the smallest table.
 */
int aggregate_start(struct aggregate *a, const struct aggregate_options *options, struct fst_error *error);

/*
 * Combine rows *@at … of @batch into the table; *@at is moved behind the last row that was. 0 when all are in.
 * FST_AGGREGATE_E_FULL (AGGREGATE_MAP, or no spill space): memory was refused; drain with aggregate_next and call
 * again with the same @at. Negative: the function's own status, or -ENOMEM when one row alone is too large for the
 * task. Views of @batch are not needed afterwards.
 *
 * Values combine as f(what was there, new). fst_fn_sum on I64 wraps around; fst_fn_min and fst_fn_max on F64 take
 * numbers in the order in which they sort (-0.0 before 0.0, NaN last), so that no grouping changes the result.
 */
int aggregate_add(struct aggregate *a, const fst_batch *batch, uint32_t *at, struct fst_error *error);
#define FST_AGGREGATE_E_FULL 1

/*
 * The next rows of the result into @batch, with the hash of each key (rdd/aggregate/hash.h) in @hashes if that is not
 * NULL (FST_BATCH_ROWS of them): 0, and batch->rows == 0 at the end, when the table is empty and may be filled again.
 * Rows are valid until the next call on @a. Between the first call and the end nothing may be added.
 * Negative: reading spilled rows failed, or as aggregate_add.
 */
int aggregate_next(struct aggregate *a, fst_batch *batch, uint64_t *hashes, struct fst_error *error);

/*
 * False once enough rows were added (400,000 since aggregate_start) to see that hardly any shares its key with
 * another (more than 90 % new ones): on the map side, rows are then better passed on as they are.
 */
bool aggregate_reduces(const struct aggregate *a);

/* Give the memory of an empty table back, but for the least. Nothing while it holds rows or is being read. */
void aggregate_shrink(struct aggregate *a);

/* Forget the rows, remove files, give the reservations back; ready for aggregate_start. */
void aggregate_reset(struct aggregate *a);

/* Figures for the task's metrics. */
struct aggregate_stats {
        uint64_t rows_in, keys; /* rows added; new keys met in them (again after each drain or spill) */
        uint64_t spilled_bytes; /* written to disk */
        uint32_t spills;
};
struct aggregate_stats aggregate_stats(const struct aggregate *a);
