/* Reads blocks: pages in memory, compressed or not, or from the block's file. See block_store.h. */
#include "store/block_store_internal.h"

#include "base/error.h"
#include "base/mem.h"

#include <errno.h>

/*
 * Removes an unreadable block, so that the next attempt computes it. The caller's own hold keeps it until its release.
 */
static void remove_damaged(struct block *b)
{
        struct block_store *s = b->store;
        pthread_mutex_lock(&s->lock);
        if (b->doomed)
                pthread_mutex_unlock(&s->lock);
        else
                block_remove_unlock(b);
}

int block_reader_init(struct block_reader *reader, struct block *block, struct fst_error *error)
{
        struct block_reader r = {.block = block, .from_disk = block->spill != NULL};
        if (block->spill) {
                int code = spill_reader_init(&r.disk, block->spill, 0, spill_end(block->spill), NULL, error);
                if (code && code != -EMFILE && code != -ENFILE)
                        remove_damaged(block); /* its file was removed, or cannot be opened any more */
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

static int block_reader_unpack(struct block_reader *reader, struct fst_error *error)
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

static int block_reader_fetch_page(struct block_reader *reader, struct fst_error *error)
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
        r = reader->from_disk ? spill_reader_next(&reader->disk, NULL, &reader->loaded, error)
                              : block_reader_unpack(reader, error);
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
                int r = block_reader_fetch_page(reader, error);
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
        int r = reader->started && !reader->page ? 0 : block_reader_fetch_page(reader, error);
        if (r)
                return r;
        reader->started = true;
        *page = reader->page;
        return 0;
}
