/*
 * A coroutine: a function on a stack of its own that can wait in the middle for its caller. It lets a function
 * pull rows (map_partitions with an iterator) out of an engine that pushes them.
 *
 * Both sides run on the same thread, never at the same time. Resuming costs some tens of nanoseconds and two system
 * calls, so it is done a batch at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

struct coroutine;

/* A coroutine with room for @stack_size bytes of stack (taken from the system page by page as it is used). */
struct coroutine *coroutine_new(size_t stack_size);

/* Must not be running. NULL is allowed. */
void coroutine_free(struct coroutine *c);

/* Begin @body(@arg) and run it until it yields or returns. True while it is not finished. */
bool coroutine_start(struct coroutine *c, void (*body)(void *arg), void *arg);

/* Go on behind the body's last yield until the next one or its end. True while it is not finished. */
bool coroutine_resume(struct coroutine *c);

/* Inside the body: go back to whoever started or resumed it. */
void coroutine_yield(struct coroutine *c);
