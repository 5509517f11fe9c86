/*
 * One call for each action. A submission goes through these steps:
 *
 *      read the object → make its objects (in a thread of libuv's pool) → create them (driver_launch), all or none
 *                                → the pod exists, and is this attempt's: create the objects that are missing
 *
 * The object is read again for each submission, so that waiting applications need little memory. The objects of a
 * SparkCluster are applied one after another: those that exist are changed.
 */
#include "operator/shell/apache_actions.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "operator/apache/apache_objects.h"
#include "operator/apache/apache_reading.h"
#include "submit/kubernetes/driver_launch.h"
#include "text/json.h"

/* The names by which the two kinds differ. */
struct apache_kind {
        enum work_kind work;
        const char *kind, *resource, *finalizer;
};

static const struct apache_kind apache_applications = {WORK_APACHE_APPLICATION, "SparkApplication",
                                                       APPLICATIONS_RESOURCE, APACHE_APPLICATION_FINALIZER};
static const struct apache_kind apache_clusters = {WORK_SPARK_CLUSTER, "SparkCluster", CLUSTERS_RESOURCE,
                                                   APACHE_CLUSTER_FINALIZER};

struct apache_call {
        struct operator_call base;
        const struct apache_kind *kind;
        struct apache_action action;
        struct apache_application app;
        struct apache_cluster cluster;
        json_t *list; /* objects of a cluster, to apply one after another */
        size_t at;
        struct field_problems problems;
        struct driver_plan plan;
        struct driver_launch *launch;
        uv_work_t work;
        bool working, orphaned; /* orphaned: cancelled while a thread works */
        int made;               /* the thread's result */
        struct fst_error error;
};

/* --------------------------------------------------------------------------------------------------- observations */

static struct apache_core *apache_kind_core(struct operator_daemon *d, const struct apache_kind *kind)
{
        const struct operator_context *c = operator_daemon_context(d);
        return kind == &apache_clusters ? c->clusters : c->apache;
}

/* Applications of spark.apache.org are series of their own, with this label after those of the flag. */
static char *apache_metrics_labels(const struct operator_metrics *m, const json_t *object)
{
        char *labels = operator_metrics_labels(m, object);
        char *all = mem_printf("%s%sapi=\"" APACHE_GROUP "\"", labels ? labels : "", labels ? "," : "");
        free(labels);
        return all;
}

static void apache_watch_on_object(struct operator_daemon *d, const struct apache_kind *kind, enum kube_event what,
                                   const json_t *object, const char *labels)
{
        struct operator_context *c = operator_daemon_context(d);
        struct apache_core *core = apache_kind_core(d, kind);
        struct apache_reading reading;
        if (what == KUBE_DELETED) {
                const char *namespace = json_text_or_empty(object, "metadata.namespace");
                const char *name = json_text_or_empty(object, "metadata.name");
                work_queue_remove(c->queue, kind->work, namespace, name);
                apache_core_removed(core, namespace, name, json_text_at(object, "metadata.uid"));
                return;
        }
        bool read = kind == &apache_clusters ? apache_reading_make_cluster(object, &reading)
                                             : apache_reading_make(object, &reading);
        reading.observation.labels = labels;
        if (read && apache_core_observe(core, &reading.observation))
                work_queue_add(c->queue, kind->work, reading.observation.namespace, reading.observation.name);
        apache_reading_deinit(&reading);
}

void apache_watch_on_application(struct operator_daemon *d, enum kube_event what, const json_t *object, bool listed)
{
        struct operator_metrics *metrics = operator_daemon_context(d)->metrics;
        _cleanup_free_ char *labels = apache_metrics_labels(metrics, object);
        if (what == KUBE_ADDED && listed)
                operator_metrics_add_application(metrics, labels);
        apache_watch_on_object(d, &apache_applications, what, object, labels);
}

void apache_watch_on_cluster(struct operator_daemon *d, enum kube_event what, const json_t *object)
{
        apache_watch_on_object(d, &apache_clusters, what, object, NULL);
}

