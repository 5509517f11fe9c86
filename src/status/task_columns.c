/* See task_columns.h. */
#include "status/task_columns.h"

#include "base/mem.h"
#include "base/vec.h"
#include "status/task_chunk.h"

void task_columns_deinit(struct task_columns *t)
{
        for (size_t i = 0; i < t->n_chunks; i++)
                task_chunk_free(t->chunks[i]);
        free(t->chunks);
        *t = (struct task_columns){0};
}

/* --------------------------------------------------------------------------------------------- start and end */

static struct task_chunk *task_columns_chunk(const struct task_columns *t, size_t row, size_t *in_chunk)
{
        *in_chunk = row % TASK_CHUNK_ROWS;
        return row / TASK_CHUNK_ROWS < t->n_chunks ? t->chunks[row / TASK_CHUNK_ROWS] : NULL;
}

static struct task_chunk *task_columns_last(struct task_columns *t)
{
        if (t->n_rows % TASK_CHUNK_ROWS == 0) {
                if (t->n_chunks == t->cap) {
                        t->cap = MAX(t->cap * 2, (size_t)4);
                        t->chunks = mem_grow(t->chunks, t->cap * sizeof(*t->chunks));
                }
                struct task_chunk *c = task_chunk_new(t->n_rows ? TASK_CHUNK_ROWS : 8);
                t->chunks[t->n_chunks++] = c;
                t->bytes += c->bytes;
        }
        return t->chunks[t->n_chunks - 1];
}

/* Returns the last chunk, open and with room for @n rows or for as many as a chunk may have. */
static struct task_chunk *task_columns_last_open(struct task_columns *t, size_t n)
{
        struct task_chunk *c = task_columns_last(t);
        size_t before = c->bytes, need = MIN(c->n + n, (size_t)TASK_CHUNK_ROWS);
        if (c->is_sealed)
                task_chunk_unseal(c);
        if (need > c->room)
                task_chunk_grow(c, MIN(MAX((size_t)c->room * 4, need), (size_t)TASK_CHUNK_ROWS));
        t->bytes += c->bytes - before;
        return c;
}

/* Notes the ids of rows that are about to start. */
static void task_columns_note_ids(struct task_columns *t, struct task_chunk *c, int64_t first, int64_t last)
{
        if (c->n)
                t->unordered |= first <= c->last_id;
        else if (t->n_chunks > 1)
                t->unordered |= first <= t->chunks[t->n_chunks - 2]->last_id;
        if (c->n == 0)
                c->first_id = first;
        c->last_id = last;
}

size_t task_columns_start(struct task_columns *t, const struct task_info *info, uint32_t executor)
{
        struct task_chunk *c = task_columns_last_open(t, 1);
        size_t before = c->bytes;
        task_columns_note_ids(t, c, info->id, info->id);
        task_chunk_set_start(c, TASK_ID, info->id);
        task_chunk_set_start(c, TASK_INDEX, info->index);
        task_chunk_set_start(c, TASK_ATTEMPT, info->attempt);
        task_chunk_set_start(c, TASK_PARTITION, info->partition - info->index);
        task_chunk_set_start(c, TASK_LAUNCH, info->launch_ms);
        task_chunk_set_start(c, TASK_EXECUTOR, executor);
        task_chunk_set_start(c, TASK_LOCALITY, info->locality);
        task_chunk_set_start(c, TASK_SPECULATIVE, info->speculative);
        c->n++;
        c->n_running++;
        t->bytes += c->bytes - before;
        t->n_retained++;
        return t->n_rows++;
}

/* The partitions of a batch minus their indices. @values has room for a batch. */
static struct column_run column_run_of_partitions(const struct task_event_batch *b, size_t at, int64_t *values)
{
        const uint32_t both = 1 << TASK_EVENT_INDEX | 1 << TASK_EVENT_PARTITION;
        struct column_run run = {.first = b->values[TASK_EVENT_PARTITION] - b->values[TASK_EVENT_INDEX]};
        if (!(b->varying & both) && (!(b->rising & both) || (b->rising & both) == both))
                return run;
        for (size_t i = at; i < b->n; i++)
                values[i - at] =
                        task_event_value(b, TASK_EVENT_PARTITION, i) - task_event_value(b, TASK_EVENT_INDEX, i);
        run.values = values;
        return run;
}

