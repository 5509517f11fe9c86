/*
 * Creates one Event for each record. Few are under way at the same time while the client is busy, and the others wait,
 * so that the API server has time for submissions.
 */
#include "operator/shell/kube_event_recorder.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/list.h"
#include "base/mem.h"
#include "kubernetes/api/kube_client.h"
#include "operator/schedule/rfc3339.h"
#include "operator/shell/daemon_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#define MAX_NOTE 1000 /* the API server takes 1024 bytes */

#define BUSY_EVENT_CALLS 2
#define MAX_PENDING_CALLS 32 /* of the client: a busy one has more */

struct recorded_event {
        struct recorded_event *prev, *next;
        struct kube_event_recorder *recorder;
        struct kube_call *call; /* NULL while it waits */
        char *namespace, *body; /* JSON text, smaller than its tree */
};

struct kube_event_recorder {
        struct kube_client *client;
        LIST(struct recorded_event) events;  /* under way */
        LIST(struct recorded_event) waiting; /* in the order of records */
        size_t n_calls, n_waiting;
        uint64_t count;
        char host[128];
};

struct kube_event_recorder *kube_event_recorder_new(struct kube_client *client)
{
        struct kube_event_recorder *r = new0(struct kube_event_recorder);
        r->client = client;
        gethostname(r->host, sizeof(r->host) - 1);
        return r;
}

static void recorded_event_free(struct recorded_event *e)
{
        free(e->namespace);
        free(e->body);
        free(e);
}

void kube_event_recorder_free(struct kube_event_recorder *r)
{
        if (!r)
                return;
        for (struct recorded_event *e; (e = list_pop(&r->events));) {
                kube_cancel(e->call);
                recorded_event_free(e);
        }
        for (struct recorded_event *e; (e = list_pop(&r->waiting));)
                recorded_event_free(e);
        free(r);
}

size_t event_note_length(const char *text)
{
        size_t n = strnlen(text, MAX_NOTE + 1);
        if (n <= MAX_NOTE)
                return n;
        for (n = MAX_NOTE; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;) /* a byte that continues a character */
                n--;
        return n;
}

static void kube_event_recorder_send(struct kube_event_recorder *r);

static void kube_event_recorder_on_created(void *owner, struct kube_call *call, int r,
                                           const struct kube_response *response)
{
        struct recorded_event *e = owner;
        struct kube_event_recorder *recorder = e->recorder;
        if (r != 0)
                log_debug(OPERATOR_LOG, "An event is lost: %s", error_message(response->error));
        list_remove(&recorder->events, e);
        recorder->n_calls--;
        recorded_event_free(e);
        kube_event_recorder_send(recorder);
}

static bool kube_event_recorder_may_send(const struct kube_event_recorder *r)
{
        return r->n_calls < BUSY_EVENT_CALLS || kube_client_pending(r->client) < MAX_PENDING_CALLS;
}

/* Starts requests for events that wait. */
static void kube_event_recorder_send(struct kube_event_recorder *r)
{
        while (r->waiting.first && kube_event_recorder_may_send(r)) {
                struct recorded_event *e = list_pop(&r->waiting);
                json_t *event = json_loads(e->body, 0, NULL);
                _cleanup_free_ char *path = kube_path("events.k8s.io/v1", e->namespace, "events", NULL);
                r->n_waiting--;
                r->n_calls++;
                list_append(&r->events, e);
                e->call = kube_send(
                        r->client,
                        &(struct kube_request){
                                .method = "POST", .path = path, .body = event, .accept = KUBE_ACCEPT_METADATA},
                        kube_event_recorder_on_created, e);
                json_decref(event);
        }
}

void kube_event_recorder_record(struct kube_event_recorder *r, const struct event_object *object, const char *type,
                                const char *reason, const char *message)
{
        char time[RFC3339_TEXT], micro[RFC3339_TEXT + 8];
        int64_t now = time_of_day_ms();
        log_info(OPERATOR_LOG, "%s %s/%s: %s: %s", object->kind, object->namespace, object->name, reason, message);
        if (r->n_waiting >= MAX_PENDING_EVENTS)
                return;
        rfc3339_format(now, time);
        snprintf(micro, sizeof(micro), "%.19s.%06dZ", time, (int)(now % 1000) * 1000);
        _cleanup_free_ char *instance = mem_printf("spark-operator-%s", r->host);
        _cleanup_free_ char *note = mem_strndup(message, event_note_length(message));
        _cleanup_free_ char *name =
                mem_printf("%.200s.%" PRIx64 "%04" PRIx64, object->name, (uint64_t)now, r->count++ & 0xffff);
        json_t *event =
                json_pack("{s:s, s:s, s:{s:s, s:s}, s:s, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:s, s:s}}",
                          "apiVersion", "events.k8s.io/v1", "kind", "Event", "metadata", "name", name, "namespace",
                          object->namespace, "eventTime", micro, "reportingController", "spark-operator",
                          "reportingInstance", instance, "action", "Reconcile", "reason", reason, "note", note, "type",
                          type, "regarding", "apiVersion", object->api ? object->api : OPERATOR_API, "kind",
                          object->kind, "name", object->name, "namespace", object->namespace, "uid", object->uid);
        if (!event) /* a message that is not UTF-8 */
                return;
        struct recorded_event *e = new0(struct recorded_event);
        e->recorder = r;
        e->namespace = mem_strdup(object->namespace);
        e->body = json_dumps(event, JSON_COMPACT);
        list_append(&r->waiting, e);
        r->n_waiting++;
        json_decref(event);
        kube_event_recorder_send(r);
}
