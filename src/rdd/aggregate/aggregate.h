/*
 * Hash aggregation: keeps one row for each key and combines values as they arrive. reduce_by_key uses it twice: before
 * the shuffle (AGGREGATE_MAP: partial results suffice, so it never spills) and after it (AGGREGATE_REDUCE: each key
 * comes out exactly once, using disk if memory does not suffice).
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
 * The order of the result is arbitrary, but the same for the same input.
 *
 * An aggregate belongs to one thread at a time. It keeps its table from task to task, because a new one would cost the
 * page faults again. Between aggregate_reset and aggregate_start that memory is not reserved in any memory manager, so
 * the caller must bound the number of idle aggregates (one for each task slot). The same holds for keys that
 * aggregate_keep_keys leaves there.
 */
#pragma once

#include "store/memory.h"

#include <firesteel/function.h>

struct aggregate;
struct fst_error;
struct piece_ends; /* rdd/pipeline/op.h */
struct spill_space;

/* How values of another type enter accumulators. */
struct aggregate_values {
        fst_type type;    /* type of the input rows; their keys have the accumulators' key type */
        const void *zero; /* initial value of a new accumulator, of its kind. NULL: */
        fst_fn create;    /* creates the accumulator from the first value: a form of map */
        fst_fn merge;     /* adds a further value: a form for aggregate, or as `combine` */
};

/* The side of a shuffle. Tables of the two sides place keys differently, so that the order of one does not crowd the
 * other. */
enum aggregate_side { AGGREGATE_MAP, AGGREGATE_REDUCE };

struct aggregate_options {
        enum aggregate_side side;
        struct memory_task *memory;
        fst_type type; /* type of input and output rows; a type without a value yields each distinct row once */
        /* one of reduce's forms (function.h), fst_fn_sum, fst_fn_min, fst_fn_max (I64, F64) or fst_fn_first */
        fst_fn combine;
        const struct aggregate_values
                *values; /* input rows have other values; NULL: they do not. Borrowed until reset */
        fst_task *task;  /* passed to the function; `captured` is set here. NULL for the engine's own functions */
        /* For an application function that emits: the target of its emits (rows of one accumulator), and the callback
         * that empties it after each call (rows and copied bytes). Each call must emit one row. Otherwise NULL. */
        fst_out *out;
        void (*out_reset)(fst_out *out);
        size_t expected_keys; /* a hint; 0: unknown */
        /* Tasks of this aggregate often have the same keys: aggregate_keep_keys may leave them in the table. Each
         * aggregate_start of the aggregate has the same type and function then. */
        bool keep_keys;
        /*
         * Disk for rows that memory cannot hold (AGGREGATE_REDUCE). NULL: FST_AGGREGATE_E_FULL. Borrowed until reset.
         */
        const struct spill_space *spill;
};

/* Creates an aggregate without memory for its table; never NULL. */
struct aggregate *aggregate_new(void);

/* Frees everything and removes files. NULL is allowed. */
void aggregate_free(struct aggregate *a);

/* Prepares for a task; copies @options. Returns -EINVAL if a function does not fit the type of the values, -ENOMEM if
 * the task cannot have even the smallest table. */
int aggregate_start(struct aggregate *a, const struct aggregate_options *options, struct fst_error *error);

/*
 * Combines rows *@at … of @batch into the table and advances *@at past them. Returns 0 when all rows are in.
 * FST_AGGREGATE_E_FULL (AGGREGATE_MAP, or no spill space): memory was denied; drain with aggregate_next and call again
 * with the same @at. Negative: the function's status, or -ENOMEM if a single row is too large for the task. Does not
 * keep views of @batch.
 *
 * Values combine as f(accumulated, new). fst_fn_sum on I64 wraps. fst_fn_min and fst_fn_max on F64 use the sort order
 * of numbers (-0.0 before 0.0, NaN last), so that no grouping changes the result.
 */
int aggregate_add(struct aggregate *a, const fst_batch *batch, uint32_t *at, struct fst_error *error);
#define FST_AGGREGATE_E_FULL 1

/* The same for pieces of a text, for AGGREGATE_MAP without `values`; keys are BYTES, and values I64 if pieces are
 * pairs, otherwise there are none. */
int aggregate_add_pieces(struct aggregate *a, const struct piece_ends *pieces, uint32_t *at, struct fst_error *error);

/*
 * Returns the next rows of the result in @batch and, if @hashes is not NULL (room for FST_BATCH_ROWS), the hash of each
 * key (rdd/aggregate/hash.h). batch->rows is 0 at the end. Then the table is empty and can be filled again. Rows are
 * valid until the next call on @a. Add nothing between the first call and the end. Negative: reading spilled rows
 * failed, or as aggregate_add.
 */
int aggregate_next(struct aggregate *a, fst_batch *batch, uint64_t *hashes, struct fst_error *error);

/* False if aggregation is not worthwhile: more than 90 % of at least 400,000 rows since aggregate_start had new keys.
 * The map side should then pass rows on unchanged. */
bool aggregate_reduces(const struct aggregate *a);

/*
 * Says before the last aggregate_next calls of a task that it succeeds: aggregate_reset then leaves the keys in the
 * table for the next task, which finds them there, if it may keep keys, values are sums of positive I64, and most keys
 * come again. Nothing is added any more.
 */
void aggregate_keep_keys(struct aggregate *a);

/*
 * After aggregate_keep_keys: returns keys that the output of this task may share with those of the next ones, or NULL
 * (rdd/aggregate/table_sharing.h). aggregate_take_values then moves the rows of a partition's shared keys to a page,
 * from the first partition to the last, or to one where the caller stops; aggregate_next has the others.
 */
struct page;
struct page_keys;
struct partitioner;
struct page_keys *aggregate_share_keys(struct aggregate *a, const struct partitioner *partitioner,
                                       struct memory_manager *manager);
void aggregate_take_values(struct aggregate *a, uint32_t part, struct page *page);

/* True if the table holds keys of an earlier task. `keys` of aggregate_stats then counts only those that it had not. */
bool aggregate_has_kept_keys(const struct aggregate *a);

/* Shrinks an empty table to the smallest. Does nothing while it holds rows or is being read. */
void aggregate_shrink(struct aggregate *a);

/* Discards the rows, removes files and returns the reservations. Ready for aggregate_start. */
void aggregate_reset(struct aggregate *a);

/* Counters for the task's metrics. */
struct aggregate_stats {
        uint64_t rows_in, keys; /* rows added; new keys among them (counted again after each drain or spill) */
        uint64_t spilled_bytes; /* written to disk */
        uint32_t spills;
};
struct aggregate_stats aggregate_stats(const struct aggregate *a);
