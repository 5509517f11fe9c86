/*
 * The addresses of custom resources ("gpu") that the tasks of a run may use, in one piece of memory that can be sent as
 * it is: for each resource its name, its addresses and an empty string, each ended by 0.
 *
 *      const char *name, *addresses[64];
 *      int n;
 *      for (size_t at = 0; task_resources_next(r, &at, &name, addresses, 64, &n);)
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* A zeroed one has none. */
struct task_resources {
        struct buf text;
};

/* Add a resource; copied. Empty addresses are left out, and so is a resource without a name. */
void task_resources_put(struct task_resources *r, const char *name, const char *const *addresses, size_t n);

/* Take @len bytes that another process wrote; what is no such text is an error: -EBADMSG, and there are none then. */
int task_resources_set(struct task_resources *r, const void *text, size_t len);

/*
 * The resource at *@at, which moves on; false at the end. Up to @most of its *@n addresses are in @addresses, which
 * point into @r.
 */
bool task_resources_next(const struct task_resources *r, size_t *at, const char **name, const char **addresses,
                         int most, int *n);

void task_resources_deinit(struct task_resources *r);
