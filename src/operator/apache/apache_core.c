/* The records of applications of spark.apache.org: observations, actions and their results. Steps: apache_steps.c. */
#include "operator/apache/apache_core.h"

#include "base/list.h"
#include "base/string_prefix.h"
#include "operator/apache/apache_record.h"

#include <stdlib.h>

#define DEFAULT_GRACE_MS 10000
#define FIRST_PAUSE_MS 250
#define LONGEST_PAUSE_MS 30000

struct apache_core *apache_core_new(const struct apache_core_options *options)
{
        struct apache_core *core = new0(struct apache_core);
        core->options = options ? *options : (struct apache_core_options){0};
        if (core->options.driver_grace_ms <= 0)
                core->options.driver_grace_ms = DEFAULT_GRACE_MS;
        return core;
}

static void apache_text_set(char **text, const char *value)
{
        char *copy = mem_strdup_if(value);
        free(*text);
        *text = copy;
}

/* --------------------------------------------------------------------------------------------------------- records */

static void apache_driver_deinit(struct apache_driver *d)
{
        char *const texts[] = {d->name, d->uid, d->app_id, d->reason, d->message, d->waiting, d->waiting_message};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        *d = (struct apache_driver){0};
}

/* Returns the index of the executor's pod, or of its place. */
static size_t apache_executor_place(const struct apache_record *a, const char *name, bool *found)
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

struct apache_pod_key {
        const char *namespace, *name, *uid;
};

static bool apache_record_has_driver_pod(const struct apache_record *a, const struct apache_pod_key *key)
{
        return a->driver.present && strcmp(a->driver.name, key->name) == 0 &&
               (!key->uid || text_equals(a->driver.uid, key->uid));
}

static bool apache_record_has_pod(const void *object, const void *key)
{
        const struct apache_record *a = object;
        const struct apache_pod_key *k = key;
        bool found = strcmp(a->namespace, k->namespace) == 0;
        if (found && !apache_record_has_driver_pod(a, k))
                apache_executor_place(a, k->name, &found);
        return found;
}

static uint64_t apache_pod_hash(const char *namespace, const char *name)
{
        return object_hash_number(object_hash_text(namespace)) ^ object_hash_text(name);
}

static void apache_record_index_pod(struct apache_core *core, struct apache_record *a, const char *pod)
{
        object_table_put(&core->pods, apache_pod_hash(a->namespace, pod), a);
}

static void apache_record_unindex_pod(struct apache_core *core, struct apache_record *a, const char *pod)
{
        object_table_remove(&core->pods, apache_pod_hash(a->namespace, pod), a);
}

static void apache_record_free(struct apache_record *a)
{
        char *const texts[] = {a->key,     a->namespace, a->name,       a->uid,    a->own_id, a->own_driver_pod,
                               a->invalid, a->app_id,    a->driver_pod, a->refusal};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        apache_driver_deinit(&a->driver);
        apache_transition_deinit(&a->transition);
        for (size_t i = 0; i < a->executors.len; i++)
                free(a->executors.data[i].name);
        vec_deinit(&a->executors);
        free(a);
}

static bool apache_record_has_key(const void *object, const void *key)
{
        return strcmp(((const struct apache_record *)object)->key, key) == 0;
}

static struct apache_record *apache_record_find(const struct apache_core *core, const char *namespace, const char *name)
{
        _cleanup_free_ char *key = mem_printf("%s/%s", namespace, name);
        return object_table_find(&core->table, object_hash_text(key), apache_record_has_key, key);
}

static struct apache_record *apache_record_get(struct apache_core *core, const char *namespace, const char *name)
{
        struct apache_record *a = apache_record_find(core, namespace, name);
        if (a)
                return a;
        a = new0(struct apache_record);
        a->key = mem_printf("%s/%s", namespace, name);
        a->namespace = mem_strdup(namespace);
        a->name = mem_strdup(name);
        object_table_put(&core->table, object_hash_text(a->key), a);
        list_append(core, a);
        return a;
}

/* Frees a record of which neither the object nor a pod exists. */
static void apache_record_drop_if_empty(struct apache_core *core, struct apache_record *a)
{
        if (a->uid || a->driver.present || a->executors.len > 0)
                return;
        object_table_remove(&core->table, object_hash_text(a->key), a);
        list_remove(core, a);
        apache_record_free(a);
}

