/*
 * Cogroup: rows of one side or several that have equal keys, met key by key. It is one operator with several modes:
 *
 *      joins                   a function for every pair of a left and a right row of a key; in outer joins also for
 *                              rows whose key the other side does not have, with NULL for its value
 *      groups                  a function for every key, which reads the values of each side through iterators:
 *                              flat_map_groups (one side), cogroup (several)
 *      subtract, intersect     rows of the left side that stay: those whose key the right does not have; one of each
 *                              key that both have
 *      lists                   a pair of each key and all of its values (firesteel/list.h): group_by_key
 *
 * It takes rows from its inputs, one after the other: op_begin(cogroup); then for each side op_begin(side), its rows
 * into side's `consume`; at last op_end(cogroup), which makes and pushes all rows. There is nothing to do for the end
 * of a side.
 *
 * Keys come in order (as fst_sort_by_key has it), the rows of one key and one side in the order in which they came:
 * the same for the same input, however little memory there was.
 */
#pragma once

#include "rdd/pipeline/op.h"

#include <firesteel/function.h>

enum cogroup_mode {
        COGROUP_JOIN,
        COGROUP_LEFT_JOIN,  /* every left row at least once */
        COGROUP_RIGHT_JOIN, /* every right row */
        COGROUP_FULL_JOIN,  /* both */
        COGROUP_GROUPS,
        COGROUP_SUBTRACT,
        COGROUP_INTERSECT,
        COGROUP_LISTS,
        COGROUP_ELEMENTS, /* lists of values that are elements already: rows that were packed (rdd/packed.h) */
        COGROUP_MODES,    /* how many there are */
};

/* Sides at most: a bit for each. */
#define MAX_COGROUP_SIDES 16

enum join_side { JOIN_LEFT, JOIN_RIGHT };

/* Whether the mode calls a function. */
static inline bool cogroup_calls(enum cogroup_mode mode)
{
        return mode <= COGROUP_GROUPS;
}

/*
 * Whether @mode goes with @n sides of these types, with rows of type @out, and with @fn (which is not looked at where
 * none is called): 0, or -EINVAL with what is wrong. @verb is the operator's name in what is said.
 */
int cogroup_check(enum cogroup_mode mode, const char *verb, const fst_type *sides, int n, fst_type out,
                  const fst_fn *fn, struct fst_error *error);

/* The operator, all of it checked. The captured struct and the names in @fn must outlive it. */
struct op *cogroup_op_new(struct task_run *run, enum cogroup_mode mode, const fst_type *sides, int n, fst_type out,
                          const fst_fn *fn);

/* The operator that takes the rows of a side. It is the cogroup's own: not to be ended or freed. */
struct op *cogroup_op_side(struct op *cogroup, int side);
