/*
 * Blocks: cached partitions.
 *
 * A block is in one of four states. WRITING: its writer's alone; others wait. IN_MEMORY and ON_DISK: complete,
 * never changed, read by any number who each count in `readers`. MOVING: being written to disk by the thread that needs
 * its memory; readers wait for that.
 *
 * A block that is removed leaves the table at once, so that the next task may compute it anew, and is `doomed`: whoever
 * uses it last (its reader, its writer, its mover) frees it. Only complete blocks in memory that are not doomed are
 * on the list of least recent use, whose head goes first.
 *
 * A block is `packed` if its level is a serialized one and there is a codec: its pages in memory hold frames
 * (store/packed_pages.h), which go to disk as they are.
 *
 * There are two lists of use, one for each memory manager: only blocks of the one that is short are evicted.
 *
 * Departing from Spark: a block that went to disk is not taken back into memory when it is read, because reading it
 * costs little more than memory does (a page at a time, checked, through the page cache), while taking it back would
 * evict others for it.
 *
 * The lock guards the table, the list, states and counts; disk, page pool, memory manager and observer are called
 * without it.
 */
#include "store/block_store.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/stop_wait.h"
#include "store/storage_level.h"

#include <assert.h>
#include <errno.h>
#include <pthread.h>

enum block_state { WRITING, IN_MEMORY, MOVING, ON_DISK };

struct block {
        struct block_store *store;
        struct block_id id;
        struct block *chain;         /* in the table */
        struct block *newer, *older; /* on the list of use, if on it */
        fst_type type;
        enum fst_storage_level level;
        enum block_state state;
        bool doomed, packed;
        unsigned readers;
        const void *task; /* who writes it */
        struct page *pages;
        struct spill *spill; /* NULL: in memory, or nothing in it */
        size_t memory;
        uint64_t rows, disk;
};

struct block_store {
        struct block_store_options options;
        pthread_mutex_t lock;
        pthread_cond_t changed; /* a block was completed, given up, removed or moved */
        struct block **table;
        size_t slots, count;
        struct block use[2]; /* heads of circular lists, by off_heap(): use[].newer is the least recently used */
        size_t memory;       /* of complete blocks */
        uint64_t disk;
        unsigned renamed;
        block_observer_fn observe;
        void *observer;
};

struct block_writer {
        struct block *block;      /* NULL once given up */
        struct packed_pages kept; /* or just pages */
        size_t memory;
        uint64_t rows;
        struct spill *spill;
        struct page *open;  /* while on disk, or packed: the page that is filled, not accounted */
        struct codec codec; /* while packed; and where a frame is made */
        unsigned char *frame;
        bool failed;
};

/* The block for which this thread acquires storage: its RDD's blocks are not evicted. NULL when execution asks. */
static _Thread_local const struct block *evicting_for;

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

static void table_put(struct block_store *s, struct block *b)
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
                                table_put(s, c);
                        }
                free(old);
        }
        table_put(s, b);
}

static void table_remove(struct block_store *s, struct block *b)
{
        struct block **at = table_slot(s, b->id);
        while (*at != b)
                at = &(*at)->chain;
        *at = b->chain;
        s->count--;
}

static void use_remove(struct block *b)
{
        if (!b->newer)
                return;
        b->newer->older = b->older;
        b->older->newer = b->newer;
        b->newer = b->older = NULL;
}

static bool off_heap(const struct block *b)
{
        return storage_levels[b->level].off_heap;
}

/* Who accounts for it in memory; NULL: nobody, it cannot be there. */
static struct memory_manager *manager_of(const struct block *b)
{
        const struct block_store_options *o = &b->store->options;
        return off_heap(b) ? o->off_heap : o->memory;
}

static void use_now(struct block *b)
{
        struct block *head = &b->store->use[off_heap(b)];
        use_remove(b);
        b->older = head->older;
        b->newer = head;
        head->older->newer = b;
        head->older = b;
}

/* ------------------------------------------------------------------------------------------------ blocks */

