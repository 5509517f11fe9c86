/*
 * A sorted array with binary search. New ids are appended. A lower id (in a list sorted by name) is moved into place.
 */
#include "kubernetes/executors/pods_snapshot.h"

#include <string.h>

void pods_snapshot_deinit(struct pods_snapshot *s)
{
        for (size_t i = 0; i < s->places.len; i++)
                pod_state_unref(s->places.data[i].pod);
        vec_deinit(&s->places);
        s->n = 0;
}

struct pod_state *pods_snapshot_get(const struct pods_snapshot *s, int32_t id)
{
        size_t at = vec_place(&s->places, id, id);

        return at < s->places.len && s->places.data[at].id == id ? s->places.data[at].pod : NULL;
}

struct pod_state *pods_snapshot_named(const struct pods_snapshot *s, const char *name)
{
        /* Names that the allocator gives end in the id. */
        const char *dash = strrchr(name, '-');
        struct pod_state *pod = dash ? pods_snapshot_get(s, atoi(dash + 1)) : NULL;

        if (pod && strcmp(pod->name, name) == 0)
                return pod;
        for (size_t i = 0; i < s->places.len; i++) {
                pod = s->places.data[i].pod;
                if (pod && strcmp(pod->name, name) == 0)
                        return pod;
        }
        return NULL;
}

struct pods_place *pods_snapshot_set(struct pods_snapshot *s, struct pod_state *pod)
{
        size_t at = vec_place(&s->places, id, pod->id);

        if (at == s->places.len || s->places.data[at].id != pod->id) {
                vec_insert(&s->places, at, (struct pods_place){.id = pod->id});
        }
        struct pods_place *place = &s->places.data[at];
        struct pod_state *old = place->pod;
        s->n += !old;
        place->pod = pod_state_ref(pod);
        pod_state_unref(old);
        return place;
}

static void pods_snapshot_compact(struct pods_snapshot *s)
{
        size_t n = 0;

        for (size_t i = 0; i < s->places.len; i++)
                if (s->places.data[i].pod)
                        s->places.data[n++] = s->places.data[i];
        s->places.len = n;
}

bool pods_snapshot_remove(struct pods_snapshot *s, int32_t id)
{
        size_t at = vec_place(&s->places, id, id);

        if (at == s->places.len || s->places.data[at].id != id || !s->places.data[at].pod)
                return false;
        pod_state_unref(steal(s->places.data[at].pod));
        s->n--;
        if (s->places.len > 16 && s->n < s->places.len / 2)
                pods_snapshot_compact(s);
        return true;
}

const struct pod_state *pods_snapshot_next(const struct pods_snapshot *s, const struct pod_state *after)
{
        for (size_t i = after ? vec_place(&s->places, id, after->id + 1) : 0; i < s->places.len; i++)
                if (s->places.data[i].pod)
                        return s->places.data[i].pod;
        return NULL;
}
