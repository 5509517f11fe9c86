/*
 * The handles that the application gives to public functions: which context is running, and whether what was given
 * exists. What a public function of a context begins with, context_given, is in rdd/rdd_registry.h.
 *
 * Any thread.
 */
#pragma once

#include "base/error.h"
#include "base/live_handles.h"
#include "rdd/rdd_registry.h"

/*
 * @sc is about to start: it becomes the one running context of the process, which was made at @site. -EALREADY with
 * @error, which names that of the running one, if there is one.
 */
int context_claim(const fst_context *sc, fst_site site, struct fst_error *error);

/* @sc has ended, or has not started. Nothing if another one is running. */
void context_yield(const fst_context *sc);

bool context_is_refused(const fst_context *sc);

/* Whether @given, an argument of @function, is NULL: then context_misused says so, and that @what is wanted. */
bool context_missing(const void *given, const char *function, const char *what);

/* @handle if it exists, or NULL: then that is reported, and so is a call inside of a task. */
void *handle_given(enum handle_kind kind, const void *handle, const char *function);
