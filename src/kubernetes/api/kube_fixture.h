/*
 * For tests: an API server for pods that injects faults. It stores pods by name. Each change gets a version, and a
 * watch returns the changes after the version that it names.
 *
 *      struct kube_fixture api;
 *      kube_fixture_start(&api);          // api.http.url
 *      api.fault = …;                     // called before each request: returns the fault to inject
 *      kube_fixture_stop(&api);
 *
 * A watch ends after the changes known so far. The client asks again for more.
 */
#pragma once

#include "base/string_prefix.h"
#include "net/http/http_fixture.h"

#include <ctype.h>
#include <jansson.h>

enum kube_fault {
        FAULT_NONE,
        FAULT_CLOSE,   /* drop the request and the connection */
        FAULT_LOST,    /* carry out the request, send no response */
        FAULT_HALF,    /* carry out the request, send half of the response */
        FAULT_SILENCE, /* carry out the request, send only the head of the response */
        FAULT_GONE,    /* 410: as a status, or as a watch event */
        FAULT_REFUSED, /* answer with the status and text in `refusal` */
};

struct kube_change {
        const char *type;
        json_t *object;
};

struct kube_fixture {
        struct http_fixture http;
        pthread_mutex_t lock;
        json_t *pods; /* by name */
        struct kube_change changes[4096];
        int n_changes; /* their versions are 1 and up */
        int oldest;    /* refuse a watch from an older version */
        int lists, watches;
        _Atomic int creations; /* also read by the test */
        enum kube_fault (*fault)(struct kube_fixture *api, const struct fixture_exchange *x);
        int refusal;
        const char *refusal_headers, *refusal_text;
        char last_head[4096];
        _Atomic int step; /* for the fault function; also set by the test */
};

static inline void kube_fixture_change(struct kube_fixture *api, const char *type, json_t *pod)
{
        char version[16];
        snprintf(version, sizeof(version), "%d", api->n_changes + 1);
        json_object_set_new(json_object_get(pod, "metadata"), "resourceVersion", json_string(version));
        if (api->n_changes == ARRAY_SIZE(api->changes))
                abort();
        api->changes[api->n_changes++] = (struct kube_change){type, json_deep_copy(pod)};
}

/* Under the lock. */
static inline void kube_fixture_put(struct kube_fixture *api, json_t *pod)
{
        const char *name = json_string_value(json_object_get(json_object_get(pod, "metadata"), "name"));
        bool there = json_object_get(api->pods, name) != NULL;
        kube_fixture_change(api, there ? "MODIFIED" : "ADDED", pod);
        json_object_set(api->pods, name, pod);
}

static inline void kube_fixture_remove(struct kube_fixture *api, const char *name)
{
        json_t *pod = json_incref(json_object_get(api->pods, name));
        json_object_del(api->pods, name);
        kube_fixture_change(api, "DELETED", pod);
        json_decref(pod);
}

static inline void kube_fixture_answer(struct fixture_exchange *x, int status, json_t *object)
{
        char *text = json_dumps(object, JSON_COMPACT);
        fixture_answer(x, status, "Content-Type: application/json\r\n", text);
        free(text);
        json_decref(object);
}

static inline void kube_fixture_status(struct fixture_exchange *x, int code, const char *reason, const char *message)
{
        kube_fixture_answer(x, code,
                            json_pack("{s:s, s:s, s:s, s:s, s:i}", "kind", "Status", "status", "Failure", "reason",
                                      reason, "message", message, "code", code));
}

static inline int kube_fixture_number(const char *query, const char *name, int without)
{
        const char *found = strstr(query, name);
        return found ? atoi(found + strlen(name)) : without;
}

