/* Performs the actions of schedules through the API server: creates and deletes runs, writes the status. */
#include "operator/shell/daemon_internal.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "operator/resources/spark_application.h"
#include "text/json.h"

#include <inttypes.h>

struct schedule_call {
        struct operator_call base;
        struct schedule_action action;
        json_t *run; /* to create */
};

json_t *status_patch(uint64_t version, json_t *status)
{
        char text[24];
        snprintf(text, sizeof(text), "%" PRIu64, version);
        return json_pack("[{s:s, s:s, s:s}, {s:s, s:s, s:o}]", "op", "replace", "path", "/metadata/resourceVersion",
                         "value", text, "op", "add", "path", "/status", "value", status);
}

static void schedule_call_free(struct operator_call *base)
{
        struct schedule_call *c = container_of(base, struct schedule_call, base);
        schedule_action_deinit(&c->action);
        json_decref(c->run);
        free(c);
}

static void schedule_call_end(struct schedule_call *c, enum schedule_result result, const char *message,
                              uint64_t version)
{
        const struct schedule_action *a = &c->action;
        struct operator_context *context = operator_daemon_context(c->base.daemon);
        bool queue = schedule_core_done(context->schedules, a->namespace, a->name, a->ticket, result, message, version,
                                        time_of_day_ms());
        operator_call_end(&c->base, WORK_SCHEDULE, a->namespace, a->name, queue, result == SCHEDULE_RESULT_RETRY);
}

/* Ends the call after a request that failed with @r. */
static void schedule_call_fail(struct schedule_call *c, int r, const struct kube_response *response)
{
        bool refused = c->action.kind == SCHEDULE_CREATE_RUN && r == FST_KUBE_E_INVALID;
        if (r != FST_KUBE_E_CONFLICT && r != FST_KUBE_E_NOT_FOUND)
                log_warn(OPERATOR_LOG, "ScheduledSparkApplication %s/%s: %s", c->action.namespace, c->action.name,
                         error_message(response->error));
        schedule_call_end(c, refused ? SCHEDULE_RESULT_REFUSED : SCHEDULE_RESULT_RETRY, error_message(response->error),
                          0);
}

/* --------------------------------------------------------------------------------------------------- a run's begin */

/* The run that has the name: of this schedule, or of an earlier one that is being deleted. */
static void schedule_call_on_existing(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct schedule_call *c = owner;
        c->base.call = NULL;
        const json_t *owners = json_at(response->object, "metadata.ownerReferences");
        if (r != 0)
                schedule_call_fail(c, r, response);
        else if (json_find(owners, "uid", c->action.uid))
                schedule_call_end(c, SCHEDULE_RESULT_OK, NULL, 0);
        else
                schedule_call_end(c, SCHEDULE_RESULT_RETRY, "another object has its name", 0);
}

static void schedule_call_on_created(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct schedule_call *c = owner;
        const struct schedule_action *a = &c->action;
        c->base.call = NULL;
        if (r == FST_KUBE_E_ALREADY_EXISTS) {
                _cleanup_free_ char *path = kube_path(OPERATOR_API, a->namespace, APPLICATIONS_RESOURCE, a->run);
                c->base.call =
                        kube_get(operator_daemon_context(c->base.daemon)->client, path, schedule_call_on_existing, c);
        } else if (r != 0) {
                schedule_call_fail(c, r, response);
        } else {
                log_info(OPERATOR_LOG, "ScheduledSparkApplication %s/%s: created the run %s", a->namespace, a->name,
                         a->run);
                schedule_call_end(c, SCHEDULE_RESULT_OK, NULL, 0);
        }
}