/* Starts at most the rows of a batch from @at on for which the last chunk has room. Returns their number. */
static size_t task_columns_start_part(struct task_columns *t, const struct task_event_batch *b, size_t at,
                                      uint32_t executor)
{
        int64_t partitions[MAX_TASK_EVENT_BATCH];
        struct task_chunk *c = task_columns_last_open(t, b->n - at);
        size_t before = c->bytes, n = MIN(b->n - at, (size_t)c->room - c->n);
        int64_t last = task_event_value(b, TASK_EVENT_ID, at);
        for (size_t i = at + 1; i < at + n && !task_event_is_rising(b, TASK_EVENT_ID); i++) {
                t->unordered |= task_event_value(b, TASK_EVENT_ID, i) <= last;
                last = task_event_value(b, TASK_EVENT_ID, i);
        }
        task_columns_note_ids(t, c, task_event_value(b, TASK_EVENT_ID, at),
                              task_event_value(b, TASK_EVENT_ID, at + n - 1));
        task_chunk_set_started_run(c, n, TASK_ID, column_run_of(b, TASK_EVENT_ID, at));
        task_chunk_set_started_run(c, n, TASK_INDEX, column_run_of(b, TASK_EVENT_INDEX, at));
        task_chunk_set_started_run(c, n, TASK_ATTEMPT, column_run_of(b, TASK_EVENT_ATTEMPT, at));
        task_chunk_set_started_run(c, n, TASK_PARTITION, column_run_of_partitions(b, at, partitions));
        task_chunk_set_started_run(c, n, TASK_LAUNCH, column_run_of(b, TASK_EVENT_LAUNCH, at));
        task_chunk_set_started_run(c, n, TASK_EXECUTOR, (struct column_run){.first = executor});
        task_chunk_set_started_run(c, n, TASK_LOCALITY, (struct column_run){.first = b->locality});
        task_chunk_set_started_run(c, n, TASK_SPECULATIVE, (struct column_run){.first = b->speculative});
        c->n = (uint16_t)(c->n + n);
        c->n_running = (uint16_t)(c->n_running + n);
        t->bytes += c->bytes - before;
        t->n_retained += n;
        t->n_rows += n;
        return n;
}

void task_columns_start_batch(struct task_columns *t, const struct task_event_batch *b, uint32_t executor)
{
        for (size_t at = 0; at < b->n;)
                at += task_columns_start_part(t, b, at, executor);
}

size_t task_columns_read(const struct task_columns *t, size_t first, enum task_column column, int64_t *values)
{
        const struct task_chunk *c = t->chunks[first / TASK_CHUNK_ROWS];
        task_chunk_read(c, column, values);
        return c->n;
}

bool task_columns_range(const struct task_columns *t, size_t first, enum task_column column, int64_t *least,
                        int64_t *greatest)
{
        const struct task_chunk *c = t->chunks[first / TASK_CHUNK_ROWS];
        if (task_chunk_is_constant(c, column, least)) {
                *greatest = *least;
                return true;
        }
        if (!c->is_sealed || column >= TASK_COLUMNS)
                return false;
        *least = c->base[column];
        *greatest = c->greatest[column];
        return true;
}

bool task_columns_is_removed(const struct task_columns *t, size_t row)
{
        size_t i;
        const struct task_chunk *c = task_columns_chunk(t, row, &i);
        return !c || task_chunk_is_removed(c, i);
}

/* Returns the row of @id in a chunk, or SIZE_MAX. */
static size_t task_chunk_find(const struct task_chunk *c, int64_t id)
{
        int64_t guess = id - c->first_id;
        if (guess >= 0 && guess < c->n && task_chunk_get(c, (size_t)guess, TASK_ID) == id)
                return (size_t)guess;
        for (size_t i = 0; i < c->n; i++)
                if (task_chunk_get(c, i, TASK_ID) == id)
                        return i;
        return SIZE_MAX;
}

