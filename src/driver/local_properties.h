/*
 * Local properties: what a thread sets for the jobs that it submits to one context (its pool, its job group).
 *
 * They go when their thread ends or their context stops, whichever is first.
 */
#pragma once

#include "base/strmap.h"

#include <stdbool.h>

/*
 * This thread's properties for the context @owner, made if @create; NULL if there are none. Borrowed: for this thread
 * only, until the context stops.
 */
struct strmap *local_properties(const void *owner, bool create);

/* The context stops: forget what all threads set for it. No thread uses it any more. */
void local_properties_forget(const void *owner);
