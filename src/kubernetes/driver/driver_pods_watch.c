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
#include "text/json.h"

#include <string.h>

#define IDLE_MS 10000
/* A failure this long after the last one belongs to another outage: between them the watch worked. */
#define APART_MS 300000

struct watched_namespace {
        struct pod_follower *follower;
        struct watched_namespace *next;
        char *namespace;
        struct kube_watch *watch; /* NULL: ended with the last pod */
        struct object_table table;
        struct followed_pod *first, *last;
        uv_timer_t idle;
        int refusals;
        uint64_t failed, away_since; /* the last failure, and the first of this outage; 0: none */
};

struct followed_pod {
        struct watched_namespace *ns;
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
        struct watched_namespace *first;
};

static bool driver_pods_watch_has_name(const void *object, const void *name)
{
        return strcmp(((const struct followed_pod *)object)->name, name) == 0;
}

/* @p may be invalid afterwards. */
static void followed_pod_report(struct followed_pod *p, bool gone, const json_t *pod)
{
        const struct pod_follower_ops *ops = p->ns->follower->ops;
        const char *uid = json_text_at(pod, "metadata.uid");
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

static void followed_pod_on_fetched(void *owner, struct kube_call *call, int r, const struct kube_response *response)
{
        struct followed_pod *p = owner;
        p->look = NULL;
        if (r == 0 && response->object)
                followed_pod_report(p, false, response->object);
        else if (r == FST_KUBE_E_NOT_FOUND)
                p->ns->follower->ops->gone(p->owner, NULL);
        /* else the watch continues and reports the outage */
}

static void followed_pod_fetch(struct followed_pod *p)
{
        if (p->look)
                return;
        _cleanup_free_ char *path = kube_path("v1", p->ns->namespace, "pods", p->name);
        p->look = kube_get(p->ns->follower->client, path, followed_pod_on_fetched, p);
}

/* ---------------------------------------------------------------------------------------------------------- watch */

static void driver_pods_watch_on_event(void *owner, enum kube_event what, json_t *pod)
{
        struct watched_namespace *ns = owner;
        ns->refusals = 0;
        ns->away_since = 0;
        if (what == KUBE_SYNCED) {
                for (struct followed_pod *p = ns->first; p; p = p->next)
                        if (p->uid && !p->seen)
                                followed_pod_fetch(p);
                return;
        }
        const char *name = json_text_at(pod, "metadata.name");
        struct followed_pod *p =
                name ? object_table_find(&ns->table, object_hash_text(name), driver_pods_watch_has_name, name) : NULL;
        for (struct followed_pod *twin; p; p = twin) {
                twin = p->twin;
                if (p->uid) {
                        followed_pod_report(p, what == KUBE_DELETED, pod);
                } else {
                        json_decref(p->early);
                        p->early = json_incref(pod);
                        p->early_gone = what == KUBE_DELETED;
                }
        }
}

static void driver_pods_watch_on_failure(void *owner, int r, const struct fst_error *error, int64_t again_ms)
{
        struct watched_namespace *ns = owner;
        uint64_t now = uv_now(kube_client_loop(ns->follower->client));
        if (ns->away_since == 0 || now - ns->failed > APART_MS)
                ns->away_since = now;
        ns->failed = now;
        ns->refusals = kube_refusals(ns->refusals, r);
        for (struct followed_pod *p = ns->first, *next; p; p = next) {
                next = p->next;
                if (p->uid)
                        ns->follower->ops->away(p->owner, ns->refusals >= KUBE_REFUSALS ? -EACCES : r, error,
                                                (int64_t)(now - ns->away_since));
        }
}

static void driver_pods_watch_begin_watch(struct watched_namespace *ns)
{
        static const struct kube_watch_ops ops = {.event = driver_pods_watch_on_event,
                                                  .failed = driver_pods_watch_on_failure};
        struct pod_follower *f = ns->follower;
        _cleanup_free_ char *path = kube_path("v1", ns->namespace, "pods", NULL);
        uv_timer_stop(&ns->idle);
        if (!ns->watch)
                ns->watch = kube_watch_start(f->client, &(struct kube_watch_options){.path = path, .labels = f->labels},
                                             &ops, ns);
}

static void driver_pods_watch_on_idle(uv_timer_t *timer)
{
        struct watched_namespace *ns = timer->data;
        kube_watch_free(steal(ns->watch));
}

static struct watched_namespace *watched_namespace_ensure(struct pod_follower *f, const char *namespace)
{
        for (struct watched_namespace *ns = f->first; ns; ns = ns->next)
                if (strcmp(ns->namespace, namespace) == 0)
                        return ns;
        struct watched_namespace *ns = new0(struct watched_namespace);
        ns->follower = f;
        ns->namespace = mem_strdup(namespace);
        ns->next = f->first;
        f->first = ns;
        uv_timer_init(kube_client_loop(f->client), &ns->idle);
        ns->idle.data = ns;
        return ns;
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
        struct watched_namespace *ns = handle->data;
        object_table_deinit(&ns->table);
        free(ns->namespace);
        free(ns);
}

void pod_follower_free(struct pod_follower *f)
{
        if (!f)
                return;
        for (struct watched_namespace *ns = f->first, *next; ns; ns = next) {
                next = ns->next;
                while (ns->first)
                        pod_unfollow(ns->first);
                kube_watch_free(ns->watch);
                uv_close((uv_handle_t *)&ns->idle, driver_pods_watch_on_closed);
        }
        free(f->labels);
        free(f);
}

struct followed_pod *pod_follow(struct pod_follower *f, const char *namespace, const char *name, void *owner)
{
        struct watched_namespace *ns = watched_namespace_ensure(f, namespace);
        struct followed_pod *p = new0(struct followed_pod);
        p->ns = ns;
        p->owner = owner;
        p->name = mem_strdup(name);
        list_prepend(ns, p);
        uint64_t hash = object_hash_text(name);
        p->twin = object_table_find(&ns->table, hash, driver_pods_watch_has_name, name);
        if (p->twin)
                object_table_remove(&ns->table, hash, p->twin);
        object_table_put(&ns->table, hash, p);
        driver_pods_watch_begin_watch(ns);
        return p;
}

void pod_follow_created(struct followed_pod *p, const char *uid)
{
        json_t *early = steal(p->early);
        p->uid = mem_strdup(uid);
        const char *its = json_text_at(early, "metadata.uid");
        if (its && strcmp(its, uid) == 0)
                followed_pod_report(p, p->early_gone, early);
        json_decref(early);
}

void pod_unfollow(struct followed_pod *p)
{
        if (!p)
                return;
        struct watched_namespace *ns = p->ns;
        uint64_t hash = object_hash_text(p->name);
        struct followed_pod *head = object_table_find(&ns->table, hash, driver_pods_watch_has_name, p->name);
        if (head == p) {
                object_table_remove(&ns->table, hash, p);
                if (p->twin)
                        object_table_put(&ns->table, hash, p->twin);
        }
        for (; head != p && head->twin != p; head = head->twin)
                ;
        if (head != p)
                head->twin = p->twin;
        list_remove(ns, p);
        if (p->look)
                kube_cancel(p->look);
        json_decref(p->early);
        free(p->name);
        free(p->uid);
        free(p);
        if (!ns->first)
                uv_timer_start(&ns->idle, driver_pods_watch_on_idle, IDLE_MS, 0);
}
