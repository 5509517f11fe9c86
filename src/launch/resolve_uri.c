/*
 * Paths as URIs, as Spark's Utils.resolveURI makes them: what has a scheme stays, all else becomes an absolute file:
 * URI whose path has no links and no "..", with a fragment ("#name in the working folder") kept behind it. Spark 2.4
 * leaves links and dots as they are. What Java does not take for a URI is a path, scheme or not.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "launch/resolve_uri.h"
#include "io/fs/uri.h"

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

/* @path, absolute, as Java's File has names: with one slash between them, and none at the end. */
static void put_absolute(struct buf *out, const char *path)
{
        char here[PATH_MAX];
        _cleanup_free_ char *absolute =
                path[0] == '/' ? mem_strdup(path) : mem_printf("%s/%s", getcwd(here, sizeof(here)) ? here : "", path);
        for (const char *p = absolute; *p; p++)
                if (*p != '/' || (p[1] && p[1] != '/'))
                        buf_putc(out, *p);
        if (out->len == 0)
                buf_putc(out, '/');
}

/* The file at @path as a URI. */
static void put_file(struct buf *uri, const char *path, enum submit_compat compat)
{
        _cleanup_(buf_deinit) struct buf absolute = BUF_INIT;
        struct stat st;
        if (compat == COMPAT_2_4)
                put_absolute(&absolute, path);
        else
                put_canonical(&absolute, path);
        buf_puts(uri, "file:");
        uri_put_path(uri, buf_text(&absolute));
        if (stat(buf_text(&absolute), &st) == 0 && S_ISDIR(st.st_mode) && absolute.len > 1)
                buf_putc(uri, '/');
}

char *submit_resolve_uri(const char *path, enum submit_compat compat)
{
        struct uri parsed;
        struct buf out = BUF_INIT;
        bool is_uri = uri_parse(path, &parsed);
        if (is_uri && parsed.scheme.text)
                return mem_strdup(path);
        if (!is_uri || !parsed.fragment.text) { /* a "?" belongs to the file's name */
                put_file(&out, path, compat);
                return buf_steal(&out);
        }
        _cleanup_free_ char *file = uri_decode(parsed.path), *fragment = uri_decode(parsed.fragment);
        put_file(&out, file, compat); /* what stands behind a "?" Spark forgets here */
        buf_putc(&out, '#');
        uri_put_fragment(&out, fragment);
        return buf_steal(&out);
}

char *submit_resolve_uris(const char *list, enum submit_compat compat)
{
        struct buf out = BUF_INIT;
        while (*list) {
                size_t n = strcspn(list, ","), blanks = 0;
                while (blanks < n && (unsigned char)list[blanks] <= ' ')
                        blanks++;
                if (blanks < n) {
                        _cleanup_free_ char *one = mem_strndup(list, n);
                        _cleanup_free_ char *uri = submit_resolve_uri(one, compat);
                        buf_printf(&out, "%s%s", out.len ? "," : "", uri);
                }
                list += n + (list[n] == ',');
        }
        return buf_steal(&out);
}
