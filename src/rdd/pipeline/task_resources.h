/*
 * The addresses of custom resources ("gpu") for the tasks of a run, in one buffer that is also the wire format: for
 * each resource its name, its addresses and an empty string, each terminated by 0.
 *
 *      const char *name, *addresses[64];
 *      int n;
 *      for (size_t at = 0; task_resources_next(r, &at, &name, addresses, 64, &n);)
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>

/* A zeroed struct has no resources. */
struct task_resources {
        struct buf text;
};

/* Copies a resource. Skips empty addresses and a resource without a name. */
void task_resources_put(struct task_resources *r, const char *name, const char *const *addresses, size_t n);

/* Takes @len bytes from another process. Invalid text gives -EBADMSG and leaves no resources. */
int task_resources_set(struct task_resources *r, const void *text, size_t len);

/* Returns the resource at *@at and advances *@at; false at the end. Sets *@n to its number of addresses and writes at
 * most @most of them, which point into @r. */
bool task_resources_next(const struct task_resources *r, size_t *at, const char **name, const char **addresses,
                         int most, int *n);

void task_resources_deinit(struct task_resources *r);
