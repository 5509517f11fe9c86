/* See tls_conf.h. As in Spark, passwords may come from the environment: _SPARK_SSL_STANDALONE_KEY_STORE_PASSWORD. */
#include "web/tls_conf.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <ctype.h>
#include <stdio.h>

#define MOST_FILE (1u << 20)

static int tls_conf_setting(const struct fst_conf *conf, const char *space, const char *name, char **out,
                            struct fst_error *error)
{
        _cleanup_free_ char *key = mem_printf("spark.ssl.%s.%s", space, name);
        int r = conf_get_string(conf, key, out, error);
        if (r == 0 && *out && !**out)
                free(steal(*out));
        return r;
}

/* keyStorePassword → _SPARK_SSL_STANDALONE_KEY_STORE_PASSWORD, if no setting has it. */
static int tls_conf_password(const struct fst_conf *conf, const char *space, const char *name, char **out,
                             struct fst_error *error)
{
        char variable[128];
        int n = snprintf(variable, sizeof(variable), "_SPARK_SSL_%s_", space),
            r = tls_conf_setting(conf, space, name, out, error);
        for (const char *p = name; *p && n < 120; p++) {
                if (isupper((unsigned char)*p))
                        variable[n++] = '_';
                variable[n++] = *p;
        }
        variable[n] = '\0';
        for (char *p = variable; *p; p++)
                *p = (char)toupper((unsigned char)*p);
        if (r == 0 && !*out && getenv(variable))
                *out = mem_strdup(getenv(variable));
        return r;
}

static int tls_conf_read_file(const char *path, char **out, size_t *size, struct fst_error *error)
{
        FILE *f = fopen(path, "re");
        if (!f)
                return error_errno(error, "cannot read %s", path);
        char *data = mem_alloc(MOST_FILE + 1);
        size_t n = fread(data, 1, MOST_FILE, f);
        int r = ferror(f) ? error_errno(error, "cannot read %s", path) : 0;
        if (r == 0 && (n == 0 || n == MOST_FILE))
                r = error_set(error, -EINVAL, "%s is %s", path, n ? "too large" : "empty");
        fclose(f);
        if (r < 0) {
                free(data);
                return r;
        }
        data[n] = '\0';
        *out = data;
        if (size)
                *size = n;
        return 0;
}

/* The text of the file that a setting names. */
static int tls_conf_named_file(const struct fst_conf *conf, const char *space, const char *name, char **out,
                               size_t *size, struct fst_error *error)
{
        _cleanup_free_ char *path = NULL;
        int r = tls_conf_setting(conf, space, name, &path, error);
        if (r == 0 && path)
                r = tls_conf_read_file(path, out, size, error);
        return r < 0 ? error_wrap(error, r, "spark.ssl.%s.%s", space, name) : 0;
}

static int tls_conf_read_protocol(const struct fst_conf *conf, const char *space, struct http_server_tls *tls,
                                  struct fst_error *error)
{
        _cleanup_free_ char *name = NULL;
        int r = tls_conf_setting(conf, space, "protocol", &name, error);
        if (r < 0 || !name || strcmp(name, "TLS") == 0)
                return r;
        if (strcmp(name, "TLSv1.3") == 0)
                tls->priorities = mem_strdup("NORMAL:-VERS-ALL:+VERS-TLS1.3");
        else if (strcmp(name, "TLSv1.2") == 0)
                tls->priorities = mem_strdup("NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2");
        else
                return error_set(error, -EINVAL, "spark.ssl.%s.protocol: \"%s\" is neither TLSv1.3 nor TLSv1.2", space,
                                 name);
        return 0;
}

static int tls_conf_read_trust(const struct fst_conf *conf, const char *space, struct http_server_tls *tls,
                               struct fst_error *error)
{
        _cleanup_free_ char *need = NULL;
        int r = tls_conf_setting(conf, space, "needClientAuth", &need, error);
        tls->need_client = r == 0 && need && strcmp(need, "true") == 0;
        if (r < 0 || !tls->need_client)
                return r;
        r = tls_conf_named_file(conf, space, "trustStore", (char **)&tls->trust, NULL, error);
        if (r == 0 && (!tls->trust || !strstr(tls->trust, "-----BEGIN CERTIFICATE-----")))
                r = error_set(error, -EINVAL,
                              "spark.ssl.%s.needClientAuth is true: set spark.ssl.%s.trustStore to a PEM file with "
                              "certificates (keytool -exportcert -rfc writes one)",
                              space, space);
        return r;
}

int tls_conf_read(struct tls_conf *t, const struct fst_conf *conf, const char *space, struct fst_error *error)
{
        _cleanup_free_ char *enabled = NULL;
        _cleanup_free_ char *port = NULL;
        *t = (struct tls_conf){0};
        struct http_server_tls *tls = &t->tls;
        int r = tls_conf_setting(conf, space, "enabled", &enabled, error);
        if (r < 0 || !enabled || strcmp(enabled, "true") != 0)
                return r;
        t->enabled = true;
        r = tls_conf_setting(conf, space, "port", &port, error);
        t->port = r == 0 && port ? atoi(port) : 0;
        if (r == 0 && (t->port < 0 || t->port > 65535))
                r = error_set(error, -EINVAL,
                              "spark.ssl.%s.port: \"%s\" is not a valid port (write a number from 0 to 65535)", space,
                              port);
        if (r == 0)
                r = tls_conf_named_file(conf, space, "privateKey", (char **)&tls->key, NULL, error);
        if (r == 0)
                r = tls_conf_named_file(conf, space, "certChain", (char **)&tls->chain, NULL, error);
        if (r == 0 && !(tls->key && tls->chain))
                r = tls_conf_named_file(conf, space, "keyStore", (char **)&tls->store, &tls->store_size, error);
        if (r == 0)
                r = tls_conf_password(conf, space, "privateKeyPassword", (char **)&tls->key_password, error);
        if (r == 0)
                r = tls_conf_password(conf, space, "keyStorePassword", (char **)&tls->store_password, error);
        if (r == 0)
                r = tls_conf_password(conf, space, "keyPassword", (char **)&tls->store_key_password, error);
        if (r == 0)
                r = tls_conf_read_protocol(conf, space, tls, error);
        if (r == 0)
                r = tls_conf_read_trust(conf, space, tls, error);
        if (r == 0 && !(tls->key && tls->chain) && !tls->store)
                r = error_set(
                        error, -EINVAL,
                        "spark.ssl.%s.enabled is true, but no certificate is configured: set spark.ssl.%s.keyStore (a "
                        "PKCS#12 file), or .privateKey and .certChain (PEM files)",
                        space, space);
        return r;
}

static void tls_conf_wipe(const void *data, size_t size)
{
        if (data)
                explicit_bzero((void *)data, size);
        free((void *)data);
}

void tls_conf_deinit(struct tls_conf *t)
{
        struct http_server_tls *tls = &t->tls;
        tls_conf_wipe(tls->key, tls->key ? strlen(tls->key) : 0);
        tls_conf_wipe(tls->key_password, tls->key_password ? strlen(tls->key_password) : 0);
        tls_conf_wipe(tls->store_password, tls->store_password ? strlen(tls->store_password) : 0);
        tls_conf_wipe(tls->store_key_password, tls->store_key_password ? strlen(tls->store_key_password) : 0);
        tls_conf_wipe(tls->store, tls->store_size);
        free((char *)tls->chain);
        free((char *)tls->trust);
        free((char *)tls->priorities);
        *t = (struct tls_conf){0};
}
