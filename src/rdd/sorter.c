/*
 * External sort (rdd/sorter.h): pages and an index of them, runs on disk when memory is refused, a merge at the end.
 *
 * Matches Spark's ExternalSorter in what it computes; there, too, runs are sorted in memory and merged, and what is
 * left in memory at the end takes part in the merge without being written.
 *
 * Memory: SET_ASIDE pages are reserved from the start, so that a run can be written (one page, in which its rows
 * are gathered) and two runs can be merged when nothing else is to be had. A merge of n runs holds n pages; if so
 * many are refused, runs are merged in several rounds. Reading a record that is larger than a page takes what it
 * takes, as it did when it was added.
 *
 * Invariants: `open` is not in `pages` and not in the index; every page in `pages` is in the index; all of them are
 * reserved through `memory`; runs are in the order in which their rows were added.
 */
#include "rdd/sorter.h"

#include "base/error.h"
#include "base/vec.h"
#include "rdd/columns.h"
#include "rdd/run_writer.h"
#include "rdd/sort_merge.h"

#define SET_ASIDE 3
#define FAN_IN_LEAST 2
#define FAN_IN_MOST 512

enum sorter_state { SORTER_IDLE, SORTER_ADDING, SORTER_READING };

struct sorter {
        struct memory_consumer memory;
        struct sorter_options options;
        struct record_order order;
        enum sorter_state state;

        struct page *pages, *open; /* of the index; being filled by sorter_add_batch */
        struct sort_index index;
        size_t at; /* of the index, while reading without runs */

        struct run_writer writer;
        VEC(struct run) runs;
        size_t aside; /* bytes reserved for merging, not yet in use */
        struct sort_merge merge;
        bool merging;

        struct columns columns;
        struct sorter_stats stats;
};

static int no_memory(struct fst_error *error)
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
        columns_deinit(&s->columns);
        vec_deinit(&s->runs);
        free(s);
        errno = saved;
}

void sorter_reset(struct sorter *s)
{
        if (s->state == SORTER_IDLE)
                return;
        if (s->merging)
                sort_merge_deinit(&s->merge);
        s->merging = false;
        page_list_free(&s->memory, steal(s->pages));
        page_free(&s->memory, steal(s->open));
        run_writer_deinit(&s->writer);
        s->runs.len = 0;
        sort_index_release(&s->index);
        memory_consumer_deinit(&s->memory);
        s->state = SORTER_IDLE;
}

static int write_run(struct sorter *s, struct fst_error *error);

/* An index that holds nothing gives its reservation back and begins anew. */
static void drop_index(struct sorter *s)
{
        sort_index_release(&s->index);
        sort_index_free(&s->index);
        sort_index_start(&s->index, s->order, &s->memory);
}

/* Another consumer of the task needs memory. */
static int spill_for_others(struct memory_consumer *consumer, size_t want, struct fst_error *error)
{
        struct sorter *s = container_of(consumer, struct sorter, memory);
        if (s->state != SORTER_ADDING)
                return 0;
        int r = s->index.n > 0 ? write_run(s, error) : 0;
        if (r == 0 && s->index.room > 0)
                drop_index(s);
        return r;
}

int sorter_start(struct sorter *s, const struct sorter_options *options, struct fst_error *error)
{
        sorter_reset(s);
        memory_consumer_init(&s->memory, options->memory, "sort", options->spill ? spill_for_others : NULL);
        s->options = *options;
        s->order = record_order(options->type, options->order);
        s->stats = (struct sorter_stats){0};
        s->aside = 0;
        if (options->spill) {
                int r = memory_acquire(&s->memory, SET_ASIDE * PAGE_BLOCK);
                if (r) {
                        memory_consumer_deinit(&s->memory);
                        return r < 0 ? r : no_memory(error);
                }
                s->aside = SET_ASIDE * PAGE_BLOCK;
        }
        sort_index_start(&s->index, s->order, &s->memory);
        columns_start(&s->columns, options->type);
        s->state = SORTER_ADDING;
        return 0;
}

struct sorter_stats sorter_stats(const struct sorter *s)
{
        return s->stats;
}

/* --------------------------------------------------------------------------------------------------- runs */

/* Sort what is in memory and write it; its pages go back, the index keeps its reservation. */
static int write_run(struct sorter *s, struct fst_error *error)
{
        struct run run;
        int r = run_writer_begin(&s->writer, s->options.spill, s->options.type, &run, error);
        if (r)
                return r;
        sort_index_sort(&s->index);
        for (size_t at = 0; at < s->index.n && !r;) {
                fst_batch batch = columns_batch(&s->columns, s->options.type);
                at += sort_index_read(&s->index, at, s->columns.room, &batch);
                r = run_writer_rows(&s->writer, &batch, error);
        }
        if (!r)
                r = run_writer_end(&s->writer, &run, error);
        if (r)
                return r;
        vec_push(&s->runs, run);
        s->stats.spilled_bytes += run.end - run.start;
        s->stats.spills++;
        sort_index_clear(&s->index);
        page_list_free(&s->memory, steal(s->pages));
        return 0;
}

/* ------------------------------------------------------------------------------------------------- adding */

/* Memory was refused: make some, or -ENOMEM. What an earlier task left of the index goes before anything is written. */
static int make_room(struct sorter *s, struct fst_error *error)
{
        if (s->index.n == 0 && s->index.room > 0) {
                drop_index(s);
                return 0;
        }
        if (!s->options.spill || s->index.n == 0)
                return no_memory(error);
        return write_run(s, error);
}

