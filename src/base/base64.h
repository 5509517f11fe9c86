/* Bytes as text: RFC 4648's base64, with padding. */
#pragma once

#include "base/buf.h"

void base64_put(struct buf *out, const void *data, size_t len);
