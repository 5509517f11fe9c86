/*
 * Functions for operators.
 *
 * Hand an operator the function itself. What it takes is checked when the program is compiled, whether that is
 * what the RDD holds is checked when the lineage is built. In the forms below ROW stands for one parameter
 * (int64_t, double, fst_bytes, `const void *` for FIXED) or, for pairs, two of them: key, value.
 *
 *      int      f(fst_task *task, ROW, fst_out *out)   map (one row out for one in), flat_map (any number)
 *      int64_t  f(fst_task *task, ROW)                 map to I64
 *      double   f(fst_task *task, ROW)                 map to F64
 *      bool     f(fst_task *task, ROW)                 filter
 *      int      f(fst_task *task, ROW)                 foreach
 *      int      f(fst_task *task, fst_iter *rows, fst_out *out)                map_partitions
 *      int      f(fst_task *task, const fst_batch *batch, fst_out *out)        map_partitions, batch by batch
 *
 *      int      f(fst_task *task, int partition, fst_iter *rows, fst_out *out) map_partitions_with_index
 *      int      f(fst_task *task, fst_iter *a, fst_iter *b, fst_out *out)      zip_partitions
 *      int      f(fst_task *task, fst_iter *const *parts, fst_out *out)        zip_partitions of any number
 *      int      f(fst_task *task, fst_iter *rows)                              foreach_partition
 *
 * for rows of one key or of several RDDs that have it:
 *
 *      int      f(fst_task *task, KEY, LEFT, RIGHT, fst_out *out)              join: a key, a value of each side
 *      int      f(fst_task *task, KEY, fst_iter *values, fst_out *out)         flat_map_groups
 *      int      f(fst_task *task, KEY, fst_iter *a, fst_iter *b, fst_out *out) cogroup
 *      int      f(fst_task *task, KEY, fst_iter *const *groups, fst_out *out)  cogroup of any number
 *      int      f(fst_task *task, KEY, int partitions)                         partition_by: 0 … partitions - 1
 *
 * In outer joins a value that may be missing is a pointer, NULL where it is: `const int64_t *`, `const double *`,
 * `const fst_bytes *`, `const void *` for FIXED. For reduce, fold and reduce_by_key, combining two values into one, in
 * any order and grouping:
 *
 *      int64_t  f(fst_task *task, int64_t a, int64_t b)
 *      double   f(fst_task *task, double a, double b)
 *      int      f(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)      emits the combined bytes
 *      int      f(fst_task *task, void *a, const void *b)                      combines b into a (FIXED)
 *
 * and for aggregate and its like, taking a row (of aggregate_by_key, a value) into what was gathered so far:
 *
 *      int64_t  f(fst_task *task, int64_t so_far, ROW)         ROW is one value here and in the next two
 *      double   f(fst_task *task, double so_far, ROW)
 *      int      f(fst_task *task, fst_bytes so_far, ROW, fst_out *out)         emits what is gathered now
 *      int      f(fst_task *task, void *so_far, ROW)                           into a struct (FIXED)
 *
 * A function of no such form is refused by the compiler: "selector of type 'int (*)(fst_task *, int)' is not
 * compatible with any association"; here the parameter should have been int64_t.
 *
 * `int` is a status: 0, or negative for failure (see fst_fail). Every function of an operator must be one of the
 * application's own modules, not a nested function, because executors find it by module and symbol.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/emit.h>
#include <firesteel/iter.h>
#include <firesteel/task.h>

FST_BEGIN_DECLS

/* A function as operators take it: made by naming one, or by FST_WITH. */
typedef struct fst_fn {
        void (*code)(void); /* called only as what `shape` says; NULL for the engine's own */
        uint32_t shape;     /* FST_SHAPE: form and parameters */
        uint32_t captured_size;
        const void *captured; /* copied when the lineage is built */
        const char *name;
} fst_fn;

/*
 * A function together with a plain struct that it reads through fst_captured(task):
 *
 *      struct limit limit = {.low = 10};
 *      fst_filter(rdd, FST_WITH(above, limit));
 *
 * The struct is copied here and now, must hold no pointers, and is constant on the executors.
 */
#define FST_WITH(function, variable) fst_fn_with(FST_FN(function), &(variable), sizeof(variable))

/* The engine's own functions. They combine I64 and F64; fst_fn_first keeps either of two values of any kind. */
FST_API extern const fst_fn fst_fn_sum, fst_fn_min, fst_fn_max, fst_fn_first;

/*
 * Combines FIXED rows that are arrays of doubles, by adding each to its like. It is told how many those are, for rows
 * of D of them:
 *
 *      int64_t n = D;
 *      fst_reduce(rows, FST_WITH(fst_sum_vectors, n), &sum);
 */
static inline int fst_sum_vectors(fst_task *task, void *into, const void *from)
{
        const double *more = (const double *)from;
        double *sum = (double *)into;
        int64_t n = *(const int64_t *)fst_captured(task);
        for (int64_t i = 0; i < n; i++)
                sum[i] += more[i];
        return 0;
}

/* The row itself as sort key: fst_sort_by(rdd, fst_fn_identity, …). */
FST_API extern const fst_fn fst_fn_identity;

FST_END_DECLS

#include <firesteel/detail/function.h>
