/*
 * Watches one driver pod and logs its states in the words of Spark's watcher.
 *
 * Differs from Spark: a failed or deleted driver is a failure with an exit status. The client's last line names the
 * cause and ends with the last lines of the driver's log.
 */
#include "kubernetes/driver/driver_watch.h"

#include "base/log.h"
#include "base/mem.h"
#include "kubernetes/driver/driver_diagnosis.h"
#include "kubernetes/executors/exit_reason.h"
#include "kubernetes/api/kube_watch.h"
#include "kubernetes/api/pod_description.h"
#include "text/json.h"

#include <string.h>

#define LOG_SILENCE_MS 5000 /* if the node does not respond to the API server */
#define LOG_ATTEMPTS 2

#define COMPONENT "LoggingPodStatusWatcherImpl"

static void driver_watch_report(const struct driver_watch *w)
{
        log_info(COMPONENT, "Application status for %s (phase: %s)", w->subject.app_id, pod_text_phase(w->pod));
}

/* Logs why the pod waits, which Spark's lines do not show. */
static void driver_watch_report_wait(struct driver_watch *w)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        struct pod_wait wait = pod_wait_read(json_object_get(w->pod, "status"));
        if (!pod_wait_describe(&wait, "driver", &text) || (w->waits && strcmp(w->waits, buf_text(&text)) == 0))
                return;
        log_warn(COMPONENT, "The driver pod %s waits: %s", w->subject.submission_id, buf_text(&text));
        free(w->waits);
        w->waits = buf_steal(&text);
}

static bool driver_watch_pod_has_ended(const json_t *pod)
{
        const char *phase = pod_text_phase(pod);
        return strcmp(phase, "Succeeded") == 0 || strcmp(phase, "Failed") == 0;
}

static void driver_watch_update(struct driver_watch *w, json_t *pod)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        json_decref(w->pod);
        w->pod = json_incref(pod);
        pod_text_state(pod, &text);
        log_info(COMPONENT, "State changed, new state: \n%s", buf_text(&text) + 1); /* starts with a line break */
        if (!driver_watch_pod_has_ended(pod))
                driver_watch_report_wait(w);
}

static int driver_watch_on_log(void *owner, const char *data, size_t n)
{
        struct driver_watch *w = owner;
        log_tail_append(&w->log, data, n);
        return 0;
}

static void driver_watch_on_log_end(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct driver_watch *w = owner;
        w->log_call = NULL;
        if (r)
                error_set(&w->log_error, -EIO, "%s", error_message(response->error));
}

/* Diagnoses the end of the driver, and fetches the last lines of its log if the log has more. */
static void watch_end(struct driver_watch *w)
{
        w->ended = true;
        driver_diagnosis_init(&w->diagnosis, w->pod ? w->pod : w->subject.pod, w->subject.container, w->gone);
        if (!w->diagnosis.log_container)
                return;
        w->log_call = kube_logs(w->client, w->subject.namespace, json_text_at(w->subject.pod, "metadata.name"),
                                &(struct kube_log){.container = w->diagnosis.log_container,
                                                   .tail_lines = DRIVER_LOG_LINES,
                                                   .silence_ms = LOG_SILENCE_MS,
                                                   .sink = driver_watch_on_log},
                                driver_watch_on_log_end, w);
        kube_limit_attempts(w->log_call, LOG_ATTEMPTS);
}

static void watch_end_deleted(struct driver_watch *w)
{
        w->gone = true;
        watch_end(w);
}

static void driver_watch_on_event(void *owner, enum kube_event what, json_t *pod)
{
        struct driver_watch *w = owner;
        if (w->ended)
                return;
        if (what == KUBE_SYNCED) { /* an empty list: the pod was deleted before the watch */
                if (!kube_watch_counts(w->watch).objects)
                        watch_end_deleted(w);
                return;
        }
        const char *uid = json_text_at(pod, "metadata.uid"), *its = json_text_at(w->subject.pod, "metadata.uid");
        bool same = uid && its && strcmp(uid, its) == 0;
        if (what != KUBE_DELETED && !same) { /* another pod of that name */
                watch_end_deleted(w);
                return;
        }
        if (!same)
                return;
        if (json_object_get(pod, "status"))
                driver_watch_update(w, pod);
        if (what == KUBE_DELETED && !driver_watch_pod_has_ended(w->pod))
                watch_end_deleted(w);
        else if (what == KUBE_DELETED || driver_watch_pod_has_ended(w->pod))
                watch_end(w);
}

static void driver_watch_on_failure(void *owner, int r, const struct fst_error *error, int64_t again_ms)
{
        struct driver_watch *w = owner;
        w->refusals = kube_refusals(w->refusals, r);
        if (w->refusals == KUBE_REFUSALS) {
                w->result = -EACCES;
                error_set(&w->error, w->result, "%s", error_message(error));
                w->ended = true;
                return;
        }
        log_debug(COMPONENT, "Retrying to watch the driver in %lld ms: %s", (long long)again_ms, error_message(error));
}

