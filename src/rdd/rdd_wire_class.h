/* Helpers that the classes' `encode` and `decode` share. See rdd_class.h and rdd_wire.h. */
#pragma once

#include "rdd/pipeline/op_element.h"
#include "rdd/rdd_class.h"

#include "rpc/stage.pb-c.h"

/* Casts const away: messages only read their strings but do not declare them const. NULL becomes "". */
static inline char *rdd_wire_text(const char *text)
{
        return (char *)(text ? text : "");
}

/* Returns -EBADMSG with the message "RDD 3 (map at a.c:7): @what". */
int rdd_wire_bad(const fst_rdd *rdd, struct fst_error *error, const char *what);

/* If @r is not 0, returns -EBADMSG with the same prefix before the message of @error. */
int rdd_wire_bad_with(const fst_rdd *rdd, int r, struct fst_error *error);

/* rdd_wire_check_type: -EBADMSG unless @rdd has the type of its first parent. rdd_wire_check_partitions: -EBADMSG
 * unless it has as many partitions as each of its parents. */
int rdd_wire_check_type(const fst_rdd *rdd, struct fst_error *error);
int rdd_wire_check_partitions(const fst_rdd *rdd, struct fst_error *error);

/* Reads a type: the kinds of key and value, the sizes of FIXED ones, and the descriptions of structs, which are BYTES
 * (NULL: there is none). Returns 0 or -EBADMSG. */
int rdd_wire_read_type(const fst_rdd *rdd, uint32_t kinds, uint32_t key_size, uint32_t value_size,
                       const Firesteel__StructType *key_struct, const Firesteel__StructType *value_struct,
                       fst_type *type, struct fst_error *error);

/* -EBADMSG unless the rows are pairs of its two parents' rows. */
int rdd_wire_check_columns(const fst_rdd *rdd, struct fst_error *error);

/* -EBADMSG unless it has its parent's number of partitions and its function is of @kind and turns the parent's rows
 * into @out. */
int rdd_wire_check_element(const fst_rdd *rdd, enum element_kind kind, fst_type out, struct fst_error *error);

/* -EBADMSG unless its function combines the values of its rows and incoming values can become such values. */
int rdd_wire_check_combine(const fst_rdd *rdd, struct fst_error *error);

/* Encodes rdd->values, which must not be NULL. Decodes them for incoming pairs of type @in. */
int rdd_wire_encode_values(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Combiner **out,
                           struct fst_error *error);
int rdd_wire_decode_values(struct rdd_wire_reader *reader, const Firesteel__Combiner *m, fst_type in, fst_rdd *rdd,
                           struct fst_error *error);

/* Makes @rdd depend on a shuffle with @partitions reduce partitions. Returns 0 or -E2BIG. */
int rdd_wire_depend_on(struct rdd_wire_reader *reader, fst_rdd *rdd, int shuffle_id, int partitions,
                       struct fst_error *error);

/* The value column of pairs, as a type of its own. */
static inline fst_type rdd_value_type(fst_type pair)
{
        return (fst_type){.key = pair.value, .key_size = pair.value_size};
}
