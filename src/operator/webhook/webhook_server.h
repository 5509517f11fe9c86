/*
 * The validating webhook: an HTTPS server that answers reviews (admission.h), its certificate in a Secret, and the
 * trust in it in a ValidatingWebhookConfiguration, which must exist and gets the member caBundle of each of its
 * webhooks.
 *
 *      struct webhook_options options = {.client = client, .port = 9443, …};
 *      server = webhook_server_new(loop, &options);
 *      webhook_server_free(server);
 *
 * Secret and configuration are read each minute: certificates are renewed in time, and a configuration that was applied
 * again gets its caBundle again. Any number of replicas share them.
 *
 * Threads: the loop's thread.
 */
#pragma once

#include "kubernetes/api/kube_client.h"

#include <stdbool.h>
#include <uv.h>

struct webhook_server;

/* All texts are borrowed until webhook_server_free. */
struct webhook_options {
        struct kube_client *client;
        int port;                                /* 0: a free one */
        const char *secret_namespace, *secret;   /* the Secret */
        const char *service_namespace, *service; /* by which the API server reaches this one */
        const char *configuration;               /* the ValidatingWebhookConfiguration */
        bool enforce_quotas; /* applications must not exceed the ResourceQuotas of their namespaces */
};

/* Begins. Failures of the API server are logged and repeated. */
struct webhook_server *webhook_server_new(uv_loop_t *loop, const struct webhook_options *options);
void webhook_server_free(struct webhook_server *s); /* NULL is allowed. The loop must run on. */

/* Whether it listens, and the API server was told to trust it. */
bool webhook_server_ready(const struct webhook_server *s);
