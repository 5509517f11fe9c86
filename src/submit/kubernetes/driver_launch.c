/*
 * See driver_launch.h. A launch passes through its steps in order. A step starts when no request of the previous one is
 * pending:
 *
 *      BEFORE → POD → REST → OVER
 *         ↘      ↓     ↙
 *           TAKE_BACK → OVER
 *
 * An object with a generated name is created. Sending it twice has the effect of sending it once, because the client
 * checks who owns an existing object. An object that the user named is applied, as Spark does: it may exist already,
 * and it then stays after a failure. The pod is always created: no pod of its name may exist.
 */
#include "submit/kubernetes/driver_launch.h"

#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "kubernetes/pods/driver_builder.h"
#include "submit/kubernetes/driver_plan.h"
#include "kubernetes/api/kube_client.h"
#include "kubernetes/api/kube_names.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

#define COMPONENT "Client"
#define FIELD_MANAGER "fieldManager=firesteel&force=true"
#define STOP_MS 2000

#define CHECK_POD "Please check \"kubectl auth can-i create pod\" first. It should be yes."
#define CHECK_RESOURCE                                                                                                 \
        "Please check \"kubectl auth can-i create [resource]\" first. It should be yes. And please also check your "   \
        "feature step implementation."

enum launch_step { STEP_BEFORE, STEP_POD, STEP_REST, STEP_TAKE_BACK, STEP_OVER };

/* A pending request. */
struct sending {
        struct driver_launch *launch;
        struct sending *prev, *next;
        struct kube_call *call;
        json_t *object;
};

struct driver_launch {
        struct kube_client *client;
        struct driver_plan *plan;
        driver_launch_done *done;
        void *owner;
        enum launch_step step;
        bool stopped, expired;
        bool resumed;     /* objects may exist from the interrupted launch */
        uv_timer_t limit; /* set when the launch was stopped */
        uint64_t answers; /* the client's count when it began */
        struct sending *first, *last;
        json_t *pod;
        json_t *created; /* objects to delete, with their uids if known */
        int result;      /* the first failure, with its message */
        struct fst_error error;
};

static void driver_launch_next_step(struct driver_launch *l);

/* ---------------------------------------------------------------------------------------------------------- sending */

static struct sending *driver_launch_new_sending(struct driver_launch *l, json_t *object)
{
        struct sending *s = new0(struct sending);
        s->launch = l;
        s->object = json_incref(object);
        list_prepend(l, s);
        return s;
}

static void driver_launch_free_sending(struct sending *s)
{
        list_remove(s->launch, s);
        json_decref(s->object);
        free(s);
}

/* Ends the call. After the last one the launch continues. */
static void driver_launch_end_sending(struct sending *s)
{
        struct driver_launch *l = s->launch;
        driver_launch_free_sending(s);
        if (!l->first)
                driver_launch_next_step(l);
}

/* Whether the name is generated, so only this submission can have created the object. */
static bool driver_launch_has_generated_name(const struct driver_launch *l, const json_t *object)
{
        const struct fresh_names *names = &l->plan->k.names;
        return strstr(json_text_or_empty(object, "metadata.name"), names->unique) ||
               strstr(json_text_or_empty(object, "metadata.name"), names->app_id);
}

/* @answer is the object as the server has it, or NULL if the creation is unconfirmed. */
static void driver_launch_add_created(struct driver_launch *l, const json_t *object, const json_t *answer)
{
        json_t *copy = json_pack("{s:O, s:O, s:{s:O}}", "apiVersion", json_object_get(object, "apiVersion"), "kind",
                                 json_object_get(object, "kind"), "metadata", "name", json_at(object, "metadata.name"));
        static const char *const kept[] = {"namespace", "uid"};
        for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
                json_t *value = json_object_get(json_object_get(answer, "metadata"), kept[i]);
                if (value)
                        json_object_set(json_object_get(copy, "metadata"), kept[i], value);
        }
        json_array_append_new(l->created, copy);
}

static void driver_launch_fail(struct driver_launch *l, const json_t *object, int r, const struct fst_error *error)
{
        if (r == 0 || l->result != 0)
                return;
        l->result = r;
        error_set(&l->error, r, "%s %s: %s", json_text_or_empty(object, "kind"),
                  json_text_or_empty(object, "metadata.name"), error_message(error));
}

