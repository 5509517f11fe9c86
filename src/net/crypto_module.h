/* Shared by the files of the crypto module (crypto_module.c, crypto_tls.c, crypto_certificate.c) only. */
#pragma once

#include "net/crypto.h"

int crypto_tls_context_new(const struct tls_options *o, struct tls_context **out, char *message, size_t size);
void crypto_tls_context_free(struct tls_context *context);
struct tls *crypto_tls_new(struct tls_context *context, int fd);
void crypto_tls_free(struct tls *t);
int crypto_tls_handshake(struct tls *t);
ssize_t crypto_tls_read(struct tls *t, void *buf, size_t n);
ssize_t crypto_tls_write(struct tls *t, const void *buf, size_t n);
bool crypto_tls_pending(const struct tls *t);
int crypto_tls_wants(const struct tls *t);
const char *crypto_tls_message(const struct tls *t);

int crypto_certificate_make(const char *common_name, const char *const *names, int64_t valid_s, char **key,
                            char **certificate);
int crypto_certificate_inspect(const char *certificate, const char *key, const char *name, int64_t *expires_s);
