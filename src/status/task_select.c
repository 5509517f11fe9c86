/*
 * Quantiles and sorted pages of tasks; see task_columns.h.
 *
 * The value of a rank is found by radix: one pass counts values in 4,096 buckets, a second collects those of the
 * buckets that hold a wanted rank. A page copies the keys first. A stage of 1,000,000 tasks costs some milliseconds for
 * each column.
 */
#include "base/mem.h"
#include "status/task_chunk.h"

enum { BUCKETS = 1 << 12, MAX_RANKS = 64 };

/* The keys of some rows of a column, which are sorted. */
struct task_keys {
        const struct task_columns *t;
        enum task_column column;
        bool summary; /* only successful tasks with metrics, by value */
        uint32_t statuses;
        const int64_t *rank;
        const uint64_t *only;
        uint64_t *computed;      /* all keys, if several passes would have to compute or filter them; NULL: in chunks */
        uint32_t *computed_rows; /* their rows; NULL: a summary needs none */
        size_t n_computed;
};

/* Keys are unsigned, in the order of the signed values. */
static uint64_t task_select_key(int64_t value)
{
        return (uint64_t)value ^ (uint64_t)1 << 63;
}

static int64_t task_select_value(uint64_t key)
{
        return (int64_t)(key ^ (uint64_t)1 << 63);
}

static int64_t task_select_order(const struct task_keys *k, int64_t value, int64_t status, bool has_metrics)
{
        if (k->summary)
                return value;
        if (k->rank)
                return k->rank[value];
        if (k->column == TASK_DURATION)
                return status < TASK_ROW_SUCCESS ? -1 : value;
        if (k->column < TASK_METRICS)
                return value;
        if (!has_metrics)
                return -1;
        if (status == TASK_ROW_SUCCESS)
                return value;
        if (k->column == TASK_SHUFFLE_READ_BYTES || k->column == TASK_BLOCKS_FETCHED)
                return -value - 2; /* the sum of two of them */
        return k->column >= TASK_COLUMNS ? value : -value - 1;
}

enum { ONLY_WORDS = TASK_CHUNK_ROWS / 64, FEW_ROWS = 64, MAX_SORTED_ROWS = 1 << 15 };

/* Returns how many of a chunk's rows are among those that count at all. */
static size_t task_select_count_only(const struct task_keys *k, size_t chunk)
{
        const struct task_chunk *c = k->t->chunks[chunk];
        size_t n = 0;
        for (size_t word = 0; word < ((size_t)c->n + 63) / 64; word++)
                n += (size_t)__builtin_popcountll(k->only[chunk * ONLY_WORDS + word]);
        return n;
}

/* Reads the keys of a chunk of which few rows count, value by value. */
static size_t task_select_read_few(const struct task_keys *k, size_t chunk, uint64_t *keys, uint16_t *rows)
{
        const struct task_chunk *c = k->t->chunks[chunk];
        size_t n = 0;
        for (size_t word = 0; word < ((size_t)c->n + 63) / 64; word++)
                for (uint64_t bits = k->only[chunk * ONLY_WORDS + word]; bits; bits &= bits - 1) {
                        size_t row = word * 64 + (size_t)__builtin_ctzll(bits);
                        int64_t status = task_chunk_get(c, row, TASK_STATUS);
                        bool has_metrics = task_chunk_get(c, row, TASK_HAS_METRICS);
                        if (task_chunk_is_removed(c, row) || !(k->statuses >> status & 1))
                                continue;
                        keys[n] = task_select_key(
                                task_select_order(k, task_chunk_get(c, row, k->column), status, has_metrics));
                        if (rows)
                                rows[n] = (uint16_t)row;
                        n++;
                }
        return n;
}