void apache_core_free(struct apache_core *core)
{
        if (!core)
                return;
        for (struct apache_action action; queue_pop(&core->actions, &action);)
                apache_action_deinit(&action);
        queue_deinit(&core->actions);
        while (core->first) {
                struct apache_record *a = core->first;
                list_remove(core, a);
                apache_record_free(a);
        }
        object_table_deinit(&core->table);
        object_table_deinit(&core->pods);
        free(core);
}

void apache_action_deinit(struct apache_action *a)
{
        char *const texts[] = {a->namespace,  a->name,       a->uid,    a->app_id,
                               a->driver_pod, a->driver_uid, a->reason, a->message};
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
        apache_text_set(&a->refusal, NULL);
}

static void apache_record_name_attempt(struct apache_record *a)
{
        free(a->app_id);
        free(a->driver_pod);
        a->app_id = apache_attempt_id(a->namespace, a->name, a->status.attempt.id, a->own_id);
        a->driver_pod = apache_attempt_driver_pod(a->app_id, a->own_driver_pod);
}

static void apache_record_begin_object(struct apache_record *a, const char *uid)
{
        apache_text_set(&a->uid, uid);
        apache_record_enter(a);
        apache_transition_deinit(&a->transition);
        a->status = (struct apache_status){0};
        a->version = 0;
        a->ticket = 0;
        a->failures = 0;
        a->retry_at_ms = 0;
}

bool apache_core_observe(struct apache_core *core, const struct apache_observation *o)
{
        struct apache_record *a = apache_record_get(core, o->namespace, o->name);
        if (!a->uid || strcmp(a->uid, o->uid) != 0)
                apache_record_begin_object(a, o->uid);
        else if (o->version && o->version <= a->version)
                return false;
        bool same = a->status.state == o->status.state && a->status.entry == o->status.entry &&
                    a->status.attempt.id == o->status.attempt.id;
        if (!same)
                apache_record_enter(a);
        a->version = o->version;
        a->leaving = o->leaving;
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
        struct apache_record *a = apache_record_find(core, namespace, name);
        if (!a || !a->uid || (uid && strcmp(a->uid, uid) != 0))
                return false;
        apache_record_begin_object(a, NULL);
        apache_record_drop_if_empty(core, a);
        return false;
}

/* ------------------------------------------------------------------------------------------------------------- pods */

static bool apache_record_observe_executor(struct apache_core *core, struct apache_record *a,
                                           const struct apache_pod *o)
{
        bool found;
        size_t at = apache_executor_place(a, o->name, &found);
        if (!found) {
                vec_insert(&a->executors, at,
                           (struct apache_executor){
                                   .name = mem_strdup(o->name),
                                   .app_id = object_hash_text(o->application_id ? o->application_id : "")});
                apache_record_index_pod(core, a, o->name);
        } else if (o->version && o->version <= a->executors.data[at].version) {
                return false;
        }
        struct apache_executor *e = &a->executors.data[at];
        bool changed = e->ready != o->ready;
        e->ready = o->ready;
        e->version = o->version;
        return changed;
}

static bool apache_record_observe_driver(struct apache_core *core, struct apache_record *a, const struct apache_pod *o)
{
        struct apache_driver *d = &a->driver;
        if (o->version && o->version <= d->version)
                return false; /* an event that came late, or twice */
        if (apache_record_has_driver(a) && !text_equals(o->application_id, a->app_id))
                return false; /* the driver of an earlier attempt */
        const struct {
                char **to;
                const char *from;
        } texts[] = {{&d->name, o->name},
                     {&d->uid, o->uid},
                     {&d->app_id, o->application_id},
                     {&d->reason, o->reason},
                     {&d->message, o->message},
                     {&d->waiting, o->waiting},
                     {&d->waiting_message, o->waiting_message}};
        if (d->present)
                apache_record_unindex_pod(core, a, d->name);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                apache_text_set(texts[i].to, texts[i].from);
        d->present = true;
        d->leaving = o->leaving;
        d->ready = o->ready;
        d->started = o->started;
        d->end = o->end;
        d->exit_code = o->exit_code;
        d->version = o->version;
        apache_record_index_pod(core, a, d->name);
        return true;
}

