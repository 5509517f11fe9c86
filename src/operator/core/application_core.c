/* The records of applications: observations, actions and their results. The steps are in application_steps.c. */
#include "operator/core/application_core.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/core/application_record.h"

#include <stdlib.h>

/* --------------------------------------------------------------------------------------------------------- records */

static struct application_record *record_of(struct object_record *object)
{
        return object ? container_of(object, struct application_record, object) : NULL;
}

static void record_deinit(struct object_record *object)
{
        struct application_record *a = record_of(object);
        char *const texts[] = {a->driver_pod,         a->invalid, a->candidate, a->labels, a->driver.application_id,
                               a->driver.loss_message};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        application_status_deinit(&a->status);
}

static struct application_record *record_find(const struct application_core *core, const char *namespace,
                                              const char *name)
{
        return record_of(object_records_find(&core->records, namespace, name));
}

struct application_core *application_core_new(const struct application_core_options *options)
{
        struct application_core *core = new0(struct application_core);
        core->options = options ? *options : (struct application_core_options){0};
        if (core->options.driver_creation_grace_ms <= 0)
                core->options.driver_creation_grace_ms = 10000;
        if (core->options.max_tracked_executors <= 0)
                core->options.max_tracked_executors = 1000;
        if (core->options.max_loss_restarts <= 0)
                core->options.max_loss_restarts = 100;
        core->records = (struct object_records){.record_size = sizeof(struct application_record),
                                                .deinit = record_deinit,
                                                .max_executors = (size_t)core->options.max_tracked_executors};
        return core;
}

void application_core_free(struct application_core *core)
{
        if (!core)
                return;
        for (struct application_action action; queue_pop(&core->actions, &action);)
                application_action_deinit(&action);
        queue_deinit(&core->actions);
        object_records_deinit(&core->records);
        free(core);
}

void application_action_deinit(struct application_action *a)
{
        char *const texts[] = {a->namespace, a->name,    a->uid,     a->submission_id,
                               a->pod_name,  a->pod_uid, a->message, a->labels};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        application_status_deinit(&a->status);
        *a = (struct application_action){0};
}

/* ---------------------------------------------------------------------------------------------------------- objects */

/* Another object has the name, or none. Its pods stay until they are removed: owner_uid says whose they are. */
static void record_begin_object(struct application_record *a, const char *uid)
{
        object_record_begin(&a->object, uid);
        status_text_set(&a->candidate, NULL);
        application_status_deinit(&a->status);
        a->stored = APPLICATION_NEW;
        a->dirty = a->entered = a->spec_changed = a->deleted = a->expose_due = a->cleaned = false;
        a->policy = (struct application_policy){0};
        a->loss_restarts = a->expose_failures = 0;
        a->expose_at_ms = a->missing_since_ms = a->ended_since_ms = 0;
}

/* Whether @seen is what this core has written, apart from conditions, which a definition may drop. */
static bool record_is_echo(const struct application_record *a, const struct application_status *seen)
{
        struct application_status own = a->status, other = *seen;
        own.reason = own.explanation = other.reason = other.explanation = NULL;
        return application_status_equal(&own, &other);
}

/*
 * Whether a core that has not submitted the application itself should expose its driver. The status names the UI's
 * service only after all objects of the exposure were created.
 */
static bool record_lacks_exposure(const struct application_core *core, const struct application_record *a,
                                  const struct application_status *s)
{
        if (s->state != APPLICATION_SUBMITTED && s->state != APPLICATION_RUNNING && s->state != APPLICATION_UNKNOWN)
                return false;
        return core->options.ui_service ? !s->ui_service : a->policy.exposes_driver;
}

static void record_take_status(struct application_core *core, struct application_record *a,
                               const struct application_status *seen)
{
        if (record_is_echo(a, seen)) {
                if (a->under_way != APPLICATION_WRITE_STATUS ||
                    !a->object.ticket) { /* the answer to the write was lost */
                        a->dirty = a->entered = false;
                        application_emit_stored(core, a, a->written_ms);
                }
                return;
        }
        if (a->status.state != seen->state)
                a->deleted = a->cleaned = false;
        application_status_copy(&a->status, seen);
        a->expose_due = record_lacks_exposure(core, a, seen);
        a->stored = seen->state;
        a->dirty = a->entered = false;
}

