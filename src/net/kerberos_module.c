/* The module libfiresteel-krb5.so behind kerberos.h. */
#include "net/kerberos.h"

#include <errno.h>
#include <gssapi/gssapi_krb5.h>
#include <krb5/krb5.h>
#include <stdio.h>
#include <string.h>

struct login {
        krb5_context context;
        krb5_principal principal;
        krb5_keytab keytab;
        krb5_ccache cache;
        krb5_creds credentials;
        int got_credentials;
};

static krb5_error_code kerberos_module_log_in(struct login *l, const char *principal, const char *keytab,
                                              const char *cache)
{
        krb5_error_code e;
        if ((e = krb5_init_context(&l->context)) || (e = krb5_parse_name(l->context, principal, &l->principal)) ||
            (e = krb5_kt_resolve(l->context, keytab, &l->keytab)) ||
            (e = krb5_cc_resolve(l->context, cache, &l->cache)) ||
            (e = krb5_get_init_creds_keytab(l->context, &l->credentials, l->principal, l->keytab, 0, NULL, NULL)))
                return e;
        l->got_credentials = 1;
        if ((e = krb5_cc_initialize(l->context, l->cache, l->principal)))
                return e;
        return krb5_cc_store_cred(l->context, l->cache, &l->credentials);
}

static void log_in_end(struct login *l)
{
        if (l->got_credentials)
                krb5_free_cred_contents(l->context, &l->credentials);
        if (l->cache)
                krb5_cc_close(l->context, l->cache);
        if (l->keytab)
                krb5_kt_close(l->context, l->keytab);
        if (l->principal)
                krb5_free_principal(l->context, l->principal);
        if (l->context)
                krb5_free_context(l->context);
}

static int kerberos_module_login(const char *principal, const char *keytab, const char *cache, int64_t *expires,
                                 char *message, size_t size)
{
        struct login l;
        memset(&l, 0, sizeof(l));
        krb5_error_code e = kerberos_module_log_in(&l, principal, keytab, cache);
        if (e) {
                const char *text = krb5_get_error_message(l.context, e);
                snprintf(message, size, "%s", text);
                krb5_free_error_message(l.context, text);
        } else {
                *expires = (int64_t)(uint32_t)l.credentials.times.endtime;
        }
        log_in_end(&l);
        return e ? -EACCES : 0;
}

/* MIT's library keeps the name per thread. */
static void kerberos_module_use(const char *cache)
{
        OM_uint32 minor;
        gss_krb5_ccache_name(&minor, cache, NULL);
}

static void kerberos_module_forget(const char *name)
{
        krb5_context context;
        krb5_ccache cache;
        if (krb5_init_context(&context))
                return;
        if (krb5_cc_resolve(context, name, &cache) == 0)
                krb5_cc_destroy(context, cache);
        krb5_free_context(context);
}

static int kerberos_module_principal(const char *name, char *out, size_t size)
{
        krb5_context context;
        krb5_ccache cache = NULL;
        krb5_principal principal = NULL;
        char *text = NULL;
        if (krb5_init_context(&context))
                return -EACCES;
        krb5_error_code e = name ? krb5_cc_resolve(context, name, &cache) : krb5_cc_default(context, &cache);
        e = e ? e : krb5_cc_get_principal(context, cache, &principal);
        e = e ? e : krb5_unparse_name(context, principal, &text);
        if (!e)
                snprintf(out, size, "%s", text);
        krb5_free_unparsed_name(context, text);
        krb5_free_principal(context, principal);
        if (cache)
                krb5_cc_close(context, cache);
        krb5_free_context(context);
        return e ? -EACCES : 0;
}

__attribute__((visibility("default"))) const struct kerberos_ops *firesteel_krb5_module(void);

const struct kerberos_ops *firesteel_krb5_module(void)
{
        static const struct kerberos_ops ops = {.abi = KERBEROS_ABI,
                                                .login = kerberos_module_login,
                                                .use = kerberos_module_use,
                                                .forget = kerberos_module_forget,
                                                .principal = kerberos_module_principal};
        return &ops;
}
