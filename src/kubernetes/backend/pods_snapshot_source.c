/* Feeds the snapshots store from a watch or from lists. */
#include "kubernetes/backend/pods_snapshot_source.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubernetes/executors/snapshots_store.h"
#include "kubernetes/api/kube_watch.h"
#include "text/json.h"

#define LOG "ExecutorPodsSource"

#define LOG_THRESHOLD_MS 500

struct pods_snapshot_source {
        struct pods_snapshot_source_options options;
        char *path, *labels;
        struct snapshots_store *store;
        const struct pods_snapshot_source_ops *ops;
        void *owner;
        struct kube_watch *watch;
        bool synced;            /* the watch is up and its list is complete */
        bool seen;              /* pods were listed once */
        int refused;            /* consecutive 403 responses */
        struct kube_call *list; /* NULL: no list in flight */
        uv_timer_t timer;
};

static int64_t pods_snapshot_source_now_of(const struct pods_snapshot_source *s)
{
        return (int64_t)uv_now(s->timer.loop);
}

/*
 * Whether a 403 is final. A freshly started API server answers 403 until it has loaded RBAC. An account that has listed
 * pods before keeps retrying.
 */
static bool is_permanently_forbidden(struct pods_snapshot_source *s, int r)
{
        s->refused = r == FST_KUBE_E_FORBIDDEN ? s->refused + 1 : 0;
        return !s->seen && s->refused == KUBE_REFUSALS;
}

/* Servers end watches at any time, so short gaps go to the debug log. */
static void pods_snapshot_source_report_failure(struct pods_snapshot_source *s, int r, const struct fst_error *error,
                                                int64_t again_ms)
{
        if (is_permanently_forbidden(s, r))
                s->ops->forbidden(s->owner, error);
        else
                log_at(again_ms < LOG_THRESHOLD_MS ? LOG_DEBUG : LOG_WARN, LOG,
                       "No view of executor pods for %lld ms: %s", (long long)again_ms, error_message(error));
}

static void pods_snapshot_source_on_event(void *owner, enum kube_event what, json_t *pod)
{
        struct pods_snapshot_source *s = owner;
        if (what == KUBE_SYNCED) {
                s->synced = s->seen = true;
                snapshots_store_synced(s->store, pods_snapshot_source_now_of(s));
        } else if (what == KUBE_DELETED) {
                snapshots_store_delete(s->store, pod, pods_snapshot_source_now_of(s));
        } else {
                snapshots_store_update(s->store, pod, pods_snapshot_source_now_of(s));
        }
        s->ops->changed(s->owner);
}

static void pods_snapshot_source_on_failure(void *owner, int r, const struct fst_error *error, int64_t again_ms)
{
        struct pods_snapshot_source *s = owner;
        s->synced = false;
        pods_snapshot_source_report_failure(s, r, error, again_ms);
}

static int pods_snapshot_source_on_item(void *owner, json_t *pod)
{
        struct pods_snapshot_source *s = owner;
        if (pod)
                snapshots_store_list_pod(s->store, pod, pods_snapshot_source_now_of(s));
        else
                snapshots_store_list_begin(s->store);
        return 0;
}

static void pods_snapshot_source_on_listed(void *owner, struct kube_call *call, int r,
                                           const struct kube_response *response)
{
        struct pods_snapshot_source *s = owner;
        s->list = NULL;
        if (r) {
                pods_snapshot_source_report_failure(s, r, response->error, s->options.polling_interval);
                return;
        }
        s->seen = true;
        const json_t *version = json_at(response->object, "metadata.resourceVersion");
        snapshots_store_list_end(s->store, json_string_value(version), pods_snapshot_source_now_of(s));
        s->ops->changed(s->owner);
}

static void pods_snapshot_source_poll(struct pods_snapshot_source *s)
{
        if (s->list)
                return;
        snapshots_store_list_begin(s->store);
        s->list = kube_list_items(s->options.client,
                                  &(struct kube_listing){.path = s->path,
                                                         .labels = s->labels,
                                                         .from_cache = s->options.from_cache,
                                                         .item = pods_snapshot_source_on_item},
                                  pods_snapshot_source_on_listed, s);
}

static void pods_snapshot_source_on_timer(uv_timer_t *timer)
{
        struct pods_snapshot_source *s = timer->data;
        if (!s->watch) {
                pods_snapshot_source_poll(s);
        } else if (s->synced) {
                snapshots_store_synced(s->store, pods_snapshot_source_now_of(s));
                s->ops->changed(s->owner);
        }
}

struct pods_snapshot_source *pods_snapshot_source_start(const struct pods_snapshot_source_options *options,
                                                        struct snapshots_store *store,
                                                        const struct pods_snapshot_source_ops *ops, void *owner)
{
        static const struct kube_watch_ops watch_ops = {.event = pods_snapshot_source_on_event,
                                                        .failed = pods_snapshot_source_on_failure};
        const uint64_t interval = (uint64_t)options->polling_interval;
        struct pods_snapshot_source *s = new0(struct pods_snapshot_source);
        *s = (struct pods_snapshot_source){.options = *options,
                                           .path = kube_path("v1", options->namespace, "pods", NULL),
                                           .labels = mem_strdup(options->labels),
                                           .store = store,
                                           .ops = ops,
                                           .owner = owner};
        uv_timer_init(kube_client_loop(options->client), &s->timer);
        s->timer.data = s;
        if (options->watches)
                s->watch = kube_watch_start(options->client,
                                            &(struct kube_watch_options){.path = s->path, .labels = s->labels},
                                            &watch_ops, s);
        if (options->polls)
                uv_timer_start(&s->timer, pods_snapshot_source_on_timer, options->watches ? interval : 0, interval);
        return s;
}

static void pods_snapshot_source_on_closed(uv_handle_t *handle)
{
        struct pods_snapshot_source *s = handle->data;
        free(s->path);
        free(s->labels);
        free(s);
}

void pods_snapshot_source_stop(struct pods_snapshot_source *s)
{
        if (!s)
                return;
        kube_watch_free(s->watch);
        if (s->list)
                kube_cancel(s->list);
        uv_close((uv_handle_t *)&s->timer, pods_snapshot_source_on_closed);
}