/* Takes the keys of a chunk's rows that count from @values: those of successful tasks. */
static size_t task_select_read_only(const struct task_keys *k, size_t chunk, const int64_t *values, uint64_t *keys,
                                    uint16_t *rows)
{
        const struct task_chunk *c = k->t->chunks[chunk];
        size_t n = 0;
        for (size_t word = 0; word < ((size_t)c->n + 63) / 64; word++)
                for (uint64_t bits = k->only[chunk * ONLY_WORDS + word]; bits; bits &= bits - 1) {
                        size_t row = word * 64 + (size_t)__builtin_ctzll(bits);
                        keys[n] = task_select_key(values[row]);
                        if (rows)
                                rows[n] = (uint16_t)row;
                        n++;
                }
        return n;
}

/* Reads the keys of a chunk's rows that count, and their rows unless @rows is NULL. Returns their number. */
static size_t task_select_read(const struct task_keys *k, size_t chunk, uint64_t *keys, uint16_t *rows)
{
        const struct task_chunk *c = k->t->chunks[chunk];
        int64_t values[TASK_CHUNK_ROWS], status[TASK_CHUNK_ROWS], metrics[TASK_CHUNK_ROWS];
        size_t n = 0;
        if (c->n_removed == c->n)
                return 0;
        if (k->only && !k->summary && k->column < TASK_COLUMNS && task_select_count_only(k, chunk) <= FEW_ROWS)
                return task_select_read_few(k, chunk, keys, rows);
        task_chunk_read(c, k->column, values);
        /* Successful tasks sort by their values in all columns. */
        if (c->all_success && !c->removed && !k->rank && k->statuses >> TASK_ROW_SUCCESS & 1) {
                if (k->only)
                        return task_select_read_only(k, chunk, values, keys, rows);
                for (size_t i = 0; i < c->n; i++)
                        keys[i] = task_select_key(values[i]);
                for (size_t i = 0; rows && i < c->n; i++)
                        rows[i] = (uint16_t)i;
                return c->n;
        }
        if (k->summary && task_chunk_is_regular(c)) {
                for (size_t i = 0, odd = 0; i < c->n; i++) {
                        keys[n] = task_select_key(values[i]);
                        bool skip = odd < c->n_odd && c->odd[odd] == i;
                        odd += skip;
                        n += !skip;
                }
                return n;
        }
        task_chunk_read(c, TASK_STATUS, status);
        task_chunk_read(c, TASK_HAS_METRICS, metrics);
        for (size_t i = 0; i < c->n; i++) {
                size_t row = chunk * TASK_CHUNK_ROWS + i;
                if (k->only && !(k->only[row / 64] >> row % 64 & 1))
                        continue;
                if (task_chunk_is_removed(c, i) || !(k->statuses >> status[i] & 1) || (k->summary && !metrics[i]))
                        continue;
                keys[n] = task_select_key(task_select_order(k, values[i], status[i], metrics[i]));
                if (rows)
                        rows[n] = (uint16_t)i;
                n++;
        }
        return n;
}

/* ----------------------------------------------------------------------------------------------- selection */

/* Computes the keys of a column once for all passes. The other computed columns are mostly all equal. */
static void task_select_compute(struct task_keys *k)
{
        if (k->column != TASK_SCHEDULER_DELAY)
                return;
        uint64_t *keys = new_array(uint64_t, k->t->n_chunks * TASK_CHUNK_ROWS);
        for (size_t chunk = 0; chunk < k->t->n_chunks; chunk++)
                k->n_computed += task_select_read(k, chunk, keys + k->n_computed, NULL);
        k->computed = keys;
}

/* Reads the keys of a page's column once for all passes: twelve bytes for each row. */
static void task_select_compute_page(struct task_keys *k)
{
        size_t room = k->t->n_chunks * TASK_CHUNK_ROWS;
        uint16_t rows[TASK_CHUNK_ROWS];
        k->computed = mem_alloc((room + 1) * sizeof(*k->computed));
        k->computed_rows = mem_alloc((room + 1) * sizeof(*k->computed_rows));
        for (size_t chunk = 0; chunk < k->t->n_chunks; chunk++) {
                size_t n = task_select_read(k, chunk, k->computed + k->n_computed, rows);
                for (size_t i = 0; i < n; i++)
                        k->computed_rows[k->n_computed + i] = (uint32_t)(chunk * TASK_CHUNK_ROWS + rows[i]);
                k->n_computed += n;
        }
}