void apache_watch_on_pod(struct operator_daemon *d, enum kube_event what, const json_t *object)
{
        struct operator_context *c = operator_daemon_context(d);
        const char *namespace = json_text_or_empty(object, "metadata.namespace");
        struct apache_pod pod;
        const char *application = NULL;
        if (what == KUBE_DELETED)
                application = apache_core_pod_removed(c->apache, namespace, json_text_or_empty(object, "metadata.name"),
                                                      json_text_at(object, "metadata.uid"));
        else if (apache_pod_read(object, &pod) && apache_core_observe_pod(c->apache, &pod))
                application = pod.application;
        if (application)
                work_queue_add(c->queue, WORK_APACHE_APPLICATION, namespace, application);
}

/* ----------------------------------------------------------------------------------------------------------- calls */

static void apache_call_release(struct apache_call *c)
{
        driver_launch_free(c->launch);
        driver_plan_deinit(&c->plan);
        apache_action_deinit(&c->action);
        apache_application_deinit(&c->app);
        apache_cluster_deinit(&c->cluster);
        json_decref(c->list);
        field_problems_deinit(&c->problems);
        error_deinit(&c->error);
        free(c);
}

static void apache_call_free(struct operator_call *base)
{
        struct apache_call *c = container_of(base, struct apache_call, base);
        if (c->working) {
                c->orphaned = true; /* the thread's end releases it */
                return;
        }
        apache_call_release(c);
}

static struct operator_context *apache_call_context(struct apache_call *c)
{
        return operator_daemon_context(c->base.daemon);
}

static void apache_call_answer(struct apache_call *c, enum apache_result result, const char *message, uint64_t version)
{
        const struct apache_action *a = &c->action;
        bool queue = apache_core_done(apache_kind_core(c->base.daemon, c->kind), a->namespace, a->name, a->ticket,
                                      result, message, version, time_of_day_ms());
        apache_actions_drain(c->base.daemon);
        operator_call_end(&c->base, c->kind->work, a->namespace, a->name, queue, result == APACHE_RESULT_RETRY);
}

static void apache_call_end(struct apache_call *c, enum apache_result result, const char *message)
{
        apache_call_answer(c, result, message, 0);
}

/* Ends the call after a request that failed with the client's @r. */
static void apache_call_fail(struct apache_call *c, int r, const struct fst_error *error)
{
        bool refused = r == FST_KUBE_E_INVALID || r == FST_KUBE_E_FORBIDDEN || r == FST_KUBE_E_QUOTA;
        if (r != FST_KUBE_E_NOT_FOUND)
                log_warn(OPERATOR_LOG, "%s %s/%s of " APACHE_GROUP ": %s", c->kind->kind, c->action.namespace,
                         c->action.name, error_message(error));
        apache_call_end(c,
                        r == FST_KUBE_E_NOT_FOUND ? APACHE_RESULT_NOT_FOUND
                        : refused                 ? APACHE_RESULT_FAILED
                                                  : APACHE_RESULT_RETRY,
                        error_message(error));
}

static void apache_call_event(struct operator_daemon *d, const struct apache_kind *kind, const struct apache_action *a,
                              bool warning, const char *reason, const char *message)
{
        const struct event_object object = {kind->kind, a->namespace, a->name, a->uid, APACHE_API};
        kube_event_recorder_record(operator_daemon_context(d)->events, &object, warning ? "Warning" : "Normal", reason,
                                   message);
}

/* ------------------------------------------------------------------------------------------------------ submission */

/* Tells the user of fields that do nothing, once for each submission. */
static void apache_call_tell_problems(struct apache_call *c)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (size_t i = 0; i < c->problems.list.len; i++)
                buf_printf(&text, "%s%s", text.len > 0 ? "; " : "", c->problems.list.data[i].message);
        if (text.len > 0)
                apache_call_event(c->base.daemon, c->kind, &c->action, true,
                                  c->kind == &apache_clusters ? "SparkClusterFieldsWithoutEffect"
                                                              : "SparkApplicationFieldsWithoutEffect",
                                  buf_text(&text));
}

static void apache_call_on_launched(void *owner, int r, const struct fst_error *error);

