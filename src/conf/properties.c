/*
 * Java's properties files; see properties.h.
 *
 * One pass: natural lines (ended by \n, \r or both) are joined into logical ones, and each logical line is split into
 * key and value while its escapes are replaced. As in Java, comments are recognized before joining: a comment is never
 * continued, and a blank line does not end the continuation before it.
 *
 * Differs from Java, which continues silently: invalid UTF-8 and NUL characters are errors, because values are passed
 * to environments, command lines and JSON. Skips a byte order mark at the start. Like Spark, it trims values, including
 * escaped blanks but not line ends, and does not trim keys.
 */
#include "conf/properties.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

struct properties_reader {
        const char *name;
        const char *next, *end;
        size_t line;   /* the natural line of @next, from 1 */
        uint32_t high; /* first half of a character written as two \u escapes; 0: none */
};

static bool properties_is_blank(char c)
{
        return c == ' ' || c == '\t' || c == '\f';
}

static bool properties_is_end(char c)
{
        return c == '\n' || c == '\r';
}

/* Skips the end of a natural line. */
static void properties_skip_end(struct properties_reader *r)
{
        if (r->next < r->end && *r->next == '\r')
                r->next++, r->next += r->next < r->end && *r->next == '\n';
        else if (r->next < r->end)
                r->next++;
        r->line++;
}

static void properties_skip_blanks(struct properties_reader *r)
{
        while (r->next < r->end && properties_is_blank(*r->next))
                r->next++;
}

/* Skips blank lines, comments, and lines that only join the next. Returns false at the end of the text. */
static bool properties_find_line(struct properties_reader *r)
{
        while (r->next < r->end) {
                properties_skip_blanks(r);
                if (r->next == r->end)
                        break;
                bool comment = *r->next == '#' || *r->next == '!';
                bool joins = *r->next == '\\' && r->next + 1 < r->end && properties_is_end(r->next[1]);
                if (!comment && !joins && !properties_is_end(*r->next))
                        return true;
                while (r->next < r->end && !properties_is_end(*r->next))
                        r->next++;
                properties_skip_end(r);
        }
        return false;
}

static void properties_put_utf8(struct buf *out, uint32_t c)
{
        if (c < 0x80) {
                buf_putc(out, (char)c);
        } else if (c < 0x800) {
                buf_putc(out, (char)(0xc0 | c >> 6));
                buf_putc(out, (char)(0x80 | (c & 0x3f)));
        } else if (c < 0x10000) {
                buf_putc(out, (char)(0xe0 | c >> 12));
                buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
                buf_putc(out, (char)(0x80 | (c & 0x3f)));
        } else {
                buf_putc(out, (char)(0xf0 | c >> 18));
                buf_putc(out, (char)(0x80 | (c >> 12 & 0x3f)));
                buf_putc(out, (char)(0x80 | (c >> 6 & 0x3f)));
                buf_putc(out, (char)(0x80 | (c & 0x3f)));
        }
}

static int properties_refuse(const struct properties_reader *r, struct fst_error *error, const char *what)
{
        return error_set(error, -EINVAL, "%s: line %zu: %s", r->name, r->line, what);
}

/* Reads the digits of a \uXXXX. */
static int properties_read_unicode(struct properties_reader *r, struct buf *out, struct fst_error *error)
{
        uint32_t c = 0;
        for (int i = 0; i < 4; i++) {
                static const char digits[] = "0123456789abcdefABCDEF";
                const char *digit = r->next < r->end && *r->next ? strchr(digits, *r->next) : NULL;
                if (!digit)
                        return properties_refuse(r, error,
                                                 "malformed \\uXXXX: four hexadecimal digits must follow \\u");
                size_t value = (size_t)(digit - digits);
                c = c << 4 | (uint32_t)(value < 16 ? value : value - 6);
                r->next++;
        }
        bool low = c >= 0xdc00 && c < 0xe000;
        if (c == 0)
                return properties_refuse(r, error, "\\u0000 cannot be part of a key or value");
        if (low != (r->high != 0))
                return properties_refuse(r, error, "\\uD800 to \\uDFFF must form pairs");
        if (c >= 0xd800 && c < 0xdc00) {
                r->high = c;
                return 0;
        }
        properties_put_utf8(out, low ? 0x10000 + ((r->high - 0xd800) << 10) + (c - 0xdc00) : c);
        r->high = 0;
        return 0;
}

