/* See uring_library.h. */
#include "io/ahead/uring_library.h"

#include "base/error.h"
#include "base/log.h"
#include "base/module_loader.h"

#include <pthread.h>

static const struct uring_library *library;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void uring_library_load_module(void)
{
        struct fst_error error = FST_ERROR_INIT;
        on_demand_fn module;
        if (on_demand_load("uring", "libfiresteel-uring.so", URING_MODULE_SYMBOL, &module, &error) < 0) {
                log_debug("ReadAhead", "A thread reads ahead: %s", error_message(&error));
                error_deinit(&error);
                return;
        }
        const struct uring_library *found = module();
        if (found->abi == URING_LIBRARY_ABI)
                library = found;
}

const struct uring_library *uring_library_load(void)
{
        pthread_once(&once, uring_library_load_module);
        return library;
}