/* Returns true and the @value if all rows of a chunk count and have the same value in the column. */
static bool task_select_is_constant(const struct task_keys *k, const struct task_chunk *c, int64_t *value)
{
        return k->summary && task_chunk_is_regular(c) && task_chunk_is_constant(c, k->column, value);
}

/* Counts the keys and finds the least and the greatest. */
static size_t task_select_bounds(const struct task_keys *k, uint64_t *least, uint64_t *greatest)
{
        uint64_t keys[TASK_CHUNK_ROWS], low = UINT64_MAX, high = 0;
        size_t n = k->n_computed;
        for (size_t i = 0; i < k->n_computed; i++) {
                low = MIN(low, k->computed[i]);
                high = MAX(high, k->computed[i]);
        }
        for (size_t chunk = 0; !k->computed && chunk < k->t->n_chunks; chunk++) {
                const struct task_chunk *c = k->t->chunks[chunk];
                int64_t value;
                if (task_select_is_constant(k, c, &value)) {
                        low = MIN(low, task_select_key(value));
                        high = MAX(high, task_select_key(value));
                        n += c->n - c->n_odd;
                        continue;
                }
                if (k->summary && task_chunk_is_regular(c) && k->column < TASK_COLUMNS) { /* odd rows may widen them */
                        low = MIN(low, task_select_key(c->base[k->column]));
                        high = MAX(high, task_select_key(c->greatest[k->column]));
                        n += c->n - c->n_odd;
                        continue;
                }
                size_t n_keys = task_select_read(k, chunk, keys, NULL);
                for (size_t i = 0; i < n_keys; i++) {
                        low = MIN(low, keys[i]);
                        high = MAX(high, keys[i]);
                }
                n += n_keys;
        }
        *least = low;
        *greatest = high;
        return n;
}

/* Returns the element of @rank in the sorted order of @a, which it reorders (Hoare's selection). */
static uint64_t task_select_nth(uint64_t *a, size_t n, size_t rank)
{
        size_t low = 0, high = n - 1;
        while (low < high) {
                uint64_t pivot = a[low + (high - low) / 2];
                size_t i = low, j = high;
                for (;;) {
                        while (a[i] < pivot)
                                i++;
                        while (a[j] > pivot)
                                j--;
                        if (i >= j)
                                break;
                        uint64_t swap = a[i];
                        a[i++] = a[j];
                        a[j--] = swap;
                }
                /* a[low..j] <= pivot, a[j+1..high] >= pivot */
                if (rank <= j)
                        high = j;
                else
                        low = j + 1;
        }
        return a[low];
}

/* A bucket that holds wanted ranks, and its keys. */
struct task_bucket {
        size_t before, n; /* keys in earlier buckets, in this one */
        uint64_t *keys;
        size_t n_keys;
};

struct task_selection {
        uint32_t counts[BUCKETS];
        uint8_t slots[BUCKETS]; /* 1 + index into buckets; 0: unwanted */
        struct task_bucket buckets[MAX_RANKS];
        int n_buckets;
        uint64_t least;
        unsigned shift;
};

#define COUNT_PACKED(type)                                                                                             \
        do {                                                                                                           \
                const type *from = (const type *)(c->packed + c->place[k->column]);                                    \
                for (size_t i = 0; i < c->n; i++)                                                                      \
                        s->counts[(offset + from[i]) >> s->shift]++;                                                   \
                for (size_t i = 0; i < c->n_odd; i++)                                                                  \
                        s->counts[(offset + from[c->odd[i]]) >> s->shift]--;                                           \
        } while (0)

