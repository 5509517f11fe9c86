/* What the classes of operators share in `encode` and `decode`; see rdd_class.h and rdd_wire.h. */
#pragma once

#include "rdd/pipeline/op_element.h"
#include "rdd/rdd_class.h"

#include "rpc/stage.pb-c.h"

/* Messages only read the strings that they are given, but are not declared so. NULL is "". */
static inline char *rdd_wire_text(const char *text)
{
        return (char *)(text ? text : "");
}

/* -EBADMSG: "RDD 3 (map at a.c:7): @what". */
int rdd_wire_bad(const fst_rdd *rdd, struct fst_error *error, const char *what);

/* The same of what @error says already, if @r is not 0. */
int rdd_wire_bad_with(const fst_rdd *rdd, int r, struct fst_error *error);

/* -EBADMSG unless @rdd has the type of its first parent; as many partitions as each of its parents. */
int rdd_wire_check_type(const fst_rdd *rdd, struct fst_error *error);
int rdd_wire_check_partitions(const fst_rdd *rdd, struct fst_error *error);

/* -EBADMSG unless its rows are pairs of its two parents' rows. */
int rdd_wire_check_columns(const fst_rdd *rdd, struct fst_error *error);

/* As many partitions, and its function is one of @kind that makes @out of the parent's rows. */
int rdd_wire_check_element(const fst_rdd *rdd, enum element_kind kind, fst_type out, struct fst_error *error);

/* -EBADMSG unless its function combines values of its rows, and those that come in become such. */
int rdd_wire_check_combine(const fst_rdd *rdd, struct fst_error *error);

/* rdd->values, which is there; and back, for pairs of @in that come in, with the type that it has then. */
int rdd_wire_encode_values(struct rdd_wire_writer *w, const fst_rdd *rdd, Firesteel__Combiner **out,
                           struct fst_error *error);
int rdd_wire_decode_values(struct rdd_wire_reader *reader, const Firesteel__Combiner *m, fst_type in, fst_rdd *rdd,
                           struct fst_error *error);

/* Let @rdd depend on a shuffle with as many reduce partitions. -E2BIG. */
int rdd_wire_depend_on(struct rdd_wire_reader *reader, fst_rdd *rdd, int shuffle_id, int partitions,
                       struct fst_error *error);

/* The value column of pairs alone. */
static inline fst_type rdd_value_type(fst_type pair)
{
        return (fst_type){.key = pair.value, .key_size = pair.value_size};
}