/* Count a complete block in or out. Under the lock. */
static void count_in(struct block *b)
{
        b->store->memory += b->memory;
        b->store->disk += b->disk;
}

static void count_out(struct block *b)
{
        b->store->memory -= b->memory;
        b->store->disk -= b->disk;
}

static struct block_status status_of(const struct block *b, bool there)
{
        return (struct block_status){.id = b->id,
                                     .level = there ? b->level : FST_STORAGE_NONE,
                                     .rows = there ? b->rows : 0,
                                     .memory_bytes = there ? b->memory : 0,
                                     .disk_bytes = there ? b->disk : 0};
}

static void tell(struct block_store *s, struct block_status status)
{
        if (s->observe)
                s->observe(s->observer, &status);
}

/* Free a block that nobody can find or use any more. Without the lock. */
static void block_free(struct block *b)
{
        page_list_free(NULL, b->pages);
        if (b->memory)
                memory_release_storage(manager_of(b), b->memory);
        spill_free(b->spill);
        free(b);
}

/* Take a block out of the store; true if it is to be freed now, by the caller. Under the lock. */
static bool doom(struct block *b)
{
        if (b->doomed)
                return false;
        b->doomed = true;
        table_remove(b->store, b);
        use_remove(b);
        bool complete = b->state == IN_MEMORY || b->state == ON_DISK;
        if (complete)
                count_out(b);
        pthread_cond_broadcast(&b->store->changed);
        return complete && b->readers == 0;
}

/* The block's file. One of that name may still be there, of a doomed block that is being read. */
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

/* ------------------------------------------------------------------------------------------------ eviction */

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

/* A file of the block's, or the writer's, @pages: in another directory if one fails. */
static int write_pages(struct block *b, const struct page *pages, struct spill **spill, struct fst_error *error)
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

static struct spill *write_out(struct block *b)
{
        struct fst_error error = FST_ERROR_INIT;
        struct spill *spill = NULL;
        int r = write_pages(b, b->pages, &spill, &error);
        if (r == 0)
                r = spill_finish(spill, &error);
        if (r) {
                log_warn("BlockManager", "Block rdd_%d_%d is dropped, as it cannot be moved to disk: %s", b->id.rdd,
                         b->id.partition, error_message(&error));
                error_deinit(&error);
                spill_free(spill);
                return NULL;
        }
        return spill;
}

/* Give up the memory of a block that select_victims chose; returns it. */
static size_t move_out(struct block_store *s, struct block *b)
{
        struct spill *spill = storage_level_uses_disk(b->level) ? write_out(b) : NULL;
        size_t freed = b->memory;
        page_list_free(NULL, steal(b->pages));
        memory_release_storage(manager_of(b), freed);
        pthread_mutex_lock(&s->lock);
        s->memory -= freed;
        b->memory = 0;
        bool gone = b->doomed, told = b->doomed; /* removed meanwhile: who did that has said so */
        if (!gone && !spill) {
                b->state = IN_MEMORY; /* complete, of no size: so that doom frees it */
                gone = doom(b);
        } else if (!gone) {
                b->spill = steal(spill);
                b->disk = spill_end(b->spill);
                s->disk += b->disk;
                b->state = ON_DISK;
        }
        struct block_status status = status_of(b, !gone);
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        if (!told)
                tell(s, status);
        spill_free(spill);
        if (gone)
                block_free(b);
        return freed;
}

/*
 * Blocks to evict for @want bytes, as a list through `newer`, all MOVING. For another block it is all or nothing, for
 * execution as much as there is.
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
                        use_remove(b);
                        b->state = MOVING;
                        *end = b;
                        end = &b->newer;
                }
                *end = NULL;
        }
        pthread_mutex_unlock(&s->lock);
        return first;
}

static size_t evict(struct block_store *s, struct block *use, size_t want)
{
        size_t freed = 0;
        for (struct block *b = select_victims(s, use, want, evicting_for), *next; b; b = next) {
                next = b->newer;
                b->newer = NULL;
                freed += move_out(s, b);
        }
        return freed;
}

size_t block_store_evict(void *owner, size_t want)
{
        struct block_store *s = owner;
        return evict(s, &s->use[false], want);
}

static size_t evict_off_heap(void *owner, size_t want)
{
        struct block_store *s = owner;
        return evict(s, &s->use[true], want);
}

static bool acquire_storage(struct block *b, size_t size)
{
        if (!manager_of(b))
                return false;
        evicting_for = b;
        bool granted = memory_acquire_storage(manager_of(b), size);
        evicting_for = NULL;
        return granted;
}

/* ------------------------------------------------------------------------------------------------ the store */