static inline void kube_fixture_list(struct kube_fixture *api, struct fixture_exchange *x, const char *query)
{
        int limit = kube_fixture_number(query, "limit=", 1 << 30), from = kube_fixture_number(query, "continue=", 0);
        json_t *items = json_array(), *metadata = json_object(), *pod;
        const char *name;
        char number[16];
        int i = 0;
        api->lists++;
        json_object_foreach(api->pods, name, pod) {
                if (i >= from && i - from < limit)
                        json_array_append(items, pod);
                i++;
        }
        snprintf(number, sizeof(number), "%d", api->n_changes);
        json_object_set_new(metadata, "resourceVersion", json_string(number));
        snprintf(number, sizeof(number), "%d", from + limit);
        if (i - from > limit)
                json_object_set_new(metadata, "continue", json_string(number));
        kube_fixture_answer(x, 200,
                            json_pack("{s:s, s:o, s:o}", "kind", "PodList", "metadata", metadata, "items", items));
}

static inline void kube_fixture_watch(struct kube_fixture *api, struct fixture_exchange *x, const char *query,
                                      bool gone)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        int from = kube_fixture_number(query, "resourceVersion=", 0);
        api->watches++;
        if (gone || from < api->oldest) {
                buf_puts(&text,
                         "{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"code\":410,\"reason\":\"Expired\","
                         "\"message\":\"too old resource version\"}}\n");
        }
        for (int i = from; i < api->n_changes && text.len == 0; i++) {
                for (; i < api->n_changes; i++) {
                        char *object = json_dumps(api->changes[i].object, JSON_COMPACT);
                        buf_printf(&text, "{\"type\":\"%s\",\"object\":%s}\n", api->changes[i].type, object);
                        free(object);
                }
                buf_printf(&text, "{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"%d\"}}}\n",
                           api->n_changes);
        }
        fixture_answer(x, 200, "Content-Type: application/json\r\n", buf_text(&text));
}

/* Whether labelSelector and fieldSelector of @query match this pod: "spark-exec-id in (1,2)" and "status.phase=X". */
static inline bool kube_fixture_selects(const json_t *pod, const char *query)
{
        static const char ids[] = "spark-exec-id%20in%20%28", phase[] = "status.phase%3D";
        const json_t *labels = json_object_get(json_object_get(pod, "metadata"), "labels");
        const char *its = json_string_value(json_object_get(labels, "spark-exec-id")), *at = strstr(query, ids);
        const char *wanted = strstr(query, phase);
        const char *now = json_string_value(json_object_get(json_object_get(pod, "status"), "phase"));
        bool found = !at;
        for (at += found ? 0 : sizeof(ids) - 1; at && !found && isdigit((unsigned char)*at);) {
                size_t n = strspn(at, "0123456789");
                found = its && strlen(its) == n && strncmp(its, at, n) == 0;
                at += n + (strncmp(at + n, "%2C", 3) == 0 ? 3 : 0);
        }
        return found && (!wanted || text_starts_with(wanted + sizeof(phase) - 1, now ? now : "Pending"));
}

static inline void kube_fixture_delete_selected(struct kube_fixture *api, struct fixture_exchange *x, const char *query)
{
        json_t *before = json_copy(api->pods), *pod;
        const char *name;
        json_object_foreach(before, name, pod)
                if (kube_fixture_selects(pod, query))
                        kube_fixture_remove(api, name);
        json_decref(before);
        kube_fixture_list(api, x, query);
}

