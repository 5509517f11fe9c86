/*
 * Checks the handles that the application passes to public functions: the one running context, and handles of freed
 * objects. Public functions of a context call context_given (rdd/rdd_registry.h) first.
 *
 * Threads: any.
 */
#pragma once

#include "base/error.h"
#include "base/live_handles.h"
#include "rdd/rdd_registry.h"

/*
 * Make @sc, created at @site, the one running context of the process, before it starts. Returns 0, or -EALREADY with
 * @error, which names the site of the running one.
 */
int context_claim(const fst_context *sc, fst_site site, struct fst_error *error);

/* @sc has stopped, or could not start. Does nothing if another context is running. */
void context_yield(const fst_context *sc);

/* The parts of @sc, which context_claim made the running context, exist: context_claim_end may return it. */
void context_started(const fst_context *sc);

/*
 * Returns the running context and marks it as stopping, or NULL if there is none, if it is still starting in another
 * thread, or if another thread stops it. The caller then calls context_end.
 */
fst_context *context_claim_end(void);

bool context_is_refused(const fst_context *sc);

/* Whether @given, an argument of @function, is NULL. If so, reports that @function needs @what (context_misused). */
bool context_missing(const void *given, const char *function, const char *what);

/* Returns @handle, or NULL if it does not exist. Reports that, and calls from inside a task. */
void *handle_given(enum handle_kind kind, const void *handle, const char *function);