/* A pod has the name of the driver's. It is this attempt's if an answer was lost, or the operator died. */
static void apache_call_on_existing_pod(void *owner, struct kube_call *call, int r,
                                        const struct kube_response *response)
{
        struct apache_call *c = owner;
        json_t *pod = response->object;
        c->base.call = NULL;
        if (r != 0) {
                apache_call_end(c, APACHE_RESULT_RETRY, error_message(response->error));
                return;
        }
        const char *id = json_string_value(json_object_get(json_at(pod, "metadata.labels"), KUBE_LABEL_APP_ID));
        if (json_at(pod, "metadata.deletionTimestamp")) {
                apache_call_end(c, APACHE_RESULT_RETRY, "a pod of the driver's name is being deleted");
        } else if (!text_equals(id, c->action.app_id) ||
                   !json_find(json_at(pod, "metadata.ownerReferences"), "uid", c->action.uid)) {
                error_set(&c->error, -EEXIST, "another pod has the name %s", c->action.driver_pod);
                apache_call_end(c, APACHE_RESULT_FAILED, error_message(&c->error));
        } else {
                driver_launch_free(c->launch);
                c->launch =
                        driver_launch_resume(apache_call_context(c)->client, &c->plan, pod, apache_call_on_launched, c);
        }
}

static void apache_call_on_launched(void *owner, int r, const struct fst_error *error)
{
        struct apache_call *c = owner;
        if (r == 0) {
                apache_call_tell_problems(c);
                apache_call_end(c, APACHE_RESULT_OK, NULL);
        } else if (r == -EEXIST) {
                _cleanup_free_ char *path =
                        kube_path("v1", c->action.namespace, "pods", driver_plan_pod_name(&c->plan));
                c->base.call = kube_get(apache_call_context(c)->client, path, apache_call_on_existing_pod, c);
        } else {
                bool final = r == -EACCES || r == -EINVAL;
                log_warn(OPERATOR_LOG, "%s %s/%s of " APACHE_GROUP ": %s", c->kind->kind, c->action.namespace,
                         c->action.name, error_message(error));
                apache_call_end(c, final ? APACHE_RESULT_FAILED : APACHE_RESULT_RETRY, error_message(error));
        }
}

/* In a thread of the pool. */
static void apache_call_make(uv_work_t *work)
{
        struct apache_call *c = container_of(work, struct apache_call, work);
        const struct render_options *options = &operator_daemon_context(c->base.daemon)->render;
        c->made = apache_objects_make(&c->app, options, &c->plan, &c->error);
}

static void apache_call_on_made(uv_work_t *work, int status)
{
        struct apache_call *c = container_of(work, struct apache_call, work);
        struct operator_daemon *daemon = c->base.daemon;
        c->working = false;
        if (c->orphaned)
                apache_call_release(c);
        else if (c->made < 0)
                apache_call_end(c, APACHE_RESULT_FAILED, error_message(&c->error));
        else
                c->launch = driver_launch_begin(apache_call_context(c)->client, &c->plan, apache_call_on_launched, c);
        operator_daemon_thread_ended(daemon);
}

static void apache_call_apply_next(struct apache_call *c);

static void apache_call_on_applied(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct apache_call *c = owner;
        c->base.call = NULL;
        if (r != 0) {
                apache_call_fail(c, r, response->error);
                return;
        }
        c->at++;
        apache_call_apply_next(c);
}

static void apache_call_apply_next(struct apache_call *c)
{
        const json_t *object = json_array_get(c->list, c->at);
        if (!object) {
                apache_call_tell_problems(c);
                apache_call_end(c, APACHE_RESULT_OK, NULL);
                return;
        }
        _cleanup_free_ char *path = kube_object_path(object, c->action.namespace, true);
        c->base.call = kube_send(apache_call_context(c)->client,
                                 &(struct kube_request){.method = "PATCH",
                                                        .path = path,
                                                        .query = "fieldManager=firesteel-operator&force=true",
                                                        .body = object,
                                                        .content_type = "application/apply-patch+yaml"},
                                 apache_call_on_applied, c);
}

static void apache_call_begin_cluster(struct apache_call *c, const json_t *object)
{
        int r = apache_cluster_read(object, &c->cluster, &c->problems, &c->error);
        if (r == 0)
                r = apache_cluster_validate(&c->cluster, &c->error);
        if (r < 0) {
                apache_call_end(c, APACHE_RESULT_FAILED, error_message(&c->error));
                return;
        }
        c->list = apache_cluster_objects(&c->cluster);
        apache_call_apply_next(c);
}

