/*
 * Follows driver pods on one watch per namespace. The watch begins when its first pod is followed, before that pod is
 * created, so each pod is in the list or in an event. A pod that was created and deleted while the server was
 * unreachable is in neither: after a new list, unseen pods are requested by name.
 *
 * An unused watch stays for some seconds, so that consecutive submissions do not list all drivers each time.
 */
#include "kubernetes/driver/driver_pods_watch.h"

#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "kubernetes/api/kube_watch.h"
#include "base/hash_table.h"

#include <string.h>

#define IDLE_MS 10000
/* A failure this long after the last one belongs to another outage: between them the watch worked. */
#define APART_MS 300000

struct place {
        struct pod_follower *follower;
        struct place *next;
        char *namespace;
        struct kube_watch *watch; /* NULL: ended with the last pod */
        struct object_table table;
        struct followed_pod *first, *last;
        uv_timer_t idle;
        int refusals;
        uint64_t failed, away_since; /* the last failure, and the first of this outage; 0: none */
};

struct followed_pod {
        struct place *place;
        struct followed_pod *prev, *next;
        struct followed_pod *twin; /* another pod of the same name, of which only one can be created */
        void *owner;
        char *name, *uid;
        bool seen, early_gone;
        json_t *early; /* the last event before the uid was known */
        struct kube_call *look;
};

struct pod_follower {
        struct kube_client *client;
        char *labels;
        const struct pod_follower_ops *ops;
        struct place *first;
};

static const char *driver_pods_watch_metadata_text(const json_t *pod, const char *key)
{
        return json_string_value(json_object_get(json_object_get(pod, "metadata"), key));
}

static bool driver_pods_watch_has_name(const void *object, const void *name)
{
        return strcmp(((const struct followed_pod *)object)->name, name) == 0;
}

/* @p may be invalid afterwards. */
static void driver_pods_watch_tell(struct followed_pod *p, bool gone, const json_t *pod)
{
        const struct pod_follower_ops *ops = p->place->follower->ops;
        const char *uid = driver_pods_watch_metadata_text(pod, "uid");
        bool same = uid && strcmp(uid, p->uid) == 0;
        if (gone && !same)
                return; /* an earlier pod of that name */
        p->seen = true;
        if (gone || !same)
                ops->gone(p->owner, same && json_object_get(pod, "status") ? pod : NULL);
        else
                ops->changed(p->owner, pod);
}

/* ------------------------------------------------------------------------------------------------ requests by name */

static void driver_pods_watch_on_looked(void *owner, struct kube_call *call, int r, const struct kube_answer *answer)
{
        struct followed_pod *p = owner;
        p->look = NULL;
        if (r == 0 && answer->object)
                driver_pods_watch_tell(p, false, answer->object);
        else if (r == FST_KUBE_E_NOT_FOUND)
                p->place->follower->ops->gone(p->owner, NULL);
        /* else the watch continues and reports the outage */
}

static void driver_pods_watch_look(struct followed_pod *p)
{
        if (p->look)
                return;
        _cleanup_free_ char *path = kube_path("v1", p->place->namespace, "pods", p->name);
        p->look = kube_get(p->place->follower->client, path, driver_pods_watch_on_looked, p);
}

/* ---------------------------------------------------------------------------------------------------------- watch */

static void driver_pods_watch_on_event(void *owner, enum kube_event what, json_t *pod)
{
        struct place *place = owner;
        place->refusals = 0;
        place->away_since = 0;
        if (what == KUBE_SYNCED) {
                for (struct followed_pod *p = place->first; p; p = p->next)
                        if (p->uid && !p->seen)
                                driver_pods_watch_look(p);
                return;
        }
        const char *name = driver_pods_watch_metadata_text(pod, "name");
        struct followed_pod *p =
                name ? object_table_find(&place->table, object_hash_text(name), driver_pods_watch_has_name, name)
                     : NULL;
        for (struct followed_pod *twin; p; p = twin) {
                twin = p->twin;
                if (p->uid) {
                        driver_pods_watch_tell(p, what == KUBE_DELETED, pod);
                } else {
                        json_decref(p->early);
                        p->early = json_incref(pod);
                        p->early_gone = what == KUBE_DELETED;
                }
        }
}

