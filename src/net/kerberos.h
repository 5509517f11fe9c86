/*
 * Kerberos: getting a ticket with a keytab, as `kinit -kt` does. All of it is MIT krb5's, which is linked only into a
 * module of its own, libfiresteel-krb5.so, loaded when somebody logs in.
 *
 *      r = kerberos_login("name@REALM", "/etc/name.keytab", &cache, NULL, error);
 *      kerberos_use(cache);                    // this thread's requests (http_request.negotiate) are this user's
 *      …
 *      kerberos_use(NULL);
 *      kerberos_forget(cache);
 *      free(cache);
 *
 * The ticket is kept in this process's memory, no file holds it, and the environment stays as it is. A program that
 * wants libraries of an application to find it names the cache in KRB5CCNAME. KRB5_CONFIG and /etc/krb5.conf say where
 * the realm's servers are.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define KERBEROS_ABI 2

struct kerberos_ops {
        uint32_t abi; /* KERBEROS_ABI */

        /*
         * Get a ticket for @principal ("name@REALM") with its key in the file @keytab, and put it into @cache in place
         * of what was there. 0 with the time, in seconds since 1970, when it ends, or negative with a sentence in
         * @message of @size bytes.
         */
        int (*login)(const char *principal, const char *keytab, const char *cache, int64_t *expires, char *message,
                     size_t size);

        void (*use)(const char *cache);
        void (*forget)(const char *cache);
};

#define KERBEROS_MODULE_SYMBOL "firesteel_krb5_module"

/*
 * Get a ticket into a new cache, whose name ("MEMORY:…", the caller's) is *@cache; @expires may be NULL. Any thread.
 * -EACCES with @error when the realm refuses or cannot be reached; -ENOENT, -ELIBBAD without the module.
 */
int kerberos_login(const char *principal, const char *keytab, char **cache, int64_t *expires, struct fst_error *error);

/* What GSSAPI does on the calling thread is done with this cache; NULL: with what KRB5CCNAME or the system says. */
void kerberos_use(const char *cache);

/* The tickets are gone. NULL is allowed. */
void kerberos_forget(const char *cache);
