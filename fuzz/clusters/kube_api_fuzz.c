/*
 * Replies of an API server to requests and to a watch: the events of objects are consistent (no object is added twice,
 * no unknown one is changed or deleted), failures have a message, and no call is left. Calls that wait because of
 * Retry-After are cancelled.
 */
#include "base/error.h"
#include "base/log.h"
#include "fuzz/canned_http.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_watch.h"

struct picture {
        json_t *objects;
        int calls, failures, events;
};

static char *key_of(const json_t *object)
{
        const json_t *metadata = json_object_get(object, "metadata");
        const char *name = json_string_value(json_object_get(metadata, "name"));
        const char *namespace = json_string_value(json_object_get(metadata, "namespace"));
        return mem_printf("%s/%s", namespace ? namespace : "", name ? name : "");
}

static void on_event(void *owner, enum kube_event what, json_t *object)
{
        struct picture *p = owner;
        p->events++;
        if ((what == KUBE_SYNCED) != (object == NULL))
                abort();
        if (!object)
                return;
        _cleanup_free_ char *key = key_of(object);
        bool known = json_object_get(p->objects, key) != NULL;
        if (known != (what != KUBE_ADDED))
                abort();
        if (what == KUBE_DELETED)
                json_object_del(p->objects, key);
        else
                json_object_set_new(p->objects, key, json_true());
}

static void on_failure(void *owner, int r, const struct fst_error *error, int64_t again_ms)
{
        struct picture *p = owner;
        p->failures++;
        if (r == 0 || again_ms < 0 || !*error_message(error))
                abort();
}

static void on_done(void *owner, struct kube_call *call, int r, const struct kube_response *answer)
{
        struct picture *p = owner;
        p->calls--;
        if (r != 0 && (!answer->error || !*error_message(answer->error)))
                abort();
}

static int on_item(void *owner, json_t *item)
{
        return 0;
}

/* Makes timers due at once. */
static void expire_timer(uv_handle_t *handle, void *context)
{
        if (handle->type == UV_TIMER && uv_is_active(handle))
                uv_timer_start((uv_timer_t *)handle, ((uv_timer_t *)handle)->timer_cb, 0, 0);
}

static void begin_calls(struct kube_client *client, struct picture *p)
{
        static json_t *pod;
        static const struct kube_listing listing = {.path = "/api/v1/namespaces/x/pods", .page = 2, .item = on_item};
        if (!pod)
                pod = json_loads(
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"a\",\"labels\":{\"l\":\"1\"}}}",
                        0, NULL);
        p->calls = 4;
        kube_create(client, "x", pod, on_done, p);
        kube_get(client, "/api/v1/namespaces/x/pods/a", on_done, p);
        kube_delete(client, "/api/v1/namespaces/x/pods/a", NULL, on_done, p);
        kube_list_items(client, &listing, on_done, p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
        static const struct kube_watch_ops ops = {.event = on_event, .failed = on_failure};
        static const struct kube_watch_options options = {.path = "/api/v1/namespaces/x/pods"};
        struct kube_config config = {.server = (char *)"https://api", .namespace = (char *)"x", .token = (char *)"t"};
        struct picture picture = {.objects = json_object()};
        struct kube_client *client;
        struct kube_watch *watch = NULL;
        uv_loop_t loop;
        if (size == 0) {
                json_decref(picture.objects);
                return 0;
        }
        log_set_level(LOG_OFF);
        http_ops_replace(&canned_ops);
        canned_begin(data + 1, size - 1);
        uv_loop_init(&loop);
        if (kube_client_new(&loop, &config, NULL, &client, NULL) < 0)
                abort();
        kube_client_set_pause(client, 1, 2);
        if (data[0] & 1)
                begin_calls(client, &picture);
        else
                watch = kube_watch_start(client, &options, &ops, &picture);
        for (int i = 0; i < 200 && (picture.calls > 0 || (watch && canned.at < canned.end)); i++) {
                uv_walk(&loop, expire_timer, NULL);
                uv_run(&loop, UV_RUN_NOWAIT);
        }
        kube_watch_free(watch);
        kube_client_free(client);
        uv_run(&loop, UV_RUN_DEFAULT);
        if (uv_loop_close(&loop) < 0)
                abort();
        json_decref(picture.objects);
        return 0;
}
