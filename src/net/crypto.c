/* Finds and loads the crypto module, once in a process. */
#include "net/crypto.h"

#include "base/error.h"
#include "base/module_loader.h"

#include <pthread.h>

static struct {
        pthread_mutex_t lock;
        const struct crypto_ops *ops;
} module = {PTHREAD_MUTEX_INITIALIZER, NULL};

static int crypto_load_locked(struct fst_error *error)
{
        on_demand_fn get;
        int r = on_demand_load("crypto", "libfiresteel-crypto.so", CRYPTO_MODULE_SYMBOL, &get, error);
        if (r < 0)
                return r;
        const struct crypto_ops *ops = get();
        if (!ops || ops->abi != CRYPTO_ABI)
                return error_set(error, -ELIBBAD,
                                 "libfiresteel-crypto.so is not of this version of firesteel; "
                                 "install it again");
        module.ops = ops;
        return 0;
}

int crypto_load(const struct crypto_ops **out, struct fst_error *error)
{
        pthread_mutex_lock(&module.lock);
        int r = module.ops ? 0 : crypto_load_locked(error);
        if (r == 0)
                *out = module.ops;
        pthread_mutex_unlock(&module.lock);
        return r;
}
