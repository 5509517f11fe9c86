/* See image_digest.h. */
#include "image/image_digest.h"

#include "base/error.h"
#include "net/sha256.h"

#include <string.h>

int image_digest(const void *data, size_t n, char out[IMAGE_DIGEST], struct fst_error *error)
{
        const struct sha256_ops *sha256;
        uint8_t digest[SHA256_SIZE];
        int r = sha256_load(&sha256, error);
        if (r == 0) {
                sha256->hash(data, n, digest);
                memcpy(out, "sha256:", 7);
                sha256_text(digest, out + 7);
        }
        return r;
}
