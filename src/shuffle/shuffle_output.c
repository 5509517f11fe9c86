/*
 * One map task's output; see shuffle_output.h.
 *
 * Invariants: only the writer's thread changes an output before it is shared. Afterwards only eviction changes it: it
 * moves pages to disk under the output's lock while the output is not pinned. A partition's pages on disk come before
 * those in memory, so the order within a partition is kept.
 */
#include "shuffle/shuffle_output.h"

#include "base/error.h"
#include "base/mem.h"
#include "shuffle/buckets/bucket_page.h"
#include "shuffle/remote_shuffle.h"
#include "shuffle/shuffle_store.h"
#include "store/spill.h"

_Static_assert(sizeof(struct shuffle_partition) == 16, "a million of them are 16 MB");

#define LEAST_PACKED 256 /* partitions: fewer take too little memory */

struct shuffle_output *shuffle_output_new(int partitions, fst_type type, struct memory_manager *manager)
{
        struct shuffle_output *o = new0(struct shuffle_output);
        o->refs = 1;
        o->at = new_array(struct shuffle_partition, (size_t)MAX(partitions, 1));
        o->n_at = partitions;
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
        if (first == at->last) /* after its extents, for shuffle_output_is_empty */
                __atomic_store_n(&at->last, NULL, __ATOMIC_RELEASE);
        else
                at->last->next = first->next;
        o->pages--;
        return first;
}

void shuffle_output_end_stream(struct shuffle_output *o)
{
        if (o->stream)
                o->stream->class->free(o->stream);
        o->stream = NULL;
}

void shuffle_output_unref(struct shuffle_output *o)
{
        if (!o || __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) > 0)
                return;
        if (o->stream) { /* which may take a reference */
                o->refs = 1;
                shuffle_output_end_stream(o);
                if (__atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) > 0)
                        return;
        }
        if (o->store)
                shuffle_store_delist(o->store, o);
        for (int i = 0; i < o->n_at && o->pages; i++)
                while (o->at[i].last)
                        page_free(NULL, take_first_page(o, &o->at[i]));
        if (o->memory)
                memory_release_storage(o->manager, o->memory);
        spill_free(o->file);
        free(o->extents);
        free(o->at);
        free(o->present);
        free(o->rank);
        pthread_mutex_destroy(&o->lock);
        free(o);
}

void shuffle_output_add(struct shuffle_output *o, uint32_t partition, struct page *page)
{
        struct shuffle_partition *at = shuffle_output_at(o, (int)partition);
        page->next = at->last ? at->last->next : page;
        if (at->last)
                at->last->next = page;
        at->last = page;
        o->pages++;
        o->bytes += page->used;
        o->rows += page->rows;
}

static void shuffle_output_extend(struct shuffle_output *o, struct shuffle_partition *at, uint64_t offset,
                                  uint32_t length)
{
        if (o->n_extents == o->extents_cap) {
                o->extents_cap = o->extents_cap ? o->extents_cap * 2 : 64;
                o->extents = mem_grow(o->extents, o->extents_cap * sizeof(*o->extents));
        }
        o->extents[o->n_extents++] = (struct shuffle_extent){.offset = offset, .length = length};
        if (at->last_extent)
                o->extents[at->last_extent - 1].next = o->n_extents;
        else
                __atomic_store_n(&at->extents, o->n_extents, __ATOMIC_RELAXED);
        at->last_extent = o->n_extents;
}

void shuffle_output_add_extent(struct shuffle_output *o, uint32_t partition, uint64_t offset, uint32_t length)
{
        shuffle_output_extend(o, shuffle_output_at(o, (int)partition), offset, length);
}

/* The partitions with pages of an output that is not packed. */
static int shuffle_output_count(const struct shuffle_output *o)
{
        int n = 0;
        for (int p = 0; p < o->partitions; p++)
                n += o->at[p].last || o->at[p].extents;
        return n;
}

void shuffle_output_pack(struct shuffle_output *o)
{
        int n = o->present ? o->n_at : shuffle_output_count(o);
        if (o->present || o->partitions < LEAST_PACKED || n > o->partitions / 2)
                return;
        size_t words = ((size_t)o->partitions + 63) / 64;
        struct shuffle_partition *at = new_array(struct shuffle_partition, (size_t)MAX(n, 1));
        o->present = new_array(uint64_t, words);
        o->rank = new_array(uint32_t, words);
        o->n_at = 0;
        for (int p = 0; p < o->partitions; p++) {
                if (p % 64 == 0)
                        o->rank[p / 64] = (uint32_t)o->n_at;
                if (!o->at[p].last && !o->at[p].extents)
                        continue;
                o->present[p / 64] |= UINT64_C(1) << p % 64;
                at[o->n_at++] = o->at[p];
        }
        free(o->at);
        o->at = at;
}

