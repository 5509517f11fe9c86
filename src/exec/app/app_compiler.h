/*
 * Compiles applications that are a single C file, with the system's cc and a cache.
 *
 * Results are in $XDG_CACHE_HOME/firesteel (~/.cache/firesteel) under the hash of source, the user's own headers, flags
 * and compiler. A second run only looks the hash up. Several processes may submit the same file at once.
 */
#pragma once

struct buf;
struct fst_error;

struct app_compiler {
        const char *source; /* the C file */
        const char *flags; /* further flags for cc, separated by blanks; relative paths start at the source's directory.
                              "" or NULL: none */
        const char *march; /* value for -march (instruction_sets.h); NULL: the compiler's default */
        const char *sanitizers; /* spark.firesteel.cc.sanitize; NULL: none */
        const char *local_dir;  /* directory of the cache if the home directory is not writable; NULL: /tmp */
        struct buf *messages;   /* receives the compiler's output; NULL: standard error does */
};

/*
 * Returns the shared object for @self->source in *@out, owned by the caller. Compiles it if needed. Returns -ENOENT
 * with @error (which names the package to install) if there is no compiler, -ENOEXEC if it failed: its messages are
 * then on standard error, or in @error.
 */
int app_compiler_run(const struct app_compiler *self, char **out, struct fst_error *error);

/*
 * Compiles @n_sources files into the shared object @output without the cache. @flags is a NULL-terminated array for cc,
 * or NULL. Errors as above.
 */
int app_compiler_build(const char *const *sources, int n_sources, const char *output, char *const *flags,
                       struct fst_error *error);

/*
 * Calls @visit for each unescaped prerequisite in a rule of cc -MMD until it returns non-zero. Returns 0, the value of
 * @visit, or -EINVAL if @text is not a rule. Pure. @text is a string.
 */
int app_compiler_dependencies(const char *text, int (*visit)(void *context, const char *path), void *context);

/*
 * Returns in *@out, owned by the caller, the path of @name, a library that comes with the compiler. -ENOENT with @error
 * if there is no compiler or no such file.
 */
int app_compiler_find_file(const char *name, char **out, struct fst_error *error);

/*
 * Returns $FIRESTEEL_HOME, or the nearest directory above this library, then above this program, that holds
 * include/firesteel. NULL if there is none. Borrowed, valid forever.
 */
const char *app_compiler_home(void);
