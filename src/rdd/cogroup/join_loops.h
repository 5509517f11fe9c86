/* Calls the functions of joins: a loop for each form of them (FST_JOINS in firesteel/detail/function.h). */
#pragma once

#include "rdd/pipeline/struct_view.h"

#include <firesteel/function.h>

/*
 * Calls @fn for rows @from … @to of @right, with row @at of @left for the first of them, and row @at + @step,
 * @at + 2 * @step … for the others. The key is that of @left. NULL columns are missing values. Rows are emitted to the
 * output of @op. Returns 0, the status of downstream, or negative after task_run_fail.
 */
typedef int (*join_loop)(struct op *op, const fst_fn *fn, const fst_batch *left, uint32_t at, uint32_t step,
                         const fst_batch *right, uint32_t from, uint32_t to);

/* The loop of a function, and the structs with fields that it gets. */
struct join_caller {
        join_loop loop;
        bool shows_structs; /* one of these is used: */
        struct struct_column keys, lefts, rights;
};

/* Prepares for a function that cogroup_check accepted for rows of these types. */
void join_caller_init(struct join_caller *c, const fst_fn *fn, fst_type left, fst_type right);
void join_caller_deinit(struct join_caller *c);

/* Calls the function for rows with structs, whose bytes @left and @right have. Returns as a join_loop; @step is 0 or 1.
 */
int join_caller_call_structs(struct join_caller *c, struct op *op, const fst_fn *fn, const fst_batch *left, uint32_t at,
                             uint32_t step, const fst_batch *right, uint32_t from, uint32_t to);

static inline int join_caller_call(struct join_caller *c, struct op *op, const fst_fn *fn, const fst_batch *left,
                                   uint32_t at, uint32_t step, const fst_batch *right, uint32_t from, uint32_t to)
{
        return likely(!c->shows_structs) ? c->loop(op, fn, left, at, step, right, from, to)
                                         : join_caller_call_structs(c, op, fn, left, at, step, right, from, to);
}
