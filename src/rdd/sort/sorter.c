/*
 * External sort (rdd/sort/sorter.h): pages with an index in memory, runs on disk when memory is denied, and a merge at
 * the end.
 *
 * Like Spark's ExternalSorter, it sorts runs in memory and merges them. Rows still in memory at the end are merged
 * without being written.
 *
 * Memory: SET_ASIDE pages are reserved at the start, so that a run can be written (one page gathers its rows) and two
 * runs can be merged without further memory. If they are denied, they are used without a reservation. A merge of n runs
 * holds n pages. If these are denied, runs are merged in several rounds. Reading a record larger than a page takes the
 * memory that adding it took.
 *
 * The upstream operator may hold all of the task's memory and be unable to free it, for example another sorter that is
 * being read. Therefore the index always has room for MIN_INDEX entries. If a page is denied although everything is
 * written, the sorter takes one unreserved page and writes rows to disk through it, slowly.
 *
 * Pages that a source lends are indexed where they are. Writing a run ends their loans, as it frees own pages.
 *
 * Rows that are a number and nothing else, and that are read once in order, go into buckets by their value
 * (rdd/sort/number_buckets.h), and the index stays empty.
 *
 * Invariants: `open` is not in `pages` and not in the index; every page in `pages` or on loan is in the index; all
 * `pages` except `unreserved` bytes are reserved through `memory`; runs are in the order in which their rows were
 * added.
 */
#include "rdd/sort/sorter.h"

#include "base/error.h"
#include "base/vec.h"
#include "rdd/pipeline/columns.h"
#include "rdd/pipeline/page_loan.h"
#include "rdd/sort/number_buckets.h"
#include "rdd/sort/spill_run_writer.h"
#include "rdd/sort/sort_merge.h"

#define SET_ASIDE 3
#define MIN_INDEX 2048 /* entries */
#define MIN_FAN_IN 2
#define MAX_FAN_IN 512

enum sorter_state { SORTER_IDLE, SORTER_ADDING, SORTER_READING };

struct sorter {
        struct memory_consumer memory;
        struct sorter_options options;
        struct record_order order;
        enum sorter_state state;

        struct page *pages, *open; /* pages of the index; the page that sorter_add_batch fills */
        struct page_loan *loans;   /* keep further pages of the index, which belong to others */
        struct sort_index index;
        struct number_buckets *numbers; /* kept from task to task; NULL: not used yet */
        bool by_number;                 /* rows are in `numbers`, not in the index */
        const uint64_t *sorted;         /* numbers to read next… */
        size_t n_sorted;                /* … so many */
        size_t at;                      /* position in the index while reading without runs */
        size_t unreserved;              /* size of the one page taken without a reservation; 0: none */

        struct spill_run_writer writer;
        VEC(struct spill_run) runs;
        size_t aside; /* bytes reserved for merging and not yet used */
        struct sort_merge merge;
        bool merging;

        struct columns columns;
        struct sorter_stats stats;
};

static int sorter_no_memory(struct fst_error *error)
{
        return error_set(error, -ENOMEM,
                         "no memory to sort: a task's share is too small for its rows; raise "
                         "spark.executor.memory (spark.driver.memory in local mode) or run fewer "
                         "tasks at a time");
}

/* ----------------------------------------------------------------------------------------- begin and end */

struct sorter *sorter_new(void)
{
        return new0(struct sorter);
}

void sorter_free(struct sorter *s)
{
        if (!s)
                return;
        int saved = errno;
        sorter_reset(s);
        sort_index_free(&s->index);
        number_buckets_free(s->numbers);
        columns_deinit(&s->columns);
        vec_deinit(&s->runs);
        free(s);
        errno = saved;
}

/* Frees a list of pages. Accounts unreserved bytes by their sum, not by page. */
static void sorter_free_pages(struct sorter *s, struct page *first)
{
        size_t bytes = 0, unreserved;
        for (const struct page *page = first; page; page = page->next)
                bytes += page->block;
        page_list_free(NULL, first);
        unreserved = MIN(s->unreserved, bytes);
        s->unreserved -= unreserved;
        memory_release(&s->memory, bytes - unreserved);
}

