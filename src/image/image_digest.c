/* See image_digest.h. */
#include "image/image_digest.h"

#include "base/error.h"
#include "net/crypto.h"

#include <string.h>

int image_digest(const void *data, size_t n, char out[IMAGE_DIGEST], struct fst_error *error)
{
        const struct crypto_ops *crypto;
        uint8_t digest[SHA256_SIZE];
        int r = crypto_load(&crypto, error);
        if (r == 0 && crypto->sha256(data, n, digest) < 0)
                r = error_set(error, -EIO, "SHA-256 failed");
        if (r == 0) {
                memcpy(out, "sha256:", 7);
                sha256_text(digest, out + 7);
        }
        return r;
}
