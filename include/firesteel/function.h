/*
 * Functions for operators.
 *
 * Pass the function itself to the operator. The compiler checks that the function has one of the forms below. Building
 * the lineage checks that its parameters match the RDD's type. ROW stands for one parameter (int64_t, double,
 * fst_bytes, `const void *` for FIXED) or, for pairs, two of them: key, value.
 *
 *      int      f(fst_task *task, ROW, fst_out *out)   map (emits one row for each row), flat_map (any number)
 *      int64_t  f(fst_task *task, ROW)                 map to I64
 *      double   f(fst_task *task, ROW)                 map to F64
 *      bool     f(fst_task *task, ROW)                 filter
 *      int      f(fst_task *task, ROW)                 foreach
 *      int      f(fst_task *task, fst_iter *rows, fst_out *out)                map_partitions
 *      int      f(fst_task *task, const fst_batch *batch, fst_out *out)        map_partitions, batch by batch
 *
 *      int      f(fst_task *task, int partition, fst_iter *rows, fst_out *out) map_partitions_with_index
 *      int      f(fst_task *task, fst_iter *a, fst_iter *b, fst_out *out)      zip_partitions
 *      int      f(fst_task *task, fst_iter *const *parts, fst_out *out)        zip_partitions_all
 *      int      f(fst_task *task, fst_iter *rows)                              foreach_partition
 *
 * For the rows of one key, in one RDD or several:
 *
 *      int      f(fst_task *task, KEY, LEFT, RIGHT, fst_out *out)              join: a key, a value of each side
 *      int      f(fst_task *task, KEY, fst_iter *values, fst_out *out)         flat_map_groups
 *      int      f(fst_task *task, KEY, fst_iter *a, fst_iter *b, fst_out *out) cogroup
 *      int      f(fst_task *task, KEY, fst_iter *const *groups, fst_out *out)  cogroup_all
 *      int      f(fst_task *task, KEY, int partitions)                         partition_by: 0 … partitions - 1
 *
 * In outer joins a value that may be missing is a pointer, NULL if it is missing: `const int64_t *`, `const double *`,
 * `const fst_bytes *`, `const void *` for FIXED.
 *
 * For reduce, fold and reduce_by_key, which combine two values into one, in any order and grouping:
 *
 *      int64_t  f(fst_task *task, int64_t a, int64_t b)
 *      double   f(fst_task *task, double a, double b)
 *      int      f(fst_task *task, fst_bytes a, fst_bytes b, fst_out *out)      emits the combined bytes
 *      int      f(fst_task *task, void *a, const void *b)                      combines b into a (FIXED)
 *
 * For aggregate and aggregate_by_key, which add a row (or a value) to an accumulator:
 *
 *      int64_t  f(fst_task *task, int64_t so_far, ROW)         ROW is one value here and in the next two
 *      double   f(fst_task *task, double so_far, ROW)
 *      int      f(fst_task *task, fst_bytes so_far, ROW, fst_out *out)         emits the new accumulator
 *      int      f(fst_task *task, void *so_far, ROW)                           changes a struct (FIXED)
 *
 * The compiler refuses a function with another form. A common mistake is `int` or `float` for a parameter that should
 * be int64_t or double.
 *
 * A result of type `int` is a status: 0, or negative for failure (see fst_fail). Executors find a function by its
 * module and offset, so it must belong to one of the application's own modules and must not be a nested function.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/emit.h>
#include <firesteel/iter.h>
#include <firesteel/task.h>

FST_BEGIN_DECLS

/* A function as operators take it: FST_FN makes one from a name, FST_WITH from a name and a struct. */
typedef struct fst_fn {
        void (*code)(void); /* has the type that `shape` describes; NULL for the engine's own */
        uint32_t shape;     /* FST_SHAPE: form and parameters */
        uint32_t captured_size;
        const void *captured; /* copied when the lineage is built */
        const char *name;
} fst_fn;

/*
 * A function together with a plain struct, which the function reads with fst_captured(task):
 *
 *      struct limit limit = {.low = 10};
 *      fst_filter(rdd, FST_WITH(above, limit));
 *
 * The operator copies the struct when you call it. The struct must not hold pointers; on executors it is constant.
 */
#define FST_WITH(function, variable) fst_fn_with(FST_FN(function), &(variable), sizeof(variable))

/* The engine's own functions, for I64 and F64; fst_fn_first keeps either of two values of any kind. */
FST_API extern const fst_fn fst_fn_sum, fst_fn_min, fst_fn_max, fst_fn_first;

/*
 * Adds arrays of doubles, element by element. The rows are FIXED. Capture the number of elements:
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

/* The row itself as the sort key: fst_sort_by(rdd, fst_fn_identity, …). */
FST_API extern const fst_fn fst_fn_identity;

FST_END_DECLS

#include <firesteel/detail/function.h>
