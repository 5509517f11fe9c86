/*
 * The crypto module: OpenSSL behind net/crypto.h. It is a separate shared object and uses no function of the core.
 *
 * It does not read OpenSSL's configuration file, so its behaviour does not depend on the machine.
 */
#include "net/crypto_module.h"

#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/core_names.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>

static EVP_CIPHER *aes_cipher;

struct aes_ctr {
        EVP_CIPHER_CTX *ctx;
        uint8_t iv[AES_CTR_IV_SIZE];
};

static void aes_free(struct aes_ctr *a)
{
        if (!a)
                return;
        EVP_CIPHER_CTX_free(a->ctx); /* wipes the data */
        OPENSSL_cleanse(a, sizeof(*a));
        free(a);
}

static struct aes_ctr *aes_new(const uint8_t key[AES_CTR_KEY_SIZE], const uint8_t iv[AES_CTR_IV_SIZE])
{
        struct aes_ctr *a = calloc(1, sizeof(*a));
        if (a && (a->ctx = EVP_CIPHER_CTX_new()) && EVP_EncryptInit_ex2(a->ctx, aes_cipher, key, iv, NULL)) {
                memcpy(a->iv, iv, sizeof(a->iv));
                return a;
        }
        aes_free(a);
        return NULL;
}

/* Computes the counter of the block of byte @offset: iv + offset / 16, big-endian. */
static void counter_at(const uint8_t iv[16], uint64_t offset, uint8_t out[16])
{
        uint64_t add = offset / 16;
        unsigned carry = 0;
        for (int i = 15; i >= 0; i--) {
                unsigned sum = iv[i] + carry + (unsigned)(add & 0xff);
                out[i] = (uint8_t)sum;
                carry = sum >> 8;
                add >>= 8;
        }
}

static int aes_crypt(struct aes_ctr *a, uint64_t offset, const void *in, void *out, size_t len)
{
        uint8_t counter[16], skipped[16] = {0};
        int n;
        counter_at(a->iv, offset, counter);
        if (!EVP_EncryptInit_ex2(a->ctx, NULL, NULL, counter, NULL))
                return -ENOMEM;
        if (offset % 16 && !EVP_EncryptUpdate(a->ctx, skipped, &n, skipped, (int)(offset % 16)))
                return -ENOMEM;
        const uint8_t *from = in;
        uint8_t *to = out;
        while (len > 0) {
                int piece = len > (1 << 30) ? 1 << 30 : (int)len;
                if (!EVP_EncryptUpdate(a->ctx, to, &n, from, piece))
                        return -ENOMEM;
                from += piece;
                to += piece;
                len -= (size_t)piece;
        }
        return 0;
}

static int crypto_module_derive(const void *secret, size_t secret_len, const void *salt, size_t salt_len,
                                const void *info, size_t info_len, uint8_t *out, size_t out_len)
{
        EVP_KDF *kdf = EVP_KDF_fetch(NULL, "HKDF", NULL);
        EVP_KDF_CTX *ctx = kdf ? EVP_KDF_CTX_new(kdf) : NULL;
        OSSL_PARAM params[5], *p = params;
        *p++ = OSSL_PARAM_construct_utf8_string(OSSL_KDF_PARAM_DIGEST, (char *)"SHA256", 0);
        *p++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_KEY, (void *)secret, secret_len);
        if (salt_len)
                *p++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_SALT, (void *)salt, salt_len);
        *p++ = OSSL_PARAM_construct_octet_string(OSSL_KDF_PARAM_INFO, (void *)info, info_len);
        *p = OSSL_PARAM_construct_end();
        int r = ctx && EVP_KDF_derive(ctx, out, out_len, params) > 0 ? 0 : -EINVAL;
        EVP_KDF_CTX_free(ctx);
        EVP_KDF_free(kdf);
        return r;
}

static int random_bytes(void *out, size_t len)
{
        return len <= 1 << 20 && RAND_bytes(out, (int)len) == 1 ? 0 : -EIO;
}

static int crypto_module_digest(const char *algorithm, const void *data, size_t data_len, uint8_t out[DIGEST_MAX],
                                size_t *len)
{
        unsigned n = 0;
        EVP_MD *md = EVP_MD_fetch(NULL, algorithm, NULL);
        int r = md && EVP_Digest(data, data_len, out, &n, md, NULL) ? 0 : -EINVAL;
        EVP_MD_free(md);
        *len = n;
        return r;
}

static const struct crypto_ops ops = {
        .abi = CRYPTO_ABI,
        .tls_context_new = crypto_tls_context_new,
        .tls_context_free = crypto_tls_context_free,
        .tls_new = crypto_tls_new,
        .tls_free = crypto_tls_free,
        .tls_handshake = crypto_tls_handshake,
        .tls_read = crypto_tls_read,
        .tls_write = crypto_tls_write,
        .tls_pending = crypto_tls_pending,
        .tls_wants = crypto_tls_wants,
        .tls_message = crypto_tls_message,
        .aes_ctr_new = aes_new,
        .aes_ctr_crypt = aes_crypt,
        .aes_ctr_free = aes_free,
        .hkdf = crypto_module_derive,
        .random = random_bytes,
        .digest = crypto_module_digest,
        .certificate_make = crypto_certificate_make,
        .certificate_inspect = crypto_certificate_inspect,
};

__attribute__((visibility("default"))) const struct crypto_ops *firesteel_crypto_module(void);
const struct crypto_ops *firesteel_crypto_module(void)
{
        /* At exit, threads may still use TLS, and those of libuv's pool end later than OpenSSL's own cleanup would. */
        if (!OPENSSL_init_ssl(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL))
                return NULL;
        if (!aes_cipher)
                aes_cipher = EVP_CIPHER_fetch(NULL, "AES-256-CTR", NULL);
        return aes_cipher ? &ops : NULL;
}