static void driver_launch_on_sent(void *owner, struct kube_call *call, int r, const struct kube_response *answer)
{
        struct sending *s = owner;
        struct driver_launch *l = s->launch;
        _cleanup_(error_deinit) struct fst_error none = FST_ERROR_INIT;
        const struct fst_error *error = answer->error;
        bool pod = l->step == STEP_POD, anew = driver_launch_has_generated_name(l, s->object);
        if (r == FST_KUBE_E_ALREADY_EXISTS && !pod && anew && (answer->maybe_done || l->resumed))
                r = 0; /* created by an attempt whose reply was lost, and changed since, or by an interrupted launch */
        if (r == 0 && pod && !answer->object)
                r = error_set(&none, -EPROTO, "the API server returned no uid for the created object"), error = &none;
        if (r == 0 && pod)
                l->pod = json_incref(answer->object);
        if (r == 0 ? pod || answer->status == 201 || (answer->attempts > 1 && anew)
                   : answer->maybe_done || error == &none)
                driver_launch_add_created(l, s->object, r == 0 ? answer->object : NULL);
        driver_launch_fail(l, s->object, r, error);
        driver_launch_end_sending(s);
}

static void driver_launch_apply(struct driver_launch *l, json_t *object)
{
        struct sending *s = driver_launch_new_sending(l, object);
        _cleanup_free_ char *path = kube_object_path(object, l->plan->namespace, true);
        s->call = kube_send(l->client,
                            &(struct kube_request){.method = "PATCH",
                                                   .path = path,
                                                   .query = FIELD_MANAGER,
                                                   .body = object,
                                                   .content_type = "application/apply-patch+yaml"},
                            driver_launch_on_sent, s);
        kube_bear_conflicts(s->call);
}

static void driver_launch_create(struct driver_launch *l, json_t *object)
{
        struct sending *s = driver_launch_new_sending(l, object);
        s->call = kube_create(l->client, l->plan->namespace, object, driver_launch_on_sent, s);
        kube_bear_conflicts(s->call);
}

static void driver_launch_limit_attempts(struct driver_launch *l)
{
        for (struct sending *s = l->first; s && l->stopped; s = s->next)
                kube_limit_attempts(s->call, 1);
}

/* --------------------------------------------------------------------------------------------------------- deleting */

static void driver_launch_warn_left_behind(const struct driver_launch *l, const json_t *object, const char *why)
{
        log_warn(COMPONENT, "%s %s may be left behind in namespace %s: %s", json_text_or_empty(object, "kind"),
                 json_text_or_empty(object, "metadata.name"), l->plan->namespace, why);
}

static void driver_launch_on_deleted(void *owner, struct kube_call *call, int r, const struct kube_response *answer)
{
        struct sending *s = owner;
        if (r != 0 && r != FST_KUBE_E_NOT_FOUND && r != FST_KUBE_E_CONFLICT)
                driver_launch_warn_left_behind(s->launch, s->object, error_message(answer->error));
        driver_launch_end_sending(s);
}

static void driver_launch_delete(struct driver_launch *l, json_t *object)
{
        const char *uid = json_text_at(object, "metadata.uid");
        struct sending *s = driver_launch_new_sending(l, object);
        _cleanup_free_ char *path = kube_object_path(object, l->plan->namespace, true);
        s->call = kube_delete(l->client, path, &(struct kube_deletion){.uid = uid, .propagation = "Background"},
                              driver_launch_on_deleted, s);
        kube_bear_conflicts(s->call);
}

