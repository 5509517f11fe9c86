/* See archive_library.h. */
#include "io/codec/archive_library.h"

#include "base/error.h"
#include "base/module_loader.h"

#include <pthread.h>
#include <stdlib.h>

static const struct archive_library *library;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fst_error missing; /* why loading failed; never freed */

static void archive_library_load_module(void)
{
        on_demand_fn module;
        if (on_demand_load("archive", "libfiresteel-archive.so", ARCHIVE_MODULE_SYMBOL, &module, &missing) < 0)
                return;
        const struct archive_library *found = module();
        if (found->abi == ARCHIVE_LIBRARY_ABI)
                library = found;
        else
                error_set(&missing, -ELIBBAD, "libfiresteel-archive.so has another version: install firesteel again");
}

int archive_library_load(const struct archive_library **out, struct fst_error *error)
{
        pthread_once(&once, archive_library_load_module);
        if (!library)
                return error_set(error, -ENOTSUP, "%s", error_message(&missing));
        *out = library;
        return 0;
}

const char *archive_library_why(const struct archive_library *lib, struct archive *a)
{
        const char *text = lib->archive_error_string(a);
        return text ? text : "unknown error";
}
