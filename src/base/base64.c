/* Base64 encoder and decoder. */
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

static int digit_of(char c)
{
        return c >= 'A' && c <= 'Z'   ? c - 'A'
               : c >= 'a' && c <= 'z' ? c - 'a' + 26
               : c >= '0' && c <= '9' ? c - '0' + 52
               : c == '-' || c == '+' ? 62
               : c == '_' || c == '/' ? 63
                                      : -1;
}

bool base64_decode(const char *text, size_t len, struct buf *out)
{
        unsigned bits = 0, held = 0;
        while (len > 0 && text[len - 1] == '=')
                len--;
        for (size_t i = 0; i < len; i++) {
                int digit = digit_of(text[i]);
                if (digit < 0)
                        return false;
                held = held << 6 | (unsigned)digit;
                bits += 6;
                if (bits >= 8) {
                        bits -= 8;
                        buf_putc(out, (char)(held >> bits & 0xff));
                }
        }
        return len % 4 != 1;
}
