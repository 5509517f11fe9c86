/*
 * One call for each action. A submission goes through these steps:
 *
 *      find the object → make its objects (in a thread of libuv's pool) → apply those that the application owns →
 *      create the pod and its objects (driver_launch) → apply UI service and ingresses
 *                                → the pod exists, and is this submission's: apply the objects that may be missing
 *
 * The first submission finds the object in waiting_objects, unless too many wait. Else the object is read again. It is
 * not kept then, so that thousands of applications need little memory. The API server may answer from its cache if that
 * is as new as the version that the core knows. If the spec is not the one that the core knows, the core learns of it
 * first.
 */
#include "operator/shell/application_actions.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/string_prefix.h"
#include "kubernetes/api/kube_names.h"
#include "kubernetes/pods/driver_builder.h"
#include "operator/core/application_reading.h"
#include "operator/render/application_objects.h"
#include "operator/render/exposed_objects.h"
#include "submit/kubernetes/driver_launch.h"
#include "text/json.h"

#include <inttypes.h>

#define APPLY_QUERY "fieldManager=firesteel-operator&force=true"

struct application_call {
        struct operator_call base;
        struct application_action action;
        struct spark_application app;
        struct application_objects objects;
        struct application_exposure exposure;
        struct field_problems problems; /* unknown and ineffective fields */
        struct render_options render;
        struct driver_launch *launch;
        uv_work_t work;
        bool working, orphaned; /* orphaned: cancelled while a thread works */
        int made;               /* the thread's result */
        struct fst_error error;

        json_t *list; /* objects to create or delete, one after another */
        size_t at;
        bool patching; /* the object exists */
        void (*applied)(struct application_call *c);
        /* A request for the list failed with the client's result. */
        void (*refused)(struct application_call *c, int r, const struct fst_error *error);
        json_t *pod; /* the driver's, as the server has it */
        char *ui_address;
        bool confirmed; /* the API server knew the operator before this try */
};

/* --------------------------------------------------------------------------------------------------- observations */

bool application_observe(struct operator_context *context, const json_t *object, const char *labels)
{
        struct application_reading reading;
        bool queue = false;
        if (application_reading_make_for(context->applications, object, &reading)) {
                struct application_observation *o = &reading.observation;
                o->labels = labels;
                queue = application_core_observe(context->applications, o);
                if (o->status.state == APPLICATION_NEW && !o->invalid && !o->leaving && !o->policy.suspend)
                        waiting_objects_keep(context->waiting, object);
                else
                        waiting_objects_drop(context->waiting, o->namespace, o->name);
        }
        application_reading_deinit(&reading);
        return queue;
}

/* ----------------------------------------------------------------------------------------------------------- calls */

static void application_call_release(struct application_call *c)
{
        driver_launch_free(c->launch);
        application_action_deinit(&c->action);
        application_objects_deinit(&c->objects);
        application_exposure_deinit(&c->exposure);
        field_problems_deinit(&c->problems);
        spark_application_deinit(&c->app);
        error_deinit(&c->error);
        json_decref(c->list);
        json_decref(c->pod);
        free(c->ui_address);
        free(c);
}

static void application_call_free(struct operator_call *base)
{
        struct application_call *c = container_of(base, struct application_call, base);
        if (c->working) {
                c->orphaned = true; /* the thread's end releases it */
                return;
        }
        application_call_release(c);
}

static struct operator_context *application_call_context(struct application_call *c)
{
        return operator_daemon_context(c->base.daemon);
}

static void application_call_answer(struct application_call *c, const struct application_answer *answer)
{
        const struct application_action *a = &c->action;
        struct operator_context *context = application_call_context(c);
        bool queue = application_core_done(context->applications, a->namespace, a->name, a->ticket, answer,
                                           time_of_day_ms());
        application_actions_drain(c->base.daemon);
        operator_call_end(&c->base, WORK_APPLICATION, a->namespace, a->name, queue,
                          answer->result == APPLICATION_RESULT_RETRY);
}

static void application_call_end(struct application_call *c, enum application_result result, const char *message)
{
        application_call_answer(c, &(struct application_answer){.result = result, .message = message});
}

static void application_call_warn(const struct application_call *c, const struct fst_error *error)
{
        log_warn(OPERATOR_LOG, "SparkApplication %s/%s: %s", c->action.namespace, c->action.name, error_message(error));
}