static void record_take_policy(struct application_core *core, struct application_record *a,
                               const struct application_policy *policy)
{
        uint64_t before = core->options.partial_restart ? a->policy.partial_hash : a->policy.spec_hash;
        uint64_t now = core->options.partial_restart ? policy->partial_hash : policy->spec_hash;
        if (before && before != now)
                a->spec_changed = true;
        a->policy = *policy;
}

bool application_core_knows(const struct application_core *core, const char *namespace, const char *name,
                            const char *uid, int64_t generation)
{
        const struct application_record *a = record_find(core, namespace, name);
        return a && generation > 0 && a->generation == generation && text_equals(a->object.uid, uid);
}

bool application_core_observe(struct application_core *core, const struct application_observation *o)
{
        struct application_record *a = record_of(object_records_get(&core->records, o->namespace, o->name));
        if (!a->object.uid || strcmp(a->object.uid, o->uid) != 0)
                record_begin_object(a, o->uid);
        else if (!object_version_is_news(o->version, a->object.version))
                return false;
        a->object.version = o->version;
        a->generation = o->generation;
        a->created_ms = o->created_ms;
        a->object.leaving = o->leaving;
        status_text_set(&a->labels, o->labels);
        if (!o->known_spec) {
                status_text_set(&a->driver_pod, o->driver_pod);
                status_text_set(&a->invalid, o->invalid);
                record_take_policy(core, a, &o->policy);
        }
        record_take_status(core, a, &o->status);
        return true;
}

bool application_core_removed(struct application_core *core, const char *namespace, const char *name, const char *uid)
{
        struct object_record *object = object_records_find_object(&core->records, namespace, name, uid);
        if (!object)
                return false;
        record_begin_object(record_of(object), NULL);
        object_records_drop_if_empty(&core->records, object);
        return false;
}

/* ------------------------------------------------------------------------------------------------------------- pods */

static bool record_observe_executor(struct application_core *core, struct application_record *a,
                                    const struct pod_observation *o)
{
        uint64_t submission = id_hash(o->submission_id);
        if (!object_records_set_executor(&core->records, &a->object, o->name, submission, o->version, o->phase))
                return false;
        if (core->synced && a->object.uid && submission == id_hash(a->status.submission_id))
                application_emit_executor(core, a, o->name, o);
        return true;
}

static void record_take_driver(struct application_core *core, struct application_record *a,
                               const struct pod_observation *o)
{
        struct application_driver *d = &a->driver;
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
        status_text_set(&d->application_id, o->application_id);
        status_text_set(&d->loss_message, o->loss_message);
        d->owner_uid = id_hash(o->owner_uid);
        d->submission_id = id_hash(o->submission_id);
        d->terminated = o->terminated;
        d->phase = o->phase;
        d->loss = o->loss;
        d->spec_hash = o->spec_hash;
}

/* Whether the driver's pod is of the submission under way. */
static bool record_is_being_submitted(const struct application_record *a)
{
        bool submits = a->under_way == APPLICATION_SUBMIT || a->under_way == APPLICATION_FINISH_SUBMIT;
        return a->object.ticket && submits && driver_is_ours(a) && a->driver.submission_id == id_hash(a->candidate);
}

static bool record_observe_driver(struct application_core *core, struct application_record *a,
                                  const struct pod_observation *o)
{
        const struct driver_pod *d = &a->object.driver;
        bool same = d->present && text_equals(d->uid, o->uid);
        if (!object_version_is_news(o->version, d->version))
                return false; /* an event that came late, or twice */
        if (!same && driver_is_ours(a) && !text_equals(o->owner_uid, a->object.uid))
                return false; /* the driver of a former application of this name, or a pod with its labels */
        bool news = !same || a->driver.phase != o->phase;
        record_take_driver(core, a, o);
        if (!news || !core->synced)
                return true;
        if (driver_is_current(a))
                application_emit_driver(core, a);
        a->driver.untold = record_is_being_submitted(a) && o->phase != SPARK_POD_PENDING;
        return true;
}

bool application_core_observe_pod(struct application_core *core, const struct pod_observation *o)
{
        struct application_record *a = record_of(object_records_get(&core->records, o->namespace, o->application));
        bool changed = o->is_driver ? record_observe_driver(core, a, o) : record_observe_executor(core, a, o);
        return changed && a->object.uid;
}

