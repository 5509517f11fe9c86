/*
 * Each key has one record: in the list of its namespace while it is due, in a heap by time while it waits, else in the
 * list of idle keys. Namespaces with due keys form a ring. An idle key without failures is freed.
 */
#include "operator/shell/work_queue.h"

#include "base/hash_table.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/vec.h"

#define NOT_IN_HEAP SIZE_MAX
#define MAX_DOUBLINGS 40

struct work_namespace {
        struct work_namespace *prev, *next; /* in the ring */
        LIST(struct work_key) due;
        size_t n_keys;
        char name[];
};

struct work_key {
        struct work_key *prev, *next; /* in `due` of its namespace, or in `idle` */
        struct work_namespace *namespace;
        int64_t when; /* in the heap */
        size_t at;    /* index in the heap, or NOT_IN_HEAP */
        int kind;
        int failures;
        bool due;
        char name[];
};

struct work_queue {
        struct work_queue_options options;
        struct object_table keys, namespaces;
        LIST(struct work_namespace) ring;
        LIST(struct work_key) idle;
        VEC(struct work_key *) heap;
        size_t n_due;
        int64_t tokens, filled; /* tokens in billionths; when they were counted */
        struct work_key *taken; /* of the last item: freed with the next call */
};

struct work_key_name {
        int kind;
        const char *namespace, *name;
};

static bool work_key_is_idle(const struct work_key *key)
{
        return !key->due && key->at == NOT_IN_HEAP;
}

/* ---------------------------------------------------------------------------------------------------------- heap */

static void work_heap_place(struct work_queue *q, size_t at, struct work_key *key)
{
        q->heap.data[at] = key;
        key->at = at;
}

static void work_heap_fix(struct work_queue *q, size_t at)
{
        struct work_key *key = q->heap.data[at];
        for (size_t up; at > 0 && q->heap.data[up = (at - 1) / 2]->when > key->when; at = up)
                work_heap_place(q, at, q->heap.data[up]);
        for (size_t down; (down = 2 * at + 1) < q->heap.len; at = down) {
                if (down + 1 < q->heap.len && q->heap.data[down + 1]->when < q->heap.data[down]->when)
                        down++;
                if (q->heap.data[down]->when >= key->when)
                        break;
                work_heap_place(q, at, q->heap.data[down]);
        }
        work_heap_place(q, at, key);
}

static void work_heap_remove(struct work_queue *q, struct work_key *key)
{
        size_t at = key->at;
        if (at == NOT_IN_HEAP)
                return;
        key->at = NOT_IN_HEAP;
        struct work_key *last = q->heap.data[--q->heap.len];
        if (last == key)
                return;
        work_heap_place(q, at, last);
        work_heap_fix(q, at);
}

/* @key is not due. */
static void work_heap_put(struct work_queue *q, struct work_key *key, int64_t when)
{
        if (work_key_is_idle(key))
                list_remove(&q->idle, key);
        key->when = when;
        if (key->at == NOT_IN_HEAP) {
                vec_push(&q->heap, key);
                key->at = q->heap.len - 1;
        }
        work_heap_fix(q, key->at);
}

/* ---------------------------------------------------------------------------------------------------------- keys */

static bool work_namespace_has_name(const void *object, const void *key)
{
        return strcmp(((const struct work_namespace *)object)->name, key) == 0;
}

static bool work_key_has_name(const void *object, const void *name)
{
        const struct work_key *key = object;
        const struct work_key_name *wanted = name;
        return key->kind == wanted->kind && strcmp(key->name, wanted->name) == 0 &&
               strcmp(key->namespace->name, wanted->namespace) == 0;
}

static uint64_t work_key_hash(int kind, const char *namespace, const char *name)
{
        return object_hash_number(object_hash_text(namespace) * 31 + object_hash_text(name) + (uint64_t)kind);
}

static struct work_key *work_key_find(const struct work_queue *q, int kind, const char *namespace, const char *name)
{
        return object_table_find(&q->keys, work_key_hash(kind, namespace, name), work_key_has_name,
                                 &(struct work_key_name){kind, namespace, name});
}

static struct work_namespace *work_namespace_get(struct work_queue *q, const char *name)
{
        uint64_t hash = object_hash_text(name);
        struct work_namespace *ns = object_table_find(&q->namespaces, hash, work_namespace_has_name, name);
        if (!ns) {
                ns = mem_zero(sizeof(*ns) + strlen(name) + 1);
                strcpy(ns->name, name);
                object_table_put(&q->namespaces, hash, ns);
        }
        return ns;
}

static struct work_key *work_key_get(struct work_queue *q, int kind, const char *namespace, const char *name)
{
        struct work_key *key = work_key_find(q, kind, namespace, name);
        if (key)
                return key;
        key = mem_zero(sizeof(*key) + strlen(name) + 1);
        strcpy(key->name, name);
        key->kind = kind;
        key->at = NOT_IN_HEAP;
        key->namespace = work_namespace_get(q, namespace);
        key->namespace->n_keys++;
        list_append(&q->idle, key);
        object_table_put(&q->keys, work_key_hash(kind, namespace, name), key);
        return key;
}

static void work_key_set_due(struct work_queue *q, struct work_key *key)
{
        if (key->due)
                return;
        if (work_key_is_idle(key))
                list_remove(&q->idle, key);
        work_heap_remove(q, key);
        struct work_namespace *ns = key->namespace;
        if (!ns->due.first)
                list_append(&q->ring, ns);
        list_append(&ns->due, key);
        key->due = true;
        q->n_due++;
}

