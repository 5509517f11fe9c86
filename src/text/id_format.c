/* Formats ids by Java's format strings. */
#include "text/id_format.h"

#include "base/error.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { WIDTH_MAX = 64 };

struct conversion {
        int argument, width;
        bool zero, left;
};

/* Parses one conversion after its '%'. Returns its end, or NULL with @error. */
static const char *format_one(struct buf *out, const char *p, int *next, const struct id_argument *args, int n,
                              struct fst_error *error)
{
        struct conversion c = {.argument = -1};
        const char *digits = p;
        int number = 0;

        while (isdigit((unsigned char)*digits) && number <= WIDTH_MAX)
                number = number * 10 + (*digits++ - '0');
        if (digits > p && *digits == '$' && number > 0) {
                c.argument = number - 1;
                p = digits + 1;
        }
        for (; *p == '0' || *p == '-'; p++) {
                c.zero |= *p == '0';
                c.left |= *p == '-';
        }
        for (; isdigit((unsigned char)*p) && c.width <= WIDTH_MAX; p++)
                c.width = c.width * 10 + (*p - '0');
        if (c.width > WIDTH_MAX || (*p != 's' && *p != 'd') || (c.zero && (c.left || *p == 's' || c.width == 0))) {
                error_set(error, -EINVAL, "%s is not a valid conversion of an id (use %%s, %%d or %%04d)",
                          *p ? "the text after a %" : "a % at the end");
                return NULL;
        }
        if (c.argument < 0)
                c.argument = (*next)++;
        if (c.argument >= n) {
                error_set(error, -EINVAL, "it uses %d values, but only %d exist", c.argument + 1, n);
                return NULL;
        }
        if (*p == 'd' && args[c.argument].text) {
                error_set(error, -EINVAL, "%%d stands for value %d, which is not a number", c.argument + 1);
                return NULL;
        }
        if (args[c.argument].text)
                buf_printf(out, "%*s", c.left ? -c.width : c.width, args[c.argument].text);
        else if (c.zero)
                buf_printf(out, "%0*" PRId64, c.width, args[c.argument].number);
        else
                buf_printf(out, "%*" PRId64, c.left ? -c.width : c.width, args[c.argument].number);
        return p + 1;
}

static void id_format_take_back(struct buf *out, size_t before)
{
        if (out->len > before)
                buf_truncate(out, before);
}

int id_pattern_format(struct buf *out, const char *pattern, const struct id_argument *args, int n,
                      struct fst_error *error)
{
        size_t before = out->len;
        int next = 0;

        for (const char *p = pattern; *p;) {
                if (isspace((unsigned char)*p)) {
                        id_format_take_back(out, before);
                        return error_set(error, -EINVAL, "Whitespace is not allowed.");
                }
                if (*p != '%') {
                        buf_putc(out, *p++);
                } else if (p[1] == '%') {
                        buf_putc(out, '%');
                        p += 2;
                } else if (!(p = format_one(out, p + 1, &next, args, n, error))) {
                        id_format_take_back(out, before);
                        return -EINVAL;
                }
        }
        return 0;
}

void id_pattern_date(int64_t wall, char *text)
{
        time_t seconds = wall / 1000;
        struct tm tm = {0};

        localtime_r(&seconds, &tm);
        if (strftime(text, 15, "%Y%m%d%H%M%S", &tm) != 14)
                strcpy(text, "00000000000000"); /* years beyond four digits */
}
