/*
 * SHA-256, by Nettle, in a module that is loaded on first use: libfiresteel-sha256.so. OpenSSL has the same digest, but
 * takes 5 ms and 3 MB to load, and drivers and executors without authentication need nothing else of it.
 *
 *      const struct sha256_ops *sha256;
 *      r = sha256_load(&sha256, error);
 *      sha256->hash(data, n, digest);
 *
 * All operations are thread-safe. An object is used by one thread at a time.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct sha256;

#define SHA256_ABI 1
#define SHA256_SIZE 32

struct sha256_ops {
        uint32_t abi; /* SHA256_ABI */
        /* Hashes one piece. */
        void (*hash)(const void *data, size_t len, uint8_t out[SHA256_SIZE]);
        /* Hashes many pieces. begin returns NULL if memory is out. end frees @s; @out NULL: only that. */
        struct sha256 *(*begin)(void);
        void (*add)(struct sha256 *s, const void *data, size_t len);
        void (*end)(struct sha256 *s, uint8_t out[SHA256_SIZE]);
};

/* The module's only exported symbol: const struct sha256_ops *f(void). */
#define SHA256_MODULE_SYMBOL "firesteel_sha256_module"

/* Returns the operations. The first call loads the module. Thread-safe. Returns 0, or -ENOENT / -ELIBBAD with @error.
 */
int sha256_load(const struct sha256_ops **out, struct fst_error *error);

/* The digest as lower-case hexadecimal text. */
void sha256_text(const uint8_t digest[SHA256_SIZE], char text[2 * SHA256_SIZE + 1]);
