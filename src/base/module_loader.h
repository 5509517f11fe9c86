/*
 * Loads our own modules at first use. Libraries that cost more to load than the rest of the program (OpenSSL, libcurl,
 * MIT krb5) are linked only into such a module. A module exports one function that returns its table of operations, and
 * uses no symbol of the core.
 *
 * The loader searches relative to the object that contains this code (libfiresteel.so, a test, a fuzz target), so that
 * an unpacked archive, an installation and a build tree work without a setting. A module is never unloaded, because
 * these libraries register handlers for the end of threads and of the process.
 */
#pragma once

struct fst_error;
struct string_list;

typedef const void *(*on_demand_fn)(void);

/*
 * Loads @file ("libfiresteel-crypto.so") and finds its function @symbol. @what names the module in messages ("crypto").
 * Returns 0, or -ENOENT or -ELIBBAD with @error. @error names the places searched, or the missing system library and
 * its Debian package. Keep the result: a second call searches again. Any thread.
 */
int on_demand_load(const char *what, const char *file, const char *symbol, on_demand_fn *out, struct fst_error *error);

/* Appends the paths of the modules that drivers and executors may need to @out: all but those of the history server and
 * of readers of event logs, whose libraries would make images larger. Returns -ENOENT with @error if there are none. */
int on_demand_list(struct string_list *out, struct fst_error *error);
