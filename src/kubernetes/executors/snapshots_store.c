/*
 * Stores pod states and delivers changes in batches. Differs from Spark, which passes a whole snapshot per event: each
 * subscription gets the list of new states, which costs as much as has changed.
 *
 * By resource version the store ignores an older state of the same pod, an unknown pod that is older than a list
 * without it, and an unknown pod in a list that is older than the newest known deletion (it is probably the deleted
 * pod).
 *
 * Invariant: every state in `pods` was once in each subscription's changes.
 */
#include "kubernetes/executors/snapshots_store.h"

#include "text/json.h"

#include <string.h>

struct pods_changes {
        VEC(struct pod_state *) states;
        VEC(int32_t) gone;
};

struct pods_subscription {
        const struct pods_snapshot *pods;
        int64_t interval;
        int64_t due;               /* no batch before this time */
        bool notified;             /* deliver earlier */
        struct pods_changes next;  /* since the last batch */
        struct pods_changes taken; /* the last batch */
        bool full;
        int news;
};

struct snapshots_store {
        struct pod_rules rules;
        char *container;
        struct pods_snapshot pods;
        VEC(struct pods_subscription *) subscriptions;
        VEC(struct pod_state *) list; /* items of the running list */
        uint64_t list_version, gone_version;
};

struct snapshots_store *snapshots_store_new(const struct pod_rules *rules)
{
        struct snapshots_store *store = new0(struct snapshots_store);

        store->container = rules->container ? mem_strdup(rules->container) : NULL;
        store->rules = (struct pod_rules){.container = store->container, .check_all = rules->check_all};
        return store;
}

static void list_clear(struct snapshots_store *store)
{
        for (size_t i = 0; i < store->list.len; i++)
                pod_state_unref(store->list.data[i]);
        store->list.len = 0;
}

static void changes_clear(struct pods_changes *c)
{
        for (size_t i = 0; i < c->states.len; i++)
                pod_state_unref(c->states.data[i]);
        c->states.len = c->gone.len = 0;
}

static void changes_deinit(struct pods_changes *c)
{
        changes_clear(c);
        vec_deinit(&c->states);
        vec_deinit(&c->gone);
}

void snapshots_store_free(struct snapshots_store *store)
{
        if (!store)
                return;
        for (size_t i = 0; i < store->subscriptions.len; i++) {
                changes_deinit(&store->subscriptions.data[i]->next);
                changes_deinit(&store->subscriptions.data[i]->taken);
                free(store->subscriptions.data[i]);
        }
        vec_deinit(&store->subscriptions);
        list_clear(store);
        vec_deinit(&store->list);
        pods_snapshot_deinit(&store->pods);
        free(store->container);
        free(store);
}

struct pods_subscription *snapshots_store_subscribe(struct snapshots_store *store, int64_t interval, int64_t now)
{
        struct pods_subscription *s = new0(struct pods_subscription);

        s->pods = &store->pods;
        s->interval = interval;
        s->due = now;
        s->news = 1;
        s->full = store->pods.full_at != 0;
        for (const struct pod_state *p = NULL; (p = pods_snapshot_next(&store->pods, p));)
                vec_push(&s->next.states, pod_state_ref(pods_snapshot_get(&store->pods, p->id)));
        vec_push(&store->subscriptions, s);
        return s;
}

/* ------------------------------------------------------------------------------------------------------ changes */

static void snapshots_store_note_event(struct snapshots_store *store)
{
        for (size_t i = 0; i < store->subscriptions.len; i++)
                store->subscriptions.data[i]->news++;
}

static void snapshots_store_note_change(struct snapshots_store *store, struct pod_state *pod)
{
        for (size_t i = 0; i < store->subscriptions.len; i++)
                vec_push(&store->subscriptions.data[i]->next.states, pod_state_ref(pod));
}

static void snapshots_store_note_removal(struct snapshots_store *store, int32_t id)
{
        for (size_t i = 0; i < store->subscriptions.len; i++)
                vec_push(&store->subscriptions.data[i]->next.gone, id);
}

static bool is_older(uint64_t version, uint64_t than)
{
        return version && than && version < than;
}

static bool same_pod(const struct pod_state *a, const struct pod_state *b)
{
        return !a->uid || !b->uid || strcmp(a->uid, b->uid) == 0;
}

/* Replaces the known state of the pod and marks its place. */
static void snapshots_store_put(struct snapshots_store *store, struct pod_state *pod)
{
        struct pod_state *known = pods_snapshot_get(&store->pods, pod->id);

        if (known && same_pod(known, pod) && is_older(pod->version, known->version))
                pod = known;
        bool is_news = !known || !pod_state_same(known, pod);
        pods_snapshot_set(&store->pods, pod)->mark = true;
        if (is_news)
                snapshots_store_note_change(store, pod);
}

void snapshots_store_update(struct snapshots_store *store, const json_t *pod, int64_t now)
{
        struct pod_state *state;

        if (pod_state_read(pod, &store->rules, &state))
                return;
        if (pods_snapshot_get(&store->pods, state->id) || !is_older(state->version, store->list_version))
                snapshots_store_put(store, state);
        pod_state_unref(state);
        snapshots_store_note_event(store);
}

