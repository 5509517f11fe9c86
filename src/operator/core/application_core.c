/* The records of applications: observations, actions and their results. The steps are in application_steps.c. */
#include "operator/core/application_core.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "operator/core/application_record.h"

#include <stdlib.h>

#define FIRST_PAUSE_MS 250
#define LONGEST_PAUSE_MS 30000

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
        return core;
}

/* --------------------------------------------------------------------------------------------------------- records */

static void application_driver_deinit(struct application_driver *d)
{
        char *const texts[] = {d->name,    d->uid,          d->application_id, d->reason,
                               d->message, d->loss_message, d->waiting,        d->waiting_message};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        *d = (struct application_driver){0};
}

struct pod_key {
        const char *namespace, *pod, *uid;
};

static bool record_has_driver_pod(const struct application_record *a, const struct pod_key *key)
{
        return a->driver.present && text_equals(a->driver.name, key->pod) &&
               (!key->uid || text_equals(a->driver.uid, key->uid));
}

static bool record_has_pod(const void *object, const void *key)
{
        const struct application_record *a = object;
        const struct pod_key *k = key;
        bool found = strcmp(a->namespace, k->namespace) == 0;
        if (found && !record_has_driver_pod(a, k))
                application_executor_place(a, k->pod, &found);
        return found;
}

static uint64_t pod_hash(const char *namespace, const char *pod)
{
        return object_hash_number(object_hash_text(namespace)) ^ object_hash_text(pod);
}

static void record_index_pod(struct application_core *core, struct application_record *a, const char *pod)
{
        object_table_put(&core->pods, pod_hash(a->namespace, pod), a);
}

static void record_unindex_pod(struct application_core *core, struct application_record *a, const char *pod)
{
        object_table_remove(&core->pods, pod_hash(a->namespace, pod), a);
}

static void record_free(struct application_record *a)
{
        char *const texts[] = {a->uid, a->driver_pod, a->invalid, a->candidate, a->labels};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        application_status_deinit(&a->status);
        application_driver_deinit(&a->driver);
        for (size_t i = 0; i < a->executors.len; i++)
                free(a->executors.data[i].name);
        vec_deinit(&a->executors);
        free(a);
}

static bool record_has_key(const void *object, const void *key)
{
        return strcmp(((const struct application_record *)object)->key, key) == 0;
}

static struct application_record *record_find(const struct application_core *core, const char *namespace,
                                              const char *name)
{
        _cleanup_free_ char *key = mem_printf("%s/%s", namespace, name);
        return object_table_find(&core->table, object_hash_text(key), record_has_key, key);
}

static struct application_record *record_get(struct application_core *core, const char *namespace, const char *name)
{
        struct application_record *a = record_find(core, namespace, name);
        if (a)
                return a;
        size_t n_namespace = strlen(namespace) + 1, n_name = strlen(name) + 1;
        a = mem_zero(sizeof(*a) + 2 * n_namespace + n_name);
        char *key = a->texts + n_namespace;
        memcpy(a->texts, namespace, n_namespace);
        memcpy(key, namespace, n_namespace);
        key[n_namespace - 1] = '/';
        memcpy(key + n_namespace, name, n_name);
        a->namespace = a->texts;
        a->key = key;
        a->name = key + n_namespace;
        object_table_put(&core->table, object_hash_text(a->key), a);
        list_append(core, a);
        return a;
}

/* Frees a record of which neither the object nor a pod exists. */
static void record_drop_if_empty(struct application_core *core, struct application_record *a)
{
        if (a->uid || a->driver.present || a->executors.len > 0)
                return;
        object_table_remove(&core->table, object_hash_text(a->key), a);
        list_remove(core, a);
        record_free(a);
}