/* Returns the SparkApplication of a run. The caller owns it. */
static json_t *schedule_make_run(const json_t *schedule, const struct schedule_action *a)
{
        const json_t *metadata = json_object_get(schedule, "metadata");
        json_t *labels = json_object_get(metadata, "labels"), *spec = json_at(schedule, "spec.template");
        const char *api = json_text_at(schedule, "apiVersion");
        api = api ? api : OPERATOR_API;
        labels = labels ? json_copy(labels) : json_object();
        json_object_set_new(labels, LABEL_SCHEDULED_APP_NAME, json_string(a->name));
        json_t *owner = json_pack("{s:s, s:s, s:s, s:s, s:b}", "apiVersion", api, "kind", "ScheduledSparkApplication",
                                  "name", a->name, "uid", a->uid, "blockOwnerDeletion", true);
        return json_pack("{s:s, s:s, s:{s:s, s:s, s:o, s:[o]}, s:o}", "apiVersion", api, "kind", "SparkApplication",
                         "metadata", "name", a->run, "namespace", a->namespace, "labels", labels, "ownerReferences",
                         owner, "spec", spec ? json_incref(spec) : json_object());
}

static void schedule_call_on_schedule(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct schedule_call *c = owner;
        const struct schedule_action *a = &c->action;
        c->base.call = NULL;
        if (r != 0) {
                schedule_call_fail(c, r, response);
        } else if (strcmp(json_text_or_empty(response->object, "metadata.uid"), a->uid) != 0) {
                schedule_call_end(c, SCHEDULE_RESULT_RETRY, "the schedule was replaced", 0);
        } else {
                c->run = schedule_make_run(response->object, a);
                c->base.call = kube_create(operator_daemon_context(c->base.daemon)->client, a->namespace, c->run,
                                           schedule_call_on_created, c);
        }
}

/* ----------------------------------------------------------------------------------------------------- the others */

static void schedule_call_on_deleted(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct schedule_call *c = owner;
        c->base.call = NULL;
        if (r != 0 && r != FST_KUBE_E_NOT_FOUND && r != FST_KUBE_E_CONFLICT) { /* conflict: another uid */
                schedule_call_fail(c, r, response);
                return;
        }
        log_info(OPERATOR_LOG, "ScheduledSparkApplication %s/%s: deleted the run %s", c->action.namespace,
                 c->action.name, c->action.run);
        schedule_call_end(c, SCHEDULE_RESULT_OK, NULL, 0);
}

static void schedule_call_on_status(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct schedule_call *c = owner;
        c->base.call = NULL;
        if (r != 0)
                schedule_call_fail(c, r, response);
        else
                schedule_call_end(c, SCHEDULE_RESULT_OK, NULL,
                                  strtoull(json_text_or_empty(response->object, "metadata.resourceVersion"), NULL, 10));
}

void schedule_action_perform(struct operator_daemon *d, struct schedule_action *action)
{
        struct kube_client *client = operator_daemon_context(d)->client;
        struct schedule_call *c = new0(struct schedule_call);
        struct schedule_action *a = &c->action;
        *a = *action;
        *action = (struct schedule_action){0};
        c->base.free = schedule_call_free;
        operator_call_begin(&c->base, d);
        _cleanup_free_ char *status_name = mem_printf("%s/status", a->name);
        _cleanup_free_ char *schedule = kube_path(OPERATOR_API, a->namespace, SCHEDULES_RESOURCE,
                                                  a->kind == SCHEDULE_WRITE_STATUS ? status_name : a->name);
        _cleanup_free_ char *run = kube_path(OPERATOR_API, a->namespace, APPLICATIONS_RESOURCE, a->run);
        switch (a->kind) {
        case SCHEDULE_CREATE_RUN: /* from the template of this moment */
                c->base.call = kube_get(client, schedule, schedule_call_on_schedule, c);
                break;
        case SCHEDULE_DELETE_RUN:
                c->base.call = kube_delete(client, run,
                                           &(struct kube_deletion){.uid = a->run_uid, .propagation = "Background"},
                                           schedule_call_on_deleted, c);
                break;
        case SCHEDULE_WRITE_STATUS:;
                json_t *patch = status_patch(a->version, schedule_status_json(&a->status));
                c->base.call = kube_patch(client, schedule, KUBE_PATCH_JSON, patch, schedule_call_on_status, c);
                json_decref(patch);
                break;
        }
}