/* Whether the API server refuses a request, and the same request will fare no better soon. */
static bool application_request_is_refused(int r)
{
        return r == FST_KUBE_E_INVALID || r == FST_KUBE_E_FORBIDDEN || r == FST_KUBE_E_QUOTA;
}

/* Ends the call after a write or a deletion that failed with the client's @r. */
static void application_call_fail(struct application_call *c, int r, const struct fst_error *error)
{
        application_call_warn(c, error);
        application_call_end(c,
                             application_request_is_refused(r) || r == FST_KUBE_E_NOT_FOUND ? APPLICATION_RESULT_FAILED
                                                                                            : APPLICATION_RESULT_RETRY,
                             error_message(error));
}

/* Ends the call after a read that failed: nothing is known of the application. */
static void application_call_fail_read(struct application_call *c, int r, const struct fst_error *error)
{
        if (r != FST_KUBE_E_NOT_FOUND)
                application_call_warn(c, error);
        application_call_end(c, r == FST_KUBE_E_NOT_FOUND ? APPLICATION_RESULT_NOT_FOUND : APPLICATION_RESULT_RETRY,
                             error_message(error));
}

/* ----------------------------------------------------------------------------------------------------- applications */

static bool application_call_read(struct application_call *c, const json_t *object)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (strcmp(json_text_or_empty(object, "metadata.uid"), c->action.uid) != 0) {
                application_call_end(c, APPLICATION_RESULT_NOT_FOUND, NULL);
                return false;
        }
        if (spark_application_read(object, &c->app, &c->problems, &error) < 0) {
                application_call_end(c, APPLICATION_RESULT_FAILED, error_message(&error));
                return false;
        }
        return true;
}

/* Reads the application, at least as new as the core knows it, and goes on with @then. */
static void application_call_get(struct application_call *c, kube_done *then)
{
        _cleanup_free_ char *path = kube_path(OPERATOR_API, c->action.namespace, APPLICATIONS_RESOURCE, c->action.name);
        _cleanup_free_ char *query =
                c->action.version ? mem_printf("resourceVersion=%" PRIu64, c->action.version) : NULL;
        c->base.call = kube_send(application_call_context(c)->client,
                                 &(struct kube_request){.path = path, .query = query}, then, c);
}

static void application_call_send(struct application_call *c);

/* The API server knows the operator by now: tries again. */
static void application_call_on_confirmed(void *owner, struct kube_call *call, int r,
                                          const struct kube_response *response)
{
        struct application_call *c = owner;
        c->base.call = NULL;
        if (r != 0) {
                application_call_fail_read(c, r, response->error);
                return;
        }
        c->confirmed = true;
        driver_launch_free(steal(c->launch));
        application_call_send(c);
}

/*
 * A submission is forbidden. An API server that has just started forbids everything until it has read the operator's
 * rights, so a refusal counts only if the application could be read before.
 */
static void application_call_confirm_refusal(struct application_call *c, const struct fst_error *error)
{
        if (c->confirmed)
                application_call_end(c, APPLICATION_RESULT_FAILED, error_message(error));
        else
                application_call_get(c, application_call_on_confirmed);
}

static void application_call_fail_submission(struct application_call *c, int r, const struct fst_error *error)
{
        const json_t *object = json_array_get(c->list, c->at);
        if (r == FST_KUBE_E_FORBIDDEN) {
                application_call_confirm_refusal(c, error);
        } else if (r == FST_KUBE_E_NOT_FOUND && strcmp(json_text_or_empty(object, "kind"), "PodGroup") == 0) {
                error_set(&c->error, r,
                          "the API server does not know PodGroup of %s: install the batch scheduler and its "
                          "definitions, or remove spec.batchScheduler",
                          json_text_or_empty(object, "apiVersion"));
                application_call_fail(c, r, &c->error);
        } else {
                application_call_fail(c, r, error);
        }
}

/* ------------------------------------------------------------------------------------------------- applying objects */

static void application_call_apply_next(struct application_call *c);

