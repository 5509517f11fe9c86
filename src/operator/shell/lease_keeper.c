/* Performs the steps of lease.h: one request at a time, and a timer for the next step. */
#include "operator/shell/lease_keeper.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubernetes/api/kube_client.h"

#define LOG_NAME "LeaderElection"

struct lease_keeper {
        struct kube_client *client;
        struct lease lease;
        struct lease_options options; /* owned texts */
        const struct lease_keeper_ops *ops;
        void *owner;
        uv_timer_t timer;
        struct kube_call *call;
        char *path, *collection;
        bool led, warned, releasing;
};

static void lease_keeper_step(struct lease_keeper *k);

static void lease_keeper_on_timer(uv_timer_t *timer)
{
        lease_keeper_step(timer->data);
}

/* Logs a failing lease once until it works again: a candidate repeats it every two seconds. */
static void lease_keeper_warn(struct lease_keeper *k, const struct kube_response *response)
{
        if (!k->warned)
                log_warn(LOG_NAME, "The lease %s/%s: %s", k->options.namespace, k->options.name,
                         error_message(response->error));
        k->warned = true;
}

static void lease_keeper_on_read(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct lease_keeper *k = owner;
        bool failed = r != 0 && r != FST_KUBE_E_NOT_FOUND;
        k->call = NULL;
        if (failed)
                lease_keeper_warn(k, response);
        else
                k->warned = false;
        lease_read(&k->lease, r == 0 ? response->object : NULL, failed, now_ns());
        lease_keeper_step(k);
}

static void lease_keeper_on_written(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct lease_keeper *k = owner;
        k->call = NULL;
        if (r != 0 && r != FST_KUBE_E_CONFLICT && r != FST_KUBE_E_ALREADY_EXISTS)
                lease_keeper_warn(k, response);
        lease_written(&k->lease, r == 0 ? response->object : NULL, now_ns());
        if (k->releasing && !k->lease.leading)
                k->ops->released(k->owner);
        else
                lease_keeper_step(k);
}

/* Sends a request of which each attempt ends before the deadline of the leader. */
static void lease_keeper_send(struct lease_keeper *k, const char *method, const char *path, const json_t *body,
                              kube_done *done)
{
        struct kube_request q = {.method = method,
                                 .path = path,
                                 .body = body,
                                 .attempts = 1,
                                 .timeout_ms = k->lease.options.renew_deadline / 2 / NS_PER_MS};
        k->call = kube_send(k->client, &q, done, k);
}

static void lease_keeper_write(struct lease_keeper *k)
{
        json_t *object = lease_object(&k->lease, time_of_day_ms());
        bool exists = k->lease.exists;
        lease_keeper_send(k, exists ? "PUT" : "POST", exists ? k->path : k->collection, object,
                          lease_keeper_on_written);
        json_decref(object);
}

static void lease_keeper_step(struct lease_keeper *k)
{
        int64_t now = now_ns();
        enum lease_step step = lease_next(&k->lease, now);
        if (step == LEASE_READ)
                lease_keeper_send(k, "GET", k->path, NULL, lease_keeper_on_read);
        else if (step == LEASE_WRITE)
                lease_keeper_write(k);
        int64_t deadline = lease_deadline(&k->lease);
        if (deadline == INT64_MAX)
                uv_timer_stop(&k->timer);
        else
                uv_timer_start(&k->timer, lease_keeper_on_timer, ms_until(deadline, now), 0);
        bool leads = k->lease.leading;
        if (leads == k->led || k->releasing)
                return;
        k->led = leads;
        log_info(LOG_NAME, leads ? "%s leads: it holds the lease %s/%s" : "%s leads no more: lease %s/%s",
                 k->options.identity, k->options.namespace, k->options.name);
        if (leads)
                k->ops->leading(k->owner);
        else
                k->ops->lost(k->owner);
}

struct lease_keeper *lease_keeper_start(struct kube_client *client, const struct lease_options *options,
                                        const struct lease_keeper_ops *ops, void *owner)
{
        struct lease_keeper *k = new0(struct lease_keeper);
        k->client = client;
        k->ops = ops;
        k->owner = owner;
        k->options = *options;
        k->options.namespace = mem_strdup(options->namespace);
        k->options.name = mem_strdup(options->name);
        k->options.identity = mem_strdup(options->identity);
        k->path = kube_path("coordination.k8s.io/v1", options->namespace, "leases", options->name);
        k->collection = kube_path("coordination.k8s.io/v1", options->namespace, "leases", NULL);
        lease_init(&k->lease, &k->options);
        uv_timer_init(kube_client_loop(client), &k->timer);
        k->timer.data = k;
        uv_timer_start(&k->timer, lease_keeper_on_timer, 0, 0);
        return k;
}

void lease_keeper_release(struct lease_keeper *k)
{
        k->releasing = true;
        if (k->call && k->lease.reading)
                kube_cancel(steal(k->call));
        k->lease.reading = false;
        bool holds = k->lease.leading || k->lease.writing;
        lease_release(&k->lease, now_ns());
        lease_keeper_step(k);
        if (!holds)
                k->ops->released(k->owner);
}

static void lease_keeper_on_closed(uv_handle_t *handle)
{
        struct lease_keeper *k = handle->data;
        lease_deinit(&k->lease);
        free((char *)k->options.namespace);
        free((char *)k->options.name);
        free((char *)k->options.identity);
        free(k->path);
        free(k->collection);
        free(k);
}

void lease_keeper_free(struct lease_keeper *k)
{
        if (!k)
                return;
        if (k->call)
                kube_cancel(k->call);
        uv_close((uv_handle_t *)&k->timer, lease_keeper_on_closed);
}

bool lease_keeper_leads(const struct lease_keeper *k)
{
        return k->lease.leading;
}
