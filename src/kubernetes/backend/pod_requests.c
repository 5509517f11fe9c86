/* Deletes, labels and lists objects of executors. */
#include "kubernetes/backend/pod_requests.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/vec.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/api/log_tail.h"
#include "kubernetes/executors/pods_snapshot.h"
#include "kubernetes/api/quantity.h"
#include "text/json.h"

#define LOG "ExecutorPods"

#define LOG_SILENCE_MS 5000 /* if the node does not respond to the API server, the pod is deleted without its log */
#define LOG_ATTEMPTS 2

enum { DELETED_TOGETHER = 100 };

/* A running fetch of a pod's last log lines, after which the pod is deleted. */
struct log_fetch {
        struct pod_requests *calls;
        struct pod_state *pod;
        struct log_tail log;
};

typedef VEC(json_t *) items;

struct pod_requests {
        struct pod_requests_options options;
        const struct pod_requests_ops *ops;
        void *owner;
        VEC(struct log_fetch *) log_fetches;
        items claims; /* items of the running list */
        int deleting;
};

struct pod_requests *pod_requests_new(const struct pod_requests_options *options, const struct pod_requests_ops *ops,
                                      void *owner)
{
        struct pod_requests *calls = new0(struct pod_requests);
        calls->options = *options;
        calls->ops = ops;
        calls->owner = owner;
        return calls;
}

static void log_fetch_free(struct log_fetch *f)
{
        pod_state_unref(f->pod);
        log_tail_deinit(&f->log);
        free(f);
}

static void items_deinit(items *list)
{
        for (size_t i = 0; i < list->len; i++)
                json_decref(list->data[i]);
        vec_deinit(list);
}

void pod_requests_free(struct pod_requests *calls)
{
        if (!calls)
                return;
        for (size_t i = 0; i < calls->log_fetches.len; i++)
                log_fetch_free(calls->log_fetches.data[i]);
        vec_deinit(&calls->log_fetches);
        items_deinit(&calls->claims);
        free(calls);
}

/* Errors that a repetition solves or that no longer matter. */
static bool is_harmless(int r)
{
        return r == 0 || r == FST_KUBE_E_NOT_FOUND || r == FST_KUBE_E_CONFLICT;
}

static void pod_requests_on_answer(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        if (!is_harmless(r))
                log_warn(LOG, "%s", error_message(response->error));
}

/* ------------------------------------------------------------------------------------------------------- deletions */

static void delete_by_labels(struct pod_requests *calls, const char *resource, const char *labels, const char *fields,
                             kube_done *done, void *owner)
{
        _cleanup_free_ char *path = kube_path("v1", calls->options.namespace, resource, NULL);
        kube_delete(calls->options.client, path, &(struct kube_deletion){.labels = labels, .fields = fields}, done,
                    owner);
}

static void delete_ids(struct pod_requests *calls, const int32_t *ids, int n, bool pending, kube_done *done)
{
        _cleanup_(buf_deinit) struct buf labels = BUF_INIT;
        buf_printf(&labels, KUBE_LABEL_APP_ID "=%s," KUBE_LABEL_ROLE "=executor," KUBE_LABEL_EXECUTOR_ID " in (",
                   calls->options.app_id);
        for (int i = 0; i < n; i++)
                buf_printf(&labels, "%s%d", i ? "," : "", ids[i]);
        buf_puts(&labels, ")");
        delete_by_labels(calls, "pods", buf_text(&labels), pending ? "status.phase=Pending" : NULL, done, calls);
}

void pod_requests_delete_pods(struct pod_requests *calls, const int32_t *ids, int n, bool pending)
{
        delete_ids(calls, ids, n, pending, pod_requests_on_answer);
}

static void on_all_deleted(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct pod_requests *calls = owner;
        calls->deleting--;
        pod_requests_on_answer(calls, call, r, response);
}

void pod_requests_delete_all(struct pod_requests *calls, const char *resource, const char *role)
{
        _cleanup_free_ char *labels = mem_printf(KUBE_LABEL_APP_ID "=%s%s%s", calls->options.app_id,
                                                 role ? "," KUBE_LABEL_ROLE "=" : "", role ? role : "");
        calls->deleting++;
        delete_by_labels(calls, resource, labels, NULL, on_all_deleted, calls);
}

void pod_requests_delete_known(struct pod_requests *calls, const struct pods_snapshot *pods)
{
        int32_t ids[DELETED_TOGETHER];
        int n = 0;
        for (const struct pod_state *p = pods_snapshot_next(pods, NULL); p;) {
                ids[n++] = p->id;
                p = pods_snapshot_next(pods, p);
                if (p && n < DELETED_TOGETHER)
                        continue;
                calls->deleting++;
                delete_ids(calls, ids, n, false, on_all_deleted);
                n = 0;
        }
}

int pod_requests_deleting(const struct pod_requests *calls)
{
        return calls->deleting;
}

int pod_requests_fetching(const struct pod_requests *calls)
{
        return (int)calls->log_fetches.len;
}