static void application_call_on_applied(void *owner, struct kube_call *call, int r,
                                        const struct kube_response *response)
{
        struct application_call *c = owner;
        const json_t *object = json_array_get(c->list, c->at);
        c->base.call = NULL;
        if (r == FST_KUBE_E_ALREADY_EXISTS && !c->patching) {
                c->patching = true;
                application_call_apply_next(c);
                return;
        }
        c->patching = false;
        if (r != 0) {
                c->refused(c, r, response->error);
                return;
        }
        if (strcmp(json_text_or_empty(object, "kind"), "Service") == 0 &&
            text_equals(json_text_at(object, "metadata.name"), c->exposure.ui_service)) {
                const char *ip = json_text_at(response->object, "spec.clusterIP");
                if (ip && *ip && !c->ui_address)
                        c->ui_address = mem_printf(strchr(ip, ':') ? "[%s]:%d" : "%s:%d", ip, (int)c->exposure.ui_port);
        }
        c->at++;
        application_call_apply_next(c);
}

static void application_call_apply_next(struct application_call *c)
{
        const json_t *object = json_array_get(c->list, c->at);
        if (!object) {
                c->applied(c);
                return;
        }
        if (!c->patching) {
                c->base.call = kube_create(application_call_context(c)->client, c->action.namespace, object,
                                           application_call_on_applied, c);
                return;
        }
        _cleanup_free_ char *path = kube_object_path(object, c->action.namespace, true);
        c->base.call = kube_send(application_call_context(c)->client,
                                 &(struct kube_request){.method = "PATCH",
                                                        .path = path,
                                                        .query = APPLY_QUERY,
                                                        .body = object,
                                                        .content_type = "application/apply-patch+yaml"},
                                 application_call_on_applied, c);
}

/*
 * Creates the objects of @list, which it steals, or changes those that exist by server-side apply, which costs the API
 * server more. Goes on with @applied, or with @refused after a failure.
 */
static void application_call_apply(struct application_call *c, json_t *list,
                                   void (*applied)(struct application_call *c),
                                   void (*refused)(struct application_call *c, int r, const struct fst_error *error))
{
        json_decref(c->list);
        c->refused = refused;
        c->list = list;
        c->at = 0;
        c->applied = applied;
        application_call_apply_next(c);
}

/* ------------------------------------------------------------------------------------------------------ submission */

/* Tells the user of fields that do nothing, once for each submission. */
static void application_call_tell_problems(struct application_call *c)
{
        const struct field_problems *const both[] = {&c->problems, &c->objects.warnings};
        const struct application_action *a = &c->action;
        const struct event_object object = {"SparkApplication", a->namespace, a->name, a->uid};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        for (size_t k = 0; k < ARRAY_SIZE(both); k++)
                for (size_t i = 0; i < both[k]->list.len; i++)
                        buf_printf(&text, "%s%s", text.len > 0 ? "; " : "", both[k]->list.data[i].message);
        if (text.len > 0)
                kube_event_recorder_record(application_call_context(c)->events, &object, "Warning",
                                           "SparkApplicationFieldsWithoutEffect", buf_text(&text));
}

/* Answers for a submission whose pod exists, and for its exposure. */
static void application_call_answer_exposed(struct application_call *c, bool exposed, const char *why)
{
        const struct application_exposure *e = &c->exposure;
        const json_t *labels = json_at(c->pod, "metadata.labels");
        application_call_answer(c, &(struct application_answer){.result = APPLICATION_RESULT_OK,
                                                                .pod_uid = json_text_at(c->pod, "metadata.uid"),
                                                                .application_id = json_string_value(
                                                                        json_object_get(labels, KUBE_LABEL_APP_ID)),
                                                                .exposed = exposed,
                                                                .expose_error = why,
                                                                .ui_service = e->ui_service,
                                                                .ui_address = c->ui_address,
                                                                .ui_ingress = e->ui_ingress,
                                                                .ui_ingress_address = e->ui_ingress_address,
                                                                .ui_port = e->ui_port});
}

static void application_call_exposed(struct application_call *c)
{
        application_call_answer_exposed(c, true, NULL);
}

/* The driver runs all the same. Without a clear refusal, the core exposes it later. */
static void application_call_not_exposed(struct application_call *c, int r, const struct fst_error *error)
{
        bool refused = application_request_is_refused(r) || r == FST_KUBE_E_NOT_FOUND;
        application_call_warn(c, error);
        application_call_answer_exposed(c, refused, refused ? error_message(error) : NULL);
}

