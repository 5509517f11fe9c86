/*
 * The handles that applications hold, by address: a public function looks its argument up before it reads it, so that
 * NULL, an object of a stopped context and a variable that was never set get a message instead of a crash.
 *
 * Any thread. The objects themselves are never read.
 */
#pragma once

#include <stdbool.h>

enum handle_kind { HANDLE_CONF, HANDLE_CONTEXT, HANDLE_RDD, HANDLE_FUTURE, HANDLE_MAP, HANDLE_KINDS };

/* The object lives from now on; it must not be known yet. */
void live_handle_add(enum handle_kind kind, const void *object);

/* The object ends. Returns whether it was alive. NULL and unknown objects are allowed. */
bool live_handle_remove(enum handle_kind kind, const void *object);

bool live_handle_has(enum handle_kind kind, const void *object);