void application_core_free(struct application_core *core)
{
        if (!core)
                return;
        for (struct application_action action; queue_pop(&core->actions, &action);)
                application_action_deinit(&action);
        queue_deinit(&core->actions);
        while (core->first) {
                struct application_record *a = core->first;
                list_remove(core, a);
                record_free(a);
        }
        object_table_deinit(&core->table);
        object_table_deinit(&core->pods);
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
        status_text_set(&a->uid, uid);
        status_text_set(&a->candidate, NULL);
        application_status_deinit(&a->status);
        a->version = 0;
        a->stored = APPLICATION_NEW;
        a->dirty = a->entered = a->spec_changed = a->deleted = a->expose_due = a->cleaned = false;
        a->policy = (struct application_policy){0};
        a->ticket = 0;
        a->failures = a->loss_restarts = a->expose_failures = 0;
        a->retry_at_ms = a->expose_at_ms = 0;
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
                if (a->under_way != APPLICATION_WRITE_STATUS || !a->ticket) { /* the answer to the write was lost */
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
        return a && generation > 0 && a->generation == generation && text_equals(a->uid, uid);
}

bool application_core_observe(struct application_core *core, const struct application_observation *o)
{
        struct application_record *a = record_get(core, o->namespace, o->name);
        if (!a->uid) {
                a->uid = mem_strdup(o->uid);
        } else if (strcmp(a->uid, o->uid) != 0) {
                record_begin_object(a, o->uid);
        } else if (o->version && o->version <= a->version) {
                return false;
        }
        a->version = o->version;
        a->generation = o->generation;
        a->created_ms = o->created_ms;
        a->leaving = o->leaving;
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
        struct application_record *a = record_find(core, namespace, name);
        if (!a || !a->uid || (uid && strcmp(a->uid, uid) != 0))
                return false;
        record_begin_object(a, NULL);
        record_drop_if_empty(core, a);
        return false;
}

/* ------------------------------------------------------------------------------------------------------------- pods */

size_t application_executor_place(const struct application_record *a, const char *name, bool *found)
{
        size_t low = 0, high = a->executors.len;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (strcmp(a->executors.data[middle].name, name) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        *found = low < a->executors.len && strcmp(a->executors.data[low].name, name) == 0;
        return low;
}

static bool record_observe_executor(struct application_core *core, struct application_record *a,
                                    const struct pod_observation *o)
{
        bool found;
        size_t at = application_executor_place(a, o->name, &found);
        if (!found) {
                if (a->executors.len >= (size_t)core->options.max_tracked_executors)
                        return false;
                vec_reserve_tight(&a->executors, a->executors.len + 1);
                vec_insert(&a->executors, at,
                           (struct application_executor){.name = mem_strdup(o->name),
                                                         .submission = id_hash(o->submission_id)});
                record_index_pod(core, a, o->name);
        } else if (o->version && o->version <= a->executors.data[at].version) {
                return false;
        }
        struct application_executor *e = &a->executors.data[at];
        bool changed = !found || e->state != o->phase;
        e->state = o->phase;
        e->version = o->version;
        if (changed && core->synced && a->uid && e->submission == id_hash(a->status.submission_id))
                application_emit_executor(core, a, o->name, o);
        return changed;
}

static void application_driver_take(struct application_driver *d, const struct pod_observation *o)
{
        const struct {
                char **to;
                const char *from;
        } texts[] = {{&d->name, o->name},
                     {&d->uid, o->uid},
                     {&d->application_id, o->application_id},
                     {&d->reason, o->reason},
                     {&d->message, o->message},
                     {&d->loss_message, o->loss_message},
                     {&d->waiting, o->waiting},
                     {&d->waiting_message, o->waiting_message}};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                status_text_set(texts[i].to, texts[i].from);
        d->owner_uid = id_hash(o->owner_uid);
        d->submission_id = id_hash(o->submission_id);
        d->present = true;
        d->leaving = o->leaving;
        d->terminated = o->terminated;
        d->has_status = o->has_status;
        d->phase = o->phase;
        d->exit_code = o->exit_code;
        d->loss = o->loss;
        d->spec_hash = o->spec_hash;
        d->version = o->version;
        d->created_ms = o->created_ms;
}

static bool record_observe_driver(struct application_core *core, struct application_record *a,
                                  const struct pod_observation *o)
{
        struct application_driver *d = &a->driver;
        bool same = d->present && text_equals(d->uid, o->uid);
        if (o->version && o->version <= d->version)
                return false; /* an event that came late, or twice */
        bool ours = driver_is_ours(a);
        if (!same && ours && !text_equals(o->owner_uid, a->uid))
                return false; /* the driver of a former application of this name, or a pod with its labels */
        bool news = !same || d->phase != o->phase;
        if (d->present)
                record_unindex_pod(core, a, d->name);
        application_driver_take(d, o);
        record_index_pod(core, a, d->name);
        if (news && core->synced && driver_is_current(a))
                application_emit_driver(core, a);
        return true;
}

bool application_core_observe_pod(struct application_core *core, const struct pod_observation *o)
{
        struct application_record *a = record_get(core, o->namespace, o->application);
        bool changed = o->is_driver ? record_observe_driver(core, a, o) : record_observe_executor(core, a, o);
        return changed && a->uid;
}

const char *application_core_pod_owner(const struct application_core *core, const char *namespace, const char *pod,
                                       const char *uid, bool *is_driver)
{
        const struct pod_key key = {namespace, pod, uid};
        const struct application_record *a =
                object_table_find(&core->pods, pod_hash(namespace, pod), record_has_pod, &key);
        *is_driver = a && record_has_driver_pod(a, &key);
        return a ? a->name : NULL;
}

bool application_core_pod_removed(struct application_core *core, const struct pod_observation *o)
{
        struct application_record *a = record_find(core, o->namespace, o->application);
        bool found = false;
        if (!a)
                return false;
        if (o->is_driver && a->driver.present && text_equals(a->driver.name, o->name) &&
            (!o->uid || text_equals(a->driver.uid, o->uid))) {
                found = true;
                record_unindex_pod(core, a, a->driver.name);
                a->driver.present = false;
                a->driver.version = MAX(a->driver.version, o->version);
                if (o->loss != POD_LOSS_NONE) {
                        a->driver.loss = o->loss;
                        status_text_set(&a->driver.loss_message, o->loss_message);
                }
        } else if (!o->is_driver) {
                size_t at = application_executor_place(a, o->name, &found);
                if (found) {
                        record_unindex_pod(core, a, o->name);
                        free(a->executors.data[at].name);
                        memmove(&a->executors.data[at], &a->executors.data[at + 1],
                                (a->executors.len - at - 1) * sizeof(*a->executors.data));
                        a->executors.len--;
                }
        }
        bool known = a->uid != NULL;
        record_drop_if_empty(core, a);
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
        if (!core->synced || !a || !a->uid || a->ticket)
                return INT64_MAX;
        /* A clock that was set back does not prolong a pause. */
        if (a->retry_at_ms > now_ms && a->retry_at_ms - now_ms <= LONGEST_PAUSE_MS)
                return a->retry_at_ms;
        return application_step(core, a, now_ms);
}

bool application_core_next_action(struct application_core *core, struct application_action *action)
{
        return queue_pop(&core->actions, action);
}

int64_t application_pause_ms(int failures)
{
        return MIN((int64_t)FIRST_PAUSE_MS << MIN(failures, 10), (int64_t)LONGEST_PAUSE_MS);
}

/* A pause before the next action, longer after each failure. */
static void record_pause(struct application_record *a, int64_t now_ms)
{
        a->retry_at_ms = now_ms + application_pause_ms(a->failures++);
}

static void record_written(struct application_core *core, struct application_record *a,
                           const struct application_answer *answer, int64_t now_ms)
{
        if (answer->result != APPLICATION_RESULT_OK) {
                record_pause(a, now_ms);
                return;
        }
        a->failures = 0;
        a->dirty = a->entered = false;
        if (answer->version > a->version)
                a->version = answer->version;
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
        if (!a || !ticket || a->ticket != ticket)
                return false;
        a->ticket = 0;
        if (a->under_way == APPLICATION_WRITE_STATUS) {
                record_written(core, a, answer, now_ms);
                return true;
        }
        if (a->under_way != APPLICATION_EXPOSE) { /* whose pauses do not delay the other steps */
                if (answer->result == APPLICATION_RESULT_RETRY ||
                    (answer->result == APPLICATION_RESULT_FAILED && !result_is_final[a->under_way]))
                        record_pause(a, now_ms);
                else
                        a->failures = 0;
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
        for (const struct application_record *a = core->first; a; a = a->next)
                n += a->uid && a->stored == state;
        return n;
}

void application_core_visit_running(const struct application_core *core, application_running_visit *visit, void *owner)
{
        for (const struct application_record *a = core->first; a; a = a->next) {
                size_t executors = 0;
                for (size_t i = 0; i < a->status.n_executors; i++)
                        executors += a->status.executors[i].state == SPARK_POD_RUNNING;
                bool runs = a->stored == APPLICATION_RUNNING;
                if (a->uid && (runs || executors > 0))
                        visit(owner, a->labels, runs, executors);
        }
}