static void application_call_submitted(struct application_call *c)
{
        application_call_tell_problems(c);
        int r = application_exposure_make(&c->app, &c->render, c->objects.plan.k.names.app_id, &c->exposure, &c->error);
        if (r < 0)
                application_call_answer_exposed(c, true, error_message(&c->error));
        else
                application_call_apply(c, json_incref(c->exposure.objects), application_call_exposed,
                                       application_call_not_exposed);
}

/* The pod of that name exists. If it is this submission's, completes the submission. */
static void application_call_on_existing_pod(void *owner, struct kube_call *call, int r,
                                             const struct kube_response *response)
{
        struct application_call *c = owner;
        json_t *pod = response->object, *rest, *object;
        size_t i;
        c->base.call = NULL;
        if (r != 0) {
                application_call_end(c, APPLICATION_RESULT_RETRY, error_message(response->error));
                return;
        }
        const char *id = json_string_value(json_object_get(json_at(pod, "metadata.labels"), LABEL_SUBMISSION_ID));
        if (!text_equals(id, c->action.submission_id) ||
            !json_find(json_at(pod, "metadata.ownerReferences"), "uid", c->action.uid)) {
                application_call_end(c, APPLICATION_RESULT_CONFLICT, "driver pod already exist");
                return;
        }
        if (json_at(pod, "metadata.deletionTimestamp")) {
                application_call_end(c, APPLICATION_RESULT_RETRY, "the driver's pod is being deleted");
                return;
        }
        c->pod = json_incref(pod);
        rest = json_array();
        json_array_foreach(c->objects.plan.objects, i, object) {
                if (i == c->objects.plan.pod_at)
                        continue;
                kube_set_owner(object, pod);
                json_array_append(rest, object);
        }
        application_call_apply(c, rest, application_call_submitted, application_call_fail_submission);
}

static void application_call_on_launched(void *owner, int r, const struct fst_error *error)
{
        struct application_call *c = owner;
        if (r == 0) {
                c->pod = json_incref(driver_launch_pod(c->launch));
                application_call_submitted(c);
        } else if (r == -EEXIST) {
                _cleanup_free_ char *path =
                        kube_path("v1", c->action.namespace, "pods", driver_plan_pod_name(&c->objects.plan));
                c->base.call = kube_get(application_call_context(c)->client, path, application_call_on_existing_pod, c);
        } else if (r == -EACCES) {
                application_call_confirm_refusal(c, error);
        } else {
                bool final = r == -EINVAL;
                if (!final)
                        log_warn(OPERATOR_LOG, "SparkApplication %s/%s: %s", c->action.namespace, c->action.name,
                                 error_message(error));
                application_call_end(c, final ? APPLICATION_RESULT_FAILED : APPLICATION_RESULT_RETRY,
                                     error_message(error));
        }
}

static void application_call_launch(struct application_call *c)
{
        c->launch = driver_launch_begin(application_call_context(c)->client, &c->objects.plan,
                                        application_call_on_launched, c);
}

static void application_call_send(struct application_call *c)
{
        application_call_apply(c, json_incref(c->objects.before), application_call_launch,
                               application_call_fail_submission);
}

/* In a thread of the pool. */
static void application_call_make(uv_work_t *work)
{
        struct application_call *c = container_of(work, struct application_call, work);
        c->made = application_objects_make(&c->app, &c->render, &c->objects, &c->error);
}

static void application_call_on_made(uv_work_t *work, int status)
{
        struct application_call *c = container_of(work, struct application_call, work);
        c->working = false;
        if (c->orphaned) {
                struct operator_daemon *daemon = c->base.daemon;
                application_call_release(c);
                operator_daemon_thread_ended(daemon);
                return;
        }
        operator_daemon_thread_ended(c->base.daemon);
        if (c->made < 0)
                application_call_end(c, APPLICATION_RESULT_FAILED, error_message(&c->error));
        else
                application_call_send(c);
}

/* Begins the submission of @object. */
static void application_call_submit(struct application_call *c, const json_t *object)
{
        if (!application_call_read(c, object))
                return;
        if (c->app.spec_hash != c->action.spec_hash) {
                application_call_end(c, APPLICATION_RESULT_RETRY, "the spec has changed");
                return;
        }
        c->working = true;
        operator_daemon_thread_began(c->base.daemon);
        uv_queue_work(kube_client_loop(application_call_context(c)->client), &c->work, application_call_make,
                      application_call_on_made);
}

