/* See waiting_objects.h. */
#include "operator/shell/waiting_objects.h"

#include "base/hash_table.h"
#include "base/list.h"
#include "base/mem.h"
#include "text/json.h"

#include <stdlib.h>
#include <string.h>

struct waiting_object {
        struct waiting_object *prev, *next;
        size_t bytes;
        char *text;
        char key[]; /* "NAMESPACE/NAME" */
};

struct waiting_objects {
        struct object_table table;
        LIST(struct waiting_object) objects;
        size_t bytes, most_bytes;
};

struct waiting_objects *waiting_objects_new(size_t most_bytes)
{
        struct waiting_objects *w = new0(struct waiting_objects);
        w->most_bytes = most_bytes;
        return w;
}

static bool waiting_object_has_key(const void *object, const void *key)
{
        return strcmp(((const struct waiting_object *)object)->key, key) == 0;
}

static struct waiting_object *waiting_objects_find(const struct waiting_objects *w, const char *namespace,
                                                   const char *name)
{
        _cleanup_free_ char *key = mem_printf("%s/%s", namespace, name);
        return object_table_find(&w->table, object_hash_text(key), waiting_object_has_key, key);
}

static void waiting_objects_remove(struct waiting_objects *w, struct waiting_object *o)
{
        object_table_remove(&w->table, object_hash_text(o->key), o);
        list_remove(&w->objects, o);
        w->bytes -= o->bytes;
        free(o->text);
        free(o);
}

void waiting_objects_free(struct waiting_objects *w)
{
        if (!w)
                return;
        while (w->objects.first)
                waiting_objects_remove(w, w->objects.first);
        object_table_deinit(&w->table);
        free(w);
}

/* Returns the text of the object without the members that a submission does not read. The caller owns it. */
static char *waiting_object_text(const json_t *object)
{
        json_t *copy = json_copy((json_t *)object), *metadata = json_copy(json_object_get(object, "metadata"));
        json_object_del(metadata, "managedFields");
        json_object_set_new(copy, "metadata", metadata);
        json_object_del(copy, "status");
        char *text = json_dumps(copy, JSON_COMPACT);
        json_decref(copy);
        return text;
}

void waiting_objects_keep(struct waiting_objects *w, const json_t *object)
{
        const char *namespace = json_text_or_empty(object, "metadata.namespace");
        const char *name = json_text_or_empty(object, "metadata.name");
        waiting_objects_drop(w, namespace, name);
        if (w->bytes >= w->most_bytes)
                return;
        _cleanup_free_ char *key = mem_printf("%s/%s", namespace, name);
        _cleanup_free_ char *text = waiting_object_text(object);
        size_t n_key = strlen(key) + 1, bytes = sizeof(struct waiting_object) + n_key + (text ? strlen(text) + 1 : 0);
        if (!text || bytes > w->most_bytes - w->bytes)
                return;
        struct waiting_object *o = mem_zero(sizeof(*o) + n_key);
        memcpy(o->key, key, n_key);
        o->text = steal(text);
        o->bytes = bytes;
        list_append(&w->objects, o);
        object_table_put(&w->table, object_hash_text(key), o);
        w->bytes += bytes;
}

json_t *waiting_objects_take(struct waiting_objects *w, const char *namespace, const char *name, const char *uid,
                             uint64_t version)
{
        struct waiting_object *o = waiting_objects_find(w, namespace, name);
        if (!o)
                return NULL;
        json_t *object = json_loads(o->text, 0, NULL);
        const char *known = json_text_or_empty(object, "metadata.resourceVersion");
        waiting_objects_remove(w, o);
        if (strcmp(json_text_or_empty(object, "metadata.uid"), uid) == 0 && strtoull(known, NULL, 10) == version)
                return object;
        json_decref(object);
        return NULL;
}

void waiting_objects_drop(struct waiting_objects *w, const char *namespace, const char *name)
{
        struct waiting_object *o = waiting_objects_find(w, namespace, name);
        if (o)
                waiting_objects_remove(w, o);
}

size_t waiting_objects_bytes(const struct waiting_objects *w)
{
        return w->bytes;
}
