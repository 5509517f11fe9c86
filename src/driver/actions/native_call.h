/* Loading the C file of a native call before the call itself. */
#pragma once

#include <firesteel/context.h>

struct fst_error;

/*
 * Compiles and loads @file, which must have @function, so that the structs that it describes are known. A later
 * fst_native_call finds it loaded. Returns 0, or negative with @error, as that call would report it.
 */
int native_call_load(const fst_context *sc, const char *file, const char *function, struct fst_error *error);
