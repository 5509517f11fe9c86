/* See webhook_daemon.h. */
#include "operator/webhook/webhook_daemon.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubernetes/api/kube_client.h"
#include "operator/shell/probe_server.h"
#include "operator/webhook/webhook_server.h"

struct webhook_daemon {
        struct kube_config kube;
        struct kube_client *client;
        struct probe_server *probes;
        struct webhook_server *server;
};

static bool webhook_daemon_ready(void *owner)
{
        const struct webhook_daemon *d = owner;
        return webhook_server_ready(d->server);
}

/* The namespace of a flag, else the pod's or the kubeconfig's. */
static const char *webhook_daemon_namespace(const struct webhook_daemon *d, const char *flag)
{
        return *flag ? flag : d->kube.namespace;
}

int webhook_daemon_new(uv_loop_t *loop, const struct operator_conf *conf, struct webhook_daemon **out,
                       struct fst_error *error)
{
        static const struct probe_server_ops ops = {.ready = webhook_daemon_ready};
        struct webhook_daemon *d = new0(struct webhook_daemon);
        d->kube = KUBE_CONFIG_INIT;
        int r = kube_config_read_here(conf->kubeconfig, &d->kube, error);
        if (r == 0)
                r = kube_client_new(loop, &d->kube, "firesteel-webhook/" FIRESTEEL_VERSION, &d->client, error);
        if (r == 0)
                r = probe_server_new(loop, conf->health_address, NULL, &ops, d, &d->probes, error);
        if (r < 0) {
                webhook_daemon_free(d);
                return r;
        }
        for (size_t i = 0; i < conf->ineffective.len; i++)
                log_warn("SparkWebhook", "The flag --%s has no effect here.", conf->ineffective.data[i]);
        const struct webhook_options options = {
                .client = d->client,
                .port = (int)conf->webhook_port,
                .secret = conf->webhook_secret,
                .secret_namespace = webhook_daemon_namespace(d, conf->webhook_secret_namespace),
                .service = conf->webhook_service,
                .service_namespace = webhook_daemon_namespace(d, conf->webhook_service_namespace),
                .configuration = conf->webhook_configuration,
                .enforce_quotas = conf->enforce_quotas,
        };
        d->server = webhook_server_new(loop, &options);
        *out = d;
        return 0;
}

void webhook_daemon_free(struct webhook_daemon *d)
{
        if (!d)
                return;
        webhook_server_free(d->server);
        probe_server_free(d->probes);
        kube_client_free(d->client);
        kube_config_deinit(&d->kube);
        free(d);
}
