/*
 * The engine's own functions, which travel by name: those of firesteel/function.h, which have no code but a number that
 * operators know, and those with code that operators are built of.
 */
#pragma once

#include <firesteel/function.h>

/* The one with this name and shape, or NULL. */
const fst_fn *builtin_find(const char *name, uint32_t shape);

/* Whether @fn is one of them. */
bool builtin_is(const fst_fn *fn);

/* Functions of sketches of a key's values (rdd/aggregate/distinct_sketch.h): rdd/operators/rdd_distinct_by_key.c. */
#define BUILTIN_SKETCHES 6
extern const fst_fn builtin_sketches[BUILTIN_SKETCHES];