const char *application_core_pod_owner(const struct application_core *core, const char *namespace, const char *pod,
                                       const char *uid, bool *is_driver)
{
        const struct object_record *object = object_records_find_pod(&core->records, namespace, pod, uid, is_driver);
        return object ? object->name : NULL;
}

bool application_core_pod_removed(struct application_core *core, const struct pod_observation *o)
{
        struct application_record *a = record_find(core, o->namespace, o->application);
        bool is_driver;
        if (!a)
                return false;
        bool found = object_records_remove_pod(&core->records, &a->object, o->name, o->uid, &is_driver);
        if (is_driver) {
                a->object.driver.version = MAX(a->object.driver.version, o->version);
                if (o->loss != POD_LOSS_NONE) {
                        a->driver.loss = o->loss;
                        status_text_set(&a->driver.loss_message, o->loss_message);
                }
        }
        bool known = a->object.uid != NULL;
        object_records_drop_if_empty(&core->records, &a->object);
        return found && known;
}

void application_core_synced(struct application_core *core)
{
        core->synced = true;
}

/* ---------------------------------------------------------------------------------------------------------- actions */

int64_t application_core_reconcile(struct application_core *core, const char *namespace, const char *name,
                                   int64_t now_ms)
{
        struct application_record *a = record_find(core, namespace, name);
        if (!core->synced || !a || !a->object.uid || a->object.ticket)
                return INT64_MAX;
        if (object_record_pauses(&a->object, now_ms))
                return a->object.retry_at_ms;
        return application_step(core, a, now_ms);
}

bool application_core_next_action(struct application_core *core, struct application_action *action)
{
        return queue_pop(&core->actions, action);
}

static void record_written(struct application_core *core, struct application_record *a,
                           const struct application_answer *answer, int64_t now_ms)
{
        if (answer->result != APPLICATION_RESULT_OK) {
                object_record_pause(&a->object, now_ms);
                return;
        }
        a->object.failures = 0;
        a->dirty = a->entered = false;
        if (answer->version > a->object.version)
                a->object.version = answer->version;
        application_emit_stored(core, a, now_ms);
}

/* Actions that are not repeated after APPLICATION_RESULT_FAILED. */
static const bool result_is_final[APPLICATION_EVENT] = {
        [APPLICATION_SUBMIT] = true,
        [APPLICATION_EXPOSE] = true,
        [APPLICATION_CLEAN_UP] = true,
};

bool application_core_done(struct application_core *core, const char *namespace, const char *name, uint64_t ticket,
                           const struct application_answer *answer, int64_t now_ms)
{
        struct application_record *a = record_find(core, namespace, name);
        if (!a || !ticket || a->object.ticket != ticket)
                return false;
        a->object.ticket = 0;
        if (a->under_way == APPLICATION_WRITE_STATUS) {
                record_written(core, a, answer, now_ms);
                return true;
        }
        if (a->under_way != APPLICATION_EXPOSE) { /* whose pauses do not delay the other steps */
                if (answer->result == APPLICATION_RESULT_RETRY ||
                    (answer->result == APPLICATION_RESULT_FAILED && !result_is_final[a->under_way]))
                        object_record_pause(&a->object, now_ms);
                else
                        a->object.failures = 0;
        }
        application_step_done(core, a, a->under_way, answer, now_ms);
        return true;
}

enum application_state application_core_state(const struct application_core *core, const char *namespace,
                                              const char *name)
{
        const struct application_record *a = record_find(core, namespace, name);
        return a ? a->status.state : APPLICATION_NEW;
}

size_t application_core_count(const struct application_core *core, enum application_state state)
{
        size_t n = 0;
        for (struct object_record *r = core->records.first; r; r = r->next)
                n += r->uid && record_of(r)->stored == state;
        return n;
}

void application_core_visit_running(const struct application_core *core, application_running_visit *visit, void *owner)
{
        for (struct object_record *r = core->records.first; r; r = r->next) {
                const struct application_record *a = record_of(r);
                size_t executors = 0;
                for (size_t i = 0; i < a->status.n_executors; i++)
                        executors += a->status.executors[i].state == SPARK_POD_RUNNING;
                bool runs = a->stored == APPLICATION_RUNNING;
                if (a->object.uid && (runs || executors > 0))
                        visit(owner, a->labels, runs, executors);
        }
}
