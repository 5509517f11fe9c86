/* See sasl.h. */
#include "hadoop/sasl.h"

#include "base/error.h"
#include "base/module_loader.h"

#include <stdatomic.h>

static _Atomic(const struct sasl_ops *) sasl_module; /* NULL: not loaded yet */

int sasl_load(const struct sasl_ops **out, struct fst_error *error)
{
        const struct sasl_ops *ops = atomic_load(&sasl_module);
        on_demand_fn get;
        if (!ops) {
                int r = on_demand_load("SASL", "libfiresteel-sasl.so", SASL_MODULE_SYMBOL, &get, error);
                if (r < 0)
                        return r;
                ops = get();
                if (!ops || ops->abi != SASL_ABI)
                        return error_set(error, -ELIBBAD,
                                         "libfiresteel-sasl.so is not of this version of firesteel; install it again");
                atomic_store(&sasl_module, ops);
        }
        *out = ops;
        return 0;
}
