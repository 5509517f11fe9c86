/*
 * Paths as URIs, like Spark's Utils.resolveURI: a name with a scheme stays. Other names become an absolute file: URI
 * without links and "..", followed by their fragment ("#name in the working directory"). Spark 2.4 keeps links and
 * dots. A name that Java does not accept as a URI is a path, with or without scheme.
 */
#include "base/buf.h"
#include "base/mem.h"
#include "launch/resolve_uri.h"
#include "io/fs/uri.h"

#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Appends @path, which has no links, to @out without "." and "..". */
static void resolve_uri_put_normalised(struct buf *out, const char *path)
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

/* @path, absolute, with links resolved in the part that exists. */
static void resolve_uri_put_canonical(struct buf *out, const char *path)
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
        resolve_uri_put_normalised(out, absolute + n);
}

/* @path, absolute, normalised like Java's File: single slashes, and none at the end. */
static void resolve_uri_put_absolute(struct buf *out, const char *path)
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
static void resolve_uri_put_file(struct buf *uri, const char *path, enum submit_compat compat)
{
        _cleanup_(buf_deinit) struct buf absolute = BUF_INIT;
        struct stat st;
        if (compat == COMPAT_2_4)
                resolve_uri_put_absolute(&absolute, path);
        else
                resolve_uri_put_canonical(&absolute, path);
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
                resolve_uri_put_file(&out, path, compat);
                return buf_steal(&out);
        }
        _cleanup_free_ char *file = uri_decode(parsed.path), *fragment = uri_decode(parsed.fragment);
        resolve_uri_put_file(&out, file, compat); /* Spark drops the text after a "?" here */
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