/* @last: the last known state. Its end is reported before its removal. */
static void remove_pod(struct snapshots_store *store, struct pod_state *last)
{
        const struct pod_state *known = pods_snapshot_get(&store->pods, last->id);
        struct pod_state *gone = last->kind == POD_DELETED ? pod_state_ref(last) : pod_state_deleted(last);
        int32_t id = last->id;

        if (last->kind != POD_DELETED && pod_state_kind_is_final(last->kind) &&
            (!known || !pod_state_same(known, last)))
                snapshots_store_note_change(store, last);
        snapshots_store_note_change(store, gone);
        pod_state_unref(gone);
        pods_snapshot_remove(&store->pods, id);
        snapshots_store_note_removal(store, id);
}

void snapshots_store_delete(struct snapshots_store *store, const json_t *pod, int64_t now)
{
        const json_t *metadata = json_object_get(pod, "metadata");
        const char *name = json_text_at(metadata, "name");
        const char *uid = json_text_at(metadata, "uid");
        struct pod_state *known = name ? pods_snapshot_named(&store->pods, name) : NULL, *last = NULL;

        snapshots_store_note_event(store);
        if (known && uid && known->uid && strcmp(uid, known->uid) != 0)
                return; /* the deleted pod was another one of that name */
        if (pod_state_read(pod, &store->rules, &last) == 0)
                store->gone_version = MAX(store->gone_version, last->version);
        if (known && (!last || (!pod_state_kind_is_final(last->kind) && pod_state_kind_is_final(known->kind)))) {
                pod_state_unref(last);
                last = pod_state_ref(known); /* it has more about its end */
        }
        if (last && (known || !is_older(last->version, store->list_version)))
                remove_pod(store, last);
        pod_state_unref(last);
}

void snapshots_store_synced(struct snapshots_store *store, int64_t now)
{
        store->pods.full_at = now;
        for (size_t i = 0; i < store->subscriptions.len; i++)
                store->subscriptions.data[i]->full = true;
        snapshots_store_note_event(store);
}

/* -------------------------------------------------------------------------------------------------------- lists */

void snapshots_store_list_begin(struct snapshots_store *store)
{
        list_clear(store);
}

void snapshots_store_list_pod(struct snapshots_store *store, const json_t *pod, int64_t now)
{
        struct pod_state *state;

        if (pod_state_read(pod, &store->rules, &state) == 0)
                vec_push(&store->list, state);
}

static void snapshots_store_sweep(struct snapshots_store *store, uint64_t version)
{
        VEC(int32_t) gone = {0};

        for (size_t i = 0; i < store->pods.places.len; i++) {
                const struct pods_place *p = &store->pods.places.data[i];
                if (p->pod && !p->mark && !is_older(version, p->pod->version))
                        vec_push(&gone, p->id);
        }
        for (size_t i = 0; i < gone.len; i++)
                remove_pod(store, pods_snapshot_get(&store->pods, gone.data[i]));
        vec_deinit(&gone);
}

void snapshots_store_list_end(struct snapshots_store *store, const char *version, int64_t now)
{
        uint64_t of_list = version ? strtoull(version, NULL, 10) : 0;
        bool is_behind = is_older(of_list, store->gone_version);

        for (size_t i = 0; i < store->pods.places.len; i++)
                store->pods.places.data[i].mark = false;
        for (size_t i = 0; i < store->list.len; i++) {
                struct pod_state *pod = store->list.data[i];
                if (!is_behind || pods_snapshot_get(&store->pods, pod->id))
                        snapshots_store_put(store, pod);
        }
        list_clear(store);
        snapshots_store_sweep(store, of_list);
        store->list_version = of_list;
        snapshots_store_synced(store, now);
}

/* ----------------------------------------------------------------------------------------------------- delivery */

void snapshots_store_notify(struct snapshots_store *store)
{
        for (size_t i = 0; i < store->subscriptions.len; i++)
                store->subscriptions.data[i]->notified = true;
}

int64_t snapshots_store_deadline(const struct snapshots_store *store)
{
        int64_t first = INT64_MAX;

        for (size_t i = 0; i < store->subscriptions.len; i++) {
                const struct pods_subscription *s = store->subscriptions.data[i];
                if (s->notified)
                        return INT64_MIN;
                if (s->news)
                        first = MIN(first, s->due);
        }
        return first;
}

bool pods_subscription_next(struct pods_subscription *s, struct pods_batch *batch, int64_t now)
{
        const struct pods_changes next = s->next;

        if (!s->notified && (!s->news || s->due > now))
                return false;
        changes_clear(&s->taken);
        s->next = s->taken;
        s->taken = next;
        *batch = (struct pods_batch){.pods = s->pods,
                                     .changes = next.states.data,
                                     .n_changes = next.states.len,
                                     .gone = next.gone.data,
                                     .n_gone = next.gone.len,
                                     .full = s->full,
                                     .news = s->news};
        s->notified = s->full = false;
        s->news = 0;
        s->due = now + s->interval;
        return true;
}

const struct pods_snapshot *snapshots_store_pods(const struct snapshots_store *store)
{
        return &store->pods;
}
