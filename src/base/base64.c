/* See base64.h. */
#include "base/base64.h"

#include <stdint.h>

void base64_put(struct buf *out, const void *data, size_t len)
{
        static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        const uint8_t *p = data;
        buf_reserve(out, len / 3 * 4 + 4);
        for (size_t i = 0; i < len; i += 3) {
                size_t n = len - i < 3 ? len - i : 3;
                uint32_t three = (uint32_t)p[i] << 16 | (n > 1 ? (uint32_t)p[i + 1] << 8 : 0) | (n > 2 ? p[i + 2] : 0);
                for (size_t k = 0; k < 4; k++)
                        buf_putc(out, k <= n ? digits[three >> (18 - 6 * k) & 63] : '=');
        }
}
