/* See archive_library.h. */
#include "io/archive_library.h"

#include "base/error.h"

#include <dlfcn.h>
#include <pthread.h>

#define LIBRARY "libarchive.so.13"

static struct archive_library library;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const char *missing; /* a sentence, when it cannot be loaded */

static void load(void)
{
        void *handle = dlopen(LIBRARY, RTLD_NOW | RTLD_LOCAL);
        if (!handle) {
                missing = "archives are read by libarchive, which is not there: install the package libarchive13";
                return;
        }
#define FIND(name)                                                                                                     \
        if (!(library.name = (__typeof__(&name))dlsym(handle, #name)))                                                 \
                missing = LIBRARY " has no " #name;
        ARCHIVE_LIBRARY_FUNCTIONS(FIND)
}

int archive_library_load(const struct archive_library **out, struct fst_error *error)
{
        pthread_once(&once, load);
        if (missing)
                return error_set(error, -ENOTSUP, "%s", missing);
        *out = &library;
        return 0;
}

const char *archive_library_why(const struct archive_library *lib, struct archive *a)
{
        const char *text = lib->archive_error_string(a);
        return text ? text : "unknown error";
}
