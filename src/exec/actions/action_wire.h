/*
 * Parts of the encoded form that kinds of action share: the type of what they make, and a value of it.
 */
#pragma once

#include "rdd/aggregate/op_reduce.h"

struct Firesteel__Action;
struct fst_error;
struct rdd_wire_reader;
struct rdd_wire_writer;

/* What an action makes, into @message and out of it: 0, or -EBADMSG with @error for a type that cannot be. */
void action_wire_put_type(struct Firesteel__Action *message, fst_type type);
int action_wire_type(const struct Firesteel__Action *message, fst_type *type, struct fst_error *error);

/*
 * A value of @type, which is no pair. What is read lies in the reader's memory: *@value is NULL if there is none in
 * @message. 0, or negative with @error.
 */
void action_wire_put_value(struct rdd_wire_writer *writer, struct Firesteel__Action *message, fst_type type,
                           const struct reduce_value *value);
int action_wire_value(struct rdd_wire_reader *reader, const struct Firesteel__Action *message, fst_type type,
                      const struct reduce_value **value, struct fst_error *error);
