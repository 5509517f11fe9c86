/*
 * The set of handles that applications hold, by address. A public function checks its argument here before it reads it,
 * so that NULL, an object of a stopped context or an uninitialised variable gives a message instead of a crash.
 *
 * Any thread. The objects are never read.
 */
#pragma once

#include <stdbool.h>

enum handle_kind { HANDLE_CONF, HANDLE_CONTEXT, HANDLE_RDD, HANDLE_FUTURE, HANDLE_MAP, HANDLE_SERVED, HANDLE_KINDS };

/* Registers an object. It must not be registered yet. */
void live_handle_add(enum handle_kind kind, const void *object);

/* Unregisters an object and returns whether it was registered. NULL and unknown objects are allowed. */
bool live_handle_remove(enum handle_kind kind, const void *object);

bool live_handle_has(enum handle_kind kind, const void *object);
