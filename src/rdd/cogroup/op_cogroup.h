/*
 * Cogroup: brings together the rows of one or more sides that have equal keys, key by key. One operator has several
 * modes:
 *
 *      joins                   a function for every pair of a left and a right row of a key; in outer joins also for
 *                              rows whose key the other side does not have, with NULL for its value
 *      groups                  a function for every key, which reads the values of each side through iterators:
 *                              flat_map_groups (one side), cogroup (several)
 *      subtract, intersect     rows of the left side: those whose key is not on the right; one of each
 *                              key that is on both sides
 *      lists                   a pair of each key and all of its values (firesteel/list.h): group_by_key
 *
 * The caller pushes the rows of one side after the other: op_begin(cogroup); then for each side op_begin(side) and its
 * rows into the side's `consume`; at last op_end(cogroup), which makes and pushes all rows. A side needs no op_end.
 * The sides of a join may also come one as a table and one as a stream: cogroup_op_stream.
 *
 * Keys come out in the order of fst_sort_by_key, and the rows of one key and one side in their input order. The result
 * is the same for the same input with any amount of memory. Joins, subtract and intersect have no order: they sort only
 * if rows are on disk.
 */
#pragma once

#include "rdd/cogroup/broadcast_side.h"
#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

enum cogroup_mode {
        COGROUP_JOIN,
        COGROUP_LEFT_JOIN,  /* every left row at least once */
        COGROUP_RIGHT_JOIN, /* every right row at least once */
        COGROUP_FULL_JOIN,  /* every row of both sides */
        COGROUP_GROUPS,
        COGROUP_SUBTRACT,
        COGROUP_INTERSECT,
        COGROUP_LISTS,
        /* lists of values that are already encoded as elements: packed rows (rdd/pipeline/op_key.h) */
        COGROUP_ELEMENTS,
        COGROUP_MODES, /* number of modes */
};

/* Limit of the number of sides: each has a bit. */
#define MAX_COGROUP_SIDES 16

/* True if the mode calls a function. */
static inline bool cogroup_calls(enum cogroup_mode mode)
{
        return mode <= COGROUP_GROUPS;
}

/* Checks that @mode accepts @n sides of these types, rows of type @out, and @fn (ignored if the mode calls no
 * function). Returns 0, or -EINVAL with the reason. @verb is the operator's name for messages. */
int cogroup_check(enum cogroup_mode mode, const char *verb, const fst_type *sides, int n, fst_type out,
                  const fst_fn *fn, struct fst_error *error);

/* Creates the operator from checked arguments. The captured struct and the names in @fn must outlive it. */
struct op *cogroup_op_new(struct task_run *run, enum cogroup_mode mode, const fst_type *sides, int n, fst_type out,
                          const fst_fn *fn);

/* The operator that takes the rows of a side. The cogroup owns it: do not end or free it. */
struct op *cogroup_op_side(struct op *cogroup, int side);

/* True if cogroup_op_stream is allowed: a join in which only rows of the other side can be without a match. */
bool cogroup_op_can_stream(const struct op *cogroup, enum join_side built);

/*
 * After all rows of side @built of a join, and before those of the other side: sets *@other to the operator that takes
 * the latter instead of cogroup_op_side. If the rows of @built are few and in memory, the others are joined as they
 * come, and need no memory. Returns 0, or negative after task_run_fail.
 */
int cogroup_op_stream(struct op *cogroup, enum join_side built, struct op **other);
