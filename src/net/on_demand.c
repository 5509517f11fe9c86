/* See on_demand.h. */
#include "net/on_demand.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"

#include <dlfcn.h>
#include <limits.h>
#include <unistd.h>

/* Installed beside the library; in the build tree from src/, fuzz/ or tests/, and bench/micro/. */
static const char *const places[] = {"firesteel/", "net/", "../src/net/", "../../src/net/", ""};

/* The folder of the object that holds this function, with a slash; NULL if the system does not say. */
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

/* Which package of Debian 12 brings a library that a module needs; NULL for any other text of dlerror. */
static const char *package_of(const char *message)
{
        static const struct {
                const char *library, *package;
        } packages[] = {
                {"libcurl.so", "libcurl4"},
                {"libssl.so", "libssl3"},
                {"libcrypto.so", "libssl3"},
                {"libkrb5.so", "libkrb5-3"},
                {"libgssapi_krb5.so", "libgssapi-krb5-2"},
                {"libmicrohttpd.so", "libmicrohttpd12"},
                {"libgnutls.so", "libgnutls30"},
                {"libzookeeper_mt.so", "libzookeeper-mt2"},
                {"libyaml-0.so", "libyaml-0-2"},
        };
        for (size_t i = 0; i < ARRAY_SIZE(packages); i++)
                if (text_starts_with(message, packages[i].library))
                        return packages[i].package;
        return NULL;
}

int on_demand_load(const char *what, const char *file, const char *symbol, on_demand_fn *out, struct fst_error *error)
{
        _cleanup_free_ char *folder = own_folder();
        _cleanup_(buf_deinit) struct buf tried = BUF_INIT;
        if (!folder) /* never what lies in the working directory */
                return error_set(error, -ENOENT, "the %s module %s is not found: it is not known where firesteel is",
                                 what, file);
        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                _cleanup_free_ char *path = mem_printf("%s%s%s", folder, places[i], file);
                if (access(path, R_OK) != 0) {
                        buf_printf(&tried, "%s%s%s", tried.len ? ", " : "", folder, places[i]);
                        continue;
                }
                void *handle = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
                if (!handle) {
                        const char *why = dlerror(), *package = package_of(why);
                        return error_set(error, -ELIBBAD, "cannot load the %s module: %s%s%s", what, why,
                                         package ? "; it is in Debian's package " : "", package ? package : "");
                }
                void *found = dlsym(handle, symbol);
                if (!found)
                        return error_set(error, -ELIBBAD, "%s is no %s module; install firesteel again", path, what);
                memcpy(out, &found, sizeof(found));
                return 0;
        }
        return error_set(error, -ENOENT, "the %s module %s is missing; looked in %s", what, file, buf_text(&tried));
}
