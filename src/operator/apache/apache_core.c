/* The records of applications of spark.apache.org: observations, actions and their results. Steps: apache_steps.c. */
#include "operator/apache/apache_core.h"

#include "base/string_prefix.h"
#include "operator/apache/apache_record.h"

#include <stdlib.h>

#define DEFAULT_GRACE_MS 10000

static void apache_text_set(char **text, const char *value)
{
        char *copy = mem_strdup_if(value);
        free(*text);
        *text = copy;
}

/* --------------------------------------------------------------------------------------------------------- records */

static struct apache_record *apache_record_of(struct object_record *object)
{
        return object ? container_of(object, struct apache_record, object) : NULL;
}

static void apache_record_deinit(struct object_record *object)
{
        struct apache_record *a = apache_record_of(object);
        char *const texts[] = {a->own_id,     a->own_driver_pod, a->invalid,       a->app_id,
                               a->driver_pod, a->refusal,        a->driver_app_id, a->labels};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        apache_transition_deinit(&a->transition);
}

static struct apache_record *apache_record_find(const struct apache_core *core, const char *namespace, const char *name)
{
        return apache_record_of(object_records_find(&core->records, namespace, name));
}

struct apache_core *apache_core_new(const struct apache_core_options *options)
{
        struct apache_core *core = new0(struct apache_core);
        core->options = options ? *options : (struct apache_core_options){0};
        if (core->options.driver_grace_ms <= 0)
                core->options.driver_grace_ms = DEFAULT_GRACE_MS;
        core->records =
                (struct object_records){.record_size = sizeof(struct apache_record), .deinit = apache_record_deinit};
        return core;
}

void apache_core_free(struct apache_core *core)
{
        if (!core)
                return;
        for (struct apache_action action; queue_pop(&core->actions, &action);)
                apache_action_deinit(&action);
        queue_deinit(&core->actions);
        object_records_deinit(&core->records);
        free(core);
}

void apache_action_deinit(struct apache_action *a)
{
        char *const texts[] = {a->namespace,  a->name,   a->uid,     a->app_id, a->driver_pod,
                               a->driver_uid, a->reason, a->message, a->labels};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        apache_transition_deinit(&a->transition);
        *a = (struct apache_action){0};
}

/* ---------------------------------------------------------------------------------------------------------- objects */

/* Another state: nothing was done in it. */
static void apache_record_enter(struct apache_record *a)
{
        a->submitted = a->released = a->forced = a->driver_removed = a->missing_confirmed = false;
        a->since_ms = 0;
        apache_text_set(&a->refusal, NULL);
}

static void apache_record_name_attempt(struct apache_record *a)
{
        free(a->app_id);
        free(a->driver_pod);
        a->app_id = apache_attempt_id(a->object.namespace, a->object.name, a->status.attempt.id, a->own_id);
        a->driver_pod = apache_attempt_driver_pod(a->app_id, a->own_driver_pod);
}

static void apache_record_begin_object(struct apache_record *a, const char *uid)
{
        object_record_begin(&a->object, uid);
        apache_record_enter(a);
        apache_transition_deinit(&a->transition);
        a->status = (struct apache_status){0};
}

bool apache_core_observe(struct apache_core *core, const struct apache_observation *o)
{
        struct apache_record *a = apache_record_of(object_records_get(&core->records, o->namespace, o->name));
        if (!a->object.uid || strcmp(a->object.uid, o->uid) != 0)
                apache_record_begin_object(a, o->uid);
        else if (!object_version_is_news(o->version, a->object.version))
                return false;
        bool same = a->status.state == o->status.state && a->status.entry == o->status.entry &&
                    a->status.attempt.id == o->status.attempt.id;
        if (!same)
                apache_record_enter(a);
        if (a->generation != o->generation)
                a->object.retry_at_ms = 0; /* of a submission that was refused before the spec changed */
        a->object.version = o->version;
        a->generation = o->generation;
        a->created_ms = o->created_ms;
        apache_text_set(&a->labels, o->labels);
        a->object.leaving = o->leaving;
        a->finalizer = o->finalizer;
        a->policy = o->policy;
        a->status = o->status;
        apache_text_set(&a->invalid, o->invalid);
        apache_text_set(&a->own_id, o->own_id);
        apache_text_set(&a->own_driver_pod, o->own_driver_pod);
        apache_record_name_attempt(a);
        return true;
}

bool apache_core_removed(struct apache_core *core, const char *namespace, const char *name, const char *uid)
{
        struct object_record *object = object_records_find_object(&core->records, namespace, name, uid);
        if (!object)
                return false;
        apache_record_begin_object(apache_record_of(object), NULL);
        object_records_drop_if_empty(&core->records, object);
        return false;
}

/* ------------------------------------------------------------------------------------------------------------- pods */

static bool apache_record_observe_driver(struct apache_core *core, struct apache_record *a, const struct apache_pod *o)
{
        if (!object_version_is_news(o->version, a->object.driver.version))
                return false; /* an event that came late, or twice */
        if (apache_record_has_driver(a) && !text_equals(o->application_id, a->app_id))
                return false; /* the driver of an earlier attempt */
        object_records_set_driver(&core->records, &a->object,
                                  &(struct seen_driver){.name = o->name,
                                                        .uid = o->uid,
                                                        .reason = o->reason,
                                                        .message = o->message,
                                                        .waiting = o->waiting,
                                                        .waiting_message = o->waiting_message,
                                                        .leaving = o->leaving,
                                                        .exit_code = o->exit_code,
                                                        .version = o->version});
        apache_text_set(&a->driver_app_id, o->application_id);
        a->driver_ready = o->ready;
        a->driver_started = o->started;
        a->driver_end = o->end;
        return true;
}

