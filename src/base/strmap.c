/* Insertion-ordered string map. Slots hold index + 1 and are rebuilt when entries exceed half of them. */
#include "base/strmap.h"

#include "base/mem.h"

static size_t hash_of(const char *key)
{
        size_t h = 14695981039346656037u; /* FNV-1a */
        for (; *key; key++)
                h = (h ^ (unsigned char)*key) * 1099511628211u;
        return h ^ (h >> 29);
}

static struct strmap_entry *strmap_find(const struct strmap *m, const char *key)
{
        if (!m->n_slots)
                return NULL;
        for (size_t i = hash_of(key);; i++) {
                unsigned slot = m->slots[i & (m->n_slots - 1)];
                if (!slot)
                        return NULL;
                struct strmap_entry *e = &m->entries[slot - 1];
                if (strcmp(e->key, key) == 0)
                        return e;
        }
}

static void strmap_place(struct strmap *m, size_t index)
{
        size_t i = hash_of(m->entries[index].key);
        while (m->slots[i & (m->n_slots - 1)])
                i++;
        m->slots[i & (m->n_slots - 1)] = (unsigned)index + 1;
}

static void strmap_grow(struct strmap *m)
{
        m->cap = m->cap ? m->cap * 2 : 16;
        m->entries = mem_grow(m->entries, m->cap * sizeof(*m->entries));
        free(m->slots);
        m->n_slots = m->cap * 2;
        m->slots = new_array(unsigned, m->n_slots);
        for (size_t i = 0; i < m->len; i++)
                strmap_place(m, i);
}

void strmap_deinit(struct strmap *m)
{
        for (size_t i = 0; i < m->len; i++) {
                free(m->entries[i].key);
                free(m->entries[i].value);
        }
        free(m->entries);
        free(m->slots);
        *m = STRMAP_INIT;
}

const char *strmap_get(const struct strmap *m, const char *key)
{
        const struct strmap_entry *e = strmap_find(m, key);
        return e ? e->value : NULL;
}

void strmap_set(struct strmap *m, const char *key, const char *value)
{
        char *copy = mem_strdup(value);
        struct strmap_entry *e = strmap_find(m, key);
        if (e) {
                m->count += e->value == NULL;
                free(e->value);
                e->value = copy;
                return;
        }
        if (m->len == m->cap)
                strmap_grow(m);
        m->entries[m->len] = (struct strmap_entry){.key = mem_strdup(key), .value = copy};
        strmap_place(m, m->len++);
        m->count++;
}

bool strmap_set_if_missing(struct strmap *m, const char *key, const char *value)
{
        if (strmap_get(m, key))
                return false;
        strmap_set(m, key, value);
        return true;
}

bool strmap_remove(struct strmap *m, const char *key)
{
        struct strmap_entry *e = strmap_find(m, key);
        if (!e || !e->value)
                return false;
        free(e->value);
        e->value = NULL;
        m->count--;
        return true;
}

void strmap_merge(struct strmap *m, const struct strmap *from)
{
        for (struct strmap_entry *e = NULL; (e = strmap_next(from, e));)
                strmap_set(m, e->key, e->value);
}

struct strmap_entry *strmap_next(const struct strmap *m, const struct strmap_entry *after)
{
        for (size_t i = after ? (size_t)(after - m->entries) + 1 : 0; i < m->len; i++)
                if (m->entries[i].value)
                        return &m->entries[i];
        return NULL;
}

static int by_key(const void *a, const void *b)
{
        return strcmp((*(struct strmap_entry *const *)a)->key, (*(struct strmap_entry *const *)b)->key);
}

struct strmap_entry **strmap_sorted(const struct strmap *m)
{
        struct strmap_entry **sorted = new_array(struct strmap_entry *, m->count);
        size_t n = 0;
        for (struct strmap_entry *e = NULL; (e = strmap_next(m, e));)
                sorted[n++] = e;
        qsort(sorted, n, sizeof(*sorted), by_key);
        return sorted;
}