static void apache_call_begin_application(struct apache_call *c, const json_t *object)
{
        int r = apache_application_read(object, &c->app, &c->problems, &c->error);
        if (r == 0)
                r = apache_application_validate(&c->app, &c->error);
        if (r < 0) {
                apache_call_end(c, APACHE_RESULT_FAILED, error_message(&c->error));
        } else if (c->app.attempt != c->action.attempt) {
                apache_call_end(c, APACHE_RESULT_RETRY, "the status has changed");
        } else {
                c->working = true;
                operator_daemon_thread_began(c->base.daemon);
                uv_queue_work(kube_client_loop(apache_call_context(c)->client), &c->work, apache_call_make,
                              apache_call_on_made);
        }
}

static void apache_call_on_object(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct apache_call *c = owner;
        c->base.call = NULL;
        if (r != 0)
                apache_call_fail(c, r, response->error);
        else if (!text_equals(json_text_at(response->object, "metadata.uid"), c->action.uid))
                apache_call_end(c, APACHE_RESULT_NOT_FOUND, NULL);
        else if (c->kind == &apache_clusters)
                apache_call_begin_cluster(c, response->object);
        else
                apache_call_begin_application(c, response->object);
}

/* ---------------------------------------------------------------------------------------------- deletions, status */

static void apache_call_on_deleted(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct apache_call *c = owner;
        c->base.call = NULL;
        /* A conflict: another object has the name now. */
        if (r == 0 || r == FST_KUBE_E_NOT_FOUND || r == FST_KUBE_E_CONFLICT)
                apache_call_end(c, APACHE_RESULT_OK, NULL);
        else
                apache_call_fail(c, r, response->error);
}

static void apache_call_delete(struct apache_call *c, const char *path, const char *uid)
{
        static const int64_t at_once = 0;
        c->base.call = kube_delete(apache_call_context(c)->client, path,
                                   &(struct kube_deletion){.uid = uid,
                                                           .grace_s = c->action.force ? &at_once : NULL,
                                                           .propagation = "Background"},
                                   apache_call_on_deleted, c);
}

/* Removes the finalizer, if it is still where the object was seen to have it. */
static void apache_call_let_go(struct apache_call *c, const char *path)
{
        _cleanup_free_ char *at = mem_printf("/metadata/finalizers/%d", c->action.finalizer - 1);
        json_t *patch = json_pack("[{s:s, s:s, s:s}, {s:s, s:s}]", "op", "test", "path", at, "value",
                                  c->kind->finalizer, "op", "remove", "path", at);
        c->base.call =
                kube_patch(apache_call_context(c)->client, path, KUBE_PATCH_JSON, patch, apache_call_on_deleted, c);
        json_decref(patch);
}

static void apache_call_on_status(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct apache_call *c = owner;
        c->base.call = NULL;
        if (r == FST_KUBE_E_CONFLICT)
                apache_call_end(c, APACHE_RESULT_CONFLICT, error_message(response->error));
        else if (r != 0)
                apache_call_fail(c, r, response->error);
        else
                apache_call_answer(
                        c, APACHE_RESULT_OK, NULL,
                        strtoull(json_text_or_empty(response->object, "metadata.resourceVersion"), NULL, 10));
}

static void apache_call_patch_status(struct apache_call *c, const json_t *driver)
{
        const struct apache_action *a = &c->action;
        _cleanup_free_ char *name = mem_printf("%s/status", a->name);
        _cleanup_free_ char *path = kube_path(APACHE_API, a->namespace, c->kind->resource, name);
        json_t *patch = apache_status_patch(&a->from, &a->transition, a->version, driver);
        c->base.call = kube_send(apache_call_context(c)->client,
                                 &(struct kube_request){.method = "PATCH",
                                                        .path = path,
                                                        .body = patch,
                                                        .content_type = "application/json-patch+json",
                                                        .accept = KUBE_ACCEPT_METADATA},
                                 apache_call_on_status, c);
        json_decref(patch);
}

/* Without the pod, the state is written without its status. */
static void apache_call_on_driver_status(void *owner, struct kube_call *call, int r,
                                         const struct kube_response *response)
{
        struct apache_call *c = owner;
        c->base.call = NULL;
        if (r != 0 && r != FST_KUBE_E_NOT_FOUND)
                apache_call_fail(c, r, response->error);
        else
                apache_call_patch_status(c, r == 0 ? json_object_get(response->object, "status") : NULL);
}

