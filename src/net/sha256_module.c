/* The module of SHA-256: Nettle behind net/sha256.h. It is a separate shared object and uses no function of the core.
 */
#include "net/sha256.h"

#include <nettle/sha2.h>
#include <stdlib.h>

struct sha256 {
        struct sha256_ctx context;
};

static void sha256_module_hash(const void *data, size_t len, uint8_t out[SHA256_SIZE])
{
        struct sha256_ctx context;
        nettle_sha256_init(&context);
        nettle_sha256_update(&context, len, data);
        nettle_sha256_digest(&context, SHA256_SIZE, out);
}

static struct sha256 *sha256_module_begin(void)
{
        struct sha256 *s = malloc(sizeof(*s));
        if (s)
                nettle_sha256_init(&s->context);
        return s;
}

static void sha256_module_add(struct sha256 *s, const void *data, size_t len)
{
        nettle_sha256_update(&s->context, len, data);
}

static void sha256_module_end(struct sha256 *s, uint8_t out[SHA256_SIZE])
{
        if (out)
                nettle_sha256_digest(&s->context, SHA256_SIZE, out);
        free(s);
}

static const struct sha256_ops ops = {.abi = SHA256_ABI,
                                      .hash = sha256_module_hash,
                                      .begin = sha256_module_begin,
                                      .add = sha256_module_add,
                                      .end = sha256_module_end};

__attribute__((visibility("default"))) const struct sha256_ops *firesteel_sha256_module(void);
const struct sha256_ops *firesteel_sha256_module(void)
{
        return &ops;
}
