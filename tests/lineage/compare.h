/* Actions, and whether they answer what the evaluator says. */
#pragma once

#include "plan.h"

/* What is wrong, for people; "" while nothing is. */
struct verdict {
        char text[1500];
};

/* Run @a on the RDD of its node. True if the answer is right; else @v says what is not. */
bool compare_action(fst_context *sc, struct plan *p, const struct action *a, const char *folder, struct verdict *v);

/* How many rows each of the @n partitions of @rdd has, into @counts; false with @v if they cannot be counted. */
bool compare_counts(fst_rdd *rdd, int64_t *counts, int n, struct verdict *v);