/* Makes a due key idle. */
static void work_key_unset_due(struct work_queue *q, struct work_key *key)
{
        struct work_namespace *ns = key->namespace;
        list_remove(&ns->due, key);
        key->due = false;
        q->n_due--;
        if (!ns->due.first)
                list_remove(&q->ring, ns);
        list_append(&q->idle, key);
}

static void work_key_free(struct work_queue *q, struct work_key *key)
{
        struct work_namespace *ns = key->namespace;
        if (key->due)
                work_key_unset_due(q, key);
        if (work_key_is_idle(key))
                list_remove(&q->idle, key);
        work_heap_remove(q, key);
        object_table_remove(&q->keys, work_key_hash(key->kind, ns->name, key->name), key);
        free(key);
        if (--ns->n_keys > 0)
                return;
        object_table_remove(&q->namespaces, object_hash_text(ns->name), ns);
        free(ns);
}

/* Frees the key that the last item borrows, unless it was added again or has failures. */
static void work_queue_release(struct work_queue *q)
{
        struct work_key *key = q->taken;
        q->taken = NULL;
        if (key && work_key_is_idle(key) && key->failures == 0)
                work_key_free(q, key);
}

/* --------------------------------------------------------------------------------------------------------- queue */

struct work_queue *work_queue_new(const struct work_queue_options *options)
{
        struct work_queue *q = new0(struct work_queue);
        q->options = *options;
        if (!q->options.first_pause)
                q->options.first_pause = 5 * NS_PER_MS;
        if (!q->options.most_pause)
                q->options.most_pause = 1000 * NS_PER_SECOND;
        if (!q->options.burst)
                q->options.burst = 500;
        q->tokens = q->options.burst * NS_PER_SECOND;
        q->filled = INT64_MIN;
        return q;
}

void work_queue_free(struct work_queue *q)
{
        if (!q)
                return;
        while (q->ring.first)
                work_key_free(q, q->ring.first->due.first);
        while (q->heap.len > 0)
                work_key_free(q, q->heap.data[0]);
        while (q->idle.first)
                work_key_free(q, q->idle.first);
        object_table_deinit(&q->keys);
        object_table_deinit(&q->namespaces);
        vec_deinit(&q->heap);
        free(q);
}

void work_queue_add(struct work_queue *q, int kind, const char *namespace, const char *name)
{
        work_key_set_due(q, work_key_get(q, kind, namespace, name));
}

void work_queue_add_at(struct work_queue *q, int kind, const char *namespace, const char *name, int64_t when)
{
        if (when == INT64_MAX)
                return;
        struct work_key *key = work_key_get(q, kind, namespace, name);
        if (!key->due && (key->at == NOT_IN_HEAP || when < key->when))
                work_heap_put(q, key, when);
}

void work_queue_add_failed(struct work_queue *q, int kind, const char *namespace, const char *name, int64_t now)
{
        struct work_key *key = work_key_get(q, kind, namespace, name);
        int64_t pause = q->options.first_pause;
        for (int i = 0; i < key->failures && pause < q->options.most_pause; i++)
                pause *= 2;
        key->failures = MIN(key->failures + 1, MAX_DOUBLINGS);
        if (!key->due)
                work_heap_put(q, key, now + MIN(pause, q->options.most_pause));
}

void work_queue_forget_failures(struct work_queue *q, int kind, const char *namespace, const char *name)
{
        struct work_key *key = work_key_find(q, kind, namespace, name);
        if (!key)
                return;
        key->failures = 0;
        if (work_key_is_idle(key) && key != q->taken)
                work_key_free(q, key);
}

void work_queue_remove(struct work_queue *q, int kind, const char *namespace, const char *name)
{
        struct work_key *key = work_key_find(q, kind, namespace, name);
        if (!key)
                return;
        if (key == q->taken)
                q->taken = NULL;
        work_key_free(q, key);
}

/* Adds the tokens since the last look. */
static void work_queue_fill(struct work_queue *q, int64_t now)
{
        int64_t most = q->options.burst * NS_PER_SECOND;
        if (q->filled != INT64_MIN && now > q->filled) {
                int64_t passed = now - q->filled;
                q->tokens = passed > most / q->options.rate ? most : MIN(most, q->tokens + passed * q->options.rate);
        }
        q->filled = now;
}

bool work_queue_next(struct work_queue *q, int64_t now, struct work_item *out)
{
        work_queue_release(q);
        while (q->heap.len > 0 && q->heap.data[0]->when <= now)
                work_key_set_due(q, q->heap.data[0]);
        if (!q->ring.first)
                return false;
        if (q->options.rate > 0) {
                work_queue_fill(q, now);
                if (q->tokens < NS_PER_SECOND)
                        return false;
                q->tokens -= NS_PER_SECOND;
        }
        struct work_namespace *ns = q->ring.first;
        struct work_key *key = ns->due.first;
        work_key_unset_due(q, key);
        if (ns->due.first) { /* the next turn is that of another namespace */
                list_remove(&q->ring, ns);
                list_append(&q->ring, ns);
        }
        q->taken = key;
        *out = (struct work_item){.kind = key->kind, .namespace = ns->name, .name = key->name};
        return true;
}

int64_t work_queue_deadline(const struct work_queue *q, int64_t now)
{
        int64_t timed = q->heap.len > 0 ? q->heap.data[0]->when : INT64_MAX;
        if (!q->ring.first)
                return timed;
        if (q->options.rate <= 0 || q->filled == INT64_MIN || q->tokens >= NS_PER_SECOND)
                return MIN(timed, now);
        return MAX(now, q->filled + (NS_PER_SECOND - q->tokens + q->options.rate - 1) / q->options.rate);
}

size_t work_queue_depth(const struct work_queue *q)
{
        return q->n_due;
}
