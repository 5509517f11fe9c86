/* Actions, and whether they answer what the evaluator says. */
#pragma once

#include "plan.h"

/* What is wrong, for people; "" while nothing is. */
struct verdict {
        char text[1500];
};

/* Before actions are run: start the job of @a if it does not wait, and make what its function adds to. */
void compare_begin(fst_context *sc, struct plan *p, struct action *a);

/* Run @a on the RDD of its node., or wait for it. True if the answer is right; else @v says what is not. */
bool compare_action(fst_context *sc, struct plan *p, const struct action *a, const char *folder, struct verdict *v);

/* How many rows each of the @n partitions of @rdd has, into @counts; false with @v if they cannot be counted. */
bool compare_counts(fst_rdd *rdd, int64_t *counts, int n, struct verdict *v);
