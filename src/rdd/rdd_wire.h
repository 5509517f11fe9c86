/*
 * Lineage on the wire: the nodes of a stage to and from the messages of rpc/stage.proto.
 *
 * Functions are the business of the room above, which knows modules: it gives a callback for each direction. What is
 * read comes from another process and is checked like any other input: types, functions, partitions and parents of a
 * decoded node fit each other as those of a node that was built by fst_map and the like.
 */
#pragma once

#include "rdd/rdd.h"
#include "rpc/wire_memory.h"

struct Firesteel__Function;
struct Firesteel__Rdd;
struct Firesteel__ShuffleWrite;

/* Data of parallelize that a stage may carry itself; what is more is fetched by the tasks (rdd/slice.h). */
#define RDD_WIRE_INLINE ((size_t)65536)

/* -------------------------------------------------------------------------------------------------------- writing */

struct rdd_wire_writer {
        struct arena arena; /* what messages are made in, and must outlive */
        size_t inline_left; /* starts with RDD_WIRE_INLINE */
        /* Describe @fn in *@out, allocated in the arena. 0, or negative with @error. */
        int (*function)(struct rdd_wire_writer *writer, const fst_fn *fn, struct Firesteel__Function **out,
                        struct fst_error *error);
};

/*
 * The nodes that tasks need to compute @final: down to sources and shuffles, parents first, @final last. The messages
 * borrow from the RDDs. 0, or negative with @error.
 */
int rdd_wire_encode(struct rdd_wire_writer *writer, const fst_rdd *final, struct Firesteel__Rdd ***rdds, size_t *n,
                    struct fst_error *error);

/* What the tasks of a map stage need to know of @shuffled, which reads their output. */
int rdd_wire_encode_shuffle(struct rdd_wire_writer *writer, const fst_rdd *shuffled,
                            struct Firesteel__ShuffleWrite **out, struct fst_error *error);

/* -------------------------------------------------------------------------------------------------------- reading */

struct rdd_wire_reader {
        struct wire_memory *memory; /* what is made lies in it, as do the messages: results borrow from them */
        /* Find the function that @message describes. 0, or negative with @error. */
        int (*function)(struct rdd_wire_reader *reader, const struct Firesteel__Function *message, fst_fn *fn,
                        struct fst_error *error);
};

/*
 * The nodes that @rdds describe; *@final is the last one. They belong to reader->memory and are never given to
 * rdd_free. -EBADMSG with @error for what cannot be, -E2BIG for more memory than the message may take, or what
 * reader->function answers.
 */
int rdd_wire_decode(struct rdd_wire_reader *reader, struct Firesteel__Rdd *const *rdds, size_t n, const fst_rdd **final,
                    struct fst_error *error);

/* The reader of a shuffle that rows of @type are written for; as rdd_wire_decode. */
int rdd_wire_decode_shuffle(struct rdd_wire_reader *reader, const struct Firesteel__ShuffleWrite *message,
                            fst_type type, const fst_rdd **shuffled, struct fst_error *error);

/* -E2BIG, and that the message asked for more memory than one of its size may. */
int rdd_wire_too_big(struct fst_error *error);
