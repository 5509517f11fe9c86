/* Create, get, delete, patch, list and log requests. */
#include "kubernetes/api/kube_internal.h"

#include "base/mem.h"
#include "text/json.h"

#include <inttypes.h>
#include <stdio.h>

#define LIST_SILENCE_MS 60000 /* API servers end requests after a minute */

struct kube_call *kube_create(struct kube_client *client, const char *namespace, const json_t *object, kube_done *done,
                              void *owner)
{
        _cleanup_free_ char *path = kube_object_path(object, namespace, false);
        const json_t *metadata = json_object_get(object, "metadata");
        const char *name = json_text_at(metadata, "name");
        struct kube_request q = {.method = "POST", .path = path, .body = object};
        bool named = name && *name;
        struct kube_call *call = kube_begin(client, &q, named ? KUBE_CREATION : KUBE_ONCE, done, owner);
        if (named) {
                static const char *const kept[] = {"name", "labels", "annotations"};
                call->created = json_object();
                for (size_t i = 0; i < ARRAY_SIZE(kept); i++)
                        if (json_object_get(metadata, kept[i]))
                                json_object_set_new(call->created, kept[i],
                                                    json_deep_copy(json_object_get(metadata, kept[i])));
                if (json_object_get(object, "data"))
                        json_object_set_new(call->created, "data", json_deep_copy(json_object_get(object, "data")));
        }
        return call;
}

struct kube_call *kube_get(struct kube_client *client, const char *path, kube_done *done, void *owner)
{
        return kube_send(client, &(struct kube_request){.path = path}, done, owner);
}

struct kube_call *kube_patch(struct kube_client *client, const char *path, enum kube_patch_kind kind,
                             const json_t *patch, kube_done *done, void *owner)
{
        static const char *const types[] = {[KUBE_PATCH_MERGE] = "application/merge-patch+json",
                                            [KUBE_PATCH_STRATEGIC] = "application/strategic-merge-patch+json",
                                            [KUBE_PATCH_JSON] = "application/json-patch+json"};
        struct kube_request q = {.method = "PATCH", .path = path, .body = patch, .content_type = types[kind]};
        return kube_send(client, &q, done, owner);
}

struct kube_call *kube_delete(struct kube_client *client, const char *path, const struct kube_deletion *how,
                              kube_done *done, void *owner)
{
        _cleanup_free_ char *query = NULL;
        json_t *options = json_object();
        if (how && how->grace_s)
                json_object_set_new(options, "gracePeriodSeconds", json_integer(*how->grace_s));
        if (how && how->propagation)
                json_object_set_new(options, "propagationPolicy", json_string(how->propagation));
        if (how && how->uid)
                json_object_set_new(options, "preconditions", json_pack("{s:s}", "uid", how->uid));
        kube_query_add(&query, "labelSelector", how ? how->labels : NULL);
        kube_query_add(&query, "fieldSelector", how ? how->fields : NULL);
        if (json_object_size(options) > 0) {
                json_object_set_new(options, "kind", json_string("DeleteOptions"));
                json_object_set_new(options, "apiVersion", json_string("v1"));
        }
        struct kube_request q = {.method = "DELETE",
                                 .path = path,
                                 .query = query,
                                 .body = json_object_size(options) > 0 ? options : NULL};
        struct kube_call *call = kube_send(client, &q, done, owner);
        if (!how || !how->uid)
                kube_bear_conflicts(call);
        json_decref(options);
        return call;
}

struct kube_call *kube_list_items(struct kube_client *client, const struct kube_listing *listing, kube_done *done,
                                  void *owner)
{
        char limit[16];
        _cleanup_free_ char *query = NULL;
        snprintf(limit, sizeof(limit), "%d", listing->page > 0 ? listing->page : 250);
        kube_query_add(&query, "labelSelector", listing->labels);
        kube_query_add(&query, "fieldSelector", listing->fields);
        if (listing->from_cache)
                kube_query_add(&query, "resourceVersion", "0");
        else if (!listing->whole)
                kube_query_add(&query, "limit", limit);
        struct kube_request q = {.path = listing->path, .query = query};
        if (listing->whole)
                q.timeout_ms = -1, q.silence_ms = LIST_SILENCE_MS;
        struct kube_call *call = kube_begin(client, &q, KUBE_SAFE, done, owner);
        struct kube_list_state *l = new0(struct kube_list_state);
        l->base_query = mem_strdup_if(query);
        l->item = listing->item;
        call->list = l;
        kube_list_begin(call);
        return call;
}

struct kube_call *kube_logs(struct kube_client *client, const char *namespace, const char *pod,
                            const struct kube_log *log, kube_done *done, void *owner)
{
        const struct {
                const char *name;
                int64_t value;
        } numbers[] = {
                {"tailLines", log->tail_lines}, {"limitBytes", log->limit_bytes}, {"sinceSeconds", log->since_s}};
        const struct {
                const char *name;
                bool value;
        } flags[] = {{"follow", log->follow}, {"previous", log->previous}, {"timestamps", log->timestamps}};
        _cleanup_free_ char *query = NULL, *name = mem_printf("%s/log", pod);
        _cleanup_free_ char *path = kube_path("v1", namespace, "pods", name);
        kube_query_add(&query, "container", log->container);
        for (size_t i = 0; i < ARRAY_SIZE(numbers); i++) {
                char text[24];
                snprintf(text, sizeof(text), "%" PRId64, numbers[i].value);
                kube_query_add(&query, numbers[i].name, numbers[i].value > 0 ? text : NULL);
        }
        for (size_t i = 0; i < ARRAY_SIZE(flags); i++)
                kube_query_add(&query, flags[i].name, flags[i].value ? "true" : NULL);
        struct kube_request q = {
                .path = path, .query = query, .accept = "*/*", .sink = log->sink, .silence_ms = log->silence_ms};
        return kube_send(client, &q, done, owner);
}
