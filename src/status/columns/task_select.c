/*
 * Quantiles and sorted pages of tasks; see task_columns.h.
 *
 * Both find the keys of some ranks (task_radix.h). A page then reads the rows whose keys lie between those of its first
 * and its last rank. A stage of 1,000,000 tasks costs one or two milliseconds for each column.
 */
#include "base/mem.h"
#include "status/columns/task_radix.h"

enum { MAX_SORTED_ROWS = 1 << 15 };

/* ----------------------------------------------------------------------------------------------- quantiles */

size_t task_columns_quantiles(const struct task_columns *t, enum task_column column, const double *probabilities,
                              int64_t *values, size_t n_values)
{
        task_columns_need(t);
        struct task_keys k = {.t = t, .column = column, .summary = true, .statuses = 1u << TASK_ROW_SUCCESS};
        task_keys_prepare(&k);
        size_t n = task_keys_count(&k);
        if (n == 0)
                n_values = 0;
        for (size_t done = 0; done < n_values;) {
                size_t ranks[MAX_KEY_RANKS], order[MAX_KEY_RANKS];
                size_t n_ranks = MIN(n_values - done, (size_t)MAX_KEY_RANKS);
                struct ranked_key found[MAX_KEY_RANKS];
                for (size_t i = 0; i < n_ranks; i++) { /* in ascending order, by insertion */
                        double q = MAX(probabilities[done + i], 0.0) * (double)n;
                        size_t rank = q < (double)n ? (size_t)q : n - 1, at = i;
                        for (; at > 0 && ranks[at - 1] > rank; at--) {
                                ranks[at] = ranks[at - 1];
                                order[at] = order[at - 1];
                        }
                        ranks[at] = rank;
                        order[at] = done + i;
                }
                task_keys_select(&k, n, ranks, n_ranks, found);
                for (size_t i = 0; i < n_ranks; i++)
                        values[order[i]] = task_key_value(found[i].key);
                done += n_ranks;
        }
        task_keys_deinit(&k);
        return n;
}

/* --------------------------------------------------------------------------------------------------- pages */

struct task_place {
        uint64_t key;
        size_t row;
};

static int task_place_compare(const void *a, const void *b)
{
        const struct task_place *x = a, *y = b;
        if (x->key != y->key)
                return x->key < y->key ? -1 : 1;
        return (x->row > y->row) - (x->row < y->row);
}

static int task_place_compare_rows(const void *a, const void *b)
{
        const struct task_place *x = a, *y = b;
        return (x->row > y->row) - (x->row < y->row);
}

/*
 * The rows of a page that was found so far. Of the rows whose key is the first or the last of the page it has those
 * behind @skip and before @take, in the order of rows.
 */
struct task_page_rows {
        uint64_t first, last;
        size_t skip, take;
        struct task_place *places;
        size_t n, room;
};

static void task_page_rows_add(struct task_page_rows *page, const struct task_place *place)
{
        if (page->n == page->room || (place->key == page->last && page->take == 0))
                return;
        page->take -= place->key == page->last;
        if (place->key == page->first && page->skip > 0)
                page->skip--;
        else
                page->places[page->n++] = *place;
}

/* Collects the rows of a run whose keys lie from the page's first to its last. Returns their number. */
static size_t task_page_rows_find(const struct task_page_rows *page, const struct key_run *run,
                                  struct task_place *places)
{
        const struct key_window w = key_window_of(page->first, page->last);
        uint16_t buckets[TASK_CHUNK_ROWS];
        size_t n = 0;
        if (run->greatest < page->first || run->least > page->last)
                return 0;
        key_run_find_buckets(run, &w, buckets);
        for (size_t i = 0, odd = 0; i < run->n; i++) {
                if (buckets[i] == 0 || buckets[i] > w.n || key_run_key(run, i) > page->last)
                        continue;
                while (odd < run->n_odd && run->odd[odd] < i)
                        odd++;
                if (odd == run->n_odd || run->odd[odd] != i)
                        places[n++] = (struct task_place){key_run_key(run, i), key_run_row(run, i)};
        }
        return n;
}

