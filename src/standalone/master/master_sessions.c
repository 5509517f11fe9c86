/* See master_sessions.h. */
#include "standalone/master/master_sessions.h"

#include "base/list.h"
#include "base/mem.h"
#include "standalone/wire/standalone_wire.h"
#include "rpc/rpc.h"

struct member_key {
        enum session_role role;
        const char *key;
};

static bool has_number(const void *session, const void *key)
{
        return ((const struct session *)session)->number == *(const uint64_t *)key;
}

static bool master_sessions_has_key(const void *session, const void *key)
{
        const struct session *m = session;
        const struct member_key *k = key;
        return m->role == k->role && strcmp(m->key, k->key) == 0;
}

static uint64_t master_sessions_key_hash(enum session_role role, const char *key)
{
        return object_hash_text(key) + (uint64_t)role;
}

static void master_sessions_put(struct sessions *t, struct session *m)
{
        struct member_list *list = &t->of[m->role];
        list_append(list, m);
        list->n++;
}

static void master_sessions_take(struct sessions *t, struct session *m)
{
        struct member_list *list = &t->of[m->role];
        list_remove(list, m);
        list->n--;
}

struct session *sessions_add(struct sessions *t, struct rpc_peer *peer, int64_t now)
{
        struct session *m = new0(struct session);
        m->number = ++t->last_number;
        m->peer = rpc_peer_ref_new(peer);
        m->last_message = now;
        rpc_peer_set_data(peer, m);
        object_table_put(&t->by_number, object_hash_number(m->number), m);
        master_sessions_put(t, m);
        return m;
}

struct session *sessions_find(const struct sessions *t, uint64_t number)
{
        return object_table_find(&t->by_number, object_hash_number(number), has_number, &number);
}

struct session *sessions_find_key(const struct sessions *t, enum session_role role, const char *key)
{
        return object_table_find(&t->by_key, master_sessions_key_hash(role, key), master_sessions_has_key,
                                 &(struct member_key){role, key});
}

void sessions_touch(struct sessions *t, struct session *m, int64_t now)
{
        m->last_message = now;
        if (m->role != SESSION_UNAUTHORIZED || !m->next)
                return;
        master_sessions_take(t, m);
        master_sessions_put(t, m);
}

static void become_unauthorized(struct sessions *t, struct session *m)
{
        if (m->role == SESSION_UNAUTHORIZED)
                return;
        object_table_remove(&t->by_key, master_sessions_key_hash(m->role, m->key), m);
        master_sessions_take(t, m);
        m->role = SESSION_UNAUTHORIZED;
        master_sessions_put(t, m);
        free(steal(m->key));
        free(steal(m->app_id));
        rpc_ref_unref(steal(m->ref));
}

struct session *sessions_identify(struct sessions *t, struct session *m, enum session_role role, const char *key)
{
        struct session *before = sessions_find_key(t, role, key);
        if (before == m)
                return NULL;
        if (before)
                become_unauthorized(t, before);
        become_unauthorized(t, m);
        master_sessions_take(t, m);
        m->role = role;
        master_sessions_put(t, m);
        m->key = mem_strdup(key);
        m->ref = rpc_peer_ref(m->peer, role == SESSION_WORKER ? STANDALONE_WORKER_ENDPOINT : STANDALONE_APP_ENDPOINT);
        object_table_put(&t->by_key, master_sessions_key_hash(role, key), m);
        return before;
}

void sessions_dismiss(struct sessions *t, struct session *m)
{
        become_unauthorized(t, m);
}

void sessions_remove(struct sessions *t, struct session *m)
{
        become_unauthorized(t, m);
        master_sessions_take(t, m);
        object_table_remove(&t->by_number, object_hash_number(m->number), m);
        rpc_peer_set_data(m->peer, NULL);
        rpc_peer_unref(m->peer);
        free(m);
}

void sessions_deinit(struct sessions *t)
{
        for (size_t role = 0; role < ARRAY_SIZE(t->of); role++)
                while (t->of[role].first)
                        sessions_remove(t, t->of[role].first);
        object_table_deinit(&t->by_number);
        object_table_deinit(&t->by_key);
}
