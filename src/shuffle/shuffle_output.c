/*
 * One map task's output; see shuffle_output.h.
 *
 * Invariants: only the writer's thread changes an output before it is shared. Afterwards only eviction changes it: it
 * moves pages to disk under the output's lock while the output is not pinned. A partition's pages on disk come before
 * those in memory, so the order within a partition is kept.
 */
#include "shuffle/shuffle_output.h"

#include "base/mem.h"
#include "shuffle/shuffle_store.h"
#include "store/spill.h"

_Static_assert(sizeof(struct shuffle_partition) == 16, "a million of them are 16 MB");

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

/* Removes the first page in memory of a partition from its ring and returns it. */
static struct page *take_first_page(struct shuffle_output *o, struct shuffle_partition *at)
{
        struct page *first = at->last->next;
        if (first == at->last)
                at->last = NULL;
        else
                at->last->next = first->next;
        o->pages--;
        return first;
}

void shuffle_output_unref(struct shuffle_output *o)
{
        if (!o || __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        if (o->store)
                shuffle_store_delist(o->store, o);
        for (int p = 0; p < o->partitions && o->pages; p++)
                while (o->at[p].last)
                        page_free(NULL, take_first_page(o, &o->at[p]));
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
        page->next = at->last ? at->last->next : page;
        if (at->last)
                at->last->next = page;
        at->last = page;
        o->pages++;
        o->bytes += page->used;
        o->rows += page->rows;
}

void shuffle_output_add_extent(struct shuffle_output *o, uint32_t partition, uint64_t offset, uint32_t length)
{
        struct shuffle_partition *at = &o->at[partition];
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
        if (o->file && spill_in_memory(o->file)) {
                r = spill_to_disk(o->file, space->dirs, error);
                *freed += r ? 0 : o->memory;
                return r;
        }
        if (o->file && space && spill_end(o->file) == 0) /* the last write to it failed */
                spill_free(steal(o->file));
        if (!o->file)
                r = spill_new(&(struct spill_options){.dirs = space->dirs,
                                                      .type = o->type,
                                                      .codec = space->shuffle_codec,
                                                      .level = space->level,
                                                      .if_cheaper = space->shuffle_if_cheaper},
                              &o->file, error);
        for (int p = 0; p < o->partitions && o->pages && r == 0; p++) {
                struct shuffle_partition *at = &o->at[p];
                while (at->last) {
                        uint64_t offset;
                        uint32_t length;
                        r = spill_write_page(o->file, at->last->next, &offset, &length, error);
                        if (r)
                                break;
                        shuffle_output_add_extent(o, (uint32_t)p, offset, length);
                        struct page *page = take_first_page(o, at);
                        *freed += page->block;
                        page_free(NULL, page);
                }
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