static void application_call_on_object(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct application_call *c = owner;
        c->base.call = NULL;
        if (r != 0)
                application_call_fail_read(c, r, response->error);
        else
                application_call_submit(c, response->object);
}

static void application_call_find_object(struct application_call *c)
{
        const struct application_action *a = &c->action;
        json_t *object =
                waiting_objects_take(application_call_context(c)->waiting, a->namespace, a->name, a->uid, a->version);
        if (object)
                application_call_submit(c, object);
        else
                application_call_get(c, application_call_on_object);
        json_decref(object);
}

/* ---------------------------------------------------------------------------------------------- exposing, deleting */

static void application_call_on_object_to_expose(void *owner, struct kube_call *call, int r,
                                                 const struct kube_response *response)
{
        struct application_call *c = owner;
        c->base.call = NULL;
        if (r != 0) {
                application_call_fail_read(c, r, response->error);
        } else if (application_call_read(c, response->object)) {
                const char *id = json_text_at(response->object, "status.sparkApplicationId");
                r = application_exposure_make(&c->app, &c->render, id, &c->exposure, &c->error);
                if (r < 0)
                        application_call_end(c, APPLICATION_RESULT_FAILED, error_message(&c->error));
                else
                        application_call_apply(c, json_incref(c->exposure.objects), application_call_exposed,
                                               application_call_fail);
        }
}

static void application_call_delete_next(struct application_call *c);

static void application_call_on_deleted(void *owner, struct kube_call *call, int r,
                                        const struct kube_response *response)
{
        struct application_call *c = owner;
        c->base.call = NULL;
        /* A conflict: another object has the name now. */
        if (r != 0 && r != FST_KUBE_E_NOT_FOUND && r != FST_KUBE_E_CONFLICT) {
                application_call_fail(c, r, response->error);
                return;
        }
        c->at++;
        application_call_delete_next(c);
}

static void application_call_delete_next(struct application_call *c)
{
        const json_t *object = json_array_get(c->list, c->at);
        if (!object) {
                application_call_end(c, APPLICATION_RESULT_OK, NULL);
                return;
        }
        _cleanup_free_ char *path = kube_object_path(object, c->action.namespace, true);
        c->base.call = kube_delete(
                application_call_context(c)->client, path,
                &(struct kube_deletion){.uid = json_text_at(object, "metadata.uid"), .propagation = "Background"},
                application_call_on_deleted, c);
}

static void application_call_add_deletion(struct application_call *c, const char *api, const char *kind,
                                          const char *name, const char *uid)
{
        json_t *object = json_pack("{s:s, s:s, s:{s:s}}", "apiVersion", api, "kind", kind, "metadata", "name", name);
        if (uid)
                json_object_set_new(json_object_get(object, "metadata"), "uid", json_string(uid));
        json_array_append_new(c->list, object);
}

static void application_call_delete_resources(struct application_call *c)
{
        const struct application_action *a = &c->action;
        const struct operator_context *context = application_call_context(c);
        _cleanup_free_ char *service = ui_service_name(a->name), *ingress = ui_ingress_name(a->name);
        c->list = json_array();
        if (a->pod_name)
                application_call_add_deletion(c, "v1", "Pod", a->pod_name, a->pod_uid);
        if (context->render.ui_service)
                application_call_add_deletion(c, "v1", "Service", service, NULL);
        if (context->render.ingress_url_format)
                application_call_add_deletion(c, "networking.k8s.io/v1", "Ingress", ingress, NULL);
        application_call_delete_next(c);
}

static void application_call_on_object_to_clean(void *owner, struct kube_call *call, int r,
                                                const struct kube_response *response)
{
        struct application_call *c = owner;
        c->base.call = NULL;
        if (r != 0) {
                application_call_fail_read(c, r, response->error);
        } else if (application_call_read(c, response->object)) {
                c->list = application_leftovers(&c->app, &c->render);
                application_call_delete_next(c);
        }
}

/* --------------------------------------------------------------------------------------------------- status, object */

