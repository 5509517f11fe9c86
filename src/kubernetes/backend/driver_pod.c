/* Fetches the driver's own pod and waits until it is ready. */
#include "kubernetes/backend/driver_pod.h"

#include "base/error.h"
#include "base/mem.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/pod_state.h"

#include <string.h>

struct driver_pod_wait {
        struct kube_client *client;
        char *path;
        void (*ready)(void *owner);
        void *owner;
        uv_timer_t timer;
        struct kube_call *call; /* NULL: no request in flight */
};

int driver_pod_fetch(struct kube_client *client, const char *namespace, const char *name, json_t **out,
                     struct fst_error *error)
{
        _cleanup_free_ char *path = kube_path("v1", namespace, "pods", name);
        int r = kube_wait(client, kube_get(client, path, NULL, NULL), out, error);
        if (r != FST_KUBE_E_NOT_FOUND)
                return r <= 0 ? r : error_wrap(error, r == FST_KUBE_E_FORBIDDEN ? -EACCES : -EIO, "the driver's pod");
        error_deinit(error);
        return error_set(error, -ENOENT,
                         "No pod was found named %s in the cluster in the namespace %s (this was supposed to be the "
                         "driver pod.).",
                         name, namespace);
}

static void driver_pod_on_pod(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct driver_pod_wait *wait = owner;
        wait->call = NULL;
        if (r || !pod_condition_find(json_object_get(response->object, "status"), "Ready", "True"))
                return;
        uv_timer_stop(&wait->timer);
        wait->ready(wait->owner);
}

static void driver_pod_look(uv_timer_t *timer)
{
        struct driver_pod_wait *wait = timer->data;
        if (!wait->call)
                wait->call = kube_get(wait->client, wait->path, driver_pod_on_pod, wait);
}

struct driver_pod_wait *driver_pod_wait_begin(struct kube_client *client, const char *namespace, const char *name,
                                              int64_t interval_ms, void (*ready)(void *owner), void *owner)
{
        struct driver_pod_wait *wait = new0(struct driver_pod_wait);
        *wait = (struct driver_pod_wait){
                .client = client, .path = kube_path("v1", namespace, "pods", name), .ready = ready, .owner = owner};
        uv_timer_init(kube_client_loop(client), &wait->timer);
        wait->timer.data = wait;
        uv_timer_start(&wait->timer, driver_pod_look, 0, (uint64_t)interval_ms);
        return wait;
}

static void driver_pod_on_closed(uv_handle_t *handle)
{
        struct driver_pod_wait *wait = handle->data;
        free(wait->path);
        free(wait);
}

void driver_pod_wait_end(struct driver_pod_wait *wait)
{
        if (!wait)
                return;
        if (wait->call)
                kube_cancel(wait->call);
        uv_close((uv_handle_t *)&wait->timer, driver_pod_on_closed);
}
