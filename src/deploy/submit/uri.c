/*
 * Paths as URIs, as Spark's Utils.resolveURI makes them: what has a scheme stays, all else becomes an absolute file:
 * URI whose path has no links and no "..", with a fragment ("#name in the working folder") kept behind it. What Java
 * does not take for a URI is a path, scheme or not.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "deploy/submit/arguments.h"
#include "io/uri.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Append @path to @out, a path without links, less "." and "..". */
static void put_normalised(struct buf *out, const char *path)
{
        if (out->len == 1)
                buf_truncate(out, 0);
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

/* @path, absolute, with the links resolved in that part of it which exists. */
static void put_canonical(struct buf *out, const char *path)
{
        char here[PATH_MAX], real[PATH_MAX];
        _cleanup_free_ char *absolute =
                path[0] == '/' ? mem_strdup(path) : mem_printf("%s/%s", getcwd(here, sizeof(here)) ? here : "", path);
        _cleanup_free_ char *start = mem_strdup(absolute);
        size_t n = strlen(start);
        while (n > 0 && !realpath(start, real)) {
                while (n > 0 && start[n - 1] != '/')
                        n--;
                while (n > 0 && start[n - 1] == '/')
                        n--;
                start[n] = 0;
        }
        buf_puts(out, n > 0 ? real : "/");
        put_normalised(out, absolute + n);
}

/* The file at @path without links, as a URI. */
static void put_file(struct buf *uri, const char *path)
{
        _cleanup_(buf_deinit) struct buf absolute = BUF_INIT;
        struct stat st;
        put_canonical(&absolute, path);
        buf_puts(uri, "file:");
        uri_put_path(uri, buf_text(&absolute));
        if (stat(buf_text(&absolute), &st) == 0 && S_ISDIR(st.st_mode) && absolute.len > 1)
                buf_putc(uri, '/');
}

char *submit_resolve_uri(const char *path)
{
        struct uri parsed;
        struct buf out = BUF_INIT;
        bool is_uri = uri_parse(path, &parsed);
        if (is_uri && parsed.scheme.text)
                return mem_strdup(path);
        if (!is_uri || (!parsed.fragment.text && !parsed.query.text)) {
                put_file(&out, path);
                return buf_steal(&out);
        }
        _cleanup_free_ char *file = uri_decode(parsed.path);
        put_file(&out, file);
        if (parsed.query.text && !parsed.fragment.text) /* with a fragment Spark forgets it */
                buf_printf(&out, "?%.*s", (int)parsed.query.len, parsed.query.text);
        if (parsed.fragment.text) {
                _cleanup_free_ char *fragment = uri_decode(parsed.fragment);
                buf_putc(&out, '#');
                uri_put_fragment(&out, fragment);
        }
        return buf_steal(&out);
}

char *submit_resolve_uris(const char *list)
{
        struct buf out = BUF_INIT;
        while (*list) {
                size_t n = strcspn(list, ","), blanks = 0;
                while (blanks < n && (unsigned char)list[blanks] <= ' ')
                        blanks++;
                if (blanks < n) {
                        _cleanup_free_ char *one = mem_strndup(list, n);
                        _cleanup_free_ char *uri = submit_resolve_uri(one);
                        buf_printf(&out, "%s%s", out.len ? "," : "", uri);
                }
                list += n + (list[n] == ',');
        }
        return buf_steal(&out);
}
