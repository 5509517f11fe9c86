/*
 * spark.firesteel.cc.sanitize: compiles an application with gcc's or clang's sanitizers and runs it under their
 * runtime libraries.
 *
 * The runtime of AddressSanitizer must be loaded before any other library, so the process executes itself again with
 * LD_PRELOAD. A report of a sanitizer ends the process by SIGABRT, and the crash report names the task and the function
 * (exec/guard/crash.h).
 */
#pragma once

struct buf;
struct fst_conf;
struct fst_error;
struct string_list;

/* Appends the compiler's flags for @list ("address,undefined") to @flags. NULL and "" have none. -EINVAL with @error.
 */
int sanitizers_flags(const char *list, struct buf *flags, struct fst_error *error);

/*
 * Makes this process run under the runtime libraries for @list: executes the program again with the same arguments
 * unless they are loaded. 0 if they are loaded or @list is empty; -EINVAL, or -ENOENT with @error if a library is
 * missing. Before any thread starts and before files are opened that the program needs.
 */
int sanitizers_enter(const char *list, struct fst_error *error);

/* Takes what sanitizers_enter has preloaded out of the environment of later children, and lets crash reports name the
 * finding. After sanitizers_enter, once. */
void sanitizers_start(void);

/* Adds what sanitizers_enter has preloaded to the environment of a child that runs the application's functions. */
void sanitizers_add_environment(struct string_list *variables);

/* Sets spark.executorEnv.* in @conf so that executors elsewhere run under the same libraries. Keys that are set stay.
 */
void sanitizers_set_executor_environment(struct fst_conf *conf);
