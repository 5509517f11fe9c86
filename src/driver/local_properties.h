/*
 * Local properties: the properties that a thread sets for the jobs it submits to one context (pool, job group).
 *
 * They are freed when their thread ends or their context stops.
 */
#pragma once

#include "base/strmap.h"

#include <stdbool.h>

/*
 * Returns this thread's properties for the context @owner; NULL if there are none and @create is false. Borrowed: for
 * this thread only, until the context stops.
 */
struct strmap *local_properties(const void *owner, bool create);

/* Forget all threads' properties for a context that stops. No thread may use it any more. */
void local_properties_forget(const void *owner);