/* Counts a packed column of a chunk, all of whose rows count. Returns false for other chunks. */
static bool task_selection_count_packed(struct task_selection *s, const struct task_keys *k, const struct task_chunk *c)
{
        if (!k->summary || !task_chunk_is_regular(c) || k->column >= TASK_COLUMNS)
                return false;
        uint64_t offset = task_select_key(c->base[k->column]) - s->least;
        switch (c->width[k->column]) {
        case 0:
                s->counts[offset >> s->shift] += (uint32_t)(c->n - c->n_odd);
                return true;
        case 1:
                COUNT_PACKED(uint8_t);
                return true;
        case 2:
                COUNT_PACKED(uint16_t);
                return true;
        case 4:
                COUNT_PACKED(uint32_t);
                return true;
        default:
                COUNT_PACKED(uint64_t);
                return true;
        }
}

#define COLLECT_PACKED(type)                                                                                           \
        do {                                                                                                           \
                const type *from = (const type *)(c->packed + c->place[k->column]);                                    \
                for (size_t i = 0, odd = 0; i < c->n; i++) {                                                           \
                        uint8_t slot = s->slots[(offset + from[i]) >> s->shift];                                       \
                        if (unlikely(odd < c->n_odd && c->odd[odd] == i))                                              \
                                odd++;                                                                                 \
                        else if (unlikely(slot))                                                                       \
                                s->buckets[slot - 1].keys[s->buckets[slot - 1].n_keys++] =                             \
                                        offset + from[i] + s->least;                                                   \
                }                                                                                                      \
        } while (0)

/* Collects from a packed column of a chunk, all of whose rows count. Returns false for other chunks. */
static bool task_selection_collect_packed(struct task_selection *s, const struct task_keys *k,
                                          const struct task_chunk *c)
{
        if (!k->summary || !task_chunk_is_regular(c) || k->column >= TASK_COLUMNS)
                return false;
        uint64_t offset = task_select_key(c->base[k->column]) - s->least;
        switch (c->width[k->column]) {
        case 1:
                COLLECT_PACKED(uint8_t);
                return true;
        case 2:
                COLLECT_PACKED(uint16_t);
                return true;
        case 4:
                COLLECT_PACKED(uint32_t);
                return true;
        default:
                return false;
        }
}

static void task_selection_count(struct task_selection *s, const struct task_keys *k)
{
        uint64_t keys[TASK_CHUNK_ROWS];
        for (size_t i = 0; i < k->n_computed; i++)
                s->counts[(k->computed[i] - s->least) >> s->shift]++;
        if (k->computed)
                return;
        for (size_t chunk = 0; chunk < k->t->n_chunks; chunk++) {
                int64_t value;
                if (task_select_is_constant(k, k->t->chunks[chunk], &value)) {
                        s->counts[(task_select_key(value) - s->least) >> s->shift] +=
                                (uint32_t)(k->t->chunks[chunk]->n - k->t->chunks[chunk]->n_odd);
                        continue;
                }
                if (task_selection_count_packed(s, k, k->t->chunks[chunk]))
                        continue;
                size_t n = task_select_read(k, chunk, keys, NULL);
                for (size_t i = 0; i < n; i++)
                        s->counts[(keys[i] - s->least) >> s->shift]++;
        }
}

/* Finds the buckets of the ranks, which are in ascending order. */
static void task_selection_find_buckets(struct task_selection *s, const size_t *ranks, size_t n_ranks)
{
        size_t before = 0, next = 0;
        for (size_t b = 0; b < BUCKETS && next < n_ranks; b++) {
                size_t after = before + s->counts[b];
                if (ranks[next] < after) {
                        s->buckets[s->n_buckets] = (struct task_bucket){
                                .before = before, .n = s->counts[b], .keys = new_array(uint64_t, s->counts[b])};
                        s->slots[b] = (uint8_t)++s->n_buckets;
                }
                while (next < n_ranks && ranks[next] < after)
                        next++;
                before = after;
        }
}

