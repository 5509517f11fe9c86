/* See mesos_credentials.h. Differs from Spark: a line end at the end of a file is no part of the value. */
#include "mesos/conf/mesos_credentials.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/fs.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <string.h>
#include <strings.h>

#define MAX_FILE 65536

typedef const char *environment_function(const char *name);

static int credential_read_file(const char *path, const char *key, char **out, struct fst_error *error)
{
        _cleanup_(buf_deinit_secret) struct buf text = BUF_INIT;
        int r = file_text_read(path, MAX_FILE, &text, error);

        if (r < 0)
                return error_wrap(error, r, "reading the file that %s names", key);
        while (text.len > 0 && (text.data[text.len - 1] == '\n' || text.data[text.len - 1] == '\r'))
                buf_truncate(&text, text.len - 1);
        *out = mem_strdup(buf_text(&text));
        return 0;
}

/* The places of one of the two, first to last. */
struct credential_sources {
        const char *key, *variable, *file_key, *file_variable;
};

static const struct credential_sources principal_sources = {"spark.mesos.principal", "SPARK_MESOS_PRINCIPAL",
                                                            "spark.mesos.principal.file", "SPARK_MESOS_PRINCIPAL_FILE"};
static const struct credential_sources secret_sources = {"spark.mesos.secret", "SPARK_MESOS_SECRET",
                                                         "spark.mesos.secret.file", "SPARK_MESOS_SECRET_FILE"};

static int credential_read(const struct fst_conf *conf, environment_function *environment,
                           const struct credential_sources *from, char **out, struct fst_error *error)
{
        _cleanup_free_ char *file = NULL;
        int r = conf_get_string(conf, from->key, out, error);

        if (r < 0 || *out)
                return r;
        if (environment(from->variable)) {
                *out = mem_strdup(environment(from->variable));
                return 0;
        }
        r = conf_get_string(conf, from->file_key, &file, error);
        if (r < 0)
                return r;
        if (file)
                return credential_read_file(file, from->file_key, out, error);
        if (environment(from->file_variable))
                return credential_read_file(environment(from->file_variable), from->file_variable, out, error);
        return 0;
}

static bool is_true(const char *text)
{
        return text && (strcasecmp(text, "true") == 0 || strcmp(text, "1") == 0);
}

static bool is_false(const char *text)
{
        return text && (strcasecmp(text, "false") == 0 || strcmp(text, "0") == 0);
}

int mesos_credentials_read(const struct fst_conf *conf, const char *(*environment)(const char *name),
                           struct mesos_credentials *out, struct fst_error *error)
{
        struct mesos_credentials c = {0};
        int r = credential_read(conf, environment, &principal_sources, &c.principal, error);

        if (r == 0)
                r = credential_read(conf, environment, &secret_sources, &c.secret, error);
        if (r == 0 && c.secret && !c.principal)
                r = error_set(error, -EINVAL,
                              "spark.mesos.principal must be configured when spark.mesos.secret is set");
        if (r < 0) {
                mesos_credentials_deinit(&c);
                return r;
        }
        c.tls = is_true(environment("LIBPROCESS_SSL_ENABLED"));
        c.verify = !is_false(environment("LIBPROCESS_SSL_VERIFY_SERVER_CERT"));
        c.ca_file = mem_strdup_if(environment("LIBPROCESS_SSL_CA_FILE"));
        c.cert_file = mem_strdup_if(environment("LIBPROCESS_SSL_CERT_FILE"));
        c.key_file = mem_strdup_if(environment("LIBPROCESS_SSL_KEY_FILE"));
        *out = c;
        return 0;
}

void mesos_credentials_deinit(struct mesos_credentials *c)
{
        if (c->secret)
                explicit_bzero(c->secret, strlen(c->secret));
        free(c->secret);
        free(c->principal);
        free(c->ca_file);
        free(c->cert_file);
        free(c->key_file);
        *c = (struct mesos_credentials){0};
}
