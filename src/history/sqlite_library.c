/* See sqlite_library.h. */
#include "history/sqlite_library.h"

#include "base/error.h"
#include "base/module_loader.h"

int sqlite_library_load(const struct sqlite_library **out, struct fst_error *error)
{
        on_demand_fn module;
        int r = on_demand_load("sqlite", "libfiresteel-sqlite.so", SQLITE_MODULE_SYMBOL, &module, error);
        if (r < 0)
                return r;
        const struct sqlite_library *found = module();
        if (found->abi != SQLITE_LIBRARY_ABI)
                return error_set(error, -ELIBBAD,
                                 "libfiresteel-sqlite.so has another version: install firesteel again");
        *out = found;
        return 0;
}
