/*
 * See row_buffer.h. Rows are pages in a list while memory for them is granted. When memory is denied, all pages are
 * written to disk and freed. From then on one reserved page is filled and written repeatedly.
 *
 * A row larger than a page gets a page of its own. If that is denied, the page is allocated without accounting, written
 * and freed at once. Reading such a row is not accounted either.
 */
#include "rdd/pipeline/row_buffer.h"

#include "base/error.h"
#include "base/mem.h"
#include "store/spill.h"
#include "store/spill_space.h"

#define SET_ASIDE 1 /* reserved pages: the one that is filled for the disk or read from it */

struct row_buffer {
        struct memory_consumer memory;
        const struct spill_space *space;
        fst_type type;
        bool started;

        struct page *first, **last; /* in memory; all full but the last */
        struct page *open;          /* the last one; after a spill the reserved page that is filled */
        struct spill *spill;        /* NULL: all rows are in memory */
        uint64_t start;             /* offset of the rows in it */
        uint64_t spilled;

        struct page_cursor cursor;
        struct page *page; /* the page that is read */
        bool in_page;      /* the cursor is valid */
        struct spill_reader reader;
        bool reading; /* the spill reader is open */
};

struct row_buffer *row_buffer_new(void)
{
        return new0(struct row_buffer);
}

static void row_buffer_end_reading(struct row_buffer *b)
{
        if (b->reading) {
                spill_reader_deinit(&b->reader);
                page_free(NULL, b->page);
        }
        b->page = NULL;
        b->reading = b->in_page = false;
}

void row_buffer_clear(struct row_buffer *b)
{
        row_buffer_end_reading(b);
        if (b->spill) {
                b->spilled += spill_counters(b->spill).bytes;
                page_free(NULL, b->open);
        }
        spill_free(steal(b->spill));
        page_list_free(&b->memory, b->first);
        b->first = b->open = NULL;
        b->last = &b->first;
}

void row_buffer_reset(struct row_buffer *b)
{
        if (!b->started)
                return;
        row_buffer_clear(b);
        memory_consumer_deinit(&b->memory);
        page_cursor_deinit(&b->cursor);
        b->spilled = 0;
        b->started = false;
}

void row_buffer_free(struct row_buffer *b)
{
        if (!b)
                return;
        row_buffer_reset(b);
        free(b);
}

uint64_t row_buffer_spilled(const struct row_buffer *b)
{
        return b->spilled + (b->spill ? spill_counters(b->spill).bytes : 0);
}

static int row_buffer_no_memory(struct fst_error *error)
{
        return error_set(error, -ENOMEM,
                         "no memory to keep the rows of a key: a task's share is too small for them; raise "
                         "spark.executor.memory (spark.driver.memory in local mode) or run fewer tasks at a time");
}

int row_buffer_start(struct row_buffer *b, struct memory_task *memory, const struct spill_space *space, fst_type type,
                     struct fst_error *error)
{
        row_buffer_reset(b);
        memory_consumer_init(&b->memory, memory, "rows of a key", NULL);
        int r = space ? memory_acquire(&b->memory, SET_ASIDE * PAGE_BLOCK) : 0;
        if (r) {
                memory_consumer_deinit(&b->memory);
                return r < 0 ? r : row_buffer_no_memory(error);
        }
        b->space = space;
        b->type = type;
        b->last = &b->first;
        b->spilled = 0;
        b->started = true;
        page_cursor_init(&b->cursor, type);
        return 0;
}

/* ---------------------------------------------------------------------------------------------------- adding */

static int row_buffer_write_page(struct row_buffer *b, const struct page *page, struct fst_error *error)
{
        return page->rows ? spill_write_page(b->spill, page, NULL, NULL, error) : 0;
}

/* Writes all pages to disk and frees them. */
static int row_buffer_spill_pages(struct row_buffer *b, struct fst_error *error)
{
        if (!b->space)
                return row_buffer_no_memory(error);
        struct page *spare;
        int r = page_new(NULL, b->type, 0, &spare);
        if (r)
                return r < 0 ? r : row_buffer_no_memory(error);
        r = spill_new(&(struct spill_options){.dirs = b->space->dirs,
                                              .type = b->type,
                                              .codec = b->space->spill_codec,
                                              .level = b->space->level,
                                              .if_cheaper = b->space->spill_if_cheaper},
                      &b->spill, error);
        if (r) {
                page_free(NULL, spare);
                return r;
        }
        b->start = spill_end(b->spill);
        b->open = spare;
        while (r == 0 && b->first) {
                struct page *page = b->first;
                r = row_buffer_write_page(b, page, error);
                b->first = page->next;
                page_free(&b->memory, page);
        }
        b->last = &b->first;
        return r;
}

/* Writes `open`, then row @row, which did not fit into it, to disk. */
static int row_buffer_write_row(struct row_buffer *b, const fst_batch *batch, uint32_t row, uint32_t *next,
                                struct fst_error *error)
{
        int r = row_buffer_write_page(b, b->open, error);
        if (r)
                return r;
        b->open->used = b->open->rows = 0;
        size_t size = page_record_size(batch, row);
        *next = row;
        if (size <= b->open->capacity)
                return 0;
        struct page *large;
        r = page_new(NULL, b->type, size, &large);
        if (r)
                return r < 0 ? r : row_buffer_no_memory(error);
        page_append_row(large, batch, row);
        r = row_buffer_write_page(b, large, error);
        page_free(NULL, large);
        *next = row + 1;
        return r;
}

int row_buffer_add(struct row_buffer *b, const fst_batch *batch, struct fst_error *error)
{
        for (uint32_t row = 0;;) {
                if (b->open)
                        row += page_append(b->open, batch, row);
                if (row == batch->rows)
                        return 0;
                if (b->spill) {
                        int r = row_buffer_write_row(b, batch, row, &row, error);
                        if (r)
                                return r;
                        continue;
                }
                struct page *page;
                int r = page_new(&b->memory, b->type, page_record_size(batch, row), &page);
                if (r == FST_MEMORY_E_DENIED)
                        r = row_buffer_spill_pages(b, error);
                else if (r == 0) {
                        page->next = NULL;
                        *b->last = b->open = page;
                        b->last = &page->next;
                }
                if (r)
                        return r;
        }
}

/* --------------------------------------------------------------------------------------------------- reading */

int row_buffer_read(struct row_buffer *b, struct fst_error *error)
{
        row_buffer_end_reading(b);
        if (!b->spill) {
                b->page = b->first;
                return 0;
        }
        int r = b->open ? row_buffer_write_page(b, b->open, error) : 0;
        if (r)
                return r;
        page_free(NULL, steal(b->open));
        r = spill_reader_init(&b->reader, b->spill, b->start, spill_end(b->spill), NULL, error);
        b->reading = r == 0;
        return r;
}

int row_buffer_next(struct row_buffer *b, fst_batch *batch, struct fst_error *error)
{
        for (;;) {
                if (b->in_page && page_cursor_next(&b->cursor, batch))
                        return 0;
                if (b->reading) {
                        page_free(NULL, steal(b->page));
                        b->in_page = false;
                        int r = spill_reader_next(&b->reader, NULL, &b->page, error);
                        if (r)
                                return r;
                } else if (b->in_page) {
                        b->page = b->page->next;
                }
                b->in_page = b->page != NULL;
                if (!b->page) {
                        *batch = (fst_batch){.type = b->type};
                        return 0;
                }
                page_cursor_start(&b->cursor, b->page);
        }
}