/* True, and takes the effect of the run, if all of its rows have the page's first key and are skipped. */
static bool task_page_rows_skip(struct task_page_rows *page, const struct key_run *run)
{
        size_t n = run->n - run->n_odd;
        if (run->least != page->first || run->greatest != page->first || page->skip < n ||
            (page->first == page->last && page->take < n))
                return false;
        page->skip -= n;
        page->take -= page->first == page->last ? n : 0;
        return true;
}

static void task_page_rows_collect(struct task_page_rows *page, const struct task_keys *k)
{
        struct key_run runs[MAX_KEY_RUNS];
        struct key_buffer buffer;
        struct task_place places[MAX_KEY_RUNS * TASK_CHUNK_ROWS];
        for (size_t block = 0; block < task_keys_blocks(k) && page->n < page->room; block++) {
                size_t n_runs = task_keys_runs(k, block, runs, &buffer), n = 0, n_with_rows = 0;
                if (n_runs == 1 && task_page_rows_skip(page, &runs[0]))
                        continue;
                for (size_t r = 0; r < n_runs; r++) {
                        size_t of_run = task_page_rows_find(page, &runs[r], places + n);
                        n_with_rows += of_run > 0;
                        n += of_run;
                }
                if (n_with_rows > 1)
                        qsort(places, n, sizeof(*places), task_place_compare_rows);
                for (size_t i = 0; i < n; i++)
                        task_page_rows_add(page, &places[i]);
        }
}

/* Fills a page of few rows that count, by sorting all of them. */
static size_t task_select_sort_few(const struct task_keys *k, const struct task_page *page, size_t n_only, size_t *rows)
{
        struct task_place *places = mem_alloc((n_only + 1) * sizeof(*places));
        uint64_t keys[TASK_CHUNK_ROWS];
        uint16_t found[TASK_CHUNK_ROWS];
        size_t n = 0, n_rows = 0;
        for (size_t chunk = 0; chunk < k->t->n_chunks; chunk++)
                for (size_t i = 0, n_found = task_keys_read(k, chunk, keys, found); i < n_found; i++)
                        places[n++] = (struct task_place){keys[i], chunk * TASK_CHUNK_ROWS + found[i]};
        qsort(places, n, sizeof(*places), task_place_compare);
        for (size_t i = page->offset; i < n && n_rows < page->length; i++)
                rows[n_rows++] = places[page->descending ? n - 1 - i : i].row;
        free(places);
        return n_rows;
}

/* Fills a page by the keys of its first and its last rank. */
static size_t task_select_sort(const struct task_keys *k, const struct task_page *page, size_t *rows)
{
        size_t n = task_keys_count(k);
        if (page->offset >= n)
                return 0;
        size_t length = MIN(page->length, n - page->offset);
        size_t first = page->descending ? n - page->offset - length : page->offset;
        const size_t ranks[2] = {first, first + length - 1};
        struct ranked_key ends[2];
        task_keys_select(k, n, ranks, 2, ends);
        struct task_page_rows found = {.first = ends[0].key,
                                       .last = ends[1].key,
                                       .skip = ranks[0] - ends[0].n_less,
                                       .take = ranks[1] - ends[1].n_less + 1,
                                       .places = new_array(struct task_place, length),
                                       .room = length};
        task_page_rows_collect(&found, k);
        qsort(found.places, found.n, sizeof(*found.places), task_place_compare);
        for (size_t i = 0; i < found.n; i++)
                rows[i] = found.places[page->descending ? found.n - 1 - i : i].row;
        free(found.places);
        return found.n;
}

size_t task_columns_page(const struct task_columns *t, const struct task_page *page, size_t *rows)
{
        task_columns_need(t);
        struct task_keys k = {.t = t,
                              .column = page->column,
                              .statuses = page->statuses ? page->statuses : UINT32_MAX,
                              .only = page->only,
                              .rank = page->rank};
        size_t n_only = 0;
        if (page->length == 0)
                return 0;
        for (size_t chunk = 0; page->only && chunk < t->n_chunks; chunk++)
                n_only += task_keys_count_only(&k, chunk);
        if (page->only && n_only <= MAX_SORTED_ROWS)
                return task_select_sort_few(&k, page, n_only, rows);
        task_keys_prepare(&k);
        size_t n_rows = task_select_sort(&k, page, rows);
        task_keys_deinit(&k);
        return n_rows;
}
