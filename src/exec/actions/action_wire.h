/* Parts of the encoded form that several actions share: the type of the result, and a value of a type. */
#pragma once

#include "rdd/aggregate/op_reduce.h"

struct Firesteel__Action;
struct fst_error;
struct rdd_wire_reader;
struct rdd_wire_writer;

/* Write the type of the result to @message and read it back: 0, or -EBADMSG with @error for an invalid type. */
void action_wire_put_type(struct Firesteel__Action *message, fst_type type);
int action_wire_type(const struct Firesteel__Action *message, fst_type *type, struct fst_error *error);

/*
 * Write and read a value of @type, which must not be a pair. The value read lies in the reader's memory; *@value is
 * NULL if @message has none. Return 0, or negative with @error.
 */
void action_wire_put_value(struct rdd_wire_writer *writer, struct Firesteel__Action *message, fst_type type,
                           const struct reduce_value *value);
int action_wire_value(struct rdd_wire_reader *reader, const struct Firesteel__Action *message, fst_type type,
                      const struct reduce_value **value, struct fst_error *error);
