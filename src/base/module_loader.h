/*
 * Modules of our own that are loaded by the first who needs them: libraries that cost more to load than the rest of
 * the program together (OpenSSL, libcurl, MIT krb5) are linked only into such a module. A module exports one function,
 * which answers its table of operations, and uses no symbol of the core.
 *
 * It is looked for relative to the object that this code lies in (libfiresteel.so, a test, a fuzz target), so that an
 * unpacked archive, an installation and a build tree work without a setting. It is never unloaded: such libraries
 * register handlers for the end of threads and of the process.
 */
#pragma once

struct fst_error;
struct string_list;

typedef const void *(*on_demand_fn)(void);

/*
 * Load @file ("libfiresteel-crypto.so") and find the function @symbol of it. @what names it in messages ("crypto").
 * 0, or -ENOENT / -ELIBBAD with @error naming the places that were looked at, or the library of the system's that is
 * not there and Debian's package of it. The caller keeps the answer: a second call would search again. Any thread.
 */
int on_demand_load(const char *what, const char *file, const char *symbol, on_demand_fn *out, struct fst_error *error);

/* The paths of all modules that there are, appended to @out. -ENOENT with @error when none is found. */
int on_demand_list(struct string_list *out, struct fst_error *error);
