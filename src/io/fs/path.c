/*
 * Parses file names like Hadoop; see path.h. A scheme ends at a ':' before any '/'. So "a:b" is a scheme with a
 * relative name, which is invalid, and "/tmp/a:b" is a file, as in Spark.
 *
 * Invariant: a full path is `scheme:/name` or `scheme://authority/name`, has no further "//", and no trailing slash
 * unless it is a root. "." and ".." stay. The kernel resolves them.
 */
#include "io/fs/path.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

size_t path_scheme_len(const char *path)
{
        size_t n = strcspn(path, ":/");
        return path[n] == ':' ? n : 0;
}

/* Appends @text with single slashes only and without a trailing slash. */
static void path_append_normal(struct buf *out, const char *text)
{
        size_t root = out->len;
        for (const char *p = text; *p; p++) {
                if (*p == '/' && out->len > root && out->data[out->len - 1] == '/')
                        continue;
                buf_putc(out, *p);
        }
        if (out->len > root + 1 && out->data[out->len - 1] == '/')
                buf_truncate(out, out->len - 1);
}

static int path_append_working_directory(struct buf *out, const char *text, struct fst_error *error)
{
        _cleanup_free_ char *cwd = getcwd(NULL, 0);
        if (!cwd)
                return error_errno(error, "finding the working directory, which %s is relative to", text);
        buf_puts(out, cwd);
        buf_putc(out, '/');
        return 0;
}

int path_resolve(const char *text, char **path, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf name = BUF_INIT;
        _cleanup_(buf_deinit) struct buf full = BUF_INIT;

        if (!*text)
                return error_set(error, -EINVAL, "Can not create a Path from an empty string");
        if (strlen(text) >= PATH_MAX)
                return error_set(error, -ENAMETOOLONG, "file name of %zu bytes: the limit is %d", strlen(text),
                                 PATH_MAX - 1);
        size_t scheme = path_scheme_len(text);
        const char *rest = text;
        if (scheme > 0) {
                buf_append(&full, text, scheme + 1);
                rest = text + scheme + 1;
        } else {
                if (*text == ':')
                        return error_set(error, -EINVAL, "file name %s: expected a scheme name before the ':'", text);
                buf_puts(&full, "file:");
        }
        bool local = strncmp(full.data, "file:", 5) == 0;
        if (scheme > 0 && rest[0] == '/' && rest[1] == '/') {
                size_t authority = strcspn(rest + 2, "/");
                if (local && authority > 0)
                        return error_set(error, -EINVAL, "Wrong FS: %s, expected: file:///", text);
                if (authority > 0)
                        buf_append(&full, rest, authority + 2);
                rest += 2 + authority;
        }
        if (rest[0] != '/') {
                if (scheme > 0 && rest[0])
                        return error_set(error, -EINVAL, "Relative path in absolute URI: %s", text);
                if (scheme == 0) {
                        int r = path_append_working_directory(&name, text, error);
                        if (r < 0)
                                return r;
                } else {
                        buf_putc(&name, '/');
                }
        }
        buf_puts(&name, rest);
        path_append_normal(&full, name.data);
        *path = buf_steal(&full);
        return 0;
}

const char *path_local(const char *path)
{
        const char *rest = path + path_scheme_len(path);
        if (*rest == ':')
                rest++;
        if (rest[0] == '/' && rest[1] == '/')
                rest += 2 + strcspn(rest + 2, "/");
        return rest;
}

const char *path_name(const char *path)
{
        const char *slash = strrchr(path_local(path), '/');
        return slash ? slash + 1 : path_local(path);
}

char *path_join(const char *path, const char *name)
{
        size_t len = strlen(path);
        return mem_printf("%s%s%s", path, len > 0 && path[len - 1] == '/' ? "" : "/", name);
}

char *path_parent(const char *path)
{
        const char *name = path_local(path);
        const char *slash = strrchr(name, '/');
        if (!slash || !slash[1])
                return NULL;
        return mem_strndup(path, (size_t)(slash - path) + (slash == name));
}