size_t task_columns_find(const struct task_columns *t, int64_t id)
{
        size_t low = 0, high = t->n_chunks;
        if (!t->unordered) {
                while (low < high) {
                        size_t middle = low + (high - low) / 2;
                        if (t->chunks[middle]->last_id < id)
                                low = middle + 1;
                        else
                                high = middle;
                }
                high = MIN(low + 1, t->n_chunks);
        }
        for (size_t k = low; k < high; k++) {
                size_t i = task_chunk_find(t->chunks[k], id);
                if (i != SIZE_MAX)
                        return task_chunk_is_removed(t->chunks[k], i) ? SIZE_MAX : k * TASK_CHUNK_ROWS + i;
        }
        return SIZE_MAX;
}

/* Returns the open chunk of a row. */
static struct task_chunk *task_columns_open(struct task_columns *t, size_t row, size_t *in_chunk)
{
        struct task_chunk *c = task_columns_chunk(t, row, in_chunk);
        if (c->is_sealed) {
                t->bytes -= c->bytes;
                task_chunk_unseal(c);
                t->bytes += c->bytes;
        }
        if (task_chunk_find_ended(c, *in_chunk)) {
                t->bytes -= c->bytes;
                task_chunk_flush(c);
                t->bytes += c->bytes;
        }
        return c;
}

void task_columns_getting_result(struct task_columns *t, size_t row, int64_t ms)
{
        size_t i;
        struct task_chunk *c = task_columns_open(t, row, &i);
        size_t before = c->bytes;
        task_chunk_set(c, i, TASK_GETTING_RESULT, ms - task_chunk_get(c, i, TASK_LAUNCH));
        if (task_chunk_get(c, i, TASK_STATUS) == TASK_ROW_RUNNING)
                task_chunk_set(c, i, TASK_STATUS, TASK_ROW_GETTING_RESULT);
        t->bytes += c->bytes - before;
}

static void task_columns_seal(struct task_columns *t, struct task_chunk *c)
{
        t->bytes -= c->bytes;
        task_chunk_seal(c);
        t->bytes += c->bytes;
}

void task_columns_end(struct task_columns *t, size_t row, const struct task_end *e, enum task_row_status status)
{
        size_t i;
        struct task_chunk *c = task_columns_open(t, row, &i);
        size_t before = c->bytes;
        c->n_running -= task_chunk_get(c, i, TASK_STATUS) < TASK_ROW_SUCCESS;
        task_chunk_set(c, i, TASK_STATUS, status);
        task_chunk_set(c, i, TASK_DURATION, e->finish_ms - e->info.launch_ms);
        task_chunk_set(c, i, TASK_GETTING_RESULT, e->getting_result_ms ? e->getting_result_ms - e->info.launch_ms : 0);
        if (task_end_has_metrics(e)) {
                const int64_t *values = (const int64_t *)&e->metrics;
                const int64_t *push = e->detail ? (const int64_t *)e->detail->push_read : NULL;
                task_chunk_set(c, i, TASK_HAS_METRICS, 1);
                for (size_t k = TASK_METRICS; k < TASK_PUSH_METRICS; k++)
                        task_chunk_set(c, i, (enum task_column)k, values[k - TASK_METRICS]);
                for (size_t k = TASK_PUSH_METRICS; push && k < TASK_COLUMNS; k++)
                        task_chunk_set(c, i, (enum task_column)k, push[k - TASK_PUSH_METRICS]);
        }
        t->bytes += c->bytes - before;
        if (c->n == TASK_CHUNK_ROWS && !c->n_running)
                task_columns_seal(t, c);
}

