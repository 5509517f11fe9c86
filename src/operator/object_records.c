/* See object_records.h. */
#include "operator/object_records.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/string_prefix.h"

#include <stdlib.h>

#define FIRST_PAUSE_MS 250

static void object_text_set(char **text, const char *value)
{
        char *copy = mem_strdup_if(value);
        free(*text);
        *text = copy;
}

/* --------------------------------------------------------------------------------------------------------- records */

static bool object_record_has_key(const void *object, const void *key)
{
        return strcmp(((const struct object_record *)object)->key, key) == 0;
}

static void object_record_free(struct object_records *t, struct object_record *r)
{
        char *const texts[] = {r->uid,
                               r->driver.name,
                               r->driver.uid,
                               r->driver.reason,
                               r->driver.message,
                               r->driver.waiting,
                               r->driver.waiting_message};
        t->deinit(r);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free(texts[i]);
        for (size_t i = 0; i < r->executors.len; i++)
                free(r->executors.data[i].name);
        vec_deinit(&r->executors);
        free(r);
}

void object_records_deinit(struct object_records *t)
{
        while (t->first) {
                struct object_record *r = t->first;
                list_remove(t, r);
                object_record_free(t, r);
        }
        object_table_deinit(&t->table);
        object_table_deinit(&t->pods);
}

struct object_record *object_records_find(const struct object_records *t, const char *namespace, const char *name)
{
        _cleanup_free_ char *key = mem_printf("%s/%s", namespace, name);
        return object_table_find(&t->table, object_hash_text(key), object_record_has_key, key);
}

struct object_record *object_records_get(struct object_records *t, const char *namespace, const char *name)
{
        struct object_record *r = object_records_find(t, namespace, name);
        if (r)
                return r;
        size_t n_namespace = strlen(namespace) + 1, n_name = strlen(name) + 1;
        r = mem_zero(t->record_size + 2 * n_namespace + n_name);
        char *texts = (char *)r + t->record_size, *key = texts + n_namespace;
        memcpy(texts, namespace, n_namespace);
        memcpy(key, namespace, n_namespace);
        key[n_namespace - 1] = '/';
        memcpy(key + n_namespace, name, n_name);
        r->namespace = texts;
        r->key = key;
        r->name = key + n_namespace;
        object_table_put(&t->table, object_hash_text(r->key), r);
        list_append(t, r);
        return r;
}

struct object_record *object_records_find_object(const struct object_records *t, const char *namespace,
                                                 const char *name, const char *uid)
{
        struct object_record *r = object_records_find(t, namespace, name);
        return r && r->uid && (!uid || strcmp(r->uid, uid) == 0) ? r : NULL;
}

void object_records_drop_if_empty(struct object_records *t, struct object_record *r)
{
        if (r->uid || r->driver.present || r->executors.len > 0)
                return;
        object_table_remove(&t->table, object_hash_text(r->key), r);
        list_remove(t, r);
        object_record_free(t, r);
}

void object_record_begin(struct object_record *r, const char *uid)
{
        object_text_set(&r->uid, uid);
        r->version = r->ticket = 0;
        r->failures = 0;
        r->retry_at_ms = 0;
}

/* ------------------------------------------------------------------------------------------------------------- pods */

struct pod_key {
        const char *namespace, *name, *uid;
};

static bool object_record_has_driver_pod(const struct object_record *r, const struct pod_key *key)
{
        return r->driver.present && text_equals(r->driver.name, key->name) &&
               (!key->uid || text_equals(r->driver.uid, key->uid));
}

static bool object_record_has_pod(const void *object, const void *key)
{
        const struct object_record *r = object;
        const struct pod_key *k = key;
        bool found = strcmp(r->namespace, k->namespace) == 0;
        if (found && !object_record_has_driver_pod(r, k))
                object_record_executor_place(r, k->name, &found);
        return found;
}

static uint64_t pod_hash(const char *namespace, const char *pod)
{
        return object_hash_number(object_hash_text(namespace)) ^ object_hash_text(pod);
}

void object_records_set_driver(struct object_records *t, struct object_record *r, const struct seen_driver *seen)
{
        struct driver_pod *d = &r->driver;
        const struct {
                char **to;
                const char *from;
        } texts[] = {{&d->name, seen->name},       {&d->uid, seen->uid},
                     {&d->reason, seen->reason},   {&d->message, seen->message},
                     {&d->waiting, seen->waiting}, {&d->waiting_message, seen->waiting_message}};
        if (d->present)
                object_table_remove(&t->pods, pod_hash(r->namespace, d->name), r);
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                object_text_set(texts[i].to, texts[i].from);
        d->present = true;
        d->leaving = seen->leaving;
        d->exit_code = seen->exit_code;
        d->version = seen->version;
        object_table_put(&t->pods, pod_hash(r->namespace, d->name), r);
}

bool object_records_set_executor(struct object_records *t, struct object_record *r, const char *name, uint64_t attempt,
                                 uint64_t version, int state)
{
        bool found;
        size_t at = object_record_executor_place(r, name, &found);
        if (!found) {
                if (t->max_executors > 0 && r->executors.len >= t->max_executors)
                        return false;
                vec_reserve_tight(&r->executors, r->executors.len + 1);
                vec_insert(&r->executors, at, (struct executor_pod){.name = mem_strdup(name), .attempt = attempt});
                object_table_put(&t->pods, pod_hash(r->namespace, name), r);
        } else if (!object_version_is_news(version, r->executors.data[at].version)) {
                return false;
        }
        struct executor_pod *e = &r->executors.data[at];
        bool changed = !found || e->state != state;
        e->state = state;
        e->version = version;
        return changed;
}

size_t object_record_executor_place(const struct object_record *r, const char *name, bool *found)
{
        size_t low = 0, high = r->executors.len;
        while (low < high) {
                size_t middle = low + (high - low) / 2;
                if (strcmp(r->executors.data[middle].name, name) < 0)
                        low = middle + 1;
                else
                        high = middle;
        }
        *found = low < r->executors.len && strcmp(r->executors.data[low].name, name) == 0;
        return low;
}

struct object_record *object_records_find_pod(const struct object_records *t, const char *namespace, const char *name,
                                              const char *uid, bool *is_driver)
{
        const struct pod_key key = {namespace, name, uid};
        struct object_record *r = object_table_find(&t->pods, pod_hash(namespace, name), object_record_has_pod, &key);
        *is_driver = r && object_record_has_driver_pod(r, &key);
        return r;
}

bool object_records_remove_pod(struct object_records *t, struct object_record *r, const char *name, const char *uid,
                               bool *is_driver)
{
        const struct pod_key key = {r->namespace, name, uid};
        bool found = *is_driver = object_record_has_driver_pod(r, &key);
        if (found) {
                r->driver.present = false;
        } else {
                size_t at = object_record_executor_place(r, name, &found);
                if (!found)
                        return false;
                free(r->executors.data[at].name);
                memmove(&r->executors.data[at], &r->executors.data[at + 1],
                        (r->executors.len - at - 1) * sizeof(*r->executors.data));
                r->executors.len--;
        }
        object_table_remove(&t->pods, pod_hash(r->namespace, name), r);
        return true;
}

/* ----------------------------------------------------------------------------------------------------------- pauses */

int64_t object_pause_ms(int failures)
{
        return MIN((int64_t)FIRST_PAUSE_MS << MIN(failures, 10), (int64_t)LONGEST_OBJECT_PAUSE_MS);
}

void object_record_pause(struct object_record *r, int64_t now_ms)
{
        r->retry_at_ms = now_ms + object_pause_ms(r->failures++);
}
