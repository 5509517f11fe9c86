/* Broadcast variables and the accumulator of a Python program. */
#pragma once

#include "py4j/object.h"

#include <firesteel/shared.h>

extern const struct py4j_class accumulator_class;

/* PythonRDD.setupBroadcast(path), SparkContext.broadcast(variable), SparkContext.register(accumulator). */
void broadcast_setup(struct py4j_call *call);
void context_broadcast(struct py4j_call *call);
void context_register_accumulator(struct py4j_call *call);

/* Whether the variable of a Broadcast was destroyed, and then the call throws. */
bool broadcast_object_is_destroyed(struct py4j_call *call, const struct py4j_value *value);

/* The variable of a Broadcast; an invalid one for another value. */
fst_broadcast broadcast_object_handle(const struct py4j_value *value);

/* The accumulator; an invalid one before it is registered. */
fst_accumulator accumulator_object_handle(const struct py4j_object *accumulator);