struct block_store *block_store_new(const struct block_store_options *options)
{
        struct block_store *s = new0(struct block_store);
        s->options = *options;
        pthread_mutex_init(&s->lock, NULL);
        pthread_condattr_t monotonic;
        pthread_condattr_init(&monotonic);
        pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
        pthread_cond_init(&s->changed, &monotonic);
        pthread_condattr_destroy(&monotonic);
        s->slots = 64;
        s->table = new_array(struct block *, s->slots);
        for (int i = 0; i < 2; i++)
                s->use[i].newer = s->use[i].older = &s->use[i];
        if (options->off_heap)
                memory_manager_set_evict(options->off_heap, evict_off_heap, s);
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
                *status = status_of(b, true);
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

static void hold(struct block *b)
{
        b->readers++;
        if (b->newer)
                use_now(b);
}

/* Wait for a change of some block, under the lock; false if the asking task was told to stop. */
static bool wait_for_change(struct block_store *s, const struct block_asker *asker)
{
        return stop_wait(&s->changed, &s->lock, asker->stopped);
}

/* Its RDD has got a level that keeps on disk what has to leave memory, and so it has from now on. Under the lock. */
static bool gets_disk(struct block *b, enum fst_storage_level level)
{
        bool gets = storage_level_uses_disk(level) && storage_level_with_disk(b->level) != b->level;
        if (gets)
                b->level = storage_level_with_disk(b->level);
        return gets;
}

int block_store_acquire(struct block_store *s, const struct block_asker *asker, struct block_id id,
                        enum fst_storage_level level, fst_type type, struct block **block, struct block_writer **writer)
{
        assert(level != FST_STORAGE_NONE);
        pthread_mutex_lock(&s->lock);
        struct block *b;
        while ((b = table_find(s, id)) && (b->state == WRITING || b->state == MOVING)) {
                int r = b->state == WRITING && (b->task == asker->task || asker->holds_memory) ? FST_BLOCK_E_BYPASS
                        : wait_for_change(s, asker)                                            ? 0
                                                                                               : -ECANCELED;
                if (r) {
                        pthread_mutex_unlock(&s->lock);
                        return r;
                }
        }
        if (b) {
                hold(b);
                bool changed = gets_disk(b, level);
                struct block_status status = status_of(b, true);
                pthread_mutex_unlock(&s->lock);
                if (changed)
                        tell(s, status);
                *block = b;
                return 0;
        }
        b = new0(struct block);
        *b = (struct block){.store = s, .id = id, .type = type, .level = level, .state = WRITING, .task = asker->task};
        b->packed = s->options.codec != CODEC_NONE && storage_level_uses_memory(level) &&
                    !storage_levels[level].deserialized;
        table_add(s, b);
        pthread_mutex_unlock(&s->lock);
        *writer = new0(struct block_writer);
        (*writer)->block = b;
        codec_init(&(*writer)->codec, s->options.codec, s->options.level);
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
                hold(b);
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

/* Remove @b, of which the caller holds the lock that is released here. True if it was complete. */
static bool remove_unlock(struct block *b)
{
        struct block_store *s = b->store;
        bool complete = b->state != WRITING, free_now = doom(b);
        struct block_status status = status_of(b, false);
        pthread_mutex_unlock(&s->lock);
        if (free_now)
                block_free(b);
        if (complete)
                tell(s, status);
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
        return remove_unlock(b);
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
                /* Should the table grow meanwhile, blocks move only to slots that are still to be looked at. */
                removed += remove_unlock(b);
                pthread_mutex_lock(&s->lock);
        }
        pthread_mutex_unlock(&s->lock);
        return removed;
}

/* ------------------------------------------------------------------------------------------------ writing */

/* Forget what was written; the block, if there is one, becomes another task's to compute. */
static void writer_drop(struct block_writer *w)
{
        struct block *b = steal(w->block);
        page_list_free(NULL, steal(w->kept.first));
        page_free(NULL, steal(w->open));
        spill_free(steal(w->spill));
        if (!b)
                return;
        struct block_store *s = b->store;
        if (w->memory)
                memory_release_storage(manager_of(b), w->memory);
        w->memory = 0;
        pthread_mutex_lock(&s->lock);
        doom(b);
        pthread_mutex_unlock(&s->lock);
        block_free(b);
}

/* From memory to disk: what was written so far goes there, and what follows too. */
static int writer_move(struct block_writer *w, struct fst_error *error)
{
        struct spill *spill = NULL;
        int r = write_pages(w->block, w->kept.first, &spill, error);
        if (r)
                return r;
        page_list_free(NULL, w->kept.first);
        w->kept = (struct packed_pages){0};
        if (w->memory)
                memory_release_storage(manager_of(w->block), w->memory);
        w->memory = 0;
        w->spill = spill;
        return 0;
}

static void writer_add(struct block_writer *w, struct page *page, size_t size)
{
        if (w->kept.last)
                w->kept.last->next = page;
        else
                w->kept.first = page;
        w->kept.last = page;
        w->memory += size;
}

/* There is no memory: 0 if the block goes to disk from now on, given up, or negative. */
static int writer_refused(struct block_writer *w, struct fst_error *error)
{
        struct block *b = w->block;
        if (!storage_level_uses_disk(b->level)) {
                log_warn("MemoryStore", "Not enough space to cache rdd_%d_%d in memory! (%zu bytes so far)", b->id.rdd,
                         b->id.partition, w->memory);
                writer_drop(w);
                return FST_BLOCK_E_GIVEN_UP;
        }
        if (manager_of(b))
                log_info("MemoryStore", "rdd_%d_%d does not fit into memory and goes to disk", b->id.rdd,
                         b->id.partition);
        else
                log_warn("MemoryStore",
                         "rdd_%d_%d goes to disk: OFF_HEAP needs spark.memory.offHeap.enabled=true and "
                         "spark.memory.offHeap.size",
                         b->id.rdd, b->id.partition);
        return writer_move(w, error);
}

/* Keep the rows of the open page as a frame in memory: 0, and it is kept or the block is on disk; otherwise as above.
 */
static int writer_pack(struct block_writer *w, struct fst_error *error)
{
        struct block *b = w->block;
        struct page *page = w->open;
        size_t bound = page_frame_bound(page), room = bound <= PAGE_BLOCK ? PAGE_BLOCK : bound;
        unsigned char *frame = room > PAGE_BLOCK || !w->frame ? realloc(w->frame, room) : w->frame;
        if (!frame)
                return error_set(error, -ENOMEM, "no memory for a page of %zu bytes", room);
        w->frame = frame;
        size_t length = page_frame_encode(page, &w->codec, frame), need = packed_pages_need(&w->kept, length);
        if (need && !acquire_storage(b, need))
                return writer_refused(w, error);
        int r = packed_pages_append(&w->kept, b->type, frame, length);
        if (r) {
                memory_release_storage(manager_of(b), need);
                return error_set(error, r, "no memory for a page of %zu bytes", length);
        }
        w->memory += need;
        page->used = page->rows = 0;
        return 0;
}

/* Keep what the open page has; its rows may still be in it afterwards. */
static int writer_store(struct block_writer *w, struct fst_error *error)
{
        int r = !w->open || w->open->rows == 0 || w->spill ? 0 : writer_pack(w, error);
        if (r == 0 && w->spill && w->open && w->open->rows)
                r = spill_write_page(w->spill, w->open, NULL, NULL, error);
        return r;
}

/* The open page is empty then, or another one for @record bytes. */
static int writer_turn(struct block_writer *w, size_t record, struct fst_error *error)
{
        int stored = writer_store(w, error);
        if (stored)
                return stored;
        if (w->open && record <= w->open->capacity && w->open->block == PAGE_BLOCK) {
                w->open->used = w->open->rows = 0;
                return 0;
        }
        page_free(NULL, steal(w->open));
        int r = page_new(NULL, w->block->type, record, &w->open);
        return r ? error_set(error, r, "no memory for a page of %zu bytes", record) : 0;
}

/* Make room for a record: 0, given up, or negative. */
static int writer_room(struct block_writer *w, size_t record, struct fst_error *error)
{
        struct block *b = w->block;
        int r = 0;
        if (!w->spill && !b->packed && storage_level_uses_memory(b->level)) {
                size_t size = page_block_size(record);
                struct page *page = NULL;
                if (size != SIZE_MAX && acquire_storage(b, size)) {
                        r = page_new(NULL, b->type, record, &page);
                        if (r) {
                                memory_release_storage(manager_of(b), size);
                                return error_set(error, r, "no memory for a page of %zu bytes", record);
                        }
                        writer_add(w, page, size);
                        return 0;
                }
                r = writer_refused(w, error);
        } else if (!w->spill && !b->packed) {
                r = writer_move(w, error);
        }
        return r ? r : writer_turn(w, record, error);
}

int block_writer_append(struct block_writer *w, const fst_batch *batch, struct fst_error *error)
{
        if (!w->block)
                return 0;
        for (uint32_t row = 0; row < batch->rows;) {
                struct page *page = w->spill || w->block->packed ? w->open : w->kept.last;
                if (page)
                        row += page_append(page, batch, row);
                if (row == batch->rows)
                        break;
                int r = writer_room(w, page_record_size(batch, row), error);
                if (r) {
                        w->failed = r < 0;
                        return r < 0 ? error_wrap(error, r, "caching rdd_%d_%d", w->block->id.rdd,
                                                  w->block->id.partition)
                                     : r;
                }
        }
        w->rows += batch->rows;
        return 0;
}

/* Everything into its final place. */
static int writer_settle(struct block_writer *w, struct fst_error *error)
{
        int r = writer_store(w, error);
        if (r)
                return r;
        page_free(NULL, steal(w->open));
        if (w->spill)
                return spill_finish(w->spill, error);
        if (!w->kept.last)
                return 0;
        struct page **at = &w->kept.first;
        while (*at != w->kept.last)
                at = &(*at)->next;
        size_t before = (*at)->block;
        *at = w->kept.last = page_shrink(*at);
        memory_release_storage(manager_of(w->block), before - (*at)->block);
        w->memory -= before - (*at)->block;
        return 0;
}

static void writer_free(struct block_writer *w)
{
        codec_deinit(&w->codec);
        free(w->frame);
        free(w);
}

int block_writer_commit(struct block_writer *w, struct fst_error *error)
{
        struct block *b = w->block;
        int r = !b ? FST_BLOCK_E_GIVEN_UP : w->failed ? -EIO : writer_settle(w, error);
        if (r) {
                block_writer_abort(w);
                return r;
        }
        struct block_store *s = b->store;
        b->pages = w->kept.first;
        b->memory = w->memory;
        b->rows = w->rows;
        b->spill = w->spill;
        b->disk = w->spill ? spill_end(w->spill) : 0;
        writer_free(w);
        pthread_mutex_lock(&s->lock);
        bool gone = b->doomed;
        b->state = b->spill ? ON_DISK : IN_MEMORY;
        if (!gone) {
                count_in(b);
                if (b->state == IN_MEMORY)
                        use_now(b);
        }
        struct block_status status = status_of(b, true);
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        if (gone)
                block_free(b);
        else
                tell(s, status);
        return gone ? FST_BLOCK_E_GIVEN_UP : 0;
}

void block_writer_abort(struct block_writer *writer)
{
        if (!writer)
                return;
        writer_drop(writer);
        writer_free(writer);
}

/* ------------------------------------------------------------------------------------------------ reading */

/* What cannot be read is removed, so that the next attempt computes it. The caller's own hold keeps it until then. */
static void remove_damaged(struct block *b)
{
        struct block_store *s = b->store;
        pthread_mutex_lock(&s->lock);
        if (b->doomed)
                pthread_mutex_unlock(&s->lock);
        else
                remove_unlock(b);
}

int block_reader_init(struct block_reader *reader, struct block *block, struct fst_error *error)
{
        struct block_reader r = {.block = block, .from_disk = block->spill != NULL};
        if (block->spill) {
                int code = spill_reader_init(&r.disk, block->spill, 0, spill_end(block->spill), NULL, error);
                if (code && code != -EMFILE && code != -ENFILE)
                        remove_damaged(block); /* its file is gone, or cannot be opened any more */
                if (code)
                        return error_wrap(error, code, "reading the cached partition rdd_%d_%d", block->id.rdd,
                                          block->id.partition);
        }
        *reader = r;
        packed_reader_init(&reader->packed, block->pages);
        codec_init(&reader->codec, block->store->options.codec, 0);
        page_cursor_init(&reader->cursor, block->type);
        return 0;
}

void block_reader_deinit(struct block_reader *reader)
{
        if (!reader->block)
                return;
        page_cursor_deinit(&reader->cursor);
        page_free(NULL, reader->loaded);
        packed_reader_deinit(&reader->packed);
        codec_deinit(&reader->codec);
        spill_reader_deinit(&reader->disk);
        *reader = (struct block_reader){0};
}

static int unpack(struct block_reader *reader, struct fst_error *error)
{
        const unsigned char *frame;
        struct page_frame header;
        uint32_t length;
        int r = packed_reader_next(&reader->packed, &frame, &length);
        if (r)
                return error_set(error, r, "no memory for a page");
        if (!frame)
                return 0;
        r = page_frame_parse(frame, reader->block->type, &header, error);
        return r ? r
                 : page_frame_decode(&header, reader->block->type, frame + PAGE_FRAME_HEADER, &reader->codec, NULL,
                                     &reader->loaded, error);
}

static int next_page(struct block_reader *reader, struct fst_error *error)
{
        struct block *b = reader->block;
        int r;
        if (!reader->from_disk && !b->packed) {
                reader->page = reader->started ? reader->page->next : b->pages;
                reader->started = true;
                return 0;
        }
        page_free(NULL, steal(reader->loaded));
        reader->page = NULL;
        r = reader->from_disk ? spill_reader_next(&reader->disk, NULL, &reader->loaded, error) : unpack(reader, error);
        if (r) {
                remove_damaged(b);
                return error_wrap(error, r, "reading the cached partition rdd_%d_%d", b->id.rdd, b->id.partition);
        }
        reader->page = reader->loaded;
        return 0;
}

int block_reader_next(struct block_reader *reader, fst_batch *batch, struct fst_error *error)
{
        for (;;) {
                if (reader->page && page_cursor_next(&reader->cursor, batch))
                        return 0;
                if (reader->started && !reader->page)
                        break;
                int r = next_page(reader, error);
                if (r)
                        return r;
                reader->started = true;
                if (reader->page)
                        page_cursor_start(&reader->cursor, reader->page);
        }
        *batch = (fst_batch){.type = reader->block->type};
        return 0;
}

int block_reader_next_page(struct block_reader *reader, const struct page **page, struct fst_error *error)
{
        int r = reader->started && !reader->page ? 0 : next_page(reader, error);
        if (r)
                return r;
        reader->started = true;
        *page = reader->page;
        return 0;
}

const struct page *block_frames(const struct block *b)
{
        return b->packed ? b->pages : NULL;
}

void block_store_codec(const struct block_store *store, struct codec *codec)
{
        codec_init(codec, store->options.codec, store->options.level);
}