/* True if @n rows from @row on were not removed and run. */
static bool task_columns_run_all(const struct task_columns *t, size_t row, size_t n)
{
        for (size_t end = row + n; row < end;) {
                size_t i;
                const struct task_chunk *c = task_columns_chunk(t, row, &i);
                size_t k = MIN(end - row, c->n - i);
                const int64_t *status = c->open[TASK_STATUS];
                if (c->is_sealed)
                        return false;
                for (const struct ended_run *run = c->ended; run; run = run->next)
                        if (i < run->row + run->n && run->row < i + k)
                                return false;
                for (size_t r = i; r < i + k && (c->removed || status); r++)
                        if (task_chunk_is_removed(c, r) || (status && status[r] >= TASK_ROW_SUCCESS))
                                return false;
                row += k;
        }
        return true;
}

bool task_columns_end_batch(struct task_columns *t, const struct task_event_batch *b)
{
        size_t row = task_columns_find(t, b->values[TASK_EVENT_ID]);
        if (row == SIZE_MAX || t->unordered || row + b->n > t->n_rows ||
            (b->n > 1 && !task_event_is_rising(b, TASK_EVENT_ID)) ||
            task_columns_value(t, row + b->n - 1, TASK_ID) != task_event_value(b, TASK_EVENT_ID, b->n - 1) ||
            !task_columns_run_all(t, row, b->n))
                return false;
        for (size_t at = 0; at < b->n;) {
                size_t i;
                struct task_chunk *c = task_columns_chunk(t, row + at, &i);
                size_t before = c->bytes, n = MIN(b->n - at, (size_t)c->n - i);
                task_chunk_end_run(c, i, n, b, at);
                c->n_running = (uint16_t)(c->n_running - n);
                t->bytes += c->bytes - before;
                at += n;
                if (c->n == TASK_CHUNK_ROWS && !c->n_running)
                        task_columns_seal(t, c);
        }
        return true;
}

void task_columns_finish(struct task_columns *t)
{
        struct task_chunk *c = t->n_chunks ? t->chunks[t->n_chunks - 1] : NULL;
        if (c && !c->is_sealed && !c->n_running)
                task_columns_seal(t, c);
}

int64_t task_columns_value(const struct task_columns *t, size_t row, enum task_column column)
{
        size_t i;
        const struct task_chunk *c = task_columns_chunk(t, row, &i);
        if (column < TASK_COLUMNS)
                return task_chunk_get(c, i, column);
        int64_t values[TASK_CHUNK_ROWS];
        task_chunk_read(c, column, values);
        return values[i];
}

/* ----------------------------------------------------------------------------------------------- removal */

struct task_age {
        int64_t finish_ms;
        size_t row;
};

/* Lists the retained rows of a chunk, with the time by which they are removed. Running ones that stay have INT64_MAX.
 */
static size_t task_columns_list_ages(const struct task_columns *t, size_t k, bool keep_running, struct task_age *ages)
{
        const struct task_chunk *c = t->chunks[k];
        int64_t launch[TASK_CHUNK_ROWS], duration[TASK_CHUNK_ROWS], status[TASK_CHUNK_ROWS];
        size_t n = 0;
        if (c->n_removed == c->n)
                return 0;
        task_chunk_read(c, TASK_LAUNCH, launch);
        task_chunk_read(c, TASK_DURATION, duration);
        task_chunk_read(c, TASK_STATUS, status);
        for (size_t i = 0; i < c->n; i++) {
                bool runs = status[i] < TASK_ROW_SUCCESS;
                if (!task_chunk_is_removed(c, i))
                        ages[n++] = (struct task_age){.finish_ms = !runs          ? launch[i] + duration[i]
                                                                   : keep_running ? INT64_MAX
                                                                                  : -1,
                                                      .row = k * TASK_CHUNK_ROWS + i};
        }
        return n;
}

/* Rows that end before finish_ms go, and the first @n_equal of those that end then. */
struct task_age_boundary {
        int64_t finish_ms;
        size_t n_equal;
};

enum { AGE_BUCKET_BITS = 12 };

