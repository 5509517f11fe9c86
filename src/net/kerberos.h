/*
 * Kerberos: getting a ticket with a keytab, as `kinit -kt` does. All of it is MIT krb5's, which is linked only into a
 * module of its own, libfiresteel-krb5.so, loaded when somebody logs in.
 *
 * The ticket is kept in this process's memory and named by KRB5CCNAME, so that whatever speaks GSSAPI here afterwards
 * (http_request.negotiate, libraries of an application) uses it, and no file holds it. KRB5_CONFIG and /etc/krb5.conf
 * say where the realm's servers are.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct fst_error;

#define KERBEROS_ABI 1

/* The ticket cache of kerberos_login. Children of this process do not see into it. */
#define KERBEROS_CACHE "MEMORY:firesteel"

struct kerberos_ops {
        uint32_t abi; /* KERBEROS_ABI */

        /*
         * Get a ticket for @principal ("name@REALM") with its key in the file @keytab, and put it into @cache in place
         * of what was there. 0 with the time, in seconds since 1970, when it ends, or negative with a sentence in
         * @message of @size bytes.
         */
        int (*login)(const char *principal, const char *keytab, const char *cache, int64_t *expires, char *message,
                     size_t size);
};

#define KERBEROS_MODULE_SYMBOL "firesteel_krb5_module"

/*
 * Log this process in; @expires may be NULL. Again replaces the ticket. It changes the environment: while no other
 * thread reads that. -EACCES with @error when the realm refuses or cannot be reached; -ENOENT, -ELIBBAD without the
 * module.
 */
int kerberos_login(const char *principal, const char *keytab, int64_t *expires, struct fst_error *error);
