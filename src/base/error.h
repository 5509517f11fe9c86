/*
 * Status codes and error messages: one convention for the whole program.
 *
 * A function that can fail returns `int`. 0 is success. A negative errno value is fatal for the operation and is always
 * forwarded. A positive value is an outcome named FST_<MODULE>_E_… that the caller must handle. An optional last
 * parameter `struct fst_error *error` carries the message for the user. The layer that fails writes it with error_set.
 * Each layer above may prepend its context with error_wrap. Only `main` exits. A function that fails leaves its outputs
 * untouched and has taken no references.
 */
#pragma once

#include <errno.h>

struct fst_error {
        char *message; /* owned; NULL before the first error */
};

#define FST_ERROR_INIT ((struct fst_error){0})

/*
 * Stores the message and returns @code, so that a caller can write `return error_set(error, -EINVAL, "…");`. With
 * @error NULL it only returns the code. Replaces an earlier message.
 */
int error_set(struct fst_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As error_set with -errno. Appends ": <strerror>" to the message. */
int error_errno(struct fst_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Prepends context to the message: "reading conf/x.properties: line 3 …". Returns @code. */
int error_wrap(struct fst_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* Returns the message, or a general one if none is stored. Never NULL. @error owns it. */
const char *error_message(const struct fst_error *error);

/* Releases the message. @error may be used again. NULL is allowed. Keeps errno. */
void error_deinit(struct fst_error *error);
