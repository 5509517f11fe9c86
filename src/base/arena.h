/*
 * An arena: many small allocations, one release. Each belongs to one request, job, stage or task, and nothing
 * points into it afterwards. Not for threads.
 */
#pragma once

#include <stddef.h>

struct arena {
        struct arena_chunk *chunks; /* newest first */
        char *next, *end;           /* free space in the newest chunk */
        size_t bytes;               /* held from the system, for accounting */
};

#define ARENA_INIT ((struct arena){0})

/* @size bytes, aligned to 8, uninitialised; valid until arena_reset or arena_deinit. Aborts without memory. */
void *arena_alloc(struct arena *a, size_t size);

/* A copy of @size bytes, with a NUL behind it. */
char *arena_copy(struct arena *a, const void *data, size_t size);

/* The same for a size that a user decides: NULL without memory (mem_try). */
char *arena_try_copy(struct arena *a, const void *data, size_t size);

/* The newest chunk and how many bytes of it are in use; NULL if nothing was allocated yet. */
void *arena_newest(const struct arena *a, size_t *used);

/* Give everything back but one chunk of ordinary size, which the next round reuses. */
void arena_reset(struct arena *a);
void arena_deinit(struct arena *a);
