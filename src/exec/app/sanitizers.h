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

/*
 * Appends the compiler's flags for @list ("address,undefined") to @flags. None for NULL and "". Returns -EINVAL with
 * @error for an unknown sanitizer.
 */
int sanitizers_flags(const char *list, struct buf *flags, struct fst_error *error);

/*
 * Makes this process run under the runtime libraries for @list: executes the program again with the same arguments
 * unless they are loaded. Returns 0 if they are loaded or @list is empty, -EINVAL, or -ENOENT with @error if a library
 * is missing. Call it before any thread starts and before the program opens files that it needs.
 */
int sanitizers_enter(const char *list, struct fst_error *error);

/*
 * Removes the libraries that sanitizers_enter preloaded from the environment of later children, and makes crash reports
 * name the finding. Call it once, after sanitizers_enter.
 */
void sanitizers_start(void);

/*
 * Adds the libraries that sanitizers_enter preloaded to the environment of a child that runs the application's
 * functions.
 */
void sanitizers_add_environment(struct string_list *variables);

/* Sets spark.executorEnv.* in @conf so that remote executors run under the same libraries. Existing keys stay. */
void sanitizers_set_executor_environment(struct fst_conf *conf);