static void driver_pods_watch_on_failure(void *owner, int r, const struct fst_error *error, int64_t again_ms)
{
        struct place *place = owner;
        uint64_t now = uv_now(kube_client_loop(place->follower->client));
        if (place->away_since == 0 || now - place->failed > APART_MS)
                place->away_since = now;
        place->failed = now;
        place->refusals = kube_refusals(place->refusals, r);
        for (struct followed_pod *p = place->first, *next; p; p = next) {
                next = p->next;
                if (p->uid)
                        place->follower->ops->away(p->owner, place->refusals >= KUBE_REFUSALS ? -EACCES : r, error,
                                                   (int64_t)(now - place->away_since));
        }
}

static void driver_pods_watch_begin_watch(struct place *place)
{
        static const struct kube_watch_ops ops = {.event = driver_pods_watch_on_event,
                                                  .failed = driver_pods_watch_on_failure};
        struct pod_follower *f = place->follower;
        _cleanup_free_ char *path = kube_path("v1", place->namespace, "pods", NULL);
        uv_timer_stop(&place->idle);
        if (!place->watch)
                place->watch = kube_watch_start(
                        f->client, &(struct kube_watch_options){.path = path, .labels = f->labels}, &ops, place);
}

static void driver_pods_watch_on_idle(uv_timer_t *timer)
{
        struct place *place = timer->data;
        kube_watch_free(steal(place->watch));
}

static struct place *driver_pods_watch_place_of(struct pod_follower *f, const char *namespace)
{
        for (struct place *place = f->first; place; place = place->next)
                if (strcmp(place->namespace, namespace) == 0)
                        return place;
        struct place *place = new0(struct place);
        place->follower = f;
        place->namespace = mem_strdup(namespace);
        place->next = f->first;
        f->first = place;
        uv_timer_init(kube_client_loop(f->client), &place->idle);
        place->idle.data = place;
        return place;
}

/* ------------------------------------------------------------------------------------------------------ interface */

struct pod_follower *pod_follower_new(struct kube_client *client, const char *labels,
                                      const struct pod_follower_ops *ops)
{
        struct pod_follower *f = new0(struct pod_follower);
        f->client = client;
        f->labels = mem_strdup(labels);
        f->ops = ops;
        return f;
}

static void driver_pods_watch_on_closed(uv_handle_t *handle)
{
        struct place *place = handle->data;
        object_table_deinit(&place->table);
        free(place->namespace);
        free(place);
}

void pod_follower_free(struct pod_follower *f)
{
        if (!f)
                return;
        for (struct place *place = f->first, *next; place; place = next) {
                next = place->next;
                while (place->first)
                        pod_unfollow(place->first);
                kube_watch_free(place->watch);
                uv_close((uv_handle_t *)&place->idle, driver_pods_watch_on_closed);
        }
        free(f->labels);
        free(f);
}

struct followed_pod *pod_follow(struct pod_follower *f, const char *namespace, const char *name, void *owner)
{
        struct place *place = driver_pods_watch_place_of(f, namespace);
        struct followed_pod *p = new0(struct followed_pod);
        p->place = place;
        p->owner = owner;
        p->name = mem_strdup(name);
        list_prepend(place, p);
        uint64_t hash = object_hash_text(name);
        p->twin = object_table_find(&place->table, hash, driver_pods_watch_has_name, name);
        if (p->twin)
                object_table_remove(&place->table, hash, p->twin);
        object_table_put(&place->table, hash, p);
        driver_pods_watch_begin_watch(place);
        return p;
}

void pod_follow_created(struct followed_pod *p, const char *uid)
{
        json_t *early = steal(p->early);
        p->uid = mem_strdup(uid);
        const char *its = driver_pods_watch_metadata_text(early, "uid");
        if (its && strcmp(its, uid) == 0)
                driver_pods_watch_tell(p, p->early_gone, early);
        json_decref(early);
}

void pod_unfollow(struct followed_pod *p)
{
        if (!p)
                return;
        struct place *place = p->place;
        uint64_t hash = object_hash_text(p->name);
        struct followed_pod *head = object_table_find(&place->table, hash, driver_pods_watch_has_name, p->name);
        if (head == p) {
                object_table_remove(&place->table, hash, p);
                if (p->twin)
                        object_table_put(&place->table, hash, p->twin);
        }
        for (; head != p && head->twin != p; head = head->twin)
                ;
        if (head != p)
                head->twin = p->twin;
        list_remove(place, p);
        if (p->look)
                kube_cancel(p->look);
        json_decref(p->early);
        free(p->name);
        free(p->uid);
        free(p);
        if (!place->first)
                uv_timer_start(&place->idle, driver_pods_watch_on_idle, IDLE_MS, 0);
}
