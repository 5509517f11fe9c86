/* See task_columns.h. */
#include "status/columns/task_columns.h"

#include "base/mem.h"
#include "base/vec.h"
#include "status/columns/task_chunk.h"

void task_columns_deinit(struct task_columns *t)
{
        for (size_t i = 0; i < t->n_chunks; i++)
                task_chunk_free(t->chunks[i]);
        free(t->chunks);
        if (t->loader)
                t->loader->free(t->loader);
        *t = (struct task_columns){0};
}

void task_columns_load(struct task_columns *t)
{
        struct task_columns_loader *loader = t->loader;
        if (!loader)
                return;
        t->loader = NULL;
        if (!loader->load(loader, t))
                task_columns_deinit(t);
        loader->free(loader);
}

/* --------------------------------------------------------------------------------------------- start and end */

static struct task_chunk *task_columns_chunk(const struct task_columns *t, size_t row, size_t *in_chunk)
{
        task_columns_need(t);
        *in_chunk = row % TASK_CHUNK_ROWS;
        return row / TASK_CHUNK_ROWS < t->n_chunks ? t->chunks[row / TASK_CHUNK_ROWS] : NULL;
}

static struct task_chunk *task_columns_last(struct task_columns *t)
{
        task_columns_need(t);
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

/* Starts a row as a run of its own. */
static void task_columns_start_run_of_one(struct task_chunk *c, const struct task_info *info, uint32_t executor)
{
        const struct started_run run = {
                .row = c->n,
                .n = 1,
                .first = {[TASK_ID] = info->id,
                          [TASK_INDEX] = info->index,
                          [TASK_ATTEMPT] = info->attempt,
                          [TASK_PARTITION] = info->partition - info->index,
                          [TASK_LAUNCH] = info->launch_ms,
                          [TASK_EXECUTOR] = executor,
                          [TASK_LOCALITY] = info->locality,
                          [TASK_SPECULATIVE] = info->speculative},
        };
        task_chunk_start_run(c, &run);
}

/* Starts a row in arrays. */
static void task_columns_start_row(struct task_chunk *c, const struct task_info *info, uint32_t executor)
{
        task_chunk_set_start(c, TASK_ID, info->id);
        task_chunk_set_start(c, TASK_INDEX, info->index);
        task_chunk_set_start(c, TASK_ATTEMPT, info->attempt);
        task_chunk_set_start(c, TASK_PARTITION, info->partition - info->index);
        task_chunk_set_start(c, TASK_LAUNCH, info->launch_ms);
        task_chunk_set_start(c, TASK_EXECUTOR, executor);
        task_chunk_set_start(c, TASK_LOCALITY, info->locality);
        task_chunk_set_start(c, TASK_SPECULATIVE, info->speculative);
}

size_t task_columns_start(struct task_columns *t, const struct task_info *info, uint32_t executor)
{
        struct task_chunk *c = task_columns_last_open(t, 1);
        size_t before = c->bytes;
        task_columns_note_ids(t, c, info->id, info->id);
        if (c->started && !task_chunk_takes_started_run(c))
                task_chunk_flush_started(c);
        if (c->started)
                task_columns_start_run_of_one(c, info, executor);
        else
                task_columns_start_row(c, info, executor);
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

/* Starts rows as a run. Returns false, without effect, if a column of the batch neither is constant nor rises. */
static bool task_columns_start_as_run(struct task_chunk *c, const struct task_event_batch *b, size_t at, size_t n,
                                      uint32_t executor)
{
        const uint32_t both = 1 << TASK_EVENT_INDEX | 1 << TASK_EVENT_PARTITION;
        if (b->varying & ((1 << TASK_START_COLUMNS) - 1) || ((b->rising & both) && (b->rising & both) != both))
                return false;
        struct started_run run = {
                .row = c->n,
                .n = (uint16_t)n,
                .first = {[TASK_ID] = task_event_value(b, TASK_EVENT_ID, at),
                          [TASK_INDEX] = task_event_value(b, TASK_EVENT_INDEX, at),
                          [TASK_ATTEMPT] = task_event_value(b, TASK_EVENT_ATTEMPT, at),
                          [TASK_PARTITION] = b->values[TASK_EVENT_PARTITION] - b->values[TASK_EVENT_INDEX],
                          [TASK_LAUNCH] = task_event_value(b, TASK_EVENT_LAUNCH, at),
                          [TASK_EXECUTOR] = executor,
                          [TASK_LOCALITY] = b->locality,
                          [TASK_SPECULATIVE] = b->speculative},
                .rising = (uint8_t)(task_event_is_rising(b, TASK_EVENT_ID) << TASK_ID |
                                    task_event_is_rising(b, TASK_EVENT_INDEX) << TASK_INDEX |
                                    task_event_is_rising(b, TASK_EVENT_ATTEMPT) << TASK_ATTEMPT |
                                    task_event_is_rising(b, TASK_EVENT_LAUNCH) << TASK_LAUNCH),
        };
        task_chunk_start_run(c, &run);
        return true;
}

/* Starts rows column by column. */
static void task_columns_start_in_arrays(struct task_chunk *c, const struct task_event_batch *b, size_t at, size_t n,
                                         uint32_t executor)
{
        int64_t partitions[MAX_TASK_EVENT_BATCH];
        task_chunk_flush_started(c);
        task_chunk_set_started_run(c, n, TASK_ID, column_run_of(b, TASK_EVENT_ID, at));
        task_chunk_set_started_run(c, n, TASK_INDEX, column_run_of(b, TASK_EVENT_INDEX, at));
        task_chunk_set_started_run(c, n, TASK_ATTEMPT, column_run_of(b, TASK_EVENT_ATTEMPT, at));
        task_chunk_set_started_run(c, n, TASK_PARTITION, column_run_of_partitions(b, at, partitions));
        task_chunk_set_started_run(c, n, TASK_LAUNCH, column_run_of(b, TASK_EVENT_LAUNCH, at));
        task_chunk_set_started_run(c, n, TASK_EXECUTOR, (struct column_run){.first = executor});
        task_chunk_set_started_run(c, n, TASK_LOCALITY, (struct column_run){.first = b->locality});
        task_chunk_set_started_run(c, n, TASK_SPECULATIVE, (struct column_run){.first = b->speculative});
}

/* Starts at most the rows of a batch from @at on for which the last chunk has room. Returns their number. */
static size_t task_columns_start_part(struct task_columns *t, const struct task_event_batch *b, size_t at,
                                      uint32_t executor)
{
        struct task_chunk *c = task_columns_last_open(t, b->n - at);
        size_t before = c->bytes, n = MIN(b->n - at, (size_t)c->room - c->n);
        int64_t last = task_event_value(b, TASK_EVENT_ID, at);
        for (size_t i = at + 1; i < at + n && !task_event_is_rising(b, TASK_EVENT_ID); i++) {
                t->unordered |= task_event_value(b, TASK_EVENT_ID, i) <= last;
                last = task_event_value(b, TASK_EVENT_ID, i);
        }
        task_columns_note_ids(t, c, task_event_value(b, TASK_EVENT_ID, at),
                              task_event_value(b, TASK_EVENT_ID, at + n - 1));
        if (!task_chunk_takes_started_run(c) || !task_columns_start_as_run(c, b, at, n, executor))
                task_columns_start_in_arrays(c, b, at, n, executor);
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
        size_t i;
        const struct task_chunk *c = task_columns_chunk(t, first, &i);
        if (!c)
                return 0;
        task_chunk_read(c, column, values);
        return c->n;
}

bool task_columns_range(const struct task_columns *t, size_t first, enum task_column column, int64_t *least,
                        int64_t *greatest)
{
        size_t i;
        const struct task_chunk *c = task_columns_chunk(t, first, &i);
        if (!c)
                return false;
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

const void *task_columns_packed(const struct task_columns *t, size_t first, enum task_column column, uint8_t *width)
{
        size_t i;
        const struct task_chunk *c = task_columns_chunk(t, first, &i);
        if (!c || !c->is_sealed || column >= TASK_COLUMNS || !c->width[column] || c->width[column] > sizeof(uint32_t))
                return NULL;
        *width = c->width[column];
        return c->packed + c->place[column];
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
        task_columns_need(t);
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
                task_chunk_flush_ended(c);
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

/* Ends a row that ran as a run of its own. */
static void task_columns_end_run_of_one(struct task_chunk *c, size_t row, const struct task_end *e,
                                        enum task_row_status status)
{
        int64_t values[ENDED_COLUMNS] = {[TASK_STATUS - TASK_STATUS] = status,
                                         [TASK_DURATION - TASK_STATUS] = e->finish_ms - e->info.launch_ms,
                                         [TASK_GETTING_RESULT - TASK_STATUS] =
                                                 e->getting_result_ms ? e->getting_result_ms - e->info.launch_ms : 0};
        if (task_end_has_metrics(e)) {
                values[TASK_HAS_METRICS - TASK_STATUS] = 1;
                memcpy(&values[TASK_METRICS - TASK_STATUS], &e->metrics, sizeof(e->metrics));
        }
        task_chunk_end_row(c, row, values);
}

/* Ends a row in arrays. */
static void task_columns_end_row(struct task_chunk *c, size_t row, const struct task_end *e,
                                 enum task_row_status status)
{
        task_chunk_set(c, row, TASK_STATUS, status);
        task_chunk_set(c, row, TASK_DURATION, e->finish_ms - e->info.launch_ms);
        task_chunk_set(c, row, TASK_GETTING_RESULT,
                       e->getting_result_ms ? e->getting_result_ms - e->info.launch_ms : 0);
        if (!task_end_has_metrics(e))
                return;
        const int64_t *values = (const int64_t *)&e->metrics;
        task_chunk_set(c, row, TASK_HAS_METRICS, 1);
        for (size_t k = TASK_METRICS; k < TASK_PUSH_METRICS; k++)
                task_chunk_set(c, row, (enum task_column)k, values[k - TASK_METRICS]);
}

void task_columns_end(struct task_columns *t, size_t row, const struct task_end *e, enum task_row_status status)
{
        size_t i;
        struct task_chunk *c = task_columns_open(t, row, &i);
        size_t before = c->bytes;
        const int64_t *push = task_end_has_metrics(e) && e->detail ? (const int64_t *)e->detail->push_read : NULL;
        c->n_running -= task_chunk_get(c, i, TASK_STATUS) < TASK_ROW_SUCCESS;
        if (task_chunk_takes_ended_row(c))
                task_columns_end_run_of_one(c, i, e, status);
        else
                task_columns_end_row(c, i, e, status);
        for (size_t k = TASK_PUSH_METRICS; push && k < TASK_COLUMNS; k++)
                task_chunk_set(c, i, (enum task_column)k, push[k - TASK_PUSH_METRICS]);
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

bool task_columns_end_batch(struct task_columns *t, const struct task_event_batch *b,
                            const struct task_event_durations *durations)
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
                task_chunk_end_run(c, i, n, b, at, durations);
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
        task_columns_need(t);
        struct task_chunk *c = t->n_chunks ? t->chunks[t->n_chunks - 1] : NULL;
        if (c && !c->is_sealed && !c->n_running)
                task_columns_seal(t, c);
}

int64_t task_columns_value(const struct task_columns *t, size_t row, enum task_column column)
{
        size_t i;
        const struct task_chunk *c = task_columns_chunk(t, row, &i);
        if (!c)
                return 0;
        if (column < TASK_COLUMNS)
                return task_chunk_get(c, i, column);
        int64_t values[TASK_CHUNK_ROWS];
        task_chunk_read(c, column, values);
        return values[i];
}

/* ----------------------------------------------------------------------------------------------- removal */

/*
 * Writes by when each row of a chunk that was not removed goes, in the order of rows: its end; a running row goes last
 * (INT64_MAX) or first (-1). Returns their number.
 */
static size_t task_chunk_read_ages(const struct task_chunk *c, bool keep_running, int64_t *ages)
{
        int64_t launch[TASK_CHUNK_ROWS], status[TASK_CHUNK_ROWS];
        size_t n = 0;
        task_chunk_read(c, TASK_LAUNCH, launch);
        task_chunk_read(c, TASK_DURATION, ages);
        for (size_t i = 0; i < c->n; i++)
                ages[i] += launch[i];
        if (c->n_running) {
                task_chunk_read(c, TASK_STATUS, status);
                for (size_t i = 0; i < c->n; i++)
                        if (status[i] < TASK_ROW_SUCCESS)
                                ages[i] = keep_running ? INT64_MAX : -1;
        }
        if (!c->removed)
                return c->n;
        for (size_t i = 0; i < c->n; i++)
                if (!task_chunk_is_removed(c, i))
                        ages[n++] = ages[i];
        return n;
}

/* Rows that end before finish_ms go, and the first @n_equal of those that end then. */
struct task_age_boundary {
        int64_t finish_ms;
        size_t n_equal;
};

enum { AGE_BUCKET_BITS = 10 };

/* Finds the boundary of the @n oldest by radix: each pass counts the rows of 1,024 ranges of time. */
static struct task_age_boundary task_ages_boundary(const int64_t *ages, size_t n_ages, size_t n)
{
        int64_t least = INT64_MAX, greatest = INT64_MIN;
        size_t n_ended = 0;
        for (size_t i = 0; i < n_ages; i++) {
                if (ages[i] == INT64_MAX)
                        continue;
                least = MIN(least, ages[i]);
                greatest = MAX(greatest, ages[i]);
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
                        uint64_t offset = (uint64_t)ages[i] - (uint64_t)least;
                        if (ages[i] >= least && offset <= range)
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

/* The rows of a chunk that may be removed. */
struct chunk_ages {
        int64_t first_ms, last_ms; /* bounds */
        size_t n;                  /* of them */
        size_t chunk;              /* its number */
};

/* Finds the first and the last end of the rows of a chunk by reading them. */
static struct chunk_ages task_columns_read_chunk_ages(const struct task_columns *t, size_t k, bool keep_running)
{
        struct task_chunk *c = t->chunks[k];
        struct column_bounds b = {INT64_MAX, INT64_MIN};
        int64_t ages[TASK_CHUNK_ROWS];
        size_t n = task_chunk_read_ages(c, keep_running, ages), n_ended = n;
        if (c->n_running && keep_running) {
                n_ended = 0;
                for (size_t i = 0; i < n; i++)
                        if (ages[i] != INT64_MAX)
                                ages[n_ended++] = ages[i];
        }
        column_bounds_widen(&b, ages, n_ended);
        if (c->is_sealed) {
                c->has_finish = true;
                c->first_finish_ms = b.least;
                c->last_finish_ms = b.greatest;
        }
        return (struct chunk_ages){b.least, b.greatest, n_ended, k};
}

/* The same, but bounds that are wider, of a sealed chunk that was not read yet. */
static struct chunk_ages task_columns_chunk_ages(const struct task_columns *t, size_t k, bool keep_running)
{
        const struct task_chunk *c = t->chunks[k];
        size_t n = (size_t)c->n - c->n_removed;
        int64_t first, last;
        if (c->is_sealed && c->has_finish)
                return (struct chunk_ages){c->first_finish_ms, c->last_finish_ms, n, k};
        if (!c->is_sealed || __builtin_add_overflow(c->base[TASK_LAUNCH], c->base[TASK_DURATION], &first) ||
            __builtin_add_overflow(c->greatest[TASK_LAUNCH], c->greatest[TASK_DURATION], &last))
                return task_columns_read_chunk_ages(t, k, keep_running);
        return (struct chunk_ages){first, last, n, k};
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

/* Removes all rows of a full chunk, none of which runs. */
static void task_columns_remove_chunk(struct task_columns *t, size_t k, task_columns_removed_fn removed, void *owner)
{
        struct task_chunk *c = t->chunks[k];
        t->bytes -= c->bytes;
        t->n_retained -= (size_t)c->n - c->n_removed;
        if (!c->removed)
                c->removed = mem_alloc(TASK_CHUNK_ROWS / 8);
        memset(c->removed, 0xff, TASK_CHUNK_ROWS / 8);
        c->n_removed = c->n;
        task_chunk_empty(c);
        t->bytes += c->bytes;
        if (removed)
                removed(owner, k * TASK_CHUNK_ROWS, c->n);
}

/* Removes @n neighbouring rows of a chunk. */
static void task_columns_remove_rows(struct task_columns *t, size_t k, size_t row, size_t n,
                                     task_columns_removed_fn removed, void *owner)
{
        struct task_chunk *c = t->chunks[k];
        if (!c->removed) {
                c->removed = mem_zero(TASK_CHUNK_ROWS / 8);
                c->bytes += TASK_CHUNK_ROWS / 8;
                t->bytes += TASK_CHUNK_ROWS / 8;
        }
        for (size_t i = row; i < row + n; i++) {
                if (c->n_running)
                        c->n_running -= task_chunk_get(c, i, TASK_STATUS) < TASK_ROW_SUCCESS;
                c->removed[i / 8] |= (uint8_t)(1 << i % 8);
        }
        c->n_removed = (uint16_t)(c->n_removed + n);
        t->n_retained -= n;
        if (c->n_removed == TASK_CHUNK_ROWS) {
                t->bytes -= c->bytes;
                task_chunk_empty(c);
                t->bytes += c->bytes;
        }
        if (removed)
                removed(owner, k * TASK_CHUNK_ROWS + row, n);
}

/*
 * Removes the rows of a chunk that lie before the boundary, which it moves on. @ages: of the rows that were not
 * removed. Returns the number of ages.
 */
static size_t task_columns_remove_aged(struct task_columns *t, size_t k, const int64_t *ages,
                                       struct task_age_boundary *boundary, task_columns_removed_fn removed, void *owner)
{
        struct task_chunk *c = t->chunks[k];
        size_t n_ages = 0, first = 0, n = c->n;
        for (size_t i = 0; i <= n; i++) {
                bool goes = false;
                if (i < n && !task_chunk_is_removed(c, i)) {
                        int64_t age = ages[n_ages++];
                        bool is_equal = age == boundary->finish_ms && boundary->n_equal;
                        goes = age < boundary->finish_ms || is_equal;
                        boundary->n_equal -= is_equal;
                }
                if (goes)
                        continue;
                if (first < i)
                        task_columns_remove_rows(t, k, first, i - first, removed, owner);
                first = i + 1;
        }
        if (c->has_finish)
                c->first_finish_ms = MAX(c->first_finish_ms, boundary->finish_ms);
        return n_ages;
}

/* The chunks that have rows to remove or to keep. */
struct chunk_ages_list {
        struct chunk_ages *all, *sorted; /* in the order of chunks; by first times */
        size_t n_all;
        int64_t bound_ms; /* at least as many rows as are to go have ended by this time */
};

/* True if all rows of a chunk are among the @n oldest. */
static bool chunk_ages_list_takes_whole(const struct chunk_ages_list *list, const struct task_columns *t,
                                        const struct chunk_ages *ages, size_t n)
{
        const struct task_chunk *c = t->chunks[ages->chunk];
        return c->n == TASK_CHUNK_ROWS && c->is_sealed &&
               chunk_ages_most(list->sorted, list->n_all, ages->last_ms) <= n;
}

/* Reads the chunks about which the bounds leave a doubt. Returns false if there is none. */
static bool chunk_ages_list_refine(struct chunk_ages_list *list, const struct task_columns *t, size_t n,
                                   bool keep_running)
{
        bool refined = false;
        memcpy(list->sorted, list->all, list->n_all * sizeof(*list->all));
        list->bound_ms = chunk_ages_bound(list->sorted, list->n_all, n);
        qsort(list->sorted, list->n_all, sizeof(*list->all), chunk_ages_compare_first);
        for (size_t i = 0; i < list->n_all; i++) {
                const struct task_chunk *c = t->chunks[list->all[i].chunk];
                if (!c->is_sealed || c->has_finish || list->all[i].first_ms > list->bound_ms ||
                    chunk_ages_list_takes_whole(list, t, &list->all[i], n))
                        continue;
                list->all[i] = task_columns_read_chunk_ages(t, list->all[i].chunk, keep_running);
                refined = true;
        }
        return refined;
}

/*
 * Most chunks end before the boundary or after it, which bounds of their ends tell. Only the rows of the chunks between
 * are compared.
 */
void task_columns_remove_oldest(struct task_columns *t, size_t n, bool keep_running, task_columns_removed_fn removed,
                                void *owner)
{
        task_columns_need(t);
        struct chunk_ages_list list = {.all = mem_alloc((2 * t->n_chunks + 1) * sizeof(*list.all))};
        size_t n_between = 0, n_ages = 0, left = n;
        for (size_t k = 0; k < t->n_chunks; k++)
                if (t->chunks[k]->n_removed < t->chunks[k]->n)
                        list.all[list.n_all++] = task_columns_chunk_ages(t, k, keep_running);
        list.sorted = list.all + list.n_all;
        while (chunk_ages_list_refine(&list, t, n, keep_running)) {
        }
        for (size_t i = 0; i < list.n_all; i++) {
                const struct chunk_ages *ages = &list.all[i];
                if (ages->first_ms > list.bound_ms)
                        continue;
                if (chunk_ages_list_takes_whole(&list, t, ages, n)) {
                        task_columns_remove_chunk(t, ages->chunk, removed, owner);
                        left -= ages->n;
                } else {
                        list.all[n_between++] = *ages;
                }
        }
        int64_t *ages = mem_alloc((n_between * TASK_CHUNK_ROWS + 1) * sizeof(*ages));
        for (size_t i = 0; i < n_between; i++)
                n_ages += task_chunk_read_ages(t->chunks[list.all[i].chunk], keep_running, ages + n_ages);
        left = MIN(left, n_ages);
        if (left) {
                struct task_age_boundary boundary = task_ages_boundary(ages, n_ages, left);
                for (size_t i = 0, at = 0; i < n_between; i++)
                        at += task_columns_remove_aged(t, list.all[i].chunk, ages + at, &boundary, removed, owner);
        }
        free(ages);
        free(list.all);
}
