/*
 * Finds functions that use a global variable changed by the application (spark.firesteel.check).
 *
 * An executor loads the application again, so its globals have their initial values. A function that uses a value
 * stored by main in a global therefore works only on threads of the driver. Globals are compared with a copy made when
 * the module was loaded. The globals of a function are found in its machine code, on x86-64 only.
 */
#pragma once

#include <stdbool.h>

struct fst_error;
struct module;
struct module_function;

/* True if functions can be checked on this machine. */
bool changed_globals_are_found(void);

/* Copies the globals of @module before its main is called. One module: a second call replaces the copy. */
void changed_globals_watch(const struct module *module);

/*
 * Returns -EINVAL with @error if @function, or a function of the same module that it calls or names, uses a changed
 * global. Otherwise 0, also for functions of other modules. Any thread. Globals that the function only writes, and
 * caches filled by the driver, count, too.
 */
int changed_globals_check(const struct module_function *function, struct fst_error *error);
