/* The engine's own functions, which are sent to executors by name. Those of firesteel/function.h are numbers that
 * operators know. The others have code, for operators that are built of other operators. */
#pragma once

#include <firesteel/function.h>

/* The function with this name and shape, or NULL. */
const fst_fn *builtin_find(const char *name, uint32_t shape);

/* True if @fn is one of the engine's own functions. */
bool builtin_is(const fst_fn *fn);

/* The functions that sketch the distinct values of a key (rdd/aggregate/distinct_sketch.h), used by
 * rdd/operators/rdd_distinct_by_key.c. */
#define BUILTIN_SKETCHES 6
extern const fst_fn builtin_sketches[BUILTIN_SKETCHES];

/* The functions of SparkR's RDDs (rdd/operators/rdd_r.c). */
#define BUILTIN_R 2
extern const fst_fn builtin_r[BUILTIN_R];