/* The name is the user's, and so may be the object. */
static void driver_launch_on_looked(void *owner, struct kube_call *call, int r, const struct kube_response *answer)
{
        struct sending *s = owner;
        struct driver_launch *l = s->launch;
        json_t *metadata = json_object_get(answer->object, "metadata");
        const char *app = json_string_value(json_object_get(json_object_get(metadata, "labels"), KUBE_LABEL_APP_ID));
        if (r == 0 && app && strcmp(app, l->plan->k.names.app_id) == 0) {
                json_object_set(json_object_get(s->object, "metadata"), "uid", json_object_get(metadata, "uid"));
                driver_launch_delete(l, s->object);
                driver_launch_limit_attempts(l);
        } else if (r == 0 && !app) {
                driver_launch_warn_left_behind(l, s->object, "it has no application label");
        } else if (r != 0 && r != FST_KUBE_E_NOT_FOUND) {
                driver_launch_warn_left_behind(l, s->object, error_message(answer->error));
        }
        driver_launch_end_sending(s);
}

static void driver_launch_take_back(struct driver_launch *l)
{
        json_t *object;
        size_t i;
        l->step = STEP_TAKE_BACK;
        json_array_foreach(l->created, i, object) {
                if (l->expired) {
                        driver_launch_warn_left_behind(l, object, "the API server did not answer in time");
                } else if (json_at(object, "metadata.uid") || driver_launch_has_generated_name(l, object)) {
                        driver_launch_delete(l, object);
                } else {
                        struct sending *s = driver_launch_new_sending(l, object);
                        _cleanup_free_ char *path = kube_object_path(object, l->plan->namespace, true);
                        s->call = kube_get(l->client, path, driver_launch_on_looked, s);
                }
        }
        driver_launch_limit_attempts(l);
        json_decref(steal(l->pod));
        if (!l->first)
                driver_launch_next_step(l);
}

/* ------------------------------------------------------------------------------------------------------------ steps */

/* Stores the first failure as a negative errno, with the failed action. */
static void driver_launch_explain(struct driver_launch *l)
{
        int r = l->result;
        const json_t *pod = driver_plan_pod(l->plan);
        int code = r == FST_KUBE_E_FORBIDDEN || r == FST_KUBE_E_UNAUTHORIZED || r == FST_KUBE_E_QUOTA ? -EACCES
                   : r == FST_KUBE_E_ALREADY_EXISTS && l->step == STEP_POD                            ? -EEXIST
                   : r == FST_KUBE_E_INVALID || r == FST_KUBE_E_ALREADY_EXISTS                        ? -EINVAL
                   : r > 0                                                                            ? -EIO
                                                                                                      : r;
        if (l->step == STEP_POD && r == FST_KUBE_E_ALREADY_EXISTS) {
                error_deinit(&l->error);
                error_set(&l->error, code,
                          "pod %s already exists in namespace %s: run kubectl delete pod %s --namespace=%s, or set "
                          "another spark.kubernetes.driver.pod.name (code=409)", /* kubeflow's operator looks for the
                                                                                    code */
                          json_text_or_empty(pod, "metadata.name"), l->plan->namespace,
                          json_text_or_empty(pod, "metadata.name"), l->plan->namespace);
        } else {
                if (!l->stopped && l->step != STEP_REST)
                        log_error(COMPONENT, l->step == STEP_POD ? CHECK_POD : CHECK_RESOURCE);
                error_wrap(&l->error, code, "%s cannot be created",
                           l->step == STEP_POD ? "the driver's pod" : "an object that the driver's pod needs");
        }
        l->result = code;
}

/*
 * Makes the pod the owner of all other objects. Those created before the pod are sent again. As in Spark, the config
 * map comes after the pod: its owner reference needs the pod's uid, and an object without it would stay forever if
 * this client was killed between the two. The kubelet retries a mount until the config map exists.
 */
static void driver_launch_send_rest(struct driver_launch *l)
{
        json_t *object;
        size_t i;
        l->step = STEP_REST;
        json_array_foreach(l->plan->objects, i, object) {
                if (i == l->plan->pod_at)
                        continue;
                kube_set_owner(object, l->pod);
                if (i > l->plan->pod_at && driver_launch_has_generated_name(l, object))
                        driver_launch_create(l, object);
                else
                        driver_launch_apply(l, object);
        }
        driver_launch_limit_attempts(l);
        if (!l->first)
                driver_launch_next_step(l);
}

static void driver_launch_over(struct driver_launch *l)
{
        l->step = STEP_OVER;
        uv_timer_stop(&l->limit);
        int r = !l->pod && l->stopped ? FST_LAUNCH_E_STOPPED : l->result;
        l->done(l->owner, r, r < 0 ? &l->error : NULL);
}