static inline void kube_fixture_do(struct kube_fixture *api, struct fixture_exchange *x, bool gone)
{
        static const char pods[] = "/api/v1/namespaces/ns/pods";
        const char *rest = x->target + sizeof(pods) - 1, *query = strchr(x->target, '?');
        if (!text_starts_with(x->target, pods))
                return kube_fixture_status(x, 404, "NotFound", "the server could not find the requested resource");
        if (gone && !strstr(x->target, "watch="))
                return kube_fixture_status(x, 410, "Expired", "the continue token is too old");
        char name[64] = "";
        sscanf(rest, "/%63[^?/]", name);
        json_t *pod = json_object_get(api->pods, name);
        if (strcmp(x->method, "POST") == 0) {
                json_t *body = json_loads(x->body, 0, NULL);
                const char *its = json_string_value(json_object_get(json_object_get(body, "metadata"), "name"));
                if (its && json_object_get(api->pods, its)) {
                        kube_fixture_status(x, 409, "AlreadyExists", "pods already exists");
                } else {
                        char uid[16];
                        snprintf(uid, sizeof(uid), "uid-%d", ++api->creations);
                        json_object_set_new(json_object_get(body, "metadata"), "uid", json_string(uid));
                        json_object_set_new(json_object_get(body, "metadata"), "namespace", json_string("ns"));
                        if (!its)
                                json_object_set_new(json_object_get(body, "metadata"), "name", json_string(uid));
                        if (!json_object_get(body, "status")) /* as an API server: without a phase, a pod counts as lost */
                                json_object_set_new(body, "status", json_pack("{s:s}", "phase", "Pending"));
                        kube_fixture_put(api, body);
                        kube_fixture_answer(x, 201, json_deep_copy(body));
                }
                json_decref(body);
        } else if (!name[0] && strcmp(x->method, "DELETE") == 0) {
                kube_fixture_delete_selected(api, x, query ? query : "");
        } else if (!name[0] && query && strstr(query, "watch=")) {
                kube_fixture_watch(api, x, query, gone);
        } else if (!name[0]) {
                kube_fixture_list(api, x, query ? query : "");
        } else if (!pod) {
                kube_fixture_status(x, 404, "NotFound", "pods not found");
        } else if (strstr(rest, "/log")) {
                _cleanup_(buf_deinit) struct buf text = BUF_INIT;
                for (int i = 0; i < 100; i++)
                        buf_puts(&text, "a line of the log \n\n");
                fixture_answer(x, 200, "Content-Type: text/plain\r\n", buf_text(&text));
        } else if (strcmp(x->method, "DELETE") == 0) {
                json_incref(pod);
                kube_fixture_remove(api, name);
                kube_fixture_answer(x, 200, pod);
        } else if (strcmp(x->method, "PATCH") == 0) {
                json_t *patch = json_loads(x->body, 0, NULL);
                json_object_update_recursive(pod, patch);
                json_decref(patch);
                kube_fixture_put(api, pod);
                kube_fixture_answer(x, 200, json_deep_copy(pod));
        } else {
                kube_fixture_answer(x, 200, json_deep_copy(pod));
        }
}

static inline void kube_fixture_serve(struct fixture_exchange *x)
{
        struct kube_fixture *api = container_of(x->server, struct kube_fixture, http);
        pthread_mutex_lock(&api->lock);
        snprintf(api->last_head, sizeof(api->last_head), "%s", x->head);
        enum kube_fault fault = api->fault ? api->fault(api, x) : FAULT_NONE;
        if (fault == FAULT_REFUSED)
                fixture_answer(x, api->refusal, api->refusal_headers ? api->refusal_headers : "", api->refusal_text);
        else if (fault != FAULT_CLOSE)
                kube_fixture_do(api, x, fault == FAULT_GONE);
        if (fault == FAULT_LOST)
                buf_reset(&x->out);
        if (fault == FAULT_HALF)
                buf_truncate(&x->out, x->out.len * 2 / 3);
        if (fault == FAULT_SILENCE && strstr(buf_text(&x->out), "\r\n\r\n"))
                buf_truncate(&x->out, (size_t)(strstr(buf_text(&x->out), "\r\n\r\n") + 4 - buf_text(&x->out)));
        x->close = fault == FAULT_LOST || fault == FAULT_HALF || fault == FAULT_CLOSE;
        pthread_mutex_unlock(&api->lock);
}

static inline void kube_fixture_start(struct kube_fixture *api)
{
        memset(api, 0, sizeof(*api));
        pthread_mutex_init(&api->lock, NULL);
        api->pods = json_object();
        http_fixture_start(&api->http, kube_fixture_serve);
}

static inline void kube_fixture_stop(struct kube_fixture *api)
{
        http_fixture_stop(&api->http);
        json_decref(api->pods);
        for (int i = 0; i < api->n_changes; i++)
                json_decref(api->changes[i].object);
}
