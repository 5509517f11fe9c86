/*
 * The block store; see block_store.h.
 *
 * A block has one of four states. WRITING: used only by its writer. Other tasks wait. IN_MEMORY and ON_DISK: complete
 * and constant, with any number of readers, counted in `readers`. MOVING: being written to disk by a thread that needs
 * its memory. Readers wait.
 *
 * A removed block leaves the table at once, so that the next task may compute it again, and is `doomed`: its last user
 * (reader, writer or mover) frees it. The list of recent use holds only complete blocks in memory that are not doomed.
 * Its head is evicted first.
 *
 * A block is `packed` if its level is serialized and there is a codec: its pages in memory hold frames
 * (store/page_stream.h), which go to disk unchanged.
 *
 * There is one list of recent use for each memory manager: only blocks of the manager that is short are evicted.
 *
 * Differs from Spark: a block on disk stays there when it is read. Reading it (a page at a time, checked, through the
 * page cache) costs little more than memory, while moving it back would evict other blocks.
 *
 * The lock protects table, lists, states and counts. Disk, page pool, memory manager and observer are called without
 * it.
 */
#include "store/block_store_internal.h"

#include "base/clock.h"
#include "base/mem.h"
#include "process/interruptible_wait.h"
#include "store/storage_level.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>

/* ------------------------------------------------------------------------------------------------ table and list */

static struct block **table_slot(struct block_store *s, struct block_id id)
{
        uint64_t h = ((uint64_t)(uint32_t)id.rdd << 32 | (uint32_t)id.partition) * 0x9E3779B97F4A7C15u;
        return &s->table[(h >> 32) & (s->slots - 1)];
}

static struct block *table_find(struct block_store *s, struct block_id id)
{
        struct block *b = *table_slot(s, id);
        while (b && (b->id.rdd != id.rdd || b->id.partition != id.partition))
                b = b->chain;
        return b;
}

static void block_store_table_put(struct block_store *s, struct block *b)
{
        struct block **slot = table_slot(s, b->id);
        b->chain = *slot;
        *slot = b;
}

static void table_add(struct block_store *s, struct block *b)
{
        if (++s->count > s->slots) {
                struct block **old = s->table;
                size_t n = s->slots;
                s->slots = n * 2;
                s->table = new_array(struct block *, s->slots);
                for (size_t i = 0; i < n; i++)
                        for (struct block *c = old[i], *next; c; c = next) {
                                next = c->chain;
                                block_store_table_put(s, c);
                        }
                free(old);
        }
        block_store_table_put(s, b);
}

static void table_remove(struct block_store *s, struct block *b)
{
        struct block **at = table_slot(s, b->id);
        while (*at != b)
                at = &(*at)->chain;
        *at = b->chain;
        s->count--;
}

void block_use_remove(struct block *b)
{
        if (!b->newer)
                return;
        b->newer->older = b->older;
        b->older->newer = b->newer;
        b->newer = b->older = NULL;
}

bool block_off_heap(const struct block *b)
{
        return storage_levels[b->level].off_heap;
}

/* Returns the manager of its memory; NULL: it cannot be in memory. */
struct memory_manager *block_memory_manager(const struct block *b)
{
        const struct block_store_options *o = &b->store->options;
        return block_off_heap(b) ? o->off_heap : o->memory;
}

void block_use_now(struct block *b)
{
        struct block *head = &b->store->use[block_off_heap(b)];
        block_use_remove(b);
        b->older = head->older;
        b->newer = head;
        head->older->newer = b;
        head->older = b;
}

/* ------------------------------------------------------------------------------------------------ blocks */

/* Add a complete block to the counts, or subtract it. Lock held. */
void block_count_in(struct block *b)
{
        b->store->memory += b->memory;
        b->store->disk += b->disk;
}

static void count_out(struct block *b)
{
        b->store->memory -= b->memory;
        b->store->disk -= b->disk;
}

struct block_status block_status_of(const struct block *b, bool there)
{
        return (struct block_status){.id = b->id,
                                     .level = there ? b->level : FST_STORAGE_NONE,
                                     .rows = there ? b->rows : 0,
                                     .memory_bytes = there ? b->memory : 0,
                                     .disk_bytes = there ? b->disk : 0};
}