/* No request is pending: starts the next step. */
static void driver_launch_next_step(struct driver_launch *l)
{
        if (l->step == STEP_TAKE_BACK) {
                driver_launch_over(l);
                return;
        }
        if (l->result != 0)
                driver_launch_explain(l);
        if (l->result != 0 || (l->stopped && !l->pod))
                driver_launch_take_back(l);
        else if (l->step == STEP_REST)
                driver_launch_over(l);
        else if (l->step == STEP_POD)
                driver_launch_send_rest(l);
        else {
                l->step = STEP_POD;
                driver_launch_create(l, json_array_get(l->plan->objects, l->plan->pod_at));
        }
}

static struct driver_launch *driver_launch_new(struct kube_client *client, struct driver_plan *plan,
                                               driver_launch_done *done, void *owner)
{
        struct driver_launch *l = new0(struct driver_launch);
        l->client = client;
        l->plan = plan;
        l->done = done;
        l->owner = owner;
        l->created = json_array();
        l->error = FST_ERROR_INIT;
        uv_timer_init(kube_client_loop(client), &l->limit);
        l->limit.data = l;
        return l;
}

struct driver_launch *driver_launch_begin(struct kube_client *client, struct driver_plan *plan,
                                          driver_launch_done *done, void *owner)
{
        struct driver_launch *l = driver_launch_new(client, plan, done, owner);
        for (size_t i = 0; i < plan->pod_at; i++)
                driver_launch_apply(l, json_array_get(plan->objects, i));
        if (!l->first)
                driver_launch_next_step(l);
        return l;
}

struct driver_launch *driver_launch_resume(struct kube_client *client, struct driver_plan *plan, json_t *pod,
                                           driver_launch_done *done, void *owner)
{
        struct driver_launch *l = driver_launch_new(client, plan, done, owner);
        l->resumed = true;
        l->pod = json_incref(pod);
        driver_launch_add_created(l, driver_plan_pod(plan), pod);
        driver_launch_send_rest(l);
        return l;
}

static void driver_launch_on_limit(uv_timer_t *timer);

static void driver_launch_wait_limited(struct driver_launch *l)
{
        l->answers = kube_client_answers(l->client);
        uv_timer_start(&l->limit, driver_launch_on_limit, STOP_MS, 0);
}

/* Stops waiting for pending requests, unless the server replies to others: then it is busy, not down. */
static void driver_launch_on_limit(uv_timer_t *timer)
{
        struct driver_launch *l = timer->data;
        if (kube_client_answers(l->client) != l->answers) {
                driver_launch_wait_limited(l);
                return;
        }
        l->expired = true;
        while (l->first) {
                struct sending *s = l->first;
                kube_cancel(s->call);
                if (l->step == STEP_TAKE_BACK)
                        driver_launch_warn_left_behind(l, s->object, "the API server did not answer in time");
                else
                        driver_launch_add_created(l, s->object, NULL);
                driver_launch_free_sending(s);
        }
        if (l->result == 0)
                l->result = error_set(&l->error, -ETIMEDOUT, "the API server did not answer in time");
        driver_launch_next_step(l);
}

void driver_launch_stop(struct driver_launch *l)
{
        if (l->stopped || l->step == STEP_OVER)
                return;
        l->stopped = true;
        driver_launch_wait_limited(l);
        for (struct sending *s = l->first; s; s = s->next)
                if (l->step < STEP_REST)
                        kube_give_up(s->call);
                else
                        kube_limit_attempts(s->call, 2);
}

json_t *driver_launch_pod(const struct driver_launch *l)
{
        return l->pod;
}

static void driver_launch_on_closed(uv_handle_t *handle)
{
        free(handle->data);
}

void driver_launch_free(struct driver_launch *l)
{
        if (!l)
                return;
        while (l->first) {
                kube_cancel(l->first->call);
                driver_launch_free_sending(l->first);
        }
        json_decref(l->pod);
        json_decref(l->created);
        error_deinit(&l->error);
        uv_close((uv_handle_t *)&l->limit, driver_launch_on_closed);
}
