/* Digests of an image's parts: "sha256:" and the hash in hexadecimal digits. */
#pragma once

#include "image/image_layer.h"

/* Returns negative with @error if the crypto module cannot be loaded. */
int image_digest(const void *data, size_t n, char out[IMAGE_DIGEST], struct fst_error *error);