void block_store_tell(struct block_store *s, struct block_status status)
{
        if (s->observe)
                s->observe(s->observer, &status);
}

/* Frees a block that is not in the table and has no users. Without the lock. */
void block_free(struct block *b)
{
        page_list_free(NULL, b->pages);
        if (b->memory)
                memory_release_storage(block_memory_manager(b), b->memory);
        spill_free(b->spill);
        free(b);
}

/* Removes a block from the store. Returns true if the caller must free it now. Lock held. */
bool block_doom(struct block *b)
{
        if (b->doomed)
                return false;
        b->doomed = true;
        table_remove(b->store, b);
        block_use_remove(b);
        bool complete = b->state == IN_MEMORY || b->state == ON_DISK;
        if (complete)
                count_out(b);
        pthread_cond_broadcast(&b->store->changed);
        return complete && b->readers == 0;
}

/* ------------------------------------------------------------------------------------------------ the store */

struct block_store *block_store_new(const struct block_store_options *options)
{
        struct block_store *s = new0(struct block_store);
        s->options = *options;
        pthread_mutex_init(&s->lock, NULL);
        cond_init_monotonic(&s->changed);
        s->slots = 64;
        s->table = new_array(struct block *, s->slots);
        for (int i = 0; i < 2; i++)
                s->use[i].newer = s->use[i].older = &s->use[i];
        if (options->off_heap)
                memory_manager_set_evict(options->off_heap, block_store_evict_off_heap, s);
        memory_manager_set_evict(options->memory, block_store_evict, s);
        return s;
}

void block_store_free(struct block_store *store)
{
        if (!store)
                return;
        memory_manager_set_evict(store->options.memory, NULL, NULL);
        if (store->options.off_heap)
                memory_manager_set_evict(store->options.off_heap, NULL, NULL);
        for (size_t i = 0; i < store->slots; i++)
                for (struct block *b = store->table[i], *next; b; b = next) {
                        next = b->chain;
                        block_free(b);
                }
        free(store->table);
        pthread_cond_destroy(&store->changed);
        pthread_mutex_destroy(&store->lock);
        free(store);
}

void block_store_set_observer(struct block_store *store, block_observer_fn observe, void *owner)
{
        store->observe = observe;
        store->observer = owner;
}

size_t block_store_memory_used(struct block_store *store)
{
        pthread_mutex_lock(&store->lock);
        size_t used = store->memory;
        pthread_mutex_unlock(&store->lock);
        return used;
}

uint64_t block_store_disk_used(struct block_store *store)
{
        pthread_mutex_lock(&store->lock);
        uint64_t used = store->disk;
        pthread_mutex_unlock(&store->lock);
        return used;
}

bool block_store_status(struct block_store *store, struct block_id id, struct block_status *status)
{
        pthread_mutex_lock(&store->lock);
        struct block *b = table_find(store, id);
        bool there = b && b->state != WRITING;
        if (there)
                *status = block_status_of(b, true);
        pthread_mutex_unlock(&store->lock);
        return there;
}

bool block_store_contains(struct block_store *store, struct block_id id)
{
        struct block_status status;
        return block_store_status(store, id, &status);
}

struct block_id *block_store_list(struct block_store *s, size_t *n)
{
        pthread_mutex_lock(&s->lock);
        struct block_id *ids = new_array(struct block_id, s->count + 1);
        *n = 0;
        for (size_t i = 0; i < s->slots; i++)
                for (const struct block *b = s->table[i]; b; b = b->chain)
                        if (b->state != WRITING)
                                ids[(*n)++] = b->id;
        pthread_mutex_unlock(&s->lock);
        return ids;
}

static void block_store_hold(struct block *b)
{
        b->readers++;
        if (b->newer)
                block_use_now(b);
}

/* Waits for a change of some block. Returns false if the asking task was killed. Lock held. */
static bool block_store_wait_for_change(struct block_store *s, const struct block_asker *asker)
{
        if (asker->memory)
                memory_task_rest(asker->memory, true);
        bool goes_on = stop_wait(&s->changed, &s->lock, asker->stopped);
        if (asker->memory)
                memory_task_rest(asker->memory, false);
        return goes_on;
}

