/*
 * A coroutine: a function on its own stack that can yield to its caller. With it a function pulls rows (map_partitions
 * with an iterator) from an engine that pushes them.
 *
 * Both sides run on the same thread, never at the same time. A resume costs some tens of nanoseconds and two system
 * calls, so resume once per batch, not once per row.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct coroutine;

/* Returns a coroutine with @stack_size bytes of stack. The system maps its pages at first use. */
struct coroutine *coroutine_new(size_t stack_size);

/* The coroutine must not be running. NULL is allowed. */
void coroutine_free(struct coroutine *c);

/* Starts @body(@arg) and runs it until it yields or returns. Returns true while it is not finished. */
bool coroutine_start(struct coroutine *c, void (*body)(void *arg), void *arg);

/* Continues after the last yield until the next one or the end. Returns true while it is not finished. */
bool coroutine_resume(struct coroutine *c);

/* Inside the body: returns control to the caller of coroutine_start or coroutine_resume. */
void coroutine_yield(struct coroutine *c);
