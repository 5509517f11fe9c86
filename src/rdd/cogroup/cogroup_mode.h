/* The internals of a cogroup, for its modes. Each mode is a struct cogroup_mode_class in its own file and has its own
 * part of struct cogroup_op. */
#pragma once

#include "rdd/cogroup/cogroup_side.h"
#include "rdd/cogroup/join_loops.h"
#include "rdd/cogroup/op_cogroup.h"
#include "rdd/pipeline/row_buffer.h"

struct cogroup_op;
struct hash_join;
struct join_stream;
struct sort_index;

/* From run_unsorted: it has done nothing. */
#define COGROUP_UNCHANGED 2

struct cogroup_mode_class {
        /*
         * Handles the smallest key of the sides: the key of the current row of side @least, and of each side whose bit
         * is set in @has. Moves past at least one row with that key, and past no other rows. Returns 0, OP_ENOUGH, or
         * negative.
         */
        int (*meet)(struct cogroup_op *self, int least, uint32_t has);

        /*
         * Reserves the mode's memory before the sides are sorted, while they can still spill. NULL: nothing to reserve.
         */
        int (*start)(struct cogroup_op *self);

        /*
         * Handles all rows without sorting the sides, which are all in memory. Returns 0, OP_ENOUGH, negative, or
         * COGROUP_UNCHANGED if memory is short: the sides must be sorted then. NULL: always sort.
         */
        int (*run_unsorted)(struct cogroup_op *self, struct sort_index *const *sides);

        /*
         * All rows of side @built have come, and none of the other. Returns 0 with *@other, which takes the rows of the
         * other side and pushes all that they make, or COGROUP_UNCHANGED, or negative. NULL: the sides are always held.
         */
        int (*stream)(struct cogroup_op *self, enum join_side built, struct op **other);

        /* Pushes rows that were held back, after the last key. NULL: op_flush suffices. */
        int (*finish)(struct cogroup_op *self);

        /* Discards the mode's state when the task has ended or is abandoned. NULL: nothing to discard. */
        void (*end)(struct cogroup_op *self);

        /* Initialize and free the mode's part. */
        void (*init)(struct cogroup_op *self);
        void (*deinit)(struct cogroup_op *self);
};

extern const struct cogroup_mode_class cogroup_join_class, cogroup_groups_class, cogroup_keep_class,
        cogroup_lists_class;

struct cogroup_op {
        struct op op;
        struct op_class of_mode; /* the operator's class, with the name used in messages */
        enum cogroup_mode mode;
        const struct cogroup_mode_class *class;
        fst_fn fn;
        struct cogroup_side *sides;
        int n;
        uint32_t wanted; /* bits of the required sides: keys missing on one of them are skipped */
        bool streamed;   /* the rows were joined as they came */
        bool in_memory;  /* no side has spilled: bytes of rows stay in place until the sides end */
        struct fst_error error;

        union {
                struct {
                        struct join_caller caller;
                        struct hash_join *hash;
                        struct join_stream *stream;
                        struct row_buffer *group; /* the right rows of one key, if they must be buffered */
                } join;
                struct {
                        int (*call)(struct cogroup_op *self);
                        fst_batch key;    /* the current key, as a row of its own */
                        fst_column shown; /* the key as the function sees it */
                        struct struct_column structs;
                        char *copy; /* a copy of its bytes, if one is needed */
                        size_t room;
                        fst_iter *iters[MAX_COGROUP_SIDES];
                } groups;
                struct {
                        struct hash_join *hash;
                        uint32_t kept; /* selected rows at the beginning of the left side's batch */
                } keep;
                struct {
                        struct memory_consumer memory;
                        bool started;
                        size_t reserve; /* bytes reserved for lists until the sides are sorted */
                        char *data;     /* the lists of the rows in `out`, contiguous */
                        size_t used, room;
                        size_t row;    /* start of the current list */
                        fst_bytes key; /* of the current row, for comparisons */
                } lists;
        };
};
