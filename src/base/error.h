/*
 * One error doctrine for the whole program.
 *
 * A function that can fail returns `int`: 0 is done; negative (an errno value, negated) is fatal for the
 * operation and is always forwarded; positive is an outcome named FST_<MODULE>_E_… that the caller must
 * handle. An optional last parameter `struct fst_error *error` carries the sentence for the user: the layer
 * that fails writes it with error_set, each layer on the way up may put its context before it with error_wrap.
 * Only `main` exits. A function that fails leaves its outputs untouched and took no references.
 */
#pragma once

#include <errno.h>

struct fst_error {
        char *message; /* owned; NULL while nothing failed */
};

#define FST_ERROR_INIT ((struct fst_error){0})

/*
 * Record what failed and return @code, so that `return error_set(error, -EINVAL, "…");` reads as one act.
 * With @error NULL only the code is returned. An earlier message is replaced.
 */
int error_set(struct fst_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* As error_set with -errno, ending the message in ": <strerror>". */
int error_errno(struct fst_error *error, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Put context before the message: "reading conf/x.properties: line 3 …". Returns @code. */
int error_wrap(struct fst_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The message, or a general sentence when none was recorded. Never NULL; owned by @error. */
const char *error_message(const struct fst_error *error);

/* Release the message; @error may be used again. NULL is allowed. Keeps errno. */
void error_deinit(struct fst_error *error);