/* Finds the boundary of the @n oldest by radix: each pass counts the rows of 4,096 ranges of time. */
static struct task_age_boundary task_ages_boundary(const struct task_age *ages, size_t n_ages, size_t n)
{
        int64_t least = INT64_MAX, greatest = INT64_MIN;
        size_t n_ended = 0;
        for (size_t i = 0; i < n_ages; i++) {
                if (ages[i].finish_ms == INT64_MAX)
                        continue;
                least = MIN(least, ages[i].finish_ms);
                greatest = MAX(greatest, ages[i].finish_ms);
                n_ended++;
        }
        if (n > n_ended)
                return (struct task_age_boundary){INT64_MAX, n - n_ended};
        for (;;) {
                size_t counts[1 << AGE_BUCKET_BITS] = {0}, boundary = 0;
                uint64_t range = (uint64_t)greatest - (uint64_t)least;
                unsigned shift = 0;
                while (range >> shift >= 1 << AGE_BUCKET_BITS)
                        shift++;
                for (size_t i = 0; i < n_ages; i++) {
                        uint64_t offset = (uint64_t)ages[i].finish_ms - (uint64_t)least;
                        if (ages[i].finish_ms >= least && offset <= range)
                                counts[offset >> shift]++;
                }
                while (counts[boundary] < n)
                        n -= counts[boundary++];
                least = (int64_t)((uint64_t)least + ((uint64_t)boundary << shift));
                if (shift == 0)
                        return (struct task_age_boundary){least, n};
                greatest = (int64_t)MIN((uint64_t)greatest, (uint64_t)least + ((uint64_t)1 << shift) - 1);
        }
}

static void task_columns_remove_row(struct task_columns *t, size_t row)
{
        size_t i;
        struct task_chunk *c = task_columns_chunk(t, row, &i);
        if (!c->removed) {
                c->removed = mem_zero(TASK_CHUNK_ROWS / 8);
                c->bytes += TASK_CHUNK_ROWS / 8;
                t->bytes += TASK_CHUNK_ROWS / 8;
        }
        c->n_running -= task_chunk_get(c, i, TASK_STATUS) < TASK_ROW_SUCCESS;
        c->removed[i / 8] |= (uint8_t)(1 << i % 8);
        c->n_removed++;
        t->n_retained--;
        if (c->n_removed == TASK_CHUNK_ROWS) {
                t->bytes -= c->bytes;
                task_chunk_empty(c);
                t->bytes += c->bytes;
        }
}

/* The rows of a chunk that may be removed. */
struct chunk_ages {
        int64_t first_ms, last_ms;
        size_t n;     /* of them */
        size_t chunk; /* its number */
};

static struct chunk_ages task_columns_chunk_ages(const struct task_columns *t, size_t k, bool keep_running)
{
        struct task_chunk *c = t->chunks[k];
        struct chunk_ages a = {.first_ms = INT64_MAX, .last_ms = INT64_MIN, .chunk = k};
        struct task_age ages[TASK_CHUNK_ROWS];
        bool is_whole = c->is_sealed && !c->n_removed;
        if (is_whole && c->has_finish) {
                a.first_ms = c->first_finish_ms;
                a.last_ms = c->last_finish_ms;
                a.n = c->n;
                return a;
        }
        for (size_t i = 0, n = task_columns_list_ages(t, k, keep_running, ages); i < n; i++) {
                if (ages[i].finish_ms == INT64_MAX)
                        continue;
                a.first_ms = MIN(a.first_ms, ages[i].finish_ms);
                a.last_ms = MAX(a.last_ms, ages[i].finish_ms);
                a.n++;
        }
        if (is_whole && a.n == c->n) {
                c->has_finish = true;
                c->first_finish_ms = a.first_ms;
                c->last_finish_ms = a.last_ms;
        }
        return a;
}

static int chunk_ages_compare_first(const void *a, const void *b)
{
        const struct chunk_ages *x = a, *y = b;
        return (x->first_ms > y->first_ms) - (x->first_ms < y->first_ms);
}

static int chunk_ages_compare_last(const void *a, const void *b)
{
        const struct chunk_ages *x = a, *y = b;
        return (x->last_ms > y->last_ms) - (x->last_ms < y->last_ms);
}