static void sorter_end_loans(struct sorter *s)
{
        for (struct page_loan *loan; (loan = s->loans);) {
                s->loans = loan->next;
                loan->end(loan);
        }
}

/* Removes the rows in memory. */
static void sorter_clear(struct sorter *s)
{
        sort_index_clear(&s->index);
        sorter_end_loans(s);
        sorter_free_pages(s, steal(s->pages));
        if (s->by_number)
                sorter_free_pages(s, number_buckets_clear(s->numbers));
        s->n_sorted = 0;
}

static size_t sorter_rows_in_memory(const struct sorter *s)
{
        return s->by_number ? number_buckets_count(s->numbers) : s->index.n;
}

static void sorter_free_page(struct sorter *s, struct page *page)
{
        if (!page)
                return;
        page->next = NULL;
        sorter_free_pages(s, page);
}

void sorter_reset(struct sorter *s)
{
        if (s->state == SORTER_IDLE)
                return;
        if (s->merging)
                sort_merge_deinit(&s->merge);
        s->merging = false;
        sorter_clear(s);
        sorter_free_page(s, steal(s->open));
        spill_run_writer_deinit(&s->writer);
        s->runs.len = 0;
        sort_index_release(&s->index);
        memory_consumer_deinit(&s->memory);
        s->state = SORTER_IDLE;
}

static int sorter_write_run(struct sorter *s, struct fst_error *error);

/* Called when another consumer of the task needs memory. */
static int sorter_spill_for_others(struct memory_consumer *consumer, size_t want, struct fst_error *error)
{
        struct sorter *s = container_of(consumer, struct sorter, memory);
        if (s->state != SORTER_ADDING)
                return 0;
        int r = sorter_rows_in_memory(s) > 0 ? sorter_write_run(s, error) : 0;
        if (r == 0)
                sort_index_shrink(&s->index, MIN_INDEX);
        return r;
}

/* If the pages are denied they are used all the same: without them no run could be written or merged. */
static int sorter_set_pages_aside(struct sorter *s)
{
        int r = memory_acquire(&s->memory, SET_ASIDE * PAGE_BLOCK);
        s->aside = SET_ASIDE * PAGE_BLOCK;
        return MIN(r, 0);
}

/* Without room for its buckets a sorter of numbers uses the index. */
static int sorter_start_numbers(struct sorter *s)
{
        fst_type type = s->options.type;
        s->by_number = false;
        if (!s->options.is_read_once || !s->index.whole || type.value != FST_KIND_NONE)
                return 0;
        int r = memory_acquire(&s->memory, NUMBER_BUCKETS_SIZE);
        if (r == 0 && !s->numbers)
                s->numbers = number_buckets_new();
        s->by_number = r == 0;
        return MIN(r, 0);
}

int sorter_start(struct sorter *s, const struct sorter_options *options, struct fst_error *error)
{
        sorter_reset(s);
        memory_consumer_init(&s->memory, options->memory, "sort", options->spill ? sorter_spill_for_others : NULL);
        s->options = *options;
        s->order = record_order(options->type, options->order);
        s->stats = (struct sorter_stats){0};
        s->aside = s->unreserved = 0;
        sort_index_start(&s->index, s->order, &s->memory);
        s->n_sorted = 0;
        int r = sorter_start_numbers(s);
        if (!r && options->spill && !s->by_number)
                r = sort_index_reserve(&s->index, MIN_INDEX);
        if (!r && options->spill)
                r = sorter_set_pages_aside(s);
        if (r) {
                memory_consumer_deinit(&s->memory);
                return r < 0 ? r : sorter_no_memory(error);
        }
        columns_start(&s->columns, options->type);
        s->state = SORTER_ADDING;
        return 0;
}

struct sorter_stats sorter_stats(const struct sorter *s)
{
        return s->stats;
}

/* --------------------------------------------------------------------------------------------------- runs */

