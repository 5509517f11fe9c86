/*
 * Writes blocks: pages in memory while there is room. After that the block is given up or continues on disk, depending
 * on its level. See block_store.h.
 */
#include "store/block_store_internal.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"

#include <errno.h>

struct block_writer {
        struct block *block;      /* NULL after it was given up */
        struct packed_pages kept; /* frames, or plain pages */
        size_t memory;
        uint64_t rows;
        struct spill *spill;
        struct page *open;  /* on disk or packed: the page being filled, not accounted */
        struct codec codec; /* for packed blocks, with a buffer for frames */
        unsigned char *frame;
        bool failed;
};

struct block_writer *block_writer_new(struct block *b)
{
        struct block_writer *w = new0(struct block_writer);
        w->block = b;
        codec_init(&w->codec, b->store->options.codec, b->store->options.level);
        return w;
}

/* Drops the written rows. The block, if there is one, is left to another task. */
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
                memory_release_storage(block_memory_manager(b), w->memory);
        w->memory = 0;
        pthread_mutex_lock(&s->lock);
        block_doom(b);
        pthread_mutex_unlock(&s->lock);
        block_free(b);
}

/* Moves the block to disk: the rows so far, and all later ones. */
static int writer_move_to_disk(struct block_writer *w, struct fst_error *error)
{
        struct spill *spill = NULL;
        int r = block_write_pages(w->block, w->kept.first, &spill, error);
        if (r)
                return r;
        page_list_free(NULL, w->kept.first);
        w->kept = (struct packed_pages){0};
        if (w->memory)
                memory_release_storage(block_memory_manager(w->block), w->memory);
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

/* Handles a refused page: 0 if the block continues on disk, given up, or negative. */
static int writer_handle_refusal(struct block_writer *w, struct fst_error *error)
{
        struct block *b = w->block;
        if (!storage_level_uses_disk(b->level)) {
                log_warn("MemoryStore", "Not enough space to cache rdd_%d_%d in memory! (%zu bytes so far)", b->id.rdd,
                         b->id.partition, w->memory);
                writer_drop(w);
                return FST_BLOCK_E_GIVEN_UP;
        }
        if (block_memory_manager(b))
                log_info("MemoryStore", "rdd_%d_%d does not fit into memory and goes to disk", b->id.rdd,
                         b->id.partition);
        else
                log_warn("MemoryStore",
                         "rdd_%d_%d goes to disk: OFF_HEAP needs spark.memory.offHeap.enabled=true and "
                         "spark.memory.offHeap.size",
                         b->id.rdd, b->id.partition);
        return writer_move_to_disk(w, error);
}

/* Stores the open page as a frame in memory: 0 if it is stored or the block moved to disk; otherwise as above. */
static int writer_pack(struct block_writer *w, struct fst_error *error)
{
        struct block *b = w->block;
        struct page *page = w->open;
        size_t bound = page_frame_bound(page), room = bound <= PAGE_BLOCK ? PAGE_BLOCK : bound;
        unsigned char *frame = room > PAGE_BLOCK || !w->frame ? mem_try_grow(w->frame, room) : w->frame;
        if (!frame)
                return error_set(error, -ENOMEM, "no memory for a page of %zu bytes", room);
        w->frame = frame;
        size_t length = page_frame_encode(page, &w->codec, frame), need = packed_pages_need(&w->kept, length);
        if (need && !block_acquire_storage(b, need))
                return writer_handle_refusal(w, error);
        int r = packed_pages_append(&w->kept, b->type, frame, length);
        if (r) {
                memory_release_storage(block_memory_manager(b), need);
                return error_set(error, r, "no memory for a page of %zu bytes", length);
        }
        w->memory += need;
        page->used = page->rows = 0;
        return 0;
}

/* Stores the rows of the open page, which may still contain them afterwards. */
static int writer_store(struct block_writer *w, struct fst_error *error)
{
        int r = !w->open || w->open->rows == 0 || w->spill ? 0 : writer_pack(w, error);
        if (r == 0 && w->spill && w->open && w->open->rows)
                r = spill_write_page(w->spill, w->open, NULL, NULL, error);
        return r;
}

/* Empties the open page or replaces it by one for @record bytes. */
static int writer_replace_page(struct block_writer *w, size_t record, struct fst_error *error)
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

/* Makes room for a record: 0, given up, or negative. */
static int writer_make_room(struct block_writer *w, size_t record, struct fst_error *error)
{
        struct block *b = w->block;
        int r = 0;
        if (!w->spill && !b->packed && storage_level_uses_memory(b->level)) {
                size_t size = page_block_size(record);
                struct page *page = NULL;
                if (size != SIZE_MAX && block_acquire_storage(b, size)) {
                        r = page_new(NULL, b->type, record, &page);
                        if (r) {
                                memory_release_storage(block_memory_manager(b), size);
                                return error_set(error, r, "no memory for a page of %zu bytes", record);
                        }
                        writer_add(w, page, size);
                        return 0;
                }
                r = writer_handle_refusal(w, error);
        } else if (!w->spill && !b->packed) {
                r = writer_move_to_disk(w, error);
        }
        return r ? r : writer_replace_page(w, record, error);
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
                int r = writer_make_room(w, page_record_size(batch, row), error);
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

/* Moves everything to its final place. */
static int writer_complete(struct block_writer *w, struct fst_error *error)
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
        memory_release_storage(block_memory_manager(w->block), before - (*at)->block);
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
        int r = !b ? FST_BLOCK_E_GIVEN_UP : w->failed ? -EIO : writer_complete(w, error);
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
                block_count_in(b);
                if (b->state == IN_MEMORY)
                        block_use_now(b);
        }
        struct block_status status = block_status_of(b, true);
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
        if (gone)
                block_free(b);
        else
                block_store_tell(s, status);
        return gone ? FST_BLOCK_E_GIVEN_UP : 0;
}

void block_writer_abort(struct block_writer *writer)
{
        if (!writer)
                return;
        writer_drop(writer);
        writer_free(writer);
}
