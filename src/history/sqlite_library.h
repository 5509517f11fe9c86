/* SQLite as a table of functions, loaded when a history server with a store starts. It is linked into a module of its
 * own, libfiresteel-sqlite.so. */
#pragma once

#include <sqlite3.h>
#include <stdint.h>

struct fst_error;

#define SQLITE_LIBRARY_ABI 1
#define SQLITE_MODULE_SYMBOL "firesteel_sqlite_module" /* const struct sqlite_library *f(void) */

#define SQLITE_LIBRARY_FUNCTIONS(X)                                                                                    \
        X(open_v2)                                                                                                     \
        X(close)                                                                                                       \
        X(exec)                                                                                                        \
        X(errmsg)                                                                                                      \
        X(prepare_v2)                                                                                                  \
        X(bind_text)                                                                                                   \
        X(bind_blob)                                                                                                   \
        X(bind_int64)                                                                                                  \
        X(bind_null)                                                                                                   \
        X(step)                                                                                                        \
        X(reset)                                                                                                       \
        X(finalize)                                                                                                    \
        X(column_int64)                                                                                                \
        X(column_text)                                                                                                 \
        X(column_blob)                                                                                                 \
        X(column_bytes)

struct sqlite_library {
        uint32_t abi; /* SQLITE_LIBRARY_ABI */
#define SQLITE_LIBRARY_MEMBER(name) __typeof__(&sqlite3_##name) name;
        SQLITE_LIBRARY_FUNCTIONS(SQLITE_LIBRARY_MEMBER)
#undef SQLITE_LIBRARY_MEMBER
};

/* Loads the library. Returns 0, or -ENOENT or -ELIBBAD with a message that names the missing module. @out is never
 * freed.
 */
int sqlite_library_load(const struct sqlite_library **out, struct fst_error *error);
