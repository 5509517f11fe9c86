/* One table of addresses for each kind of handle. */
#include "base/live_handles.h"

#include "base/hash_table.h"

#include <pthread.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct object_table tables[HANDLE_KINDS];

static uint64_t handle_hash(const void *object)
{
        return object_hash_number((uint64_t)(uintptr_t)object);
}

static bool handle_is(const void *object, const void *key)
{
        return object == key;
}

void live_handle_add(enum handle_kind kind, const void *object)
{
        pthread_mutex_lock(&lock);
        object_table_put(&tables[kind], handle_hash(object), (void *)object);
        pthread_mutex_unlock(&lock);
}

static bool handle_find(enum handle_kind kind, const void *object)
{
        return object && object_table_find(&tables[kind], handle_hash(object), handle_is, object);
}

bool live_handle_remove(enum handle_kind kind, const void *object)
{
        pthread_mutex_lock(&lock);
        bool found = handle_find(kind, object);
        if (found)
                object_table_remove(&tables[kind], handle_hash(object), object);
        if (tables[kind].count == 0)
                object_table_deinit(&tables[kind]);
        pthread_mutex_unlock(&lock);
        return found;
}

bool live_handle_has(enum handle_kind kind, const void *object)
{
        pthread_mutex_lock(&lock);
        bool found = handle_find(kind, object);
        pthread_mutex_unlock(&lock);
        return found;
}
