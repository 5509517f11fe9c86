/*
 * Kerberos: gets a ticket with a keytab, as `kinit -kt` does. Only a module, libfiresteel-krb5.so, links to MIT krb5.
 * The first login loads it.
 *
 *      r = kerberos_login("name@REALM", "/etc/name.keytab", &cache, NULL, error);
 *      kerberos_use(cache);                    // this thread's requests (http_request.negotiate) are this user's
 *      …
 *      kerberos_use(NULL);
 *      kerberos_forget(cache);
 *      free(cache);
 *
 * The ticket stays in this process's memory, not in a file, and the environment is unchanged. To share it with an
 * application's libraries, set KRB5CCNAME to the cache. KRB5_CONFIG and /etc/krb5.conf name the realm's servers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define KERBEROS_ABI 3

struct kerberos_ops {
        uint32_t abi; /* KERBEROS_ABI */

        /* Gets a ticket for @principal ("name@REALM") with its key in the file @keytab, and replaces the content of
         * @cache. Returns 0 and the expiry in seconds since 1970, or negative with a sentence in @message of @size
         * bytes.
         */
        int (*login)(const char *principal, const char *keytab, const char *cache, int64_t *expires, char *message,
                     size_t size);

        void (*use)(const char *cache);
        void (*forget)(const char *cache);

        /* Writes the principal of the tickets in @cache (NULL: the default one) to @name of @size bytes. Returns 0, or
         * negative without tickets. */
        int (*principal)(const char *cache, char *name, size_t size);
};

#define KERBEROS_MODULE_SYMBOL "firesteel_krb5_module"

/* Gets a ticket into a new cache, whose name ("MEMORY:…", owned by the caller) is *@cache; @expires may be NULL.
 * Thread-safe. Returns -EACCES with @error when the realm refuses or cannot be reached; -ENOENT, -ELIBBAD without the
 * module.
 */
int kerberos_login(const char *principal, const char *keytab, char **cache, int64_t *expires, struct fst_error *error);

/* The same into the existing @cache, whose tickets it replaces: for a new ticket before the old one expires. */
int kerberos_login_again(const char *principal, const char *keytab, const char *cache, int64_t *expires,
                         struct fst_error *error);

/* The principal of the calling thread's tickets ("alice@REALM"): those of kerberos_use, else KRB5CCNAME or the default
 * cache. Owned by the caller; NULL without tickets or without the module. */
char *kerberos_principal(void);

/* Selects the cache for GSSAPI on the calling thread; NULL: KRB5CCNAME or the system's default. */
void kerberos_use(const char *cache);

/* Destroys the tickets. NULL is allowed. */
void kerberos_forget(const char *cache);