bool shuffle_output_is_empty(const struct shuffle_output *o, int partition)
{
        const struct shuffle_partition *at = shuffle_output_at(o, partition);
        return !at ||
               (!__atomic_load_n(&at->last, __ATOMIC_ACQUIRE) && !__atomic_load_n(&at->extents, __ATOMIC_RELAXED));
}

int shuffle_output_next(const struct shuffle_output *o, int partition)
{
        for (int p = partition; p < o->partitions; p = (p / 64 + 1) * 64) {
                if (!o->present) {
                        while (p < o->partitions && shuffle_output_is_empty(o, p))
                                p++;
                        return p;
                }
                uint64_t rest = o->present[p / 64] >> p % 64;
                if (rest)
                        return p + __builtin_ctzll(rest);
        }
        return o->partitions;
}

/* Where pages were written. */
struct written_pages {
        int n;
        uint64_t offset[BUCKET_PAGE_RECORD_PAGES];
        uint32_t length[BUCKET_PAGE_RECORD_PAGES];
};

static int written_pages_add(struct written_pages *w, struct spill *file, const struct page *page,
                             struct fst_error *error)
{
        int r = spill_write_page(file, page, &w->offset[w->n], &w->length[w->n], error);
        w->n += r == 0;
        return r;
}

/* Writes @page, as records, to the output's file. */
static int shuffle_output_write(struct shuffle_output *o, const struct page *page, struct written_pages *w,
                                struct fst_error *error)
{
        w->n = 0;
        if (!page->segments)
                return written_pages_add(w, o->file, page, error);
        struct page *records = NULL;
        uint32_t segment = 0;
        int r = page_new(NULL, o->type, 0, &records);
        if (r)
                return error_set(error, r, "no memory to write a page of a map output");
        while (r == 0 && bucket_page_to_records(page, &segment, records))
                r = written_pages_add(w, o->file, records, error);
        page_free(NULL, records);
        return r;
}

/* Writes the rows of @page, whose keys are shared, as records. */
static int shuffle_output_write_rows(struct shuffle_output *o, struct shuffle_partition *at, const struct page *page,
                                     struct fst_error *error)
{
        struct page *rows;
        struct page_cursor cursor;
        fst_batch batch = {0};
        int r = page_new(NULL, o->type, 0, &rows);
        if (r)
                return error_set(error, r, "no memory to write a page of a map output");
        page_cursor_init(&cursor, o->type);
        page_cursor_start(&cursor, page);
        bool more = page_cursor_next(&cursor, &batch);
        for (uint32_t first = 0; more && r == 0;) {
                first += page_append(rows, &batch, first);
                if (first == batch.rows) {
                        more = page_cursor_next(&cursor, &batch);
                        first = 0;
                        if (more)
                                continue;
                }
                uint64_t offset;
                uint32_t length;
                r = spill_write_page(o->file, rows, &offset, &length, error);
                if (r == 0)
                        shuffle_output_extend(o, at, offset, length);
                rows->used = rows->rows = 0;
        }
        page_cursor_deinit(&cursor);
        page_free(NULL, rows);
        return r;
}

/* Writes a page, and adds its extents. After a failure it has none. */
static int shuffle_output_write_page(struct shuffle_output *o, struct shuffle_partition *at, const struct page *page,
                                     struct fst_error *error)
{
        struct written_pages written;
        if (!page->keys) {
                int r = shuffle_output_write(o, page, &written, error);
                for (int w = 0; r == 0 && w < written.n; w++)
                        shuffle_output_extend(o, at, written.offset[w], written.length[w]);
                return r;
        }
        const struct shuffle_partition before = *at;
        const uint32_t n_extents = o->n_extents;
        int r = shuffle_output_write_rows(o, at, page, error);
        if (r == 0)
                return 0;
        *at = before;
        o->n_extents = n_extents;
        if (at->last_extent)
                o->extents[at->last_extent - 1].next = 0;
        return r;
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
        for (int i = 0; i < o->n_at && o->pages && r == 0; i++) {
                struct shuffle_partition *at = &o->at[i];
                while (at->last) {
                        r = shuffle_output_write_page(o, at, at->last->next, error);
                        if (r)
                                break;
                        struct page *page = take_first_page(o, at);
                        *freed += page->block;
                        page_free(NULL, page);
                }
        }
        return r;
}

int shuffle_output_drain(struct shuffle_output *o, const int *stopped, size_t *freed, struct fst_error *error)
{
        int r = o->stream->class->drain(o->stream, stopped, error);
        for (int i = 0; i < o->n_at && o->pages && r == 0; i++)
                while (o->at[i].last) {
                        struct page *page = take_first_page(o, &o->at[i]);
                        *freed += page->block;
                        page_free(NULL, page);
                        o->dropped = true;
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