/* Finds the keys of the ranks if each bucket stands for one key. */
static void task_selection_read_buckets(const struct task_selection *s, const size_t *ranks, size_t n_ranks,
                                        uint64_t *found)
{
        size_t before = 0, next = 0;
        for (size_t b = 0; b < BUCKETS && next < n_ranks; b++) {
                before += s->counts[b];
                while (next < n_ranks && ranks[next] < before)
                        found[next++] = s->least + b;
        }
}

static void task_selection_take(struct task_selection *s, const uint64_t *keys, size_t n)
{
        for (size_t i = 0; i < n; i++) {
                uint8_t slot = s->slots[(keys[i] - s->least) >> s->shift];
                if (unlikely(slot))
                        s->buckets[slot - 1].keys[s->buckets[slot - 1].n_keys++] = keys[i];
        }
}

/* Returns true if all keys of a chunk lie in one unwanted bucket. */
static bool task_selection_skip(const struct task_selection *s, const struct task_keys *k, const struct task_chunk *c)
{
        int64_t value;
        return task_select_is_constant(k, c, &value) && !s->slots[(task_select_key(value) - s->least) >> s->shift];
}

static void task_selection_collect(struct task_selection *s, const struct task_keys *k)
{
        uint64_t keys[TASK_CHUNK_ROWS];
        if (k->computed) {
                task_selection_take(s, k->computed, k->n_computed);
                return;
        }
        for (size_t chunk = 0; chunk < k->t->n_chunks; chunk++)
                if (!task_selection_skip(s, k, k->t->chunks[chunk]) &&
                    !task_selection_collect_packed(s, k, k->t->chunks[chunk]))
                        task_selection_take(s, keys, task_select_read(k, chunk, keys, NULL));
}

/* Sets found[i] to the key of ranks[i]. The ranks ascend, are less than the number of keys, and are at most MAX_RANKS.
 */
static void task_select_ranks(const struct task_keys *k, uint64_t least, uint64_t greatest, const size_t *ranks,
                              size_t n_ranks, uint64_t *found)
{
        if (least == greatest) {
                for (size_t i = 0; i < n_ranks; i++)
                        found[i] = least;
                return;
        }
        struct task_selection *s = new0(struct task_selection);
        s->least = least;
        while ((greatest - least) >> s->shift >= BUCKETS)
                s->shift++;
        task_selection_count(s, k);
        if (s->shift == 0) {
                task_selection_read_buckets(s, ranks, n_ranks, found);
                free(s);
                return;
        }
        task_selection_find_buckets(s, ranks, n_ranks);
        task_selection_collect(s, k);
        for (size_t i = 0, b = 0; i < n_ranks; i++) {
                while (ranks[i] >= s->buckets[b].before + s->buckets[b].n)
                        b++;
                found[i] = task_select_nth(s->buckets[b].keys, s->buckets[b].n, ranks[i] - s->buckets[b].before);
        }
        for (int b = 0; b < s->n_buckets; b++)
                free(s->buckets[b].keys);
        free(s);
}

/* ----------------------------------------------------------------------------------------------- quantiles */

