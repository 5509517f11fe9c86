/* Quotes strings for JSON. */
#include "text/json_string.h"

#include <string.h>

/* Returns the length of the UTF-8 sequence at @s, or 0 if it is invalid (overlong forms, surrogates). */
static size_t utf8_sequence(const unsigned char *s, size_t left)
{
        unsigned char c = s[0];
        size_t n = c < 0x80 ? 1 : c < 0xc2 ? 0 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 0;
        if (n == 0 || n > left)
                return 0;
        for (size_t i = 1; i < n; i++)
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
        if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f) || (c == 0xf0 && s[1] < 0x90) ||
            (c == 0xf4 && s[1] > 0x8f))
                return 0;
        return n;
}

static void put_escape(struct buf *b, unsigned char c)
{
        static const char letters[32] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f', ['\r'] = 'r'};
        if (c == '"' || c == '\\' || letters[c])
                buf_append(b, (char[]){'\\', c < 32 ? letters[c] : (char)c}, 2);
        else
                buf_printf(b, "\\u%04X", c);
}

void json_put_string_n(struct buf *b, const char *text, size_t length)
{
        const unsigned char *s = (const unsigned char *)text;
        size_t plain = 0; /* start of the bytes that need no escape */
        buf_reserve(b, length + 2);
        buf_putc(b, '"');
        for (size_t i = 0; i < length;) {
                bool special = s[i] < 32 || s[i] == '"' || s[i] == '\\';
                size_t n = special ? 0 : utf8_sequence(s + i, length - i);
                if (n) {
                        i += n;
                        continue;
                }
                buf_append(b, s + plain, i - plain);
                if (special)
                        put_escape(b, s[i]);
                else
                        buf_puts(b, "\xef\xbf\xbd");
                plain = ++i;
        }
        buf_append(b, s + plain, length - plain);
        buf_putc(b, '"');
}

void json_put_string(struct buf *b, const char *text)
{
        if (text)
                json_put_string_n(b, text, strlen(text));
        else
                buf_puts(b, "null");
}