/* Reads the next rows in memory in order. Returns how many. */
static uint32_t sorter_read(struct sorter *s, fst_batch *batch)
{
        if (!s->by_number) {
                uint32_t rows = sort_index_read(&s->index, s->at, s->columns.room, batch);
                s->at += rows;
                return rows;
        }
        if (!s->n_sorted)
                s->sorted = number_buckets_next(s->numbers, &s->n_sorted);
        batch->rows = (uint32_t)MIN(s->n_sorted, (size_t)s->columns.room);
        sort_index_read_prefixes(&s->order, s->sorted, batch->rows, batch->key);
        s->sorted += batch->rows;
        s->n_sorted -= batch->rows;
        return batch->rows;
}

/* Sorts the rows in memory and writes them as a run. Frees their pages and keeps the index's reservation. */
static int sorter_write_run(struct sorter *s, struct fst_error *error)
{
        struct spill_run run;
        int r = spill_run_writer_begin(&s->writer, s->options.spill, s->options.type, &run, error);
        if (r)
                return r;
        sort_index_sort(&s->index);
        s->at = 0;
        fst_batch batch = columns_batch(&s->columns, s->options.type);
        while (!r && sorter_read(s, &batch))
                r = spill_run_writer_rows(&s->writer, &batch, error);
        if (!r)
                r = spill_run_writer_end(&s->writer, &run, error);
        if (r)
                return r;
        vec_push(&s->runs, run);
        s->stats.spilled_bytes += run.end - run.start;
        s->stats.spills++;
        sorter_clear(s);
        return 0;
}

/* ------------------------------------------------------------------------------------------------- adding */

/* Frees memory after a denial. Returns FST_MEMORY_E_DENIED if there is nothing more to free, or negative. */
static int sorter_make_room(struct sorter *s, struct fst_error *error)
{
        size_t least = s->options.spill ? MIN_INDEX : 0;
        if (sorter_rows_in_memory(s) > 0)
                return s->options.spill ? sorter_write_run(s, error) : sorter_no_memory(error);
        if (s->index.room <= least)
                return FST_MEMORY_E_DENIED;
        sort_index_shrink(&s->index, least);
        return 0;
}

/* Allocates a page with room for a record of @record bytes. */
static int sorter_take_page(struct sorter *s, size_t record, struct page **page, struct fst_error *error)
{
        int r;
        while ((r = page_new(&s->memory, s->options.type, record, page)) == FST_MEMORY_E_DENIED)
                if ((r = sorter_make_room(s, error)))
                        break;
        if (r == FST_MEMORY_E_DENIED && s->options.spill) {
                r = page_new_unreserved(s->memory.task, s->options.type, record, page);
                if (!r)
                        s->unreserved += (*page)->block;
        }
        return r == FST_MEMORY_E_DENIED ? sorter_no_memory(error) : r;
}

/* Writes the rows of @page as several runs: the empty index has no room for all of them. */
static int sorter_write_page_runs(struct sorter *s, const struct page *page, struct fst_error *error)
{
        const unsigned char *record = page->data;
        int r = 0;
        for (uint32_t at = 0, n; at < page->rows && !r; at += n) {
                n = (uint32_t)MIN(s->index.room, (size_t)(page->rows - at));
                record = sort_index_add(&s->index, page, record, n);
                r = sorter_write_run(s, error);
        }
        return r;
}

/* Adds the rows of @page to the index and takes over the page, also on failure. */
static int sorter_add_page(struct sorter *s, struct page *page, struct fst_error *error)
{
        int r;
        while ((r = sort_index_reserve(&s->index, page->rows)) == FST_MEMORY_E_DENIED)
                if ((r = sorter_make_room(s, error)))
                        break;
        if (r == 0 && page->rows > 0) {
                sort_index_add(&s->index, page, page->data, page->rows);
                s->stats.rows += page->rows;
                page->next = s->pages;
                s->pages = page;
                return 0;
        }
        if (r == FST_MEMORY_E_DENIED && s->options.spill) {
                s->stats.rows += page->rows;
                r = sorter_write_page_runs(s, page, error);
        }
        sorter_free_page(s, page);
        return r == FST_MEMORY_E_DENIED ? sorter_no_memory(error) : r;
}

