/*
 * An arena: many small allocations that are released at once. One arena belongs to one request, job, stage or task. No
 * pointer into it outlives it. Not thread-safe.
 */
#pragma once

#include <stddef.h>

struct arena {
        struct arena_chunk *chunks; /* newest first */
        char *next, *end;           /* free space in the newest chunk */
        size_t bytes;               /* bytes obtained from the system, for accounting */
};

#define ARENA_INIT ((struct arena){0})

/*
 * Allocates @size bytes, aligned to 8 and uninitialised. They are valid until arena_reset or arena_deinit. Aborts when
 * out of memory.
 */
void *arena_alloc(struct arena *a, size_t size);

/* Copies @size bytes and appends a NUL. */
char *arena_copy(struct arena *a, const void *data, size_t size);

/* As arena_alloc and arena_copy, for a size that a user decides: return NULL when out of memory (mem_try). */
void *arena_try_alloc(struct arena *a, size_t size);
char *arena_try_copy(struct arena *a, const void *data, size_t size);

/* Returns the newest chunk and sets @used to its bytes in use. Returns NULL before the first allocation. */
void *arena_newest(const struct arena *a, size_t *used);

/* Frees all chunks but one of ordinary size, which is reused. */
void arena_reset(struct arena *a);
void arena_deinit(struct arena *a);
