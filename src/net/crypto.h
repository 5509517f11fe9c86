/* Cryptography: TLS 1.3, AES-256-CTR, HKDF, random bytes, all by OpenSSL. SHA-256 alone is in net/sha256.h.
 *
 * Loading OpenSSL costs more than loading the rest of the program, so only a module, libfiresteel-crypto.so, links to
 * it and is loaded on first use. The module uses no symbol of the program: this header is their whole interface.
 * Local mode and `firesteel --version` never load it.
 *
 * All operations are thread-safe. An object is used by one thread at a time, except tls_context, which threads share.
 * Errors are written as sentences into `message` of `size` bytes.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct fst_error;
struct aes_ctr;
struct tls;
struct tls_context;

#define CRYPTO_ABI 5
#define DIGEST_MAX 64
#define AES_CTR_KEY_SIZE 32
#define AES_CTR_IV_SIZE 16

#define TLS_HANDSHAKE_RECORD 22 /* the first byte of a TLS client (RFC 8446, section 5.1) */
#define TLS_NOT_SPOKEN "it does not speak TLS: set spark.authenticate or spark.ssl.rpc.enabled alike on both sides"
#define TLS_ENDED_EARLY "it ended in the middle of the handshake"

/* Credentials. Either `psk` or, for certificates, the files. Paths and passwords may be NULL. */
struct tls_options {
        bool server;
        const uint8_t *psk;                      /* 32 bytes; NULL: certificates */
        const char *identity;                    /* of the key: sent in clear, at most 500 bytes */
        const char *key_file, *key_password;     /* PEM */
        const char *chain_file;                  /* PEM: own certificate first */
        const char *store_file, *store_password; /* PKCS#12 instead of the two above */
        const char *store_key_password;          /* of the key in it; NULL: the same */
        const char *trust_file, *trust_password; /* trusted certificates, PEM or PKCS#12 */
        bool need_client;                        /* server: clients must have a certificate, too */
        const char *suites;                      /* TLS 1.3 cipher suites, separated by colons; NULL: OpenSSL's */
};

struct crypto_ops {
        uint32_t abi; /* CRYPTO_ABI */

        /* Creates a context for one side; copies @o. Returns 0, or negative with a message. */
        int (*tls_context_new)(const struct tls_options *o, struct tls_context **out, char *message, size_t size);
        void (*tls_context_free)(struct tls_context *context);

        /* A connection over the non-blocking socket @fd, which the caller keeps. NULL: out of memory. */
        struct tls *(*tls_new)(struct tls_context *context, int fd);
        /* Sends the closing alert if that is possible at once. NULL is allowed. */
        void (*tls_free)(struct tls *tls);
        /* Returns 0 when done; -EAGAIN, see tls_wants; other negatives: failed, see tls_message. */
        int (*tls_handshake)(struct tls *tls);
        /* As recv and send on a non-blocking socket. After -EAGAIN a write must begin with the same bytes. */
        ssize_t (*tls_read)(struct tls *tls, void *buf, size_t n);
        ssize_t (*tls_write)(struct tls *tls, const void *buf, size_t n);
        bool (*tls_pending)(const struct tls *tls);
        /* POLLIN or POLLOUT: the event that the last -EAGAIN waits for. */
        int (*tls_wants)(const struct tls *tls);
        const char *(*tls_message)(const struct tls *tls);

        /* AES-256 in counter mode with random access: byte k depends only on key, iv and k, so any part can be
         * encrypted or decrypted (the same operation) separately. @in may be @out.
         */
        struct aes_ctr *(*aes_ctr_new)(const uint8_t key[AES_CTR_KEY_SIZE], const uint8_t iv[AES_CTR_IV_SIZE]);
        int (*aes_ctr_crypt)(struct aes_ctr *a, uint64_t offset, const void *in, void *out, size_t len);
        void (*aes_ctr_free)(struct aes_ctr *a); /* wipes the key */

        /* HKDF with SHA-256: 0 or negative. */
        int (*hkdf)(const void *secret, size_t secret_len, const void *salt, size_t salt_len, const void *info,
                    size_t info_len, uint8_t *out, size_t out_len);
        int (*random)(void *out, size_t len);

        /* Digest by OpenSSL's name of the algorithm ("md5", "sha1", "sha512"), for checksums of other programs.
         * Writes *@len bytes; negative for an unknown algorithm.
         */
        int (*digest)(const char *algorithm, const void *data, size_t data_len, uint8_t out[DIGEST_MAX], size_t *len);

        /* Makes a key (EC P-256) and a certificate of a server that it signs itself, valid from now for @valid_s
         * seconds and for the DNS names @names, which NULL ends. Both are PEM; the caller frees them. 0 or negative.
         */
        int (*certificate_make)(const char *common_name, const char *const *names, int64_t valid_s, char **key,
                                char **certificate);
        /* Reads a certificate of PEM. Returns 0 and the end of its validity, in seconds since 1970; -EBADMSG if it or
         * @key is no PEM, -EKEYREJECTED if @key is of another one, -ENOENT if it is not for the DNS name @name. @key and
         * @name may be NULL.
         */
        int (*certificate_inspect)(const char *certificate, const char *key, const char *name, int64_t *expires_s);
};

/* The module's only exported symbol: const struct crypto_ops *f(void). */
#define CRYPTO_MODULE_SYMBOL "firesteel_crypto_module"

/* Returns the operations. The first call loads the module, from lib/firesteel/ beside the library, or from the build
 * tree. Thread-safe; later calls return the same. Returns 0, or -ENOENT / -ELIBBAD with @error naming the places
 * searched.
 */
int crypto_load(const struct crypto_ops **out, struct fst_error *error);
