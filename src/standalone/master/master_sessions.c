/* See master_members.h. */
#include "standalone/master/master_sessions.h"

#include "base/mem.h"
#include "standalone/wire/standalone_wire.h"
#include "rpc/rpc.h"

struct member_key {
        enum member_role role;
        const char *key;
};

static bool has_number(const void *member, const void *key)
{
        return ((const struct member *)member)->number == *(const uint64_t *)key;
}

static bool has_key(const void *member, const void *key)
{
        const struct member *m = member;
        const struct member_key *k = key;
        return m->role == k->role && strcmp(m->key, k->key) == 0;
}

static uint64_t key_hash(enum member_role role, const char *key)
{
        return object_hash_text(key) + (uint64_t)role;
}

static void put(struct members *t, struct member *m)
{
        struct member_list *list = &t->of[m->role];
        m->prev = list->last;
        m->next = NULL;
        *(m->prev ? &m->prev->next : &list->first) = m;
        list->last = m;
        list->n++;
}

static void take(struct members *t, struct member *m)
{
        struct member_list *list = &t->of[m->role];
        *(m->prev ? &m->prev->next : &list->first) = m->next;
        *(m->next ? &m->next->prev : &list->last) = m->prev;
        m->prev = m->next = NULL;
        list->n--;
}

struct member *members_add(struct members *t, struct rpc_peer *peer, int64_t now)
{
        struct member *m = new0(struct member);
        m->number = ++t->last_number;
        m->peer = rpc_peer_ref_new(peer);
        m->heard = now;
        rpc_peer_set_data(peer, m);
        object_table_put(&t->by_number, object_hash_number(m->number), m);
        put(t, m);
        return m;
}

struct member *members_find(const struct members *t, uint64_t number)
{
        return object_table_find(&t->by_number, object_hash_number(number), has_number, &number);
}

struct member *members_find_key(const struct members *t, enum member_role role, const char *key)
{
        return object_table_find(&t->by_key, key_hash(role, key), has_key, &(struct member_key){role, key});
}

void members_heard(struct members *t, struct member *m, int64_t now)
{
        m->heard = now;
        if (m->role != MEMBER_GUEST || !m->next)
                return;
        take(t, m);
        put(t, m);
}

static void become_guest(struct members *t, struct member *m)
{
        if (m->role == MEMBER_GUEST)
                return;
        object_table_remove(&t->by_key, key_hash(m->role, m->key), m);
        take(t, m);
        m->role = MEMBER_GUEST;
        put(t, m);
        free(steal(m->key));
        free(steal(m->app_id));
        rpc_ref_unref(steal(m->ref));
}

struct member *members_name(struct members *t, struct member *m, enum member_role role, const char *key)
{
        struct member *before = members_find_key(t, role, key);
        if (before == m)
                return NULL;
        if (before)
                become_guest(t, before);
        become_guest(t, m);
        take(t, m);
        m->role = role;
        put(t, m);
        m->key = mem_strdup(key);
        m->ref = rpc_peer_ref(m->peer, role == MEMBER_WORKER ? STANDALONE_WORKER_ENDPOINT : STANDALONE_APP_ENDPOINT);
        object_table_put(&t->by_key, key_hash(role, key), m);
        return before;
}

void members_remove(struct members *t, struct member *m)
{
        become_guest(t, m);
        take(t, m);
        object_table_remove(&t->by_number, object_hash_number(m->number), m);
        rpc_peer_set_data(m->peer, NULL);
        rpc_peer_unref(m->peer);
        free(m);
}

void members_deinit(struct members *t)
{
        for (size_t role = 0; role < ARRAY_SIZE(t->of); role++)
                while (t->of[role].first)
                        members_remove(t, t->of[role].first);
        object_table_deinit(&t->by_number);
        object_table_deinit(&t->by_key);
}