static int sorter_close_page(struct sorter *s, struct fst_error *error)
{
        struct page *page = steal(s->open);
        return page ? sorter_add_page(s, page, error) : 0;
}

/* Makes room for up to @rows further rows in the index. Returns for how many, or negative as sorter_add_batch. */
static int64_t sorter_make_index_room(struct sorter *s, uint32_t rows, struct fst_error *error)
{
        int r;
        while ((r = sort_index_reserve(&s->index, rows)) == FST_MEMORY_E_DENIED)
                if ((r = sorter_make_room(s, error)))
                        break;
        if (r < 0)
                return r;
        if (r == 0)
                return rows;
        return s->index.room ? (int64_t)MIN(s->index.room, (size_t)rows) : sorter_no_memory(error);
}

static int sorter_add_whole_rows(struct sorter *s, const fst_batch *batch, struct fst_error *error)
{
        for (uint32_t row = 0; row < batch->rows;) {
                int64_t n = sorter_make_index_room(s, batch->rows - row, error);
                if (n < 0)
                        return (int)n;
                sort_index_add_rows(&s->index, batch, row, (uint32_t)n);
                row += (uint32_t)n;
        }
        s->stats.rows += batch->rows;
        return 0;
}

static int sorter_add_numbers(struct sorter *s, const fst_batch *batch, struct fst_error *error)
{
        uint64_t prefixes[FST_BATCH_ROWS];
        sort_index_prefixes(&s->order, batch, prefixes);
        for (size_t row = 0;
             (row += number_buckets_add(s->numbers, prefixes + row, batch->rows - row)) < batch->rows;) {
                struct page *page;
                int r = sorter_take_page(s, 0, &page, error);
                if (r)
                        return r;
                number_buckets_give(s->numbers, page);
        }
        s->stats.rows += batch->rows;
        return 0;
}

int sorter_add_batch(struct sorter *s, const fst_batch *batch, struct fst_error *error)
{
        if (s->by_number)
                return sorter_add_numbers(s, batch, error);
        if (s->index.whole)
                return sorter_add_whole_rows(s, batch, error);
        for (uint32_t row = 0;;) {
                if (s->open)
                        row += page_append(s->open, batch, row);
                if (row == batch->rows)
                        return 0;
                int r = sorter_close_page(s, error);
                if (!r)
                        r = sorter_take_page(s, page_record_size(batch, row), &s->open, error);
                if (r)
                        return r;
        }
}

int sorter_borrow_page(struct sorter *s, const struct page *page, struct page_loan *loan, struct fst_error *error)
{
        if (s->index.whole || page->rows == 0)
                return FST_SORTER_E_NOT_BORROWED;
        int r = sorter_close_page(s, error);
        while (r == 0 && (r = sort_index_reserve(&s->index, page->rows)) == FST_MEMORY_E_DENIED)
                if ((r = sorter_make_room(s, error)))
                        break;
        if (r)
                return r < 0 ? r : FST_SORTER_E_NOT_BORROWED;
        sort_index_add(&s->index, page, page->data, page->rows);
        s->stats.rows += page->rows;
        loan->next = s->loans;
        s->loans = loan;
        return 0;
}

/* ------------------------------------------------------------------------------------------------ merging */

/*
 * Reserves a page for each of @n runs, including the set-aside pages. Returns the number of pages, at least MIN_FAN_IN.
 */
static size_t sorter_reserve_sources(struct sorter *s, size_t n)
{
        while (s->aside / PAGE_BLOCK < n + 1 && memory_acquire(&s->memory, PAGE_BLOCK) == 0)
                s->aside += PAGE_BLOCK;
        return MAX(s->aside / PAGE_BLOCK - 1, (size_t)MIN_FAN_IN);
}

static int sorter_merge_start(struct sorter *s, const struct spill_run *runs, size_t n, const struct sort_index *index,
                              struct fst_error *error)
{
        const struct spill_space *space = s->options.spill;
        int r = sort_merge_init(&s->merge, s->order, s->writer.spill, space->spill_codec, space->level, runs, n, index,
                                error);
        s->merging = r == 0;
        return r;
}