size_t task_columns_quantiles(const struct task_columns *t, enum task_column column, const double *probabilities,
                              int64_t *values, size_t n_values)
{
        struct task_keys k = {.t = t, .column = column, .summary = true, .statuses = 1u << TASK_ROW_SUCCESS};
        uint64_t least, greatest;
        task_select_compute(&k);
        size_t n = task_select_bounds(&k, &least, &greatest);
        if (n == 0)
                n_values = 0;
        for (size_t done = 0; done < n_values;) {
                size_t ranks[MAX_RANKS], order[MAX_RANKS], n_ranks = MIN(n_values - done, (size_t)MAX_RANKS);
                uint64_t found[MAX_RANKS];
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
                task_select_ranks(&k, least, greatest, ranks, n_ranks, found);
                for (size_t i = 0; i < n_ranks; i++)
                        values[order[i]] = task_select_value(found[i]);
                done += n_ranks;
        }
        free(k.computed);
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

/* Collects the rows of the ranks from ranks[0] to ranks[1], whose keys are ends[0] and ends[1]. */
static size_t task_select_collect_page(const struct task_keys *k, const size_t *ranks, const uint64_t *ends,
                                       struct task_place *places)
{
        size_t before_first = 0, before_last = 0, n_places = 0, room = ranks[1] - ranks[0] + 1;
        for (size_t i = 0; i < k->n_computed; i++) {
                before_first += k->computed[i] < ends[0];
                before_last += k->computed[i] < ends[1];
        }
        /* The page has the rows behind @skip and before @take of those whose key is an end, in the order of rows. */
        size_t skip = ranks[0] - before_first, take = ranks[1] - before_last + 1;
        for (size_t i = 0; i < k->n_computed && n_places < room; i++) {
                uint64_t key = k->computed[i];
                if (key < ends[0] || key > ends[1])
                        continue;
                if (key == ends[1] && take == 0)
                        continue;
                take -= key == ends[1];
                if (key == ends[0] && skip > 0) {
                        skip--;
                        continue;
                }
                places[n_places++] = (struct task_place){key, k->computed_rows[i]};
        }
        return n_places;
}

/* Fills a page of few rows that count, by sorting all of them. */
static size_t task_select_sort_few(const struct task_keys *k, const struct task_page *page, size_t n_only, size_t *rows)
{
        struct task_place *places = mem_alloc((n_only + 1) * sizeof(*places));
        uint64_t keys[TASK_CHUNK_ROWS];
        uint16_t found[TASK_CHUNK_ROWS];
        size_t n = 0, n_rows = 0;
        for (size_t chunk = 0; chunk < k->t->n_chunks; chunk++)
                for (size_t i = 0, n_found = task_select_read(k, chunk, keys, found); i < n_found; i++)
                        places[n++] = (struct task_place){keys[i], chunk * TASK_CHUNK_ROWS + found[i]};
        qsort(places, n, sizeof(*places), task_place_compare);
        for (size_t i = page->offset; i < n && n_rows < page->length; i++)
                rows[n_rows++] = places[page->descending ? n - 1 - i : i].row;
        free(places);
        return n_rows;
}

/* Fills a page of rows whose keys are known. */
static size_t task_select_sort(const struct task_keys *k, const struct task_page *page, size_t *rows)
{
        uint64_t least, greatest, ends[2];
        size_t n = task_select_bounds(k, &least, &greatest);
        if (page->offset >= n)
                return 0;
        size_t length = MIN(page->length, n - page->offset);
        size_t first = page->descending ? n - page->offset - length : page->offset;
        const size_t ranks[2] = {first, first + length - 1};
        task_select_ranks(k, least, greatest, ranks, 2, ends);
        struct task_place *places = new_array(struct task_place, length);
        size_t n_places = task_select_collect_page(k, ranks, ends, places);
        qsort(places, n_places, sizeof(*places), task_place_compare);
        for (size_t i = 0; i < n_places; i++)
                rows[i] = places[page->descending ? n_places - 1 - i : i].row;
        free(places);
        return n_places;
}

size_t task_columns_page(const struct task_columns *t, const struct task_page *page, size_t *rows)
{
        struct task_keys k = {.t = t,
                              .column = page->column,
                              .statuses = page->statuses ? page->statuses : UINT32_MAX,
                              .only = page->only,
                              .rank = page->rank};
        size_t n_only = 0;
        if (page->length == 0)
                return 0;
        for (size_t chunk = 0; page->only && chunk < t->n_chunks; chunk++)
                n_only += task_select_count_only(&k, chunk);
        if (page->only && n_only <= MAX_SORTED_ROWS)
                return task_select_sort_few(&k, page, n_only, rows);
        task_select_compute_page(&k);
        size_t n_rows = task_select_sort(&k, page, rows);
        free(k.computed);
        free(k.computed_rows);
        return n_rows;
}