/* Returns a time by which at least @n rows have ended, or INT64_MAX. Sorts @all by their last times. */
static int64_t chunk_ages_bound(struct chunk_ages *all, size_t n_all, size_t n)
{
        size_t before = 0;
        qsort(all, n_all, sizeof(*all), chunk_ages_compare_last);
        for (size_t i = 0; i < n_all; i++)
                if ((before += all[i].n) >= n)
                        return all[i].last_ms;
        return INT64_MAX;
}

/* Returns how many rows at most have ended by @ms. @all is sorted by first times. */
static size_t chunk_ages_most(const struct chunk_ages *all, size_t n_all, int64_t ms)
{
        size_t n = 0;
        for (size_t i = 0; i < n_all && all[i].first_ms <= ms; i++)
                n += all[i].n;
        return n;
}

/* Removes the @n oldest of the ages, which are in the order of rows. */
static void task_columns_remove_rows(struct task_columns *t, const struct task_age *ages, size_t n_ages, size_t n,
                                     task_columns_removed_fn removed, void *owner)
{
        if (!n)
                return;
        struct task_age_boundary boundary = task_ages_boundary(ages, n_ages, n);
        for (size_t i = 0; i < n_ages; i++) {
                if (ages[i].finish_ms > boundary.finish_ms ||
                    (ages[i].finish_ms == boundary.finish_ms && !boundary.n_equal))
                        continue;
                boundary.n_equal -= ages[i].finish_ms == boundary.finish_ms;
                task_columns_remove_row(t, ages[i].row);
                if (removed)
                        removed(owner, ages[i].row, 1);
        }
}

/* Removes all rows of a full chunk, none of which runs or was removed. */
static void task_columns_remove_chunk(struct task_columns *t, size_t k, task_columns_removed_fn removed, void *owner)
{
        struct task_chunk *c = t->chunks[k];
        t->bytes -= c->bytes;
        c->removed = mem_alloc(TASK_CHUNK_ROWS / 8);
        memset(c->removed, 0xff, TASK_CHUNK_ROWS / 8);
        c->n_removed = c->n;
        t->n_retained -= c->n;
        task_chunk_empty(c);
        t->bytes += c->bytes;
        if (removed)
                removed(owner, k * TASK_CHUNK_ROWS, c->n);
}

/*
 * Most chunks end before the boundary or after it, which the first and last times of chunks tell. Only the rows of the
 * chunks between are compared.
 */
void task_columns_remove_oldest(struct task_columns *t, size_t n, bool keep_running, task_columns_removed_fn removed,
                                void *owner)
{
        struct chunk_ages *all = new_array(struct chunk_ages, 2 * t->n_chunks + 1), *sorted;
        struct task_age *ages = mem_alloc((t->n_retained + 1) * sizeof(*ages)); /* few are used */
        size_t n_all = 0, n_ages = 0, left = n;
        for (size_t k = 0; k < t->n_chunks; k++)
                if (t->chunks[k]->n_removed < t->chunks[k]->n)
                        all[n_all++] = task_columns_chunk_ages(t, k, keep_running);
        sorted = all + n_all;
        memcpy(sorted, all, n_all * sizeof(*all));
        int64_t bound_ms = chunk_ages_bound(sorted, n_all, n);
        qsort(sorted, n_all, sizeof(*sorted), chunk_ages_compare_first);
        for (size_t i = 0; i < n_all; i++) {
                const struct task_chunk *c = t->chunks[all[i].chunk];
                if (all[i].first_ms > bound_ms)
                        continue;
                if (c->n == TASK_CHUNK_ROWS && c->is_sealed && !c->n_removed &&
                    chunk_ages_most(sorted, n_all, all[i].last_ms) <= n) {
                        task_columns_remove_chunk(t, all[i].chunk, removed, owner);
                        left -= TASK_CHUNK_ROWS;
                } else {
                        n_ages += task_columns_list_ages(t, all[i].chunk, keep_running, ages + n_ages);
                }
        }
        task_columns_remove_rows(t, ages, n_ages, MIN(left, n_ages), removed, owner);
        free(ages);
        free(all);
}
