/* Finds modules beside this object and loads them with dlopen. */
#include "base/module_loader.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/string_list.h"

#include <dlfcn.h>
#include <glob.h>
#include <limits.h>
#include <unistd.h>

/*
 * Relative to the library's directory: the installed place, then the build tree seen from src/, fuzz/ or tests/, and
 * bench/micro/.
 */
static const char *const roots[] = {"", "../src/", "../../src/"};
static const char *const rooms[] = {"firesteel/", "net/", "hadoop/", "text/", "io/", "history/", ""};

/*
 * Returns the directory of the object that contains this function, with a slash, or NULL if the system does not tell.
 */
static char *own_folder(void)
{
        static const char mark;
        char resolved[PATH_MAX];
        Dl_info info;
        const char *path = NULL;
        if (dladdr(&mark, &info) && info.dli_fname)
                path = realpath(info.dli_fname, resolved);
        if (!path)
                path = realpath("/proc/self/exe", resolved);
        const char *slash = path ? strrchr(path, '/') : NULL;
        return slash ? mem_strndup(path, (size_t)(slash - path) + 1) : NULL;
}

/* Returns the package of Debian 12 for the missing library in a message of dlerror, or NULL for any other message. */
static const char *package_of(const char *message)
{
        static const struct {
                const char *library, *package;
        } packages[] = {
                {"libbz2.so", "libbz2-1.0"},
                {"libcurl.so", "libcurl4"},
                {"libsnappy.so", "libsnappy1v5"},
                {"libsqlite3.so", "libsqlite3-0"},
                {"liburing.so", "liburing2"},
                {"libssl.so", "libssl3"},
                {"libcrypto.so", "libssl3"},
                {"libkrb5.so", "libkrb5-3"},
                {"libgssapi_krb5.so", "libgssapi-krb5-2"},
                {"libmicrohttpd.so", "libmicrohttpd12"},
                {"libgnutls.so", "libgnutls30"},
                {"libnettle.so", "libnettle8"},
                {"libzookeeper_mt.so", "libzookeeper-mt2"},
                {"libyaml-0.so", "libyaml-0-2"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(packages); i++)
                if (text_starts_with(message, packages[i].library))
                        return packages[i].package;
        return NULL;
}

static const char *root_of(size_t place)
{
        return roots[place / ARRAY_SIZE(rooms)];
}

static const char *module_loader_room_of(size_t place)
{
        return rooms[place % ARRAY_SIZE(rooms)];
}

static int module_load(const char *what, const char *path, const char *symbol, on_demand_fn *out,
                       struct fst_error *error)
{
        void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
        if (!handle) {
                const char *why = dlerror(), *package = package_of(why);
                return error_set(error, -ELIBBAD, "cannot load the %s module: %s%s%s", what, why,
                                 package ? "; it is in Debian's package " : "", package ? package : "");
        }
        void *found = dlsym(handle, symbol);
        if (!found)
                return error_set(error, -ELIBBAD, "%s is not a valid %s module; install firesteel again", path, what);
        memcpy(out, &found, sizeof(found));
        return 0;
}

int on_demand_load(const char *what, const char *file, const char *symbol, on_demand_fn *out, struct fst_error *error)
{
        _cleanup_free_ char *folder = own_folder();
        _cleanup_(buf_deinit) struct buf tried = BUF_INIT;
        if (!folder) /* never load a module from the working directory */
                return error_set(error, -ENOENT,
                                 "the %s module %s is missing, and the directory of firesteel is unknown", what, file);
        for (size_t i = 0; i < ARRAY_SIZE(roots) * ARRAY_SIZE(rooms); i++) {
                _cleanup_free_ char *path = mem_printf("%s%s%s%s", folder, root_of(i), module_loader_room_of(i), file);
                if (access(path, R_OK) == 0)
                        return module_load(what, path, symbol, out, error);
                buf_printf(&tried, "%s%s%s%s", tried.len ? ", " : "", folder, root_of(i), module_loader_room_of(i));
        }
        return error_set(error, -ENOENT, "the %s module %s is missing; looked in %s", what, file, buf_text(&tried));
}

/* Returns true for modules that only read event logs, which happens neither in images nor in containers. */
static bool module_loader_is_of_logs(const char *path)
{
        return text_ends_with(path, "/libfiresteel-snappy.so") || text_ends_with(path, "/libfiresteel-sqlite.so");
}

int on_demand_list(struct string_list *out, struct fst_error *error)
{
        _cleanup_free_ char *folder = own_folder();
        size_t before = out->len;
        for (size_t i = 0; i < ARRAY_SIZE(roots) * ARRAY_SIZE(rooms) && folder; i++) {
                if (out->len > before && i % ARRAY_SIZE(rooms) == 0) /* other roots lead to the same directories */
                        break;
                _cleanup_free_ char *pattern =
                        mem_printf("%s%s%slibfiresteel-*.so", folder, root_of(i), module_loader_room_of(i));
                glob_t found;
                if (glob(pattern, 0, NULL, &found) != 0)
                        continue;
                for (size_t k = 0; k < found.gl_pathc; k++)
                        if (!module_loader_is_of_logs(found.gl_pathv[k]))
                                string_list_add(out, found.gl_pathv[k]);
                globfree(&found);
        }
        return out->len > before ? 0
                                 : error_set(error, -ENOENT,
                                             "the modules of this program (libfiresteel-*.so) are not found near %s",
                                             folder ? folder : "it");
}