bool apache_core_observe_pod(struct apache_core *core, const struct apache_pod *o)
{
        struct apache_record *a = apache_record_get(core, o->namespace, o->application);
        bool changed =
                o->is_driver ? apache_record_observe_driver(core, a, o) : apache_record_observe_executor(core, a, o);
        bool known = a->uid != NULL;
        apache_record_drop_if_empty(core, a);
        return changed && known;
}

const char *apache_core_pod_removed(struct apache_core *core, const char *namespace, const char *name, const char *uid)
{
        const struct apache_pod_key key = {namespace, name, uid};
        struct apache_record *a =
                object_table_find(&core->pods, apache_pod_hash(namespace, name), apache_record_has_pod, &key);
        bool found;
        if (!a)
                return NULL;
        if (apache_record_has_driver_pod(a, &key)) {
                a->driver_removed = a->driver_removed || apache_record_has_driver(a);
                apache_record_unindex_pod(core, a, name);
                a->driver.present = false;
        } else {
                size_t at = apache_executor_place(a, name, &found);
                apache_record_unindex_pod(core, a, name);
                free(a->executors.data[at].name);
                memmove(&a->executors.data[at], &a->executors.data[at + 1],
                        (a->executors.len - at - 1) * sizeof(*a->executors.data));
                a->executors.len--;
        }
        const char *owner = a->uid ? a->name : NULL;
        apache_record_drop_if_empty(core, a);
        return owner;
}

/* ---------------------------------------------------------------------------------------------------------- actions */

int64_t apache_core_reconcile(struct apache_core *core, const char *namespace, const char *name, int64_t now_ms)
{
        struct apache_record *a = apache_record_find(core, namespace, name);
        if (!a || !a->uid || a->ticket)
                return INT64_MAX;
        /* A clock that was set back does not prolong a pause. */
        if (a->retry_at_ms > now_ms && a->retry_at_ms - now_ms <= LONGEST_PAUSE_MS)
                return a->retry_at_ms;
        return apache_step(core, a, now_ms);
}

bool apache_core_next_action(struct apache_core *core, struct apache_action *action)
{
        return queue_pop(&core->actions, action);
}

static void apache_record_pause(struct apache_record *a, int64_t now_ms)
{
        int64_t pause = (int64_t)FIRST_PAUSE_MS << MIN(a->failures++, 10);
        a->retry_at_ms = now_ms + MIN(pause, (int64_t)LONGEST_PAUSE_MS);
}

/* The watch may have shown the new status already. */
static void apache_record_written(struct apache_core *core, struct apache_record *a, uint64_t version)
{
        if (!version || version > a->version) {
                apache_status_apply(&a->status, &a->transition);
                a->version = MAX(a->version, version);
                apache_record_enter(a);
                apache_record_name_attempt(a);
        }
        apache_emit_stored(core, a, a->transition.message);
}

static void apache_record_finish(struct apache_core *core, struct apache_record *a, enum apache_result result,
                                 const char *message, uint64_t version)
{
        switch (a->under_way) {
        case APACHE_WRITE_STATUS:
                if (result == APACHE_RESULT_OK)
                        apache_record_written(core, a, version);
                break;
        case APACHE_SUBMIT:
                a->submitted = result == APACHE_RESULT_OK;
                if (result == APACHE_RESULT_FAILED)
                        apache_text_set(&a->refusal, message ? message : "unknown reason");
                break;
        case APACHE_RELEASE:
                a->released = a->released || result == APACHE_RESULT_OK;
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
        if (!a || !ticket || a->ticket != ticket)
                return false;
        a->ticket = 0;
        bool final = result == APACHE_RESULT_OK || (a->under_way == APACHE_SUBMIT && result == APACHE_RESULT_FAILED) ||
                     (a->under_way == APACHE_FIND_DRIVER && result == APACHE_RESULT_NOT_FOUND);
        if (final)
                a->failures = 0;
        else
                apache_record_pause(a, now_ms);
        apache_record_finish(core, a, result, message, version);
        apache_transition_deinit(&a->transition);
        return true;
}

enum apache_state apache_core_state(const struct apache_core *core, const char *namespace, const char *name)
{
        const struct apache_record *a = apache_record_find(core, namespace, name);
        return a ? a->status.state : APACHE_NEW;
}
