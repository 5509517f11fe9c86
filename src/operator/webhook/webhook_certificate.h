/*
 * The certificate of the webhook, in a Secret that the replicas share: when to make a new one, and how. Pure but for
 * the random numbers of the key.
 *
 *      if (webhook_certificate_read(secret, name, now_s, &certificate) < 0)        secret NULL: there is none
 *              r = webhook_certificate_make(secret, namespace, secret_name, names, now_s, &fresh, error);
 *              … store `fresh`; on a conflict read the Secret again …
 *
 * The Secret has tls.key, tls.crt, and ca.crt: what clients trust. After a renewal that is the new and the old
 * certificate, because other replicas use the old one until they read the Secret again.
 */
#pragma once

#include <jansson.h>
#include <stdint.h>

struct fst_error;

#define WEBHOOK_VALID_S (INT64_C(365) * 86400)
#define WEBHOOK_RENEW_BEFORE_S (INT64_C(30) * 86400)

/* PEM texts, owned. */
struct webhook_certificate {
        char *key, *chain, *trust;
        int64_t expires_s; /* since 1970 */
};

void webhook_certificate_deinit(struct webhook_certificate *c);

/*
 * Reads @secret. Returns 0, or negative with @error saying why a new certificate is needed: there is none, it is
 * invalid, not for the DNS name @name, or ends within WEBHOOK_RENEW_BEFORE_S.
 */
int webhook_certificate_read(const json_t *secret, const char *name, int64_t now_s, struct webhook_certificate *out,
                             struct fst_error *error);

/*
 * Makes a key and a certificate for the DNS names @names, which NULL ends, and the Secret that has them: @old with new
 * data, or a new object if @old is NULL. The caller owns *@secret.
 */
int webhook_certificate_make(const json_t *old, const char *namespace, const char *secret_name,
                             const char *const *names, int64_t now_s, json_t **secret, struct fst_error *error);