static void delete_now(struct pod_requests *calls, const struct pod_state *pod)
{
        _cleanup_free_ char *path = kube_path("v1", calls->options.namespace, "pods", pod->name);
        kube_delete(calls->options.client, path, &(struct kube_deletion){.uid = pod->uid}, pod_requests_on_answer,
                    calls);
}

static int pod_requests_on_log(void *owner, const char *data, size_t n)
{
        struct log_fetch *f = owner;
        log_tail_append(&f->log, data, n);
        return 0;
}

static void pod_requests_on_log_end(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct log_fetch *f = owner;
        struct pod_requests *calls = f->calls;
        if (r)
                log_info(LOG, "The log of executor %d cannot be kept: %s", f->pod->id, error_message(response->error));
        else if (*log_tail_text(&f->log))
                log_warn(LOG, "The last lines of executor %d in pod %s:\n%s", f->pod->id, f->pod->name,
                         log_tail_text(&f->log));
        delete_now(calls, f->pod);
        for (size_t i = 0; i < calls->log_fetches.len; i++)
                if (calls->log_fetches.data[i] == f)
                        calls->log_fetches.data[i] = calls->log_fetches.data[--calls->log_fetches.len];
        log_fetch_free(f);
}

/* The core repeats the deletion while the pod exists: one fetch suffices. */
static bool log_fetch_is_running(const struct pod_requests *calls, const struct pod_state *pod)
{
        for (size_t i = 0; i < calls->log_fetches.len; i++)
                if (calls->log_fetches.data[i]->pod->id == pod->id)
                        return true;
        return false;
}

void pod_requests_delete_pod(struct pod_requests *calls, const struct pod_state *pod, bool log_first)
{
        if (!log_first) {
                delete_now(calls, pod);
                return;
        }
        if (log_fetch_is_running(calls, pod))
                return;
        struct log_fetch *f = new0(struct log_fetch);
        *f = (struct log_fetch){
                .calls = calls, .pod = pod_state_ref((struct pod_state *)pod), .log = {.max_bytes = POD_LOG_BYTES}};
        vec_push(&calls->log_fetches, f);
        const struct kube_log log = {.container = pod->n_containers > 1 ? calls->options.container : NULL,
                                     .tail_lines = POD_LOG_LINES,
                                     .silence_ms = LOG_SILENCE_MS,
                                     .sink = pod_requests_on_log};
        kube_limit_attempts(
                kube_logs(calls->options.client, calls->options.namespace, pod->name, &log, pod_requests_on_log_end, f),
                LOG_ATTEMPTS);
}

/* ---------------------------------------------------------------------------------------------------------- labels */

void pod_requests_label(struct pod_requests *calls, const char *pod, const char *label, const char *value)
{
        _cleanup_free_ char *path = kube_path("v1", calls->options.namespace, "pods", pod);
        json_t *patch = json_pack("{s:{s:{s:s}}}", "metadata", "labels", label, value);
        kube_patch(calls->options.client, path, KUBE_PATCH_MERGE, patch, pod_requests_on_answer, calls);
        json_decref(patch);
}

/* ---------------------------------------------------------------------------------------------------------- claims */

static int pod_requests_on_claim(void *owner, json_t *item)
{
        struct pod_requests *calls = owner;
        if (item)
                vec_push(&calls->claims, json_incref(item));
        else
                items_deinit(&calls->claims);
        return 0;
}

static struct pod_claim read_claim(const json_t *item)
{
        const json_t *requests = json_at(item, "spec.resources.requests");
        const char *storage = json_text_at(requests, "storage");
        const char *name = json_text_at(item, "metadata.name");
        struct pod_claim claim = {.name = name ? name : "",
                                  .storage_class = json_text_at(item, "spec.storageClassName"),
                                  .created = pod_time_read(json_text_at(item, "metadata.creationTimestamp"))};
        struct fst_error error = FST_ERROR_INIT;
        if (storage && quantity_read(storage, 0, &claim.size, &error) < 0)
                error_deinit(&error);
        return claim;
}

static void pod_requests_on_claims(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct pod_requests *calls = owner;
        _cleanup_(items_deinit) items listed = calls->claims; /* the callback may request another list */
        calls->claims = (items){0};
        struct pod_claim *claims = new_array(struct pod_claim, listed.len);
        if (r)
                log_warn(LOG, "%s", error_message(response->error));
        for (size_t i = 0; i < listed.len; i++)
                claims[i] = read_claim(listed.data[i]);
        calls->ops->claims(calls->owner, claims, r ? -1 : (int)listed.len);
        free(claims);
}

void pod_requests_list_claims(struct pod_requests *calls)
{
        _cleanup_free_ char *path = kube_path("v1", calls->options.namespace, "persistentvolumeclaims", NULL);
        _cleanup_free_ char *labels = mem_printf(KUBE_LABEL_APP_ID "=%s", calls->options.app_id);
        kube_list_items(calls->options.client,
                        &(struct kube_listing){.path = path, .labels = labels, .item = pod_requests_on_claim},
                        pod_requests_on_claims, calls);
}
