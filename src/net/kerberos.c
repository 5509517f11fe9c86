/* Loads the Kerberos module and logs in.
 *
 * exit() runs the destructors of MIT's libraries, which destroy their mutexes, and a thread that then calls them aborts
 * the process. So exit() waits for calls of other threads, at most EXIT_WAIT_NS, and later calls never return.
 */
#include "net/kerberos.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/module_loader.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define EXIT_WAIT_NS ((int64_t)5000000000) /* a login may wait longer for a realm's server */

static _Atomic(const struct kerberos_ops *) module; /* NULL before a login */
static _Thread_local char used_cache[256];          /* of kerberos_use; "": the default one */

/* Read-locked during calls of the module. The end of the process locks it for writing and keeps it. */
static pthread_rwlock_t calls = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;

static void kerberos_stop_calls(void)
{
        const struct timespec until = timespec_of_ns(now_ns() + EXIT_WAIT_NS);
        if (atomic_load(&module))
                (void)pthread_rwlock_clockwrlock(&calls, CLOCK_MONOTONIC, &until);
}

/* Handlers of exit() run in reverse order, so those that are set after this constructor may still use Kerberos. */
static __attribute__((constructor)) void kerberos_register_stop(void)
{
        (void)atexit(kerberos_stop_calls); /* without memory for it, the process may abort when it ends */
}

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
        pthread_rwlock_rdlock(&calls);
        r = ops->login(principal, keytab, cache, expires ? expires : &end, message, sizeof(message));
        pthread_rwlock_unlock(&calls);
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
        if (kerberos_load(&ops, &error) < 0)
                return NULL;
        pthread_rwlock_rdlock(&calls);
        const int r = ops->principal(*used_cache ? used_cache : NULL, name, sizeof(name));
        pthread_rwlock_unlock(&calls);
        return r < 0 ? NULL : mem_strdup(name);
}

void kerberos_use(const char *cache)
{
        const struct kerberos_ops *ops = atomic_load(&module);
        snprintf(used_cache, sizeof(used_cache), "%s", cache ? cache : "");
        if (!ops)
                return;
        pthread_rwlock_rdlock(&calls);
        ops->use(cache);
        pthread_rwlock_unlock(&calls);
}

void kerberos_forget(const char *cache)
{
        const struct kerberos_ops *ops = atomic_load(&module);
        if (!ops || !cache)
                return;
        pthread_rwlock_rdlock(&calls);
        ops->forget(cache);
        pthread_rwlock_unlock(&calls);
}
