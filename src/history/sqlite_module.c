/* libfiresteel-sqlite.so: a table of SQLite's functions; see history/sqlite_library.h. */
#include "history/sqlite_library.h"

__attribute__((visibility("default"))) const void *firesteel_sqlite_module(void);

const void *firesteel_sqlite_module(void)
{
        static const struct sqlite_library table = {.abi = SQLITE_LIBRARY_ABI,
#define ENTRY(name) .name = sqlite3_##name,
                                                    SQLITE_LIBRARY_FUNCTIONS(ENTRY)
#undef ENTRY
        };
        return &table;
}
