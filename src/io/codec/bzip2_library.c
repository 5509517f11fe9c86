/* See bzip2_library.h. */
#include "io/codec/bzip2_library.h"

#include "base/error.h"
#include "base/module_loader.h"

#include <pthread.h>

static const struct bzip2_library *library;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct fst_error missing; /* why loading failed; never freed */

static void bzip2_library_load_module(void)
{
        on_demand_fn module;
        if (on_demand_load("bzip2", "libfiresteel-bzip2.so", BZIP2_MODULE_SYMBOL, &module, &missing) < 0)
                return;
        const struct bzip2_library *found = module();
        if (found->abi == BZIP2_LIBRARY_ABI)
                library = found;
        else
                error_set(&missing, -ELIBBAD, "libfiresteel-bzip2.so has another version: install firesteel again");
}

int bzip2_library_load(const struct bzip2_library **out, struct fst_error *error)
{
        pthread_once(&once, bzip2_library_load_module);
        if (!library)
                return error_set(error, -ENOTSUP, "%s", error_message(&missing));
        *out = library;
        return 0;
}