/* Merges the first @n runs into one. */
static int sorter_merge_runs(struct sorter *s, const struct spill_run *runs, size_t n, struct spill_run *merged,
                             struct fst_error *error)
{
        fst_batch batch = columns_batch(&s->columns, s->options.type);
        int r = spill_run_writer_begin(&s->writer, s->options.spill, s->options.type, merged, error);
        if (!r)
                r = sorter_merge_start(s, runs, n, NULL, error);
        while (!r && (r = sort_merge_next(&s->merge, s->columns.room, &batch, error)) == 0 && batch.rows)
                r = spill_run_writer_rows(&s->writer, &batch, error);
        if (!r)
                r = spill_run_writer_end(&s->writer, merged, error);
        if (!r)
                s->stats.spilled_bytes += merged->end - merged->start;
        if (s->merging)
                sort_merge_deinit(&s->merge);
        s->merging = false;
        return r;
}

/* Merges neighbouring runs until the rest can be merged at once. */
static int sorter_merge_rounds(struct sorter *s, size_t fan_in, struct fst_error *error)
{
        while (s->runs.len > fan_in) {
                size_t to = 0;
                for (size_t from = 0; from < s->runs.len;) {
                        size_t n = MIN(fan_in, s->runs.len - from);
                        struct spill_run merged = s->runs.data[from];
                        int r = n > 1 ? sorter_merge_runs(s, s->runs.data + from, n, &merged, error) : 0;
                        if (r)
                                return r;
                        from += n;
                        s->runs.data[to++] = merged;
                }
                s->runs.len = to;
        }
        return 0;
}

int sorter_close(struct sorter *s, struct fst_error *error)
{
        return sorter_close_page(s, error);
}

struct sort_index *sorter_unsorted(struct sorter *s)
{
        if (!sorter_in_memory(s))
                return NULL;
        s->state = SORTER_READING;
        return &s->index;
}

const struct sort_index *sorter_rows(const struct sorter *s)
{
        return sorter_in_memory(s) ? &s->index : NULL;
}

size_t sorter_reserved(const struct sorter *s)
{
        return s->memory.held;
}

int sorter_finish(struct sorter *s, struct fst_error *error)
{
        int r = sorter_close(s, error);
        if (r)
                return r;
        s->at = 0;
        if (s->runs.len == 0) {
                sort_index_sort(&s->index);
                s->state = SORTER_READING;
                return 0;
        }
        size_t wanted = MIN(s->runs.len, (size_t)MAX_FAN_IN), fan_in = sorter_reserve_sources(s, wanted);
        if (sorter_rows_in_memory(s) > 0 && (s->by_number || fan_in < s->runs.len)) {
                r = sorter_write_run(s, error);
                if (r)
                        return r;
        }
        s->state = SORTER_READING; /* from here on it cannot free memory for others */
        if (s->index.n == 0) {
                sort_index_release(&s->index);
                sort_index_free(&s->index);
                fan_in = sorter_reserve_sources(s, MIN(s->runs.len, (size_t)MAX_FAN_IN));
        } else {
                sort_index_sort(&s->index);
        }
        r = sorter_merge_rounds(s, fan_in, error);
        if (r)
                return r;
        r = spill_run_writer_finish(&s->writer, error);
        if (r)
                return r;
        return sorter_merge_start(s, s->runs.data, s->runs.len, s->index.n ? &s->index : NULL, error);
}

int sorter_next(struct sorter *s, fst_batch *batch, struct fst_error *error)
{
        *batch = columns_batch(&s->columns, s->options.type);
        if (s->merging)
                return sort_merge_next(&s->merge, s->columns.room, batch, error);
        sorter_read(s, batch);
        return 0;
}

/* ---------------------------------------------------------------------------------------------- reading again */

bool sorter_in_memory(const struct sorter *s)
{
        return s->runs.len == 0;
}

size_t sorter_tell(const struct sorter *s)
{
        return s->at;
}

void sorter_seek(struct sorter *s, size_t row)
{
        s->at = row;
}