/* Reads an escape after its backslash. The text does not end there. */
static int properties_read_escape(struct properties_reader *r, struct buf *out, struct fst_error *error)
{
        char c = *r->next;
        if (properties_is_end(c)) {
                properties_skip_end(r);
                properties_skip_blanks(r);
                return 0;
        }
        r->next++;
        if (c == 'u')
                return properties_read_unicode(r, out, error);
        buf_putc(out, c == 't' ? '\t' : c == 'n' ? '\n' : c == 'r' ? '\r' : c == 'f' ? '\f' : c);
        return 0;
}

/* Reads to the end of the logical line, or of the key if @key. Replaces escapes. */
static int properties_read_part(struct properties_reader *r, bool key, struct buf *out, struct fst_error *error)
{
        while (r->next < r->end && !properties_is_end(*r->next)) {
                char c = *r->next;
                if (key && (properties_is_blank(c) || c == '=' || c == ':'))
                        break;
                r->next++;
                bool unicode = c == '\\' && r->next < r->end && *r->next == 'u';
                if (r->high && !unicode)
                        break;
                if (c == '\0')
                        return properties_refuse(r, error, "a NUL byte, which a properties file must not have");
                if (c != '\\') {
                        buf_putc(out, c);
                } else if (r->next < r->end) {
                        int e = properties_read_escape(r, out, error);
                        if (e < 0)
                                return e;
                }
        }
        if (r->high)
                return properties_refuse(r, error, "\\uD800 to \\uDFFF must form pairs");
        return 0;
}

/* Skips the separator of key and value: blanks with at most one `=` or `:` among them, across joined lines too. */
static void properties_skip_separator(struct properties_reader *r)
{
        bool seen = false;
        while (r->next < r->end) {
                if (properties_is_blank(*r->next)) {
                        r->next++;
                } else if (!seen && (*r->next == '=' || *r->next == ':')) {
                        seen = true;
                        r->next++;
                } else if (*r->next == '\\' && r->next + 1 < r->end && properties_is_end(r->next[1])) {
                        r->next++;
                        properties_skip_end(r);
                } else {
                        break;
                }
        }
}

/* Whether Spark trims @c from values: all characters up to the blank, except escaped line ends. */
static bool properties_is_trimmed(char c)
{
        return (unsigned char)c <= ' ' && !properties_is_end(c);
}

static const char *properties_trimmed(struct buf *b)
{
        size_t n = b->len, start = 0;
        while (n && properties_is_trimmed(b->data[n - 1]))
                n--;
        buf_truncate(b, n);
        while (start < n && properties_is_trimmed(b->data[start]))
                start++;
        return buf_text(b) + start;
}

/* Returns the first byte of invalid UTF-8, or NULL. */
static const char *properties_find_bad_utf8(const char *text, size_t length)
{
        const unsigned char *s = (const unsigned char *)text, *end = s + length;
        while (s < end) {
                unsigned char c = *s;
                size_t n = c < 0x80                ? 1
                           : c >= 0xc2 && c < 0xe0 ? 2
                           : c >= 0xe0 && c < 0xf0 ? 3
                           : c >= 0xf0 && c < 0xf5 ? 4
                                                   : 0;
                if (n == 0 || n > (size_t)(end - s))
                        return (const char *)s;
                for (size_t i = 1; i < n; i++)
                        if ((s[i] & 0xc0) != 0x80)
                                return (const char *)s;
                if ((c == 0xe0 && s[1] < 0xa0) || (c == 0xed && s[1] > 0x9f) || (c == 0xf0 && s[1] < 0x90) ||
                    (c == 0xf4 && s[1] > 0x8f))
                        return (const char *)s;
                s += n;
        }
        return NULL;
}

