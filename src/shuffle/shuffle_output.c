/*
 * One map task's output; see shuffle_output.h.
 *
 * Invariants: only the writer's thread changes an output before it is shared. Afterwards only eviction does: it
 * moves pages to disk while nobody has the output pinned, under its lock. Pages of a partition that are on disk
 * come before those in memory, so order within a partition is kept.
 */
#include "shuffle/shuffle_output.h"

#include "base/mem.h"
#include "shuffle/shuffle_store.h"
#include "store/spill.h"

struct shuffle_output *shuffle_output_new(int partitions, fst_type type, struct memory_manager *manager)
{
        struct shuffle_output *o = mem_zero(sizeof(*o) + (size_t)partitions * sizeof(o->at[0]));
        o->refs = 1;
        o->partitions = partitions;
        o->type = type;
        o->manager = manager;
        pthread_mutex_init(&o->lock, NULL);
        return o;
}

struct shuffle_output *shuffle_output_ref(struct shuffle_output *o)
{
        __atomic_add_fetch(&o->refs, 1, __ATOMIC_RELAXED);
        return o;
}

void shuffle_output_unref(struct shuffle_output *o)
{
        if (!o || __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        if (o->store)
                shuffle_store_remove(o->store, o);
        for (int p = 0; p < o->partitions; p++)
                page_list_free(NULL, o->at[p].first);
        if (o->memory)
                memory_release_storage(o->manager, o->memory);
        spill_free(o->file);
        free(o->extents);
        pthread_mutex_destroy(&o->lock);
        free(o);
}

void shuffle_output_add(struct shuffle_output *o, uint32_t partition, struct page *page)
{
        struct shuffle_partition *at = &o->at[partition];
        page->next = NULL;
        if (at->last)
                at->last->next = page;
        else
                at->first = page;
        at->last = page;
        at->bytes += page->used;
        o->bytes += page->used;
        o->rows += page->rows;
}

size_t shuffle_output_shrink(struct shuffle_output *o)
{
        size_t freed = 0;
        for (int p = 0; p < o->partitions; p++) {
                struct shuffle_partition *at = &o->at[p];
                struct page **link = &at->first;
                while (*link && *link != at->last)
                        link = &(*link)->next;
                if (!*link)
                        continue;
                size_t before = at->last->block;
                at->last = *link = page_shrink(at->last);
                freed += before - at->last->block;
        }
        return freed;
}

static void note_extent(struct shuffle_output *o, struct shuffle_partition *at, uint64_t offset, uint32_t length)
{
        if (o->n_extents == o->extents_cap) {
                o->extents_cap = o->extents_cap ? o->extents_cap * 2 : 64;
                o->extents = mem_grow(o->extents, o->extents_cap * sizeof(*o->extents));
        }
        o->extents[o->n_extents++] = (struct shuffle_extent){.offset = offset, .length = length};
        if (at->last_extent)
                o->extents[at->last_extent - 1].next = o->n_extents;
        else
                at->extents = o->n_extents;
        at->last_extent = o->n_extents;
}

int shuffle_output_to_disk(struct shuffle_output *o, const struct spill_space *space, size_t *freed,
                           struct fst_error *error)
{
        int r = 0;
        if (!o->file)
                r = spill_new(&(struct spill_options){.dirs = space->dirs,
                                                      .type = o->type,
                                                      .codec = space->shuffle_codec,
                                                      .level = space->level},
                              &o->file, error);
        for (int p = 0; p < o->partitions && r == 0; p++) {
                struct shuffle_partition *at = &o->at[p];
                while (at->first) {
                        struct page *page = at->first;
                        uint64_t offset;
                        uint32_t length;
                        r = spill_write_page(o->file, page, &offset, &length, error);
                        if (r)
                                break;
                        note_extent(o, at, offset, length);
                        at->first = page->next;
                        *freed += page->block;
                        page_free(NULL, page);
                }
                if (!at->first)
                        at->last = NULL;
        }
        return r;
}

int shuffle_output_finish(struct shuffle_output *o, struct fst_error *error)
{
        return o->file ? spill_finish(o->file, error) : 0;
}

void shuffle_output_pin(struct shuffle_output *o)
{
        pthread_mutex_lock(&o->lock);
        o->pins++;
        pthread_mutex_unlock(&o->lock);
}

void shuffle_output_unpin(struct shuffle_output *o)
{
        pthread_mutex_lock(&o->lock);
        o->pins--;
        pthread_mutex_unlock(&o->lock);
}