static void apache_call_on_driver(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct apache_call *c = owner;
        struct apache_pod pod;
        c->base.call = NULL;
        if (r != 0) {
                apache_call_fail(c, r, response->error);
                return;
        }
        if (apache_pod_read(response->object, &pod))
                apache_core_observe_pod(apache_call_context(c)->apache, &pod);
        apache_call_end(c, APACHE_RESULT_OK, NULL);
}

/* -------------------------------------------------------------------------------------------------------- actions */

static void apache_call_begin(struct operator_daemon *d, const struct apache_kind *kind, struct apache_action *action)
{
        struct apache_call *c = new0(struct apache_call);
        c->kind = kind;
        c->action = *action;
        *action = (struct apache_action){0};
        c->error = FST_ERROR_INIT;
        c->plan = DRIVER_PLAN_INIT;
        c->base.free = apache_call_free;
        operator_call_begin(&c->base, d);
        const struct apache_action *a = &c->action;
        struct kube_client *client = apache_call_context(c)->client;
        _cleanup_free_ char *pod = kube_path("v1", a->namespace, "pods", a->driver_pod);
        _cleanup_free_ char *object = kube_path(APACHE_API, a->namespace, c->kind->resource, a->name);
        switch (a->kind) {
        case APACHE_SUBMIT:
                c->base.call = kube_get(client, object, apache_call_on_object, c);
                break;
        case APACHE_RELEASE:
                apache_call_delete(c, pod, a->driver_uid);
                break;
        case APACHE_WRITE_STATUS:
                if (a->transition.wants_driver)
                        c->base.call = kube_get(client, pod, apache_call_on_driver_status, c);
                else
                        apache_call_patch_status(c, NULL);
                break;
        case APACHE_DELETE:
                apache_call_delete(c, object, a->uid);
                break;
        case APACHE_FIND_DRIVER:
                c->base.call = kube_get(client, pod, apache_call_on_driver, c);
                break;
        case APACHE_LET_GO:
                apache_call_let_go(c, object);
                break;
        case APACHE_EVENT:
        case APACHE_TRANSITION:
                break;
        }
}

/* Returns the state of the other kind that the metrics count when an application goes from @before to @to. */
static enum application_state apache_metrics_state(enum apache_state before, enum apache_state to)
{
        switch (to) {
        case APACHE_DRIVER_REQUESTED:
                return APPLICATION_SUBMITTED;
        case APACHE_DRIVER_STARTED:
                return APPLICATION_RUNNING;
        case APACHE_SCHEDULING_FAILURE:
                return APPLICATION_SUBMISSION_FAILED;
        case APACHE_RESOURCE_RELEASED:
        case APACHE_TERMINATED_WITHOUT_RELEASE:
                return before == APACHE_SUCCEEDED        ? APPLICATION_COMPLETED
                       : apache_state_is_failure(before) ? APPLICATION_FAILED
                                                         : APPLICATION_NEW;
        default:
                return APPLICATION_NEW;
        }
}

static void apache_metrics_running(void *owner, const char *labels, bool application, size_t executors)
{
        operator_metrics_add_running(owner, labels, application, executors);
}

void apache_metrics_add_running(const struct operator_context *c)
{
        if (c->apache)
                apache_core_visit_running(c->apache, apache_metrics_running, c->metrics);
}

static void apache_kind_drain(struct operator_daemon *d, const struct apache_kind *kind)
{
        struct apache_core *core = apache_kind_core(d, kind);
        for (struct apache_action action; apache_core_next_action(core, &action);) {
                if (action.kind == APACHE_EVENT)
                        apache_call_event(d, kind, &action, action.warning, action.reason, action.message);
                else if (action.kind == APACHE_TRANSITION && kind == &apache_applications)
                        operator_metrics_transition(operator_daemon_context(d)->metrics, action.labels,
                                                    apache_metrics_state(action.before, action.to),
                                                    action.since_created_ms, action.since_submitted_ms);
                else if (action.ticket)
                        apache_call_begin(d, kind, &action);
                apache_action_deinit(&action);
        }
}

void apache_actions_drain(struct operator_daemon *d)
{
        apache_kind_drain(d, &apache_applications);
        apache_kind_drain(d, &apache_clusters);
}
