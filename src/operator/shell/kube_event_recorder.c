/* Creates one Event for each call. */
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

struct recorded_event {
        struct recorded_event *prev, *next;
        struct kube_event_recorder *recorder;
        struct kube_call *call;
};

struct kube_event_recorder {
        struct kube_client *client;
        LIST(struct recorded_event) events; /* under way */
        size_t n_events;
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

void kube_event_recorder_free(struct kube_event_recorder *r)
{
        if (!r)
                return;
        for (struct recorded_event *e; (e = list_pop(&r->events));) {
                kube_cancel(e->call);
                free(e);
        }
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

static void kube_event_recorder_on_created(void *owner, struct kube_call *call, int r,
                                           const struct kube_response *response)
{
        struct recorded_event *e = owner;
        if (r != 0)
                log_debug(OPERATOR_LOG, "An event is lost: %s", error_message(response->error));
        list_remove(&e->recorder->events, e);
        e->recorder->n_events--;
        free(e);
}

void kube_event_recorder_record(struct kube_event_recorder *r, const struct event_object *object, const char *type,
                                const char *reason, const char *message)
{
        char time[RFC3339_TEXT], micro[RFC3339_TEXT + 8];
        int64_t now = time_of_day_ms();
        log_info(OPERATOR_LOG, "%s %s/%s: %s: %s", object->kind, object->namespace, object->name, reason, message);
        if (r->n_events >= MAX_PENDING_EVENTS)
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
                          type, "regarding", "apiVersion", OPERATOR_API, "kind", object->kind, "name", object->name,
                          "namespace", object->namespace, "uid", object->uid);
        if (!event) /* a message that is not UTF-8 */
                return;
        struct recorded_event *e = new0(struct recorded_event);
        e->recorder = r;
        list_append(&r->events, e);
        r->n_events++;
        e->call = kube_create(r->client, object->namespace, event, kube_event_recorder_on_created, e);
        json_decref(event);
}
