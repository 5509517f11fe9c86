/* See webhook_certificate.h. */
#include "operator/webhook/webhook_certificate.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/mem.h"
#include "net/crypto.h"
#include "text/json.h"

void webhook_certificate_deinit(struct webhook_certificate *c)
{
        if (c->key)
                explicit_bzero(c->key, strlen(c->key));
        free(c->key);
        free(c->chain);
        free(c->trust);
        *c = (struct webhook_certificate){0};
}

/* Returns the decoded member of the Secret's data, or NULL. The caller owns it. */
static char *webhook_secret_get(const json_t *secret, const char *name)
{
        _cleanup_(buf_deinit_secret) struct buf text = BUF_INIT;
        const char *value = json_string_value(json_object_get(json_object_get(secret, "data"), name));
        if (!value || !base64_decode(value, strlen(value), &text) || strlen(buf_text(&text)) != text.len)
                return NULL;
        return mem_strdup(buf_text(&text));
}

static void webhook_secret_set(json_t *data, const char *name, const char *value)
{
        _cleanup_(buf_deinit_secret) struct buf text = BUF_INIT;
        base64_put(&text, value, strlen(value));
        json_object_set_new(data, name, json_string(buf_text(&text)));
}

int webhook_certificate_read(const json_t *secret, const char *name, int64_t now_s, struct webhook_certificate *out,
                             struct fst_error *error)
{
        const struct crypto_ops *crypto;
        struct webhook_certificate c = {.key = webhook_secret_get(secret, "tls.key"),
                                        .chain = webhook_secret_get(secret, "tls.crt"),
                                        .trust = webhook_secret_get(secret, "ca.crt")};
        int r = crypto_load(&crypto, error);
        if (r == 0 && (!c.key || !c.chain || !c.trust))
                r = error_set(error, -ENOENT, "there is none");
        if (r == 0) {
                r = crypto->certificate_inspect(c.chain, c.key, name, &c.expires_s);
                if (r == -ENOENT)
                        error_set(error, r, "it is not for %s", name);
                else if (r < 0)
                        error_set(error, r, "it is invalid");
        }
        if (r == 0 && c.expires_s - now_s < WEBHOOK_RENEW_BEFORE_S)
                r = error_set(error, -ETIME, "it ends in less than 30 days");
        if (r < 0)
                webhook_certificate_deinit(&c);
        else
                *out = c;
        return r;
}

/* Clients trust the new certificate, and that of the old Secret while it is valid. The caller owns the result. */
static char *webhook_certificate_trust(const struct crypto_ops *crypto, const json_t *old, const char *fresh,
                                       int64_t now_s)
{
        int64_t expires = 0;
        _cleanup_free_ char *before = webhook_secret_get(old, "tls.crt");
        if (!before || crypto->certificate_inspect(before, NULL, NULL, &expires) < 0 || expires <= now_s)
                return mem_strdup(fresh);
        return mem_printf("%s%s", fresh, before);
}

int webhook_certificate_make(const json_t *old, const char *namespace, const char *secret_name,
                             const char *const *names, int64_t now_s, json_t **secret, struct fst_error *error)
{
        const struct crypto_ops *crypto;
        char *key = NULL, *chain = NULL;
        int r = crypto_load(&crypto, error);
        if (r == 0 && (r = crypto->certificate_make(names[0], names, WEBHOOK_VALID_S, &key, &chain)) < 0)
                error_set(error, r, "cannot make a certificate for %s", names[0]);
        if (r < 0)
                return r;
        _cleanup_free_ char *trust = webhook_certificate_trust(crypto, old, chain, now_s);
        json_t *out = old ? json_deep_copy(old)
                          : json_pack("{s:s, s:s, s:s, s:{s:s, s:s}}", "apiVersion", "v1", "kind", "Secret", "type",
                                      "kubernetes.io/tls", "metadata", "namespace", namespace, "name", secret_name);
        if (!json_is_object(json_object_get(out, "data")))
                json_object_set_new(out, "data", json_object());
        json_t *data = json_object_get(out, "data");
        webhook_secret_set(data, "tls.key", key);
        webhook_secret_set(data, "tls.crt", chain);
        webhook_secret_set(data, "ca.crt", trust);
        explicit_bzero(key, strlen(key));
        free(key);
        free(chain);
        *secret = out;
        return 0;
}
