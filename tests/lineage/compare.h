/* Runs actions and compares their results with the evaluator's. */
#pragma once

#include "plan.h"

/* A description of the first difference; "" for none. */
struct verdict {
        char text[1500];
};

/* Prepares @a before any action runs: starts its job if it is asynchronous, and creates its accumulator. */
void compare_begin(fst_context *sc, struct plan *p, struct action *a);

/* Runs @a on its node's RDD, or waits for it. Returns true for the right result; else @v has the difference. */
bool compare_action(fst_context *sc, struct plan *p, const struct action *a, const char *folder, struct verdict *v);

/* Counts the rows of each of the @n partitions of @rdd into @counts. Returns false with @v if that fails. */
bool compare_counts(fst_rdd *rdd, int64_t *counts, int n, struct verdict *v);
