/* See uri.h. Character classes are named as in RFC 2396; "beyond ASCII" is Java's class "other". */
#include "io/fs/uri.h"

#include "base/mem.h"

#include <ctype.h>

#define UNRESERVED "_-!.~'()*"
#define NAME_MARKS UNRESERVED "$,;:@&=+"
#define PATH_MARKS UNRESERVED ":@&=+$,;/"
#define URI_MARKS PATH_MARKS "?[]"

/* The byte written as two hexadecimal digits, or -1. */
static int uri_hex_byte(const char *digits)
{
        if (!isxdigit((unsigned char)digits[0]) || !isxdigit((unsigned char)digits[1]))
                return -1;
        char two[3] = {digits[0], digits[1], 0};
        return (int)strtol(two, NULL, 16);
}

static bool uri_is_one_of(unsigned char c, const char *marks)
{
        return isalnum(c) || c >= 0x80 || (c && strchr(marks, c));
}

/* True if the part has only letters, digits, @marks, %XX and characters beyond ASCII. */
static bool uri_part_has_only(struct uri_part part, const char *marks)
{
        for (size_t i = 0; i < part.len; i++) {
                if (part.text[i] == '%' && i + 2 < part.len && uri_hex_byte(part.text + i + 1) >= 0)
                        i += 2;
                else if (!uri_is_one_of((unsigned char)part.text[i], marks))
                        return false;
        }
        return true;
}

static struct uri_part uri_part_of(const char *from, const char *to)
{
        return (struct uri_part){.text = from, .len = (size_t)(to - from)};
}

/* True for "user@[::1]:80": an address in brackets, with an optional zone after "%", and a port. */
static bool uri_is_bracketed_host(struct uri_part authority)
{
        const char *p = authority.text, *stop = p + authority.len;
        const char *at = memchr(p, '@', authority.len), *end = memchr(p, ']', authority.len);
        if (at) {
                if (!uri_part_has_only(uri_part_of(p, at), NAME_MARKS))
                        return false;
                p = at + 1;
        }
        if (!end || p >= end || *p != '[' || end == p + 1)
                return false;
        for (p++; p < end && *p != '%'; p++) {
                if (!isxdigit((unsigned char)*p) && *p != ':' && *p != '.')
                        return false;
        }
        if (end + 1 == stop)
                return true;
        for (p = end + 2; p < stop && isdigit((unsigned char)*p); p++)
                ;
        return end[1] == ':' && p == stop;
}

/* Parses [//authority][path][?query] from @p to @stop. */
static bool uri_parse_hierarchical(const char *p, const char *stop, struct uri *out)
{
        if (stop - p >= 2 && p[0] == '/' && p[1] == '/') {
                const char *end = p += 2;
                while (end < stop && !strchr("/?", *end))
                        end++;
                if (end == p && end == stop && !out->fragment.text)
                        return false;
                if (end > p)
                        out->authority = uri_part_of(p, end);
                if (end > p && !uri_part_has_only(out->authority, NAME_MARKS) && !uri_is_bracketed_host(out->authority))
                        return false;
                p = end;
        }
        const char *query = memchr(p, '?', (size_t)(stop - p));
        out->path = uri_part_of(p, query ? query : stop);
        if (query)
                out->query = uri_part_of(query + 1, stop);
        return uri_part_has_only(out->path, PATH_MARKS) && uri_part_has_only(out->query, URI_MARKS);
}

static bool uri_is_scheme(struct uri_part part)
{
        for (size_t i = 0; i < part.len; i++) {
                unsigned char c = (unsigned char)part.text[i];
                if (!isalpha(c) && (i == 0 || (!isdigit(c) && !strchr("+-.", c))))
                        return false;
        }
        return part.len > 0;
}

bool uri_parse(const char *text, struct uri *out)
{
        const char *stop = text + strcspn(text, "#"), *p = text + strcspn(text, ":/?#");
        struct uri u = {0};
        if (*stop == '#') {
                u.fragment = uri_part_of(stop + 1, stop + strlen(stop));
                if (!uri_part_has_only(u.fragment, URI_MARKS))
                        return false;
        }
        if (*p != ':') {
                p = text;
        } else {
                u.scheme = uri_part_of(text, p++);
                if (!uri_is_scheme(u.scheme) || p == stop)
                        return false;
                u.opaque = *p != '/';
        }
        if (u.opaque ? !uri_part_has_only(uri_part_of(p, stop), URI_MARKS) : !uri_parse_hierarchical(p, stop, &u))
                return false;
        *out = u;
        return true;
}

bool uri_has_scheme(const struct uri *u, const char *name)
{
        return u->scheme.text && u->scheme.len == strlen(name) && memcmp(u->scheme.text, name, u->scheme.len) == 0;
}

char *uri_decode(struct uri_part part)
{
        struct buf out = BUF_INIT;
        for (size_t i = 0; i < part.len; i++) {
                int byte = part.text[i] == '%' && i + 2 < part.len ? uri_hex_byte(part.text + i + 1) : -1;
                i += byte >= 0 ? 2 : 0;
                buf_putc(&out, byte >= 0 ? (char)byte : part.text[i]);
        }
        return buf_steal(&out);
}

static void uri_put(struct buf *out, const char *text, const char *marks)
{
        for (; *text; text++) {
                unsigned char c = (unsigned char)*text;
                if (uri_is_one_of(c, marks))
                        buf_putc(out, (char)c);
                else
                        buf_printf(out, "%%%02X", c);
        }
}

char *uri_local_path(const char *name)
{
        struct uri uri;
        if (!uri_parse(name, &uri) || !uri.scheme.text)
                return mem_strdup(name);
        return uri_has_scheme(&uri, "file") ? uri_decode(uri.path) : NULL;
}

void uri_put_path(struct buf *out, const char *path)
{
        uri_put(out, path, PATH_MARKS);
}

void uri_put_fragment(struct buf *out, const char *text)
{
        uri_put(out, text, URI_MARKS);
}
