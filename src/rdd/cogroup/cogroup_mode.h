/*
 * What a cogroup is inside, for its modes: each is a struct cogroup_mode_class in a file of its own, and has its own
 * part of struct cogroup_op.
 */
#pragma once

#include "rdd/cogroup/cogroup_side.h"
#include "rdd/cogroup/op_cogroup.h"
#include "rdd/pipeline/row_buffer.h"

struct cogroup_op;

struct cogroup_mode_class {
        /*
         * The least keys of the sides that are not at their end: the present row of side @least, and of those whose
         * bit is in @has, has it. Goes behind at least one of these rows, and behind none of others. 0, OP_ENOUGH, or
         * negative.
         */
        int (*meet)(struct cogroup_op *self, int least, uint32_t has);

        /* Before the sides are sorted, while they can still spill: what it needs of memory. NULL: nothing. */
        int (*start)(struct cogroup_op *self);

        /* All keys were met: push what was held back. NULL: op_flush suffices. */
        int (*finish)(struct cogroup_op *self);

        /* The task has ended, or is given up. NULL: there is nothing to forget. */
        void (*end)(struct cogroup_op *self);

        /* Making and freeing its part. */
        void (*init)(struct cogroup_op *self);
        void (*deinit)(struct cogroup_op *self);
};

extern const struct cogroup_mode_class cogroup_join_class, cogroup_groups_class, cogroup_keep_class,
        cogroup_lists_class;

struct cogroup_op {
        struct op op;
        struct op_class of_mode; /* the operator's, by the name that messages call it */
        enum cogroup_mode mode;
        const struct cogroup_mode_class *class;
        fst_fn fn;
        struct cogroup_side *sides;
        int n;
        uint32_t wanted; /* a bit for each side without which a key is of no interest */
        bool in_memory;  /* no side has spilled: bytes of rows stay where they are until the sides end */
        struct fst_error error;

        union {
                struct {
                        /* Call the function for row @at of @left with rows @from … @to of @right. */
                        int (*loop)(struct cogroup_op *self, const fst_batch *left, uint32_t at, const fst_batch *right,
                                    uint32_t from, uint32_t to);
                        struct row_buffer *group; /* the right rows of one key, where they must be kept */
                } join;
                struct {
                        int (*call)(struct cogroup_op *self);
                        fst_batch key; /* the present one: a row of its own */
                        char *copy;    /* its bytes, where they must be kept */
                        size_t room;
                        fst_iter *iters[MAX_COGROUP_SIDES];
                } groups;
                struct {
                        uint32_t kept; /* rows at the beginning of the left side's batch that stay */
                } keep;
                struct {
                        struct memory_consumer memory;
                        bool started;
                        size_t reserve; /* bytes held for lists until the sides are sorted */
                        char *data;     /* the lists of the rows in `out`, one after another */
                        size_t used, room;
                        size_t row;    /* where the present one begins */
                        fst_bytes key; /* of the present row, for comparing */
                } lists;
        };
};
