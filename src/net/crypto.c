/*
 * Finds and loads the crypto module, once for a process.
 *
 * The module is looked for relative to the object that this code lies in (libfiresteel.so, a test, a fuzz target), so
 * that an unpacked archive, an installation and a build tree work without a setting. It is never unloaded: OpenSSL
 * registers handlers for the end of threads and of the process.
 */
#include "net/crypto.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <unistd.h>

#define FILE_NAME "libfiresteel-crypto.so"

/* Installed beside the library; in the build tree from src/, fuzz/ or tests/, and bench/micro/. */
static const char *const places[] = {"firesteel/", "net/", "../src/net/", "../../src/net/", ""};

static struct {
        pthread_mutex_t lock;
        const struct crypto_ops *ops;
} module = {PTHREAD_MUTEX_INITIALIZER, NULL};

/* The folder of the object that holds this function, with a slash; "" if the system does not say. */
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
        return slash ? mem_strndup(path, (size_t)(slash - path) + 1) : mem_strdup("");
}

static int load_locked(struct fst_error *error)
{
        _cleanup_free_ char *folder = own_folder();
        _cleanup_(buf_deinit) struct buf tried = BUF_INIT;
        for (size_t i = 0; i < ARRAY_SIZE(places); i++) {
                _cleanup_free_ char *path = mem_printf("%s%s" FILE_NAME, folder, places[i]);
                if (access(path, R_OK) != 0) {
                        buf_printf(&tried, "%s%s%s", tried.len ? ", " : "", folder, places[i]);
                        continue;
                }
                void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
                if (!handle)
                        return error_set(error, -ELIBBAD, "cannot load the crypto module: %s", dlerror());
                void *symbol = dlsym(handle, CRYPTO_MODULE_SYMBOL);
                crypto_module_fn get;
                memcpy(&get, &symbol, sizeof(get));
                const struct crypto_ops *ops = symbol ? get() : NULL;
                if (!ops || ops->abi != CRYPTO_ABI)
                        return error_set(error, -ELIBBAD, "%s is not of this version of firesteel; install it again",
                                         path);
                module.ops = ops;
                return 0;
        }
        return error_set(error, -ENOENT, "the crypto module " FILE_NAME " is missing; looked in %s", buf_text(&tried));
}

int crypto_load(const struct crypto_ops **out, struct fst_error *error)
{
        pthread_mutex_lock(&module.lock);
        int r = module.ops ? 0 : load_locked(error);
        if (r == 0)
                *out = module.ops;
        pthread_mutex_unlock(&module.lock);
        return r;
}

void sha256_text(const uint8_t digest[SHA256_SIZE], char text[2 * SHA256_SIZE + 1])
{
        static const char digits[] = "0123456789abcdef";
        for (int i = 0; i < SHA256_SIZE; i++) {
                text[2 * i] = digits[digest[i] >> 4];
                text[2 * i + 1] = digits[digest[i] & 15];
        }
        text[2 * SHA256_SIZE] = '\0';
}
