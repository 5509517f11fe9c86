/*
 * Paths as URIs, as Spark's Utils.resolveURI makes them: what has a scheme stays, all else becomes an absolute file:
 * URI whose path has no links and no "..", with a fragment ("#name in the working folder") kept behind it.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "deploy/submit/arguments.h"

#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A letter, then letters, digits, "+", "-", ".", then ":". A text with blanks is a path for Java, scheme or not. */
static bool has_scheme(const char *text)
{
        size_t n = 0;
        while (isalnum((unsigned char)text[n]) || (n > 0 && text[n] && strchr("+-.", text[n])))
                n++;
        return n > 0 && isalpha((unsigned char)text[0]) && text[n] == ':' && text[n + 1] &&
               !strpbrk(text, " \"<>\\^`{|}");
}

/* @path below the current folder, without "." and "..", for what does not exist. */
static void put_normalised(struct buf *out, const char *path)
{
        char here[PATH_MAX];
        if (path[0] != '/' && getcwd(here, sizeof(here)))
                buf_puts(out, strcmp(here, "/") == 0 ? "" : here);
        while (*path) {
                path += strspn(path, "/");
                size_t n = strcspn(path, "/");
                if (n == 2 && memcmp(path, "..", 2) == 0) {
                        const char *slash = out->len ? strrchr(buf_text(out), '/') : NULL;
                        buf_truncate(out, slash ? (size_t)(slash - out->data) : 0);
                } else if (n > 0 && !(n == 1 && path[0] == '.')) {
                        buf_putc(out, '/');
                        buf_append(out, path, n);
                }
                path += n;
        }
        if (out->len == 0)
                buf_putc(out, '/');
}

/* What a URI's path may not hold is written as %XX. */
static void put_quoted(struct buf *out, const char *path)
{
        for (; *path; path++) {
                unsigned char c = (unsigned char)*path;
                if (c <= ' ' || c == 127 || strchr("\"#%<>?[\\]^`{|}", c))
                        buf_printf(out, "%%%02X", c);
                else
                        buf_putc(out, *path);
        }
}

char *submit_resolve_uri(const char *path)
{
        if (has_scheme(path))
                return mem_strdup(path);
        const char *fragment = strpbrk(path, " ") ? NULL : strchr(path, '#');
        _cleanup_free_ char *file = fragment ? mem_strndup(path, (size_t)(fragment - path)) : mem_strdup(path);
        _cleanup_(buf_deinit) struct buf absolute = BUF_INIT;
        char real[PATH_MAX];
        struct stat st;
        struct buf uri = BUF_INIT;
        if (realpath(file, real))
                buf_puts(&absolute, real);
        else
                put_normalised(&absolute, file);
        buf_puts(&uri, "file:");
        put_quoted(&uri, buf_text(&absolute));
        if (stat(buf_text(&absolute), &st) == 0 && S_ISDIR(st.st_mode) && absolute.len > 1)
                buf_putc(&uri, '/');
        if (fragment)
                buf_puts(&uri, fragment);
        return buf_steal(&uri);
}

char *submit_resolve_uris(const char *list)
{
        struct buf out = BUF_INIT;
        while (*list) {
                list += strspn(list, ", \t");
                size_t n = strcspn(list, ",");
                size_t trimmed = n;
                while (trimmed > 0 && (list[trimmed - 1] == ' ' || list[trimmed - 1] == '\t'))
                        trimmed--;
                if (trimmed > 0) {
                        _cleanup_free_ char *one = mem_strndup(list, trimmed);
                        _cleanup_free_ char *uri = submit_resolve_uri(one);
                        buf_printf(&out, "%s%s", out.len ? "," : "", uri);
                }
                list += n;
        }
        return buf_steal(&out);
}