static void driver_watch_on_timer(uv_timer_t *timer)
{
        struct driver_watch *w = timer->data;
        driver_watch_report(w);
}

void driver_watch_begin(struct driver_watch *w, struct kube_client *client, const struct driver_subject *subject)
{
        static const struct kube_watch_ops ops = {.event = driver_watch_on_event, .failed = driver_watch_on_failure};
        *w = (struct driver_watch){.subject = *subject, .client = client, .log = {.max_bytes = DRIVER_LOG_BYTES}};
        uv_timer_init(kube_client_loop(client), &w->timer);
        w->timer.data = w;
        if (subject->interval_ms > 0)
                uv_timer_start(&w->timer, driver_watch_on_timer, (uint64_t)subject->interval_ms,
                               (uint64_t)subject->interval_ms);
        log_info(COMPONENT, "Waiting for application %s with application ID %s and submission ID %s to finish...",
                 subject->app_name, subject->app_id, subject->submission_id);
        _cleanup_free_ char *path = kube_path("v1", subject->namespace, "pods", NULL);
        _cleanup_free_ char *fields = mem_printf("metadata.name=%s", json_text_at(subject->pod, "metadata.name"));
        w->watch = kube_watch_start(client, &(struct kube_watch_options){.path = path, .fields = fields}, &ops, w);
}

bool driver_watch_has_ended(const struct driver_watch *w)
{
        return w->ended;
}

bool driver_watch_is_over(const struct driver_watch *w)
{
        return w->ended && !w->log_call;
}

/* Returns the exit code of the driver's container, or a substitute. */
static int exit_code(const struct driver_watch *w)
{
        const json_t *statuses = json_at(w->pod, "status.containerStatuses"), *status;
        size_t i;
        if (w->gone)
                return 1;
        json_array_foreach((json_t *)statuses, i, status) {
                const char *name = json_text_at(status, "name");
                const json_t *ended = json_at(status, "state.terminated");
                int code = (int)json_int_at(ended, "exitCode");
                if (name && strcmp(name, w->subject.container) == 0 && ended && code != 0)
                        return code & 0xff ? code & 0xff : 1;
        }
        return strcmp(pod_text_phase(w->pod), "Succeeded") == 0 ? 0 : 1;
}

/* Logs the cause as the client's last line. The lines before are Spark's. */
static void log_diagnosis(struct driver_watch *w)
{
        const struct driver_subject *s = &w->subject;
        const struct driver_diagnosis *d = &w->diagnosis;
        const char *text = buf_text(&d->text), *log = log_tail_text(&w->log);
        if (!d->text.len)
                return;
        if (!d->log_container)
                log_error(COMPONENT, "The driver pod %s: %s", s->submission_id, text);
        else if (*log)
                log_error(COMPONENT, "The driver pod %s: %s. The last lines of its log:\n%s", s->submission_id, text,
                          log);
        else if (!w->log_call && !w->log_error.message)
                log_error(COMPONENT, "The driver pod %s: %s. Its log is empty", s->submission_id, text);
        else
                log_error(COMPONENT,
                          "The driver pod %s: %s. For its log: kubectl logs %s --namespace=%s --container=%s%s%s%s",
                          s->submission_id, text, json_text_at(s->pod, "metadata.name"), s->namespace, d->log_container,
                          w->log_call ? "" : " (this client cannot read it: ",
                          w->log_call ? "" : error_message(&w->log_error), w->log_call ? "" : ")");
}

static void log_result(struct driver_watch *w)
{
        const struct driver_subject *s = &w->subject;
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        driver_watch_report(w);
        pod_text_containers(w->pod, "\t", &text);
        if (w->pod)
                log_info(COMPONENT, "Container final statuses:\n\n%s", buf_text(&text));
        else
                log_info(COMPONENT, "No containers were found in the driver pod.");
        log_info(COMPONENT, "Application %s with application ID %s and submission ID %s finished", s->app_name,
                 s->app_id, s->submission_id);
        log_diagnosis(w);
}

int driver_watch_end(struct driver_watch *w, int *status, struct fst_error *error)
{
        int r = w->result;
        if (r < 0) {
                error_set(error, r,
                          "the driver %s is in the cluster, but it cannot be waited for: %s. Set "
                          "spark.kubernetes.submission.waitAppCompletion=false not to wait",
                          w->subject.submission_id, error_message(&w->error));
        } else if (w->ended) {
                log_result(w);
                *status = exit_code(w);
        }
        if (w->log_call)
                kube_cancel(w->log_call);
        kube_watch_free(w->watch);
        driver_diagnosis_deinit(&w->diagnosis);
        log_tail_deinit(&w->log);
        error_deinit(&w->log_error);
        uv_close((uv_handle_t *)&w->timer, NULL);
        json_decref(w->pod);
        free(w->waits);
        error_deinit(&w->error);
        return r;
}