bool apache_core_observe_pod(struct apache_core *core, const struct apache_pod *o)
{
        struct apache_record *a = apache_record_of(object_records_get(&core->records, o->namespace, o->application));
        uint64_t attempt = object_hash_text(o->application_id ? o->application_id : "");
        bool changed = o->is_driver ? apache_record_observe_driver(core, a, o)
                                    : object_records_set_executor(&core->records, &a->object, o->name, attempt,
                                                                  o->version, o->ready);
        bool known = a->object.uid != NULL;
        object_records_drop_if_empty(&core->records, &a->object);
        return changed && known;
}

const char *apache_core_pod_removed(struct apache_core *core, const char *namespace, const char *name, const char *uid)
{
        bool is_driver;
        struct apache_record *a =
                apache_record_of(object_records_find_pod(&core->records, namespace, name, uid, &is_driver));
        if (!a)
                return NULL;
        a->driver_removed = a->driver_removed || (is_driver && apache_record_has_driver(a));
        object_records_remove_pod(&core->records, &a->object, name, uid, &is_driver);
        const char *owner = a->object.uid ? a->object.name : NULL;
        object_records_drop_if_empty(&core->records, &a->object);
        return owner;
}

/* ---------------------------------------------------------------------------------------------------------- actions */

int64_t apache_core_reconcile(struct apache_core *core, const char *namespace, const char *name, int64_t now_ms)
{
        struct apache_record *a = apache_record_find(core, namespace, name);
        if (!a || !a->object.uid || a->object.ticket)
                return INT64_MAX;
        if (object_record_pauses(&a->object, now_ms))
                return a->object.retry_at_ms;
        return apache_step(core, a, now_ms);
}

bool apache_core_next_action(struct apache_core *core, struct apache_action *action)
{
        return queue_pop(&core->actions, action);
}

/* The watch may have shown the new status already. */
static void apache_record_written(struct apache_core *core, struct apache_record *a, uint64_t version, int64_t now_ms)
{
        if (!version || version > a->object.version) {
                apache_status_apply(&a->status, &a->transition);
                a->object.version = MAX(a->object.version, version);
                apache_record_enter(a);
                apache_record_name_attempt(a);
        }
        apache_emit_stored(core, a, a->transition.message, now_ms);
}

static void apache_record_finish(struct apache_core *core, struct apache_record *a, enum apache_result result,
                                 const char *message, uint64_t version, int64_t now_ms)
{
        switch (a->under_way) {
        case APACHE_WRITE_STATUS:
                if (result == APACHE_RESULT_OK)
                        apache_record_written(core, a, version, now_ms);
                if (core->options.clusters && a->status.state == APACHE_SCHEDULING_FAILURE)
                        object_record_pause(&a->object, now_ms); /* before the submission is repeated */
                break;
        case APACHE_SUBMIT:
                a->submitted = result == APACHE_RESULT_OK;
                if (result == APACHE_RESULT_FAILED)
                        apache_text_set(&a->refusal, message ? message : "unknown reason");
                break;
        case APACHE_RELEASE:
                a->released = a->released || result == APACHE_RESULT_OK;
                break;
        case APACHE_LET_GO:
                a->finalizer = result == APACHE_RESULT_OK ? 0 : a->finalizer;
                break;
        case APACHE_FIND_DRIVER:
                a->missing_confirmed = !apache_record_has_driver(a) &&
                                       (result == APACHE_RESULT_OK || result == APACHE_RESULT_NOT_FOUND);
                break;
        default:
                break;
        }
}

bool apache_core_done(struct apache_core *core, const char *namespace, const char *name, uint64_t ticket,
                      enum apache_result result, const char *message, uint64_t version, int64_t now_ms)
{
        struct apache_record *a = apache_record_find(core, namespace, name);
        if (!a || !ticket || a->object.ticket != ticket)
                return false;
        a->object.ticket = 0;
        bool repeated = core->options.clusters && a->status.state == APACHE_SCHEDULING_FAILURE;
        bool final = result == APACHE_RESULT_OK ||
                     (a->under_way == APACHE_SUBMIT && result == APACHE_RESULT_FAILED && !repeated) ||
                     (a->under_way == APACHE_FIND_DRIVER && result == APACHE_RESULT_NOT_FOUND);
        if (final)
                a->object.failures = 0;
        else
                object_record_pause(&a->object, now_ms);
        apache_record_finish(core, a, result, message, version, now_ms);
        apache_transition_deinit(&a->transition);
        return true;
}

enum apache_state apache_core_state(const struct apache_core *core, const char *namespace, const char *name)
{
        const struct apache_record *a = apache_record_find(core, namespace, name);
        return a ? a->status.state : APACHE_NEW;
}

void apache_core_visit_running(const struct apache_core *core, apache_running_visit *visit, void *owner)
{
        for (struct object_record *r = core->records.first; r; r = r->next) {
                const struct apache_record *a = apache_record_of(r);
                bool runs = apache_state_has_driver(a->status.state) && a->status.state != APACHE_DRIVER_REQUESTED;
                if (r->uid && runs)
                        visit(owner, a->labels, runs, (size_t)apache_ready_executors(a));
        }
}
