/* Finds and loads the module of SHA-256, once in a process. */
#include "net/sha256.h"

#include "base/error.h"
#include "base/module_loader.h"

#include <pthread.h>

static struct {
        pthread_mutex_t lock;
        const struct sha256_ops *ops;
} module = {PTHREAD_MUTEX_INITIALIZER, NULL};

static int sha256_load_locked(struct fst_error *error)
{
        on_demand_fn get;
        int r = on_demand_load("SHA-256", "libfiresteel-sha256.so", SHA256_MODULE_SYMBOL, &get, error);
        if (r < 0)
                return r;
        const struct sha256_ops *ops = get();
        if (ops->abi != SHA256_ABI)
                return error_set(error, -ELIBBAD,
                                 "libfiresteel-sha256.so is not of this version of firesteel; install it again");
        module.ops = ops;
        return 0;
}

int sha256_load(const struct sha256_ops **out, struct fst_error *error)
{
        pthread_mutex_lock(&module.lock);
        int r = module.ops ? 0 : sha256_load_locked(error);
        if (r == 0)
                *out = module.ops;
        pthread_mutex_unlock(&module.lock);
        return r;
}

void sha256_text(const uint8_t digest[SHA256_SIZE], char text[2 * SHA256_SIZE + 1])
{
        static const char digits[] = "0123456789abcdef";
        for (int i = 0; i < SHA256_SIZE; i++) {
                text[2 * i] = digits[digest[i] >> 4];
                text[2 * i + 1] = digits[digest[i] & 15];
        }
        text[2 * SHA256_SIZE] = '\0';
}
