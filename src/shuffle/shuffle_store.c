/*
 * See shuffle_store.h. An output in the list may be losing its last reference: whoever evicts it takes a reference only
 * if there still is one.
 */
#include "shuffle/shuffle_store.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

struct shuffle_store *shuffle_store_new(const struct spill_space *space)
{
        struct shuffle_store *s = new0(struct shuffle_store);
        s->space = *space;
        pthread_mutex_init(&s->lock, NULL);
        return s;
}

void shuffle_store_free(struct shuffle_store *s)
{
        if (!s)
                return;
        pthread_mutex_destroy(&s->lock);
        free(s);
}

void shuffle_store_add(struct shuffle_store *s, struct shuffle_output *o)
{
        pthread_mutex_lock(&s->lock);
        o->store = s;
        o->older = s->newest;
        if (s->newest)
                s->newest->newer = o;
        else
                s->oldest = o;
        s->newest = o;
        pthread_mutex_unlock(&s->lock);
}

void shuffle_store_remove(struct shuffle_store *s, struct shuffle_output *o)
{
        pthread_mutex_lock(&s->lock);
        *(o->older ? &o->older->newer : &s->oldest) = o->newer;
        *(o->newer ? &o->newer->older : &s->newest) = o->older;
        o->store = NULL;
        pthread_mutex_unlock(&s->lock);
}

static bool ref_unless_gone(struct shuffle_output *o)
{
        int refs = __atomic_load_n(&o->refs, __ATOMIC_RELAXED);
        while (refs > 0)
                if (__atomic_compare_exchange_n(&o->refs, &refs, refs + 1, true, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
                        return true;
        return false;
}

/* The oldest output that has pages in memory and no readers, with a reference and locked; NULL if there is none. */
static struct shuffle_output *victim(struct shuffle_store *s)
{
        struct shuffle_output *o;
        pthread_mutex_lock(&s->lock);
        for (o = s->oldest; o; o = o->newer) {
                if (pthread_mutex_trylock(&o->lock))
                        continue;
                if (o->memory && !o->pins && !o->stuck && ref_unless_gone(o))
                        break;
                pthread_mutex_unlock(&o->lock);
        }
        pthread_mutex_unlock(&s->lock);
        return o;
}

static size_t move_to_disk(struct shuffle_store *s, struct shuffle_output *o)
{
        struct fst_error error = FST_ERROR_INIT;
        size_t freed = 0;
        int r = shuffle_output_to_disk(o, &s->space, &freed, &error);
        if (r == 0)
                r = shuffle_output_finish(o, &error);
        if (r) {
                o->stuck = true; /* what is left stays in memory; its file is read as far as it goes */
                log_warn("ShuffleStore", "cannot move a map output to disk: %s", error_message(&error));
                error_deinit(&error);
        }
        o->memory -= freed;
        memory_release_storage(o->manager, freed);
        return freed;
}

size_t shuffle_store_evict(struct shuffle_store *s, size_t want)
{
        size_t freed = 0;
        struct shuffle_output *o;
        while (freed < want && (o = victim(s))) {
                freed += move_to_disk(s, o);
                pthread_mutex_unlock(&o->lock);
                shuffle_output_unref(o);
        }
        return freed;
}