static void application_call_on_status(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct application_call *c = owner;
        c->base.call = NULL;
        if (r == FST_KUBE_E_NOT_FOUND || r == FST_KUBE_E_CONFLICT) {
                application_call_end(c, APPLICATION_RESULT_CONFLICT, error_message(response->error));
                return;
        }
        if (r != 0) {
                application_call_fail(c, r, response->error);
                return;
        }
        uint64_t version = strtoull(json_text_or_empty(response->object, "metadata.resourceVersion"), NULL, 10);
        application_call_answer(c, &(struct application_answer){.result = APPLICATION_RESULT_OK, .version = version});
}

static void application_call_write_status(struct application_call *c)
{
        const struct application_action *a = &c->action;
        _cleanup_free_ char *name = mem_printf("%s/status", a->name);
        _cleanup_free_ char *path = kube_path(OPERATOR_API, a->namespace, APPLICATIONS_RESOURCE, name);
        json_t *patch = status_patch(a->version, application_status_json(&a->status, a->generation));
        c->base.call = kube_send(application_call_context(c)->client,
                                 &(struct kube_request){.method = "PATCH",
                                                        .path = path,
                                                        .body = patch,
                                                        .content_type = "application/json-patch+json",
                                                        .accept = KUBE_ACCEPT_METADATA},
                                 application_call_on_status, c);
        json_decref(patch);
}

static void application_call_on_driver(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct application_call *c = owner;
        struct pod_observation pod;
        c->base.call = NULL;
        if (r != 0) {
                application_call_fail_read(c, r, response->error);
                return;
        }
        if (pod_observation_read(response->object, &pod))
                application_core_observe_pod(application_call_context(c)->applications, &pod);
        application_call_end(c, APPLICATION_RESULT_OK, NULL);
}

static void application_call_find_driver(struct application_call *c)
{
        _cleanup_free_ char *path = kube_path("v1", c->action.namespace, "pods", c->action.pod_name);
        c->base.call = kube_get(application_call_context(c)->client, path, application_call_on_driver, c);
}

static void application_call_begin(struct operator_daemon *d, struct application_action *action)
{
        struct application_call *c = new0(struct application_call);
        c->action = *action;
        *action = (struct application_action){0};
        c->error = FST_ERROR_INIT;
        c->objects.plan = DRIVER_PLAN_INIT;
        c->base.free = application_call_free;
        operator_call_begin(&c->base, d);
        c->render = application_call_context(c)->render;
        c->render.submission_id = c->action.submission_id;
        switch (c->action.kind) {
        case APPLICATION_SUBMIT:
        case APPLICATION_FINISH_SUBMIT:
                application_call_find_object(c);
                break;
        case APPLICATION_DELETE_RESOURCES:
                application_call_delete_resources(c);
                break;
        case APPLICATION_EXPOSE:
                application_call_get(c, application_call_on_object_to_expose);
                break;
        case APPLICATION_WRITE_STATUS:
                application_call_write_status(c);
                break;
        case APPLICATION_DELETE:
                c->list = json_array();
                application_call_add_deletion(c, OPERATOR_API, "SparkApplication", c->action.name, c->action.uid);
                application_call_delete_next(c);
                break;
        case APPLICATION_CLEAN_UP:
                application_call_get(c, application_call_on_object_to_clean);
                break;
        case APPLICATION_FIND_DRIVER:
                application_call_find_driver(c);
                break;
        case APPLICATION_EVENT:
        case APPLICATION_TRANSITION:
        case APPLICATION_EXECUTOR_ENDED:
                break;
        }
}

static void application_action_perform(struct operator_daemon *d, struct application_action *action)
{
        struct operator_context *context = operator_daemon_context(d);
        if (action->kind == APPLICATION_EVENT)
                kube_event_recorder_record(
                        context->events,
                        &(struct event_object){"SparkApplication", action->namespace, action->name, action->uid},
                        action->event_type, action->event_reason, action->message);
        else if (action->kind == APPLICATION_TRANSITION)
                operator_metrics_transition(context->metrics, action->labels, action->to, action->since_created_ms,
                                            action->since_submitted_ms);
        else if (action->kind == APPLICATION_EXECUTOR_ENDED)
                operator_metrics_executor_ended(context->metrics, action->labels, action->succeeded);
        else
                application_call_begin(d, action);
        application_action_deinit(action);
}

void application_actions_drain(struct operator_daemon *d)
{
        struct application_core *core = operator_daemon_context(d)->applications;
        for (struct application_action action; application_core_next_action(core, &action);)
                application_action_perform(d, &action);
}
