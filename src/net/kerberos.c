/* Loads the Kerberos module and logs in. */
#include "net/kerberos.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/module_loader.h"

#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

static _Atomic(const struct kerberos_ops *) module; /* NULL before a login */
static _Thread_local char used_cache[256];          /* of kerberos_use; "": the default one */

static int kerberos_load(const struct kerberos_ops **ops, struct fst_error *error)
{
        on_demand_fn get;
        if ((*ops = atomic_load(&module)))
                return 0;
        int r = on_demand_load("krb5", "libfiresteel-krb5.so", KERBEROS_MODULE_SYMBOL, &get, error);
        if (r < 0)
                return r;
        *ops = get();
        if (!*ops || (*ops)->abi != KERBEROS_ABI)
                return error_set(error, -ELIBBAD,
                                 "libfiresteel-krb5.so is not of this version of firesteel; install it again");
        atomic_store(&module, *ops);
        return 0;
}

int kerberos_login_again(const char *principal, const char *keytab, const char *cache, int64_t *expires,
                         struct fst_error *error)
{
        const struct kerberos_ops *ops;
        char message[1024] = "";
        int64_t end;
        int r = kerberos_load(&ops, error);
        if (r < 0)
                return r;
        r = ops->login(principal, keytab, cache, expires ? expires : &end, message, sizeof(message));
        return r < 0 ? error_set(error, r, "Login failure for %s from keytab %s: %s", principal, keytab, message) : 0;
}

int kerberos_login(const char *principal, const char *keytab, char **cache, int64_t *expires, struct fst_error *error)
{
        static atomic_uint last; /* number in the names of caches */
        _cleanup_free_ char *name = mem_printf("MEMORY:firesteel-%ld-%u", (long)getpid(), atomic_fetch_add(&last, 1));
        const int r = kerberos_login_again(principal, keytab, name, expires, error);
        if (r == 0)
                *cache = steal(name);
        return r;
}

char *kerberos_principal(void)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        const struct kerberos_ops *ops;
        char name[1024];
        if (kerberos_load(&ops, &error) < 0 || ops->principal(*used_cache ? used_cache : NULL, name, sizeof(name)) < 0)
                return NULL;
        return mem_strdup(name);
}

void kerberos_use(const char *cache)
{
        const struct kerberos_ops *ops = atomic_load(&module);
        snprintf(used_cache, sizeof(used_cache), "%s", cache ? cache : "");
        if (ops)
                ops->use(cache);
}

void kerberos_forget(const char *cache)
{
        const struct kerberos_ops *ops = atomic_load(&module);
        if (ops && cache)
                ops->forget(cache);
}
