/*
 * Eviction: blocks leave memory for another block or for execution, to disk if their level uses it. See block_store.c
 * for the states of a block.
 */
#include "store/block_store_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>

/* The block for which this thread acquires storage: blocks of the same RDD are not evicted. NULL: execution. */
static _Thread_local const struct block *evicting_for;

/* Creates the block's file. A file of that name may still exist, of a doomed block that is being read. */
static int block_spill_new(struct block *b, struct spill **spill, struct fst_error *error)
{
        struct block_store *s = b->store;
        _cleanup_free_ char *name = mem_printf("rdd_%d_%d", b->id.rdd, b->id.partition);
        struct spill_options o = {.dirs = s->options.dirs,
                                  .name = name,
                                  .type = b->type,
                                  .codec = s->options.codec,
                                  .level = s->options.level};
        int r = spill_new(&o, spill, error);
        if (r != -EEXIST)
                return r;
        pthread_mutex_lock(&s->lock);
        unsigned n = ++s->renamed;
        pthread_mutex_unlock(&s->lock);
        _cleanup_free_ char *other = mem_printf("%s.%u", name, n);
        o.name = other;
        return spill_new(&o, spill, error);
}

static int write_frames(const struct page *pages, struct spill *spill, struct fst_error *error)
{
        struct packed_reader reader;
        const unsigned char *frame;
        uint32_t length;
        uint64_t at;
        packed_reader_init(&reader, pages);
        int r = 0;
        while (r == 0) {
                r = packed_reader_next(&reader, &frame, &length);
                if (r || !frame)
                        break;
                r = spill_write_frame(spill, frame, length, &at, error);
        }
        packed_reader_deinit(&reader);
        return r == -ENOMEM && !error_message(error) ? error_set(error, r, "no memory for a page") : r;
}

static int write_one(struct block *b, const struct page *pages, struct spill **spill, struct fst_error *error)
{
        struct spill *s = NULL;
        int r = block_spill_new(b, &s, error);
        if (r == 0 && b->packed)
                r = write_frames(pages, s, error);
        else
                for (const struct page *p = pages; p && r == 0; p = p->next)
                        r = spill_write_page(s, p, NULL, NULL, error);
        if (r)
                spill_free(s);
        else
                *spill = s;
        return r;
}

/* Writes @pages to a new file of the block or its writer. Tries another directory if one fails. */
int block_write_pages(struct block *b, const struct page *pages, struct spill **spill, struct fst_error *error)
{
        const struct disk_dirs *dirs = b->store->options.dirs;
        for (;;) {
                size_t left = disk_dirs_left(dirs);
                int r = write_one(b, pages, spill, error);
                size_t still = disk_dirs_left(dirs);
                if (r == 0 || still == left || still == 0)
                        return r;
                error_deinit(error);
        }
}

static struct spill *write_block(struct block *b)
{
        struct fst_error error = FST_ERROR_INIT;
        struct spill *spill = NULL;
        int r = block_write_pages(b, b->pages, &spill, &error);
        if (r == 0)
                r = spill_finish(spill, &error);
        if (r) {
                log_warn("BlockManager", "Dropped block rdd_%d_%d, which cannot be moved to disk: %s", b->id.rdd,
                         b->id.partition, error_message(&error));
                error_deinit(&error);
                spill_free(spill);
                return NULL;
        }
        return spill;
}

/* Frees the memory of a block that select_victims chose and returns its size. */
static size_t evict_block(struct block_store *s, struct block *b)
{
        struct spill *spill = storage_level_uses_disk(b->level) ? write_block(b) : NULL;
        size_t freed = b->memory;
        page_list_free(NULL, steal(b->pages));
        memory_release_storage(block_memory_manager(b), freed);
        pthread_mutex_lock(&s->lock);
        s->memory -= freed;
        b->memory = 0;
        bool gone = b->doomed, told = b->doomed; /* removed meanwhile; the remover told the observer */
        if (!gone && !spill) {
                b->state = IN_MEMORY; /* complete with size 0, so that block_doom frees it */
                gone = block_doom(b);
        } else if (!gone) {
                b->spill = steal(spill);
                b->disk = spill_end(b->spill);
                s->disk += b->disk;
                b->state = ON_DISK;
        }
        struct block_status status = block_status_of(b, !gone);
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        if (!told)
                block_store_tell(s, status);
        spill_free(spill);
        if (gone)
                block_free(b);
        return freed;
}

/*
 * Selects blocks to evict for @want bytes, as a list through `next_victim`, all MOVING. For another block all of @want
 * or none, for execution as much as possible.
 */
static struct block *select_victims(struct block_store *s, struct block *use, size_t want, const struct block *reason)
{
        struct block *first = NULL, **end = &first;
        size_t sum = 0;
        pthread_mutex_lock(&s->lock);
        for (struct block *b = use->newer; b != use && sum < want; b = b->newer)
                if (b->readers == 0 && b->memory && !(reason && reason->id.rdd == b->id.rdd))
                        sum += b->memory;
        if (sum >= want || !reason) {
                sum = 0;
                for (struct block *b = use->newer, *next; b != use && sum < want; b = next) {
                        next = b->newer;
                        if (b->readers || !b->memory || (reason && reason->id.rdd == b->id.rdd))
                                continue;
                        sum += b->memory;
                        block_use_remove(b);
                        b->state = MOVING;
                        *end = b;
                        end = &b->next_victim;
                }
                *end = NULL;
        }
        pthread_mutex_unlock(&s->lock);
        return first;
}

static size_t evict_blocks(struct block_store *s, struct block *use, size_t want)
{
        size_t freed = 0;
        for (struct block *b = select_victims(s, use, want, evicting_for), *next; b; b = next) {
                next = b->next_victim;
                freed += evict_block(s, b);
        }
        return freed;
}

size_t block_store_evict(void *owner, size_t want)
{
        struct block_store *s = owner;
        return evict_blocks(s, &s->use[false], want);
}

size_t block_store_evict_off_heap(void *owner, size_t want)
{
        struct block_store *s = owner;
        return evict_blocks(s, &s->use[true], want);
}

bool block_acquire_storage(struct block *b, size_t size)
{
        if (!block_memory_manager(b))
                return false;
        evicting_for = b;
        bool granted = memory_acquire_storage(block_memory_manager(b), size);
        evicting_for = NULL;
        return granted;
}
