/* See python_path.h. */
#include "submit/prepare/python_path.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "io/fs/uri.h"
#include "launch/resolve_uri.h"

#include <limits.h>
#include <unistd.h>

/* Whether the scheme of a resolved URI names this machine. */
static bool python_path_is_here(const char *resolved)
{
        return strncmp(resolved, "file:", 5) == 0 || strncmp(resolved, "local:", 6) == 0;
}

/* As Java's File(path).toURI().getPath(): a name that is not a URI is relative to the working directory. */
static char *python_path_absolute(const char *path)
{
        char here[PATH_MAX];
        if (path[0] == '/' || !getcwd(here, sizeof(here)))
                return mem_strdup(path);
        return mem_printf("%s/%s", here, path);
}

int python_path_format(const char *name, char **out, struct fst_error *error)
{
        _cleanup_free_ char *resolved = submit_resolve_uri(name, COMPAT_4_3);
        struct uri uri;
        if (!python_path_is_here(resolved))
                return error_set(error, -EINVAL,
                                 "Launching Python applications through spark-submit is currently only supported for "
                                 "local files: %s",
                                 name);
        if (!uri_parse(name, &uri))
                *out = python_path_absolute(name);
        else if (!uri.scheme.text)
                *out = mem_strdup(name);
        else if (!uri.opaque)
                *out = uri_decode(uri.path);
        else
                return error_set(error, -EINVAL, "Python file path is malformed: %s", name);
        return 0;
}

int python_paths_format(const char *list, char **out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf all = BUF_INIT;
        while (*list) {
                size_t n = strcspn(list, ",");
                if (n > 0) {
                        _cleanup_free_ char *one = mem_strndup(list, n), *path = NULL;
                        int r = python_path_format(one, &path, error);
                        if (r < 0)
                                return r;
                        buf_printf(&all, "%s%s", all.len ? "," : "", path);
                }
                list += n + (list[n] == ',');
        }
        *out = buf_steal(&all);
        return 0;
}