int properties_parse(struct strmap *out, const char *name, const char *text, size_t length, struct fst_error *error)
{
        struct properties_reader r = {.name = name, .next = text, .end = text + length, .line = 1};
        const char *bad = properties_find_bad_utf8(text, length);
        if (bad) {
                for (const char *p = text; p < bad; p++)
                        r.line += *p == '\n';
                return properties_refuse(&r, error,
                                         "not UTF-8: save the file as UTF-8, or write the character as \\uXXXX");
        }
        if (length >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
                r.next += 3;
        _cleanup_(strmap_deinit) struct strmap found = STRMAP_INIT;
        _cleanup_(buf_deinit) struct buf key = BUF_INIT, value = BUF_INIT;
        while (properties_find_line(&r)) {
                buf_reset(&key);
                buf_reset(&value);
                int e = properties_read_part(&r, true, &key, error);
                if (e < 0)
                        return e;
                properties_skip_separator(&r);
                e = properties_read_part(&r, false, &value, error);
                if (e < 0)
                        return e;
                properties_skip_end(&r);
                strmap_set(&found, buf_text(&key), properties_trimmed(&value));
        }
        strmap_merge(out, &found);
        return 0;
}

#define LINE_ENDS "\n\r\t\f"

/* Appends @text, with backslashes before characters of @special, which begins with LINE_ENDS, and a first blank. */
static void properties_put_escaped(struct buf *out, const char *text, const char *special)
{
        static const char ends[] = LINE_ENDS, names[] = "nrtf";
        const char *p = text + (*text == ' ');
        if (p > text)
                buf_puts(out, "\\ ");
        for (;;) {
                const size_t plain = strcspn(p, special);
                buf_append(out, p, plain);
                p += plain;
                if (!*p)
                        return;
                const char *end = strchr(ends, *p);
                buf_putc(out, '\\');
                buf_putc(out, end ? names[end - ends] : *p);
                p++;
        }
}

void properties_put(struct buf *out, const char *key, const char *value)
{
        properties_put_escaped(out, key, LINE_ENDS "\\ =:#!");
        buf_putc(out, '=');
        properties_put_escaped(out, value, LINE_ENDS "\\");
        buf_putc(out, '\n');
}

void properties_store(struct buf *out, const char *key, const char *value)
{
        properties_put_escaped(out, key, LINE_ENDS "\\ =:#!");
        buf_putc(out, '=');
        properties_put_escaped(out, value, LINE_ENDS "\\=:#!");
        buf_putc(out, '\n');
}

int properties_load(struct strmap *out, const char *path, struct fst_error *error)
{
        struct stat st;
        int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 && errno == ENOENT)
                return error_set(error, -ENOENT, "Properties file %s does not exist", path);
        if (fd < 0)
                return error_errno(error, "Failed when loading Spark properties from %s", path);
        int r = 0;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        if (fstat(fd, &st) < 0)
                r = error_errno(error, "Failed when loading Spark properties from %s", path);
        else if (!S_ISREG(st.st_mode))
                r = error_set(error, -EINVAL, "Properties file %s is not a normal file", path);
        while (r == 0) {
                buf_reserve(&text, 64 * 1024);
                ssize_t n = read(fd, text.data + text.len, 64 * 1024);
                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        r = error_errno(error, "Failed when loading Spark properties from %s", path);
                if (n <= 0)
                        break;
                text.len += (size_t)n;
                if (text.len > PROPERTIES_MAX_BYTES)
                        r = error_set(error, -EFBIG, "Properties file %s is longer than 16 MiB", path);
        }
        close(fd);
        return r < 0 ? r : properties_parse(out, path, buf_text(&text), text.len, error);
}
