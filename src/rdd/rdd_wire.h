/*
 * Encodes the lineage of a stage into messages of rpc/stage.proto, and decodes it.
 *
 * The caller, which knows the loaded modules, gives a callback that encodes or decodes functions. Messages come from
 * another process, so decoding checks them as untrusted input: types, functions, partitions and parents of a decoded
 * node fit together as in a node that fst_map or another public function built.
 */
#pragma once

#include "rdd/rdd.h"
#include "rpc/wire_memory.h"

struct Firesteel__Function;
struct Firesteel__Rdd;
struct Firesteel__ShuffleWrite;

/* A stage carries at most this much parallelize data. Tasks fetch larger data (rdd/slice.h). */
#define RDD_WIRE_INLINE ((size_t)65536)

/* -------------------------------------------------------------------------------------------------------- writing */

struct rdd_wire_writer {
        struct arena arena; /* owns the messages; must outlive them */
        size_t inline_left; /* starts with RDD_WIRE_INLINE */
        /* Describes @fn in *@out, allocated in the arena. Returns 0, or negative with @error. */
        int (*function)(struct rdd_wire_writer *writer, const fst_fn *fn, struct Firesteel__Function **out,
                        struct fst_error *error);
};

/* Encodes the nodes that tasks need to compute @final, down to sources and shuffles: parents first, @final last. The
 * messages borrow from the RDDs. Returns 0, or negative with @error. */
int rdd_wire_encode(struct rdd_wire_writer *writer, const fst_rdd *final, struct Firesteel__Rdd ***rdds, size_t *n,
                    struct fst_error *error);

/* Encodes the properties of @shuffled that the tasks of its map stage need. */
int rdd_wire_encode_shuffle(struct rdd_wire_writer *writer, const fst_rdd *shuffled,
                            struct Firesteel__ShuffleWrite **out, struct fst_error *error);

/* -------------------------------------------------------------------------------------------------------- reading */

struct rdd_wire_reader {
        struct wire_memory *memory; /* holds messages and results; results borrow from the messages */
        /* Finds the function that @message describes. Returns 0, or negative with @error. */
        int (*function)(struct rdd_wire_reader *reader, const struct Firesteel__Function *message, fst_fn *fn,
                        struct fst_error *error);
};

/*
 * Decodes @rdds into nodes; *@final is the last one. reader->memory owns them: do not call rdd_free. Returns -EBADMSG
 * with @error for invalid messages, -E2BIG if they need more memory than the message may take, or the error of
 * reader->function.
 */
int rdd_wire_decode(struct rdd_wire_reader *reader, struct Firesteel__Rdd *const *rdds, size_t n, const fst_rdd **final,
                    struct fst_error *error);

/* Decodes the reader of a shuffle whose map side writes rows of @type. Returns as rdd_wire_decode. */
int rdd_wire_decode_shuffle(struct rdd_wire_reader *reader, const struct Firesteel__ShuffleWrite *message,
                            fst_type type, const fst_rdd **shuffled, struct fst_error *error);

/* Returns -E2BIG: the message asked for more memory than a message of its size may take. */
int rdd_wire_too_big(struct fst_error *error);
