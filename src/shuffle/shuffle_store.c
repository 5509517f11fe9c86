/*
 * See shuffle_store.h. An output in the list may be losing its last reference, so eviction takes a reference only if
 * one still exists.
 *
 * The index is an array of shuffles ordered by id (new ids are the largest and are appended), each with an array by map
 * partition. Removed outputs are freed without the lock, because freeing takes it.
 */
#include "shuffle/shuffle_store.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "shuffle/shuffle_reader.h"

/* The output of one map task, followed by others of the same map partition. */
struct stored_output {
        int64_t task_id;
        struct shuffle_output *output; /* one reference; NULL: none */
        struct stored_output *next;
};

struct shuffle_index {
        int shuffle_id;
        int n;
        struct stored_output *maps; /* by map partition */
};

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
        while (s->n_shuffles)
                shuffle_store_remove_shuffle(s, s->shuffles[s->n_shuffles - 1].shuffle_id);
        free(s->shuffles);
        pthread_mutex_destroy(&s->lock);
        free(s);
}

/* ---------------------------------------------------------------------------------------------------- the index */

/* Returns the index of a shuffle, or the index at which to insert it. */
static size_t shuffle_lower_bound(const struct shuffle_store *s, int shuffle_id)
{
        size_t low = 0, high = s->n_shuffles;
        while (low < high) {
                size_t middle = (low + high) / 2;
                if (s->shuffles[middle].shuffle_id < shuffle_id)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

static struct shuffle_index *find_shuffle(const struct shuffle_store *s, int shuffle_id)
{
        size_t at = shuffle_lower_bound(s, shuffle_id);
        return at < s->n_shuffles && s->shuffles[at].shuffle_id == shuffle_id ? &s->shuffles[at] : NULL;
}

static struct shuffle_index *make_shuffle(struct shuffle_store *s, int shuffle_id)
{
        struct shuffle_index *found = find_shuffle(s, shuffle_id);
        if (found)
                return found;
        size_t at = shuffle_lower_bound(s, shuffle_id);
        if (s->n_shuffles == s->cap_shuffles) {
                s->cap_shuffles = s->cap_shuffles ? s->cap_shuffles * 2 : 16;
                s->shuffles = mem_grow(s->shuffles, s->cap_shuffles * sizeof(*s->shuffles));
        }
        memmove(&s->shuffles[at + 1], &s->shuffles[at], (s->n_shuffles - at) * sizeof(*s->shuffles));
        s->n_shuffles++;
        s->shuffles[at] = (struct shuffle_index){.shuffle_id = shuffle_id};
        return &s->shuffles[at];
}

static struct stored_output *find_map(const struct shuffle_index *shuffle, int map_partition, int64_t task_id)
{
        if (map_partition < 0 || map_partition >= shuffle->n)
                return NULL;
        struct stored_output *k = &shuffle->maps[map_partition];
        while (k && !(k->output && k->task_id == task_id))
                k = k->next;
        return k;
}

static void grow_maps(struct shuffle_index *shuffle, int map_partition)
{
        if (map_partition < shuffle->n)
                return;
        int n = MAX(map_partition + 1, shuffle->n * 2);
        shuffle->maps = mem_grow(shuffle->maps, (size_t)n * sizeof(*shuffle->maps));
        memset(&shuffle->maps[shuffle->n], 0, (size_t)(n - shuffle->n) * sizeof(*shuffle->maps));
        shuffle->n = n;
}

void shuffle_store_put(struct shuffle_store *s, int shuffle_id, int map_partition, int64_t task_id,
                       struct shuffle_output *output)
{
        struct shuffle_output *before = NULL;
        pthread_mutex_lock(&s->lock);
        struct shuffle_index *shuffle = make_shuffle(s, shuffle_id);
        grow_maps(shuffle, map_partition);
        struct stored_output *k = find_map(shuffle, map_partition, task_id);
        if (!k) {
                k = &shuffle->maps[map_partition];
                if (k->output) {
                        struct stored_output *more = new0(struct stored_output);
                        more->next = k->next;
                        k = k->next = more;
                }
        }
        before = k->output;
        k->output = output;
        k->task_id = task_id;
        pthread_mutex_unlock(&s->lock);
        shuffle_output_unref(before);
}

void shuffle_store_put_copy(struct shuffle_store *s, int shuffle_id, int map_partition, int64_t task_id,
                            struct shuffle_output *output)
{
        if (output->dropped) {
                shuffle_output_unref(output);
                return;
        }
        output->copy_shuffle = shuffle_id;
        output->copy_map = map_partition;
        output->copy_task = task_id;
        shuffle_store_put(s, shuffle_id, map_partition, task_id, shuffle_output_ref(output));
        pthread_mutex_lock(&output->lock); /* it may just be moving to disk */
        __atomic_store_n(&output->is_copy, !output->file, __ATOMIC_RELAXED);
        bool on_disk = output->file;
        pthread_mutex_unlock(&output->lock);
        if (on_disk)
                shuffle_store_remove(s, shuffle_id, map_partition, task_id);
        shuffle_output_unref(output);
}

struct shuffle_output *shuffle_store_get(struct shuffle_store *s, int shuffle_id, int map_partition, int64_t task_id)
{
        pthread_mutex_lock(&s->lock);
        const struct shuffle_index *shuffle = find_shuffle(s, shuffle_id);
        const struct stored_output *k = shuffle ? find_map(shuffle, map_partition, task_id) : NULL;
        struct shuffle_output *output = k ? shuffle_output_ref(k->output) : NULL;
        pthread_mutex_unlock(&s->lock);
        return output;
}

void shuffle_store_get_all(struct shuffle_store *s, int shuffle_id, const struct shuffle_map *maps, int n,
                           int32_t location, struct shuffle_output **outputs)
{
        pthread_mutex_lock(&s->lock);
        const struct shuffle_index *shuffle = find_shuffle(s, shuffle_id);
        for (int i = 0; i < n; i++) {
                const struct stored_output *k =
                        shuffle && maps[i].location == location ? find_map(shuffle, i, maps[i].task_id) : NULL;
                if (k)
                        outputs[i] = shuffle_output_ref(k->output);
        }
        pthread_mutex_unlock(&s->lock);
}

struct shuffle_output_id *shuffle_store_list(struct shuffle_store *s, size_t *n)
{
        VEC(struct shuffle_output_id) ids = {0};
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < s->n_shuffles; i++)
                for (int m = 0; m < s->shuffles[i].n; m++)
                        for (const struct stored_output *k = &s->shuffles[i].maps[m]; k; k = k->next)
                                if (k->output && !__atomic_load_n(&k->output->is_copy, __ATOMIC_RELAXED))
                                        vec_push(&ids,
                                                 (struct shuffle_output_id){s->shuffles[i].shuffle_id, m, k->task_id});
        pthread_mutex_unlock(&s->lock);
        *n = ids.len;
        return ids.data;
}

bool shuffle_store_remove(struct shuffle_store *s, int shuffle_id, int map_partition, int64_t task_id)
{
        pthread_mutex_lock(&s->lock);
        const struct shuffle_index *shuffle = find_shuffle(s, shuffle_id);
        struct stored_output *k = shuffle ? find_map(shuffle, map_partition, task_id) : NULL;
        struct shuffle_output *output = k ? steal(k->output) : NULL;
        pthread_mutex_unlock(&s->lock);
        shuffle_output_unref(output);
        return output;
}

static size_t free_kept(struct stored_output *k)
{
        size_t n = k->output != NULL;
        shuffle_output_unref(k->output);
        while (k->next) {
                struct stored_output *more = k->next;
                k->next = more->next;
                n += more->output != NULL;
                shuffle_output_unref(more->output);
                free(more);
        }
        return n;
}

size_t shuffle_store_remove_shuffle(struct shuffle_store *s, int shuffle_id)
{
        struct shuffle_index gone = {0};
        size_t n = 0;
        pthread_mutex_lock(&s->lock);
        size_t at = shuffle_lower_bound(s, shuffle_id);
        if (at < s->n_shuffles && s->shuffles[at].shuffle_id == shuffle_id) {
                gone = s->shuffles[at];
                s->n_shuffles--;
                memmove(&s->shuffles[at], &s->shuffles[at + 1], (s->n_shuffles - at) * sizeof(*s->shuffles));
        }
        pthread_mutex_unlock(&s->lock);
        for (int i = 0; i < gone.n; i++)
                n += free_kept(&gone.maps[i]);
        free(gone.maps);
        return n;
}

/* ------------------------------------------------------------------------------------------------- eviction */

void shuffle_store_enlist(struct shuffle_store *s, struct shuffle_output *o)
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

void shuffle_store_delist(struct shuffle_store *s, struct shuffle_output *o)
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

/* Returns the oldest output with pages in memory and no readers, referenced and locked, or NULL. */
static struct shuffle_output *eviction_victim(struct shuffle_store *s)
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
                o->stuck = true; /* the remaining pages stay in memory; its file is still read */
                log_warn("ShuffleStore", "cannot move a map output to disk: %s", error_message(&error));
                error_deinit(&error);
        }
        o->memory -= freed;
        memory_release_storage(o->manager, freed);
        return freed;
}

/* Drops a copy, with its lock. Returns the bytes that are free once the caller drops its reference; 0 if tasks read it.
 */
static size_t drop_copy(struct shuffle_store *s, struct shuffle_output *o)
{
        o->stuck = true; /* not found again while it is read */
        shuffle_store_remove(s, o->copy_shuffle, o->copy_map, o->copy_task);
        return __atomic_load_n(&o->refs, __ATOMIC_ACQUIRE) == 1 ? o->memory : 0;
}

size_t shuffle_store_evict(struct shuffle_store *s, size_t want)
{
        size_t freed = 0;
        struct shuffle_output *o;
        while (freed < want && (o = eviction_victim(s))) {
                freed += o->is_copy ? drop_copy(s, o) : move_to_disk(s, o);
                pthread_mutex_unlock(&o->lock);
                shuffle_output_unref(o);
        }
        return freed;
}