int sorter_page_new(struct sorter *s, size_t record, struct page **page, struct fst_error *error)
{
        int r = page_new(&s->memory, s->options.type, record, page);
        if (r != FST_MEMORY_E_DENIED)
                return r;
        r = make_room(s, error);
        if (!r)
                r = page_new(&s->memory, s->options.type, record, page);
        return r == FST_MEMORY_E_DENIED ? no_memory(error) : r;
}

void sorter_page_free(struct sorter *s, struct page *page)
{
        page_free(&s->memory, page);
}

int sorter_add_page(struct sorter *s, struct page *page, struct fst_error *error)
{
        int r = sort_index_reserve(&s->index, page->rows);
        if (r == FST_MEMORY_E_DENIED) {
                r = make_room(s, error);
                if (!r)
                        r = sort_index_reserve(&s->index, page->rows);
        }
        if (r || page->rows == 0) {
                page_free(&s->memory, page);
                return r == FST_MEMORY_E_DENIED ? no_memory(error) : r;
        }
        sort_index_add(&s->index, page);
        s->stats.rows += page->rows;
        page->next = s->pages;
        s->pages = page;
        return 0;
}

static int close_page(struct sorter *s, struct fst_error *error)
{
        struct page *page = steal(s->open);
        return page ? sorter_add_page(s, page, error) : 0;
}

int sorter_add_batch(struct sorter *s, const fst_batch *batch, struct fst_error *error)
{
        for (uint32_t row = 0;;) {
                if (s->open)
                        row += page_append(s->open, batch, row);
                if (row == batch->rows)
                        return 0;
                int r = close_page(s, error);
                if (!r)
                        r = sorter_page_new(s, page_record_size(batch, row), &s->open, error);
                if (r)
                        return r;
        }
}

/* ------------------------------------------------------------------------------------------------ merging */

/* Reserve a page for each of @n runs, the set-aside ones included: how many there are, FAN_IN_LEAST at least. */
static size_t reserve_sources(struct sorter *s, size_t n)
{
        while (s->aside / PAGE_BLOCK < n + 1 && memory_acquire(&s->memory, PAGE_BLOCK) == 0)
                s->aside += PAGE_BLOCK;
        return MAX(s->aside / PAGE_BLOCK - 1, (size_t)FAN_IN_LEAST);
}

static int merge_start(struct sorter *s, const struct run *runs, size_t n, const struct sort_index *index,
                       struct fst_error *error)
{
        const struct spill_space *space = s->options.spill;
        int r = sort_merge_init(&s->merge, s->order, s->writer.spill, space->spill_codec, space->level, runs, n, index,
                                error);
        s->merging = r == 0;
        return r;
}

/* Merge the first @n of the runs into one. */
static int merge_round(struct sorter *s, const struct run *runs, size_t n, struct run *merged, struct fst_error *error)
{
        fst_batch batch = columns_batch(&s->columns, s->options.type);
        int r = run_writer_begin(&s->writer, s->options.spill, s->options.type, merged, error);
        if (!r)
                r = merge_start(s, runs, n, NULL, error);
        while (!r && (r = sort_merge_next(&s->merge, s->columns.room, &batch, error)) == 0 && batch.rows)
                r = run_writer_rows(&s->writer, &batch, error);
        if (!r)
                r = run_writer_end(&s->writer, merged, error);
        if (!r)
                s->stats.spilled_bytes += merged->end - merged->start;
        if (s->merging)
                sort_merge_deinit(&s->merge);
        s->merging = false;
        return r;
}

/* Neighbouring runs become one until there are few enough to be merged at once. */
static int merge_rounds(struct sorter *s, size_t fan_in, struct fst_error *error)
{
        while (s->runs.len > fan_in) {
                size_t to = 0;
                for (size_t from = 0; from < s->runs.len;) {
                        size_t n = MIN(fan_in, s->runs.len - from);
                        struct run merged = s->runs.data[from];
                        int r = n > 1 ? merge_round(s, s->runs.data + from, n, &merged, error) : 0;
                        if (r)
                                return r;
                        from += n;
                        s->runs.data[to++] = merged;
                }
                s->runs.len = to;
        }
        return 0;
}

int sorter_finish(struct sorter *s, struct fst_error *error)
{
        int r = close_page(s, error);
        if (r)
                return r;
        s->at = 0;
        if (s->runs.len == 0) {
                sort_index_sort(&s->index);
                s->state = SORTER_READING;
                return 0;
        }
        size_t wanted = MIN(s->runs.len, (size_t)FAN_IN_MOST), fan_in = reserve_sources(s, wanted);
        if (fan_in < s->runs.len && s->index.n > 0) {
                r = write_run(s, error);
                if (r)
                        return r;
        }
        s->state = SORTER_READING; /* from here on others' need cannot be met */
        if (s->index.n == 0) {
                sort_index_release(&s->index);
                sort_index_free(&s->index);
                fan_in = reserve_sources(s, MIN(s->runs.len, (size_t)FAN_IN_MOST));
        } else {
                sort_index_sort(&s->index);
        }
        r = merge_rounds(s, fan_in, error);
        if (r)
                return r;
        r = run_writer_finish(&s->writer, error);
        if (r)
                return r;
        return merge_start(s, s->runs.data, s->runs.len, s->index.n ? &s->index : NULL, error);
}

int sorter_next(struct sorter *s, fst_batch *batch, struct fst_error *error)
{
        *batch = columns_batch(&s->columns, s->options.type);
        if (s->merging)
                return sort_merge_next(&s->merge, s->columns.room, batch, error);
        s->at += sort_index_read(&s->index, s->at, s->columns.room, batch);
        return 0;
}
