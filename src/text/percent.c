/* See percent.h. */
#include "text/percent.h"

#include "base/buf.h"

#include <ctype.h>
#include <string.h>

void percent_encode(struct buf *out, const char *text, const char *also)
{
        for (; *text; text++) {
                unsigned char c = (unsigned char)*text;
                if (c < 0x80 && (isalnum(c) || strchr("-._~", c) || strchr(also, c)))
                        buf_putc(out, (char)c);
                else
                        buf_printf(out, "%%%02X", c);
        }
}
