/*
 * The compiler of applications that are one C file: the system's cc, behind a cache by content.
 *
 * What is compiled once is kept in $XDG_CACHE_HOME/firesteel (~/.cache/firesteel) under the hash of source, user's own
 * headers, flags and compiler; a second run only looks. Submissions of the same file at the same time are safe.
 */
#pragma once

#include <stdbool.h>

struct buf;
struct fst_error;

struct app_compiler {
        const char *source; /* the C file */
        const char *flags;  /* further flags for cc, separated by blanks, "" or NULL; relative ones: from its folder */
        const char *local_dir; /* where to keep the result if the home folder cannot be written; NULL: /tmp */
        struct buf *messages;  /* what the compiler says is added here; NULL: it goes to standard error */
};

/*
 * The shared object for @self->source in *@out, owned by the caller; compiled now if it must be. -ENOENT with @error
 * when there is no compiler (what to install), -ENOEXEC when it failed: its messages are on standard error already, or
 * in @error.
 */
int app_compiler_run(const struct app_compiler *self, char **out, struct fst_error *error);

/*
 * Compile @n_sources files into the shared object @output, with no cache; @flags is a NULL-ended array for cc, or
 * NULL. Errors as above.
 */
int app_compiler_build(const char *const *sources, int n_sources, const char *output, char *const *flags,
                       struct fst_error *error);

/*
 * The prerequisites in a rule that cc -MMD wrote, each told to @visit (with the name unescaped) until it returns
 * non-zero. 0, @visit's answer, or -EINVAL for what is no rule. Pure; @text is a string.
 */
int app_compiler_dependencies(const char *text, int (*visit)(void *context, const char *path), void *context);

/*
 * Firesteel's home: $FIRESTEEL_HOME, or the nearest folder above this library, then above this program, that holds
 * include/firesteel. NULL when
 * there is none. Borrowed, for ever.
 */
const char *app_compiler_home(void);
