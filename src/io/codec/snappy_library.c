/* See snappy_library.h. */
#include "io/codec/snappy_library.h"

#include "base/error.h"
#include "base/module_loader.h"

#include <pthread.h>

static const struct snappy_library *snappy_table;
static pthread_once_t snappy_once = PTHREAD_ONCE_INIT;
static struct fst_error snappy_missing; /* why loading failed; never freed */

static void snappy_library_load_module(void)
{
        on_demand_fn module;
        if (on_demand_load("snappy", "libfiresteel-snappy.so", SNAPPY_MODULE_SYMBOL, &module, &snappy_missing) < 0)
                return;
        const struct snappy_library *found = module();
        if (found->abi == SNAPPY_LIBRARY_ABI)
                snappy_table = found;
        else
                error_set(&snappy_missing, -ELIBBAD,
                          "libfiresteel-snappy.so has another version: install firesteel again");
}

int snappy_library_load(const struct snappy_library **out, struct fst_error *error)
{
        pthread_once(&snappy_once, snappy_library_load_module);
        if (!snappy_table)
                return error_set(error, -ENOTSUP, "%s", error_message(&snappy_missing));
        *out = snappy_table;
        return 0;
}
