/*
 * SASL for clients: DIGEST-MD5 with a token, GSSAPI with a Kerberos ticket, and the protection of what follows. Only a
 * module, libfiresteel-sasl.so, links to Cyrus SASL; the first client loads it.
 *
 * One thread at a time for each client. GSSAPI uses the ticket cache that kerberos_use selected on the calling thread.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct sasl_client;

#define SASL_ABI 2
#define SASL_MODULE_SYMBOL "firesteel_sasl_module" /* const struct sasl_ops *f(void) */

struct sasl_client_options {
        const char *mechanism; /* "DIGEST-MD5", "GSSAPI" */
        const char *service;   /* the protocol of the server's offer; "" for tokens */
        const char *host;      /* the server's id in its offer */
        const char *user;      /* DIGEST-MD5: NULL for GSSAPI */
        const char *password;
};

/* The module's interface. It uses no symbol of the core. Functions return 0, or -1 with a sentence in @message. */
struct sasl_ops {
        uint32_t abi; /* SASL_ABI */
        int (*open)(const struct sasl_client_options *options, struct sasl_client **out, char *message, size_t size);
        void (*close)(struct sasl_client *client);
        /* *@out is borrowed until the next call. The first step may have no input. */
        int (*step)(struct sasl_client *client, const void *in, size_t len, const void **out, size_t *out_len,
                    char *message, size_t size);
        /* The server has proved itself, if the mechanism has it do so. */
        bool (*is_complete)(const struct sasl_client *client);
        /* The most bytes that one call of `encode` takes; 0: the mechanism protects nothing, frames go as they are. */
        size_t (*encode_limit)(struct sasl_client *client);
        int (*encode)(struct sasl_client *client, const void *in, size_t len, const void **out, size_t *out_len,
                      char *message, size_t size);
        int (*decode)(struct sasl_client *client, const void *in, size_t len, const void **out, size_t *out_len,
                      char *message, size_t size);
};

/* The operations of the module. 0, or -ENOENT / -ELIBBAD with @error (module_loader.h). Thread-safe. */
int sasl_load(const struct sasl_ops **out, struct fst_error *error);
