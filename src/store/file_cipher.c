/* See file_cipher.h. Each call sets up a cipher state, which takes a microsecond. Calls encrypt whole pages. */
#include "store/file_cipher.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/crypto.h"

struct file_key {
        const struct crypto_ops *crypto;
        uint8_t key[AES_CTR_KEY_SIZE];
};

_Static_assert(FILE_IV == AES_CTR_IV_SIZE, "one initial value for each file");

int file_secret_new(int bits, uint8_t secret[static MAX_FILE_SECRET], size_t *len, struct fst_error *error)
{
        const struct crypto_ops *crypto;
        if (bits != 128 && bits != 192 && bits != 256)
                return error_set(error, -EINVAL, "spark.io.encryption.keySizeBits is %d: it must be 128, 192 or 256",
                                 bits);
        int r = crypto_load(&crypto, error);
        if (r)
                return error_wrap(error, r, "spark.io.encryption.enabled");
        if (crypto->random(secret, (size_t)bits / 8) < 0)
                return error_set(error, -EIO, "spark.io.encryption.enabled: cannot create a key");
        *len = (size_t)bits / 8;
        return 0;
}

int file_key_from(const void *secret, size_t len, struct file_key **key, struct fst_error *error)
{
        static const char purpose[] = "firesteel local files";
        const struct crypto_ops *crypto;
        uint8_t stretched[AES_CTR_KEY_SIZE];
        if (len < 16)
                return error_set(error, -EINVAL,
                                 "the key of spark.io.encryption.enabled has %zu bytes, which are too few", len);
        int r = crypto_load(&crypto, error);
        if (r)
                return error_wrap(error, r, "spark.io.encryption.enabled");
        if (crypto->hkdf(secret, len, NULL, 0, purpose, sizeof(purpose) - 1, stretched, sizeof(stretched)) < 0)
                return error_set(error, -EIO, "spark.io.encryption.enabled: cannot create a key");
        struct file_key *k = new0(struct file_key);
        k->crypto = crypto;
        memcpy(k->key, stretched, sizeof(stretched));
        explicit_bzero(stretched, sizeof(stretched));
        *key = k;
        return 0;
}

void file_key_free(struct file_key *key)
{
        if (key)
                explicit_bzero(key->key, sizeof(key->key));
        free(key);
}

int file_iv(const struct file_key *key, uint8_t iv[static FILE_IV], struct fst_error *error)
{
        return key->crypto->random(iv, FILE_IV) < 0 ? error_set(error, -EIO, "no random bytes for an encrypted file")
                                                    : 0;
}

int file_crypt(const struct file_key *key, const uint8_t iv[static FILE_IV], uint64_t offset, const void *in, void *out,
               size_t n, struct fst_error *error)
{
        struct aes_ctr *state = key->crypto->aes_ctr_new(key->key, iv);
        int r = state ? key->crypto->aes_ctr_crypt(state, offset, in, out, n) : -ENOMEM;
        if (state)
                key->crypto->aes_ctr_free(state);
        return r < 0 ? error_set(error, -EIO, "encrypting or decrypting a local file failed") : 0;
}
