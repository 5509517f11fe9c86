/*
 * Finds functions that use a global variable which the application has changed (spark.firesteel.check).
 *
 * An executor loads the application anew, so its globals have their initial values. A function that works with what
 * main has stored in a global works on threads of the driver and nowhere else. Globals are compared with a copy that
 * was made when the module was loaded. The functions' machine code names the globals that they use; it is read on
 * x86-64 alone.
 */
#pragma once

#include <stdbool.h>

struct fst_error;
struct module;
struct module_function;

/* Whether functions can be checked on this machine. */
bool changed_globals_are_found(void);

/* Copy the globals of @module, before its main is called. One module; a second call replaces the copy. */
void changed_globals_watch(const struct module *module);

/*
 * -EINVAL with @error if @function, or one of the same module that it calls or names, uses a global which differs from
 * the copy; else 0, also for functions of other modules. Any thread. A function that writes to the global counts too,
 * and so does a cache that the driver has filled.
 */
int changed_globals_check(const struct module_function *function, struct fst_error *error);