void block_is_wanted_at(struct block *b, enum fst_storage_level level)
{
        struct block_store *s = b->store;
        if (!storage_level_uses_disk(level))
                return;
        pthread_mutex_lock(&s->lock);
        bool gets_disk = !b->doomed && storage_level_with_disk(b->level) != b->level;
        if (gets_disk)
                b->level = storage_level_with_disk(b->level);
        struct block_status status = block_status_of(b, true);
        pthread_mutex_unlock(&s->lock);
        if (gets_disk)
                block_store_tell(s, status);
}

int block_store_acquire(struct block_store *s, const struct block_asker *asker, struct block_id id,
                        enum fst_storage_level level, fst_type type, struct block **block, struct block_writer **writer)
{
        assert(level != FST_STORAGE_NONE);
        pthread_mutex_lock(&s->lock);
        struct block *b;
        while ((b = table_find(s, id)) && (b->state == WRITING || b->state == MOVING)) {
                int r = b->state == WRITING && (b->task == asker->task || asker->holds_memory) ? FST_BLOCK_E_BYPASS
                        : block_store_wait_for_change(s, asker)                                ? 0
                                                                                               : -ECANCELED;
                if (r) {
                        pthread_mutex_unlock(&s->lock);
                        return r;
                }
        }
        if (b) {
                block_store_hold(b);
                pthread_mutex_unlock(&s->lock);
                block_is_wanted_at(b, level);
                *block = b;
                return 0;
        }
        b = new0(struct block);
        *b = (struct block){.store = s, .id = id, .type = type, .level = level, .state = WRITING, .task = asker->task};
        b->packed = s->options.codec != CODEC_NONE && storage_level_uses_memory(level) &&
                    !storage_levels[level].deserialized;
        table_add(s, b);
        pthread_mutex_unlock(&s->lock);
        *writer = block_writer_new(b);
        return FST_BLOCK_E_COMPUTE;
}

struct block *block_store_find(struct block_store *s, struct block_id id)
{
        pthread_mutex_lock(&s->lock);
        struct block *b;
        while ((b = table_find(s, id)) && b->state == MOVING)
                pthread_cond_wait(&s->changed, &s->lock);
        if (b && b->state == WRITING)
                b = NULL;
        if (b)
                block_store_hold(b);
        pthread_mutex_unlock(&s->lock);
        return b;
}

void block_release(struct block *b)
{
        struct block_store *s = b->store;
        pthread_mutex_lock(&s->lock);
        assert(b->readers > 0);
        bool gone = --b->readers == 0 && b->doomed;
        pthread_mutex_unlock(&s->lock);
        if (gone)
                block_free(b);
}

fst_type block_type(const struct block *b)
{
        return b->type;
}

/* Removes @b and releases the lock, which the caller holds. Returns true if it was complete. */
bool block_remove_unlock(struct block *b)
{
        struct block_store *s = b->store;
        bool complete = b->state != WRITING, free_now = block_doom(b);
        struct block_status status = block_status_of(b, false);
        pthread_mutex_unlock(&s->lock);
        if (free_now)
                block_free(b);
        if (complete)
                block_store_tell(s, status);
        return complete;
}

bool block_store_remove(struct block_store *s, struct block_id id)
{
        pthread_mutex_lock(&s->lock);
        struct block *b = table_find(s, id);
        if (!b) {
                pthread_mutex_unlock(&s->lock);
                return false;
        }
        return block_remove_unlock(b);
}

size_t block_store_remove_rdd(struct block_store *s, int rdd)
{
        size_t removed = 0;
        pthread_mutex_lock(&s->lock);
        for (size_t i = 0; i < s->slots;) {
                struct block *b = s->table[i];
                while (b && b->id.rdd != rdd)
                        b = b->chain;
                if (!b) {
                        i++;
                        continue;
                }
                /* If the table grows meanwhile, blocks only move to slots that are not visited yet. */
                removed += block_remove_unlock(b);
                pthread_mutex_lock(&s->lock);
        }
        pthread_mutex_unlock(&s->lock);
        return removed;
}

const struct page *block_frames(const struct block *b)
{
        return b->packed ? b->pages : NULL;
}

void block_store_codec(const struct block_store *store, struct codec *codec)
{
        codec_init(codec, store->options.codec, store->options.level);
}
