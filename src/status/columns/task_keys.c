/* Keys of rows: see task_keys.h. */
#include "status/columns/task_keys.h"

#include "base/mem.h"

static int64_t task_keys_order(const struct task_keys *k, int64_t value, int64_t status, bool has_metrics)
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

enum { ONLY_WORDS = TASK_CHUNK_ROWS / 64, FEW_ROWS = 64 };

size_t task_keys_count_only(const struct task_keys *k, size_t chunk)
{
        const struct task_chunk *c = k->t->chunks[chunk];
        size_t n = 0;
        for (size_t word = 0; word < ((size_t)c->n + 63) / 64; word++)
                n += (size_t)__builtin_popcountll(k->only[chunk * ONLY_WORDS + word]);
        return n;
}

/* Reads the keys of a chunk of which few rows count, value by value. */
static size_t task_keys_read_few(const struct task_keys *k, size_t chunk, uint64_t *keys, uint16_t *rows)
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
                        keys[n] =
                                task_key_of(task_keys_order(k, task_chunk_get(c, row, k->column), status, has_metrics));
                        if (rows)
                                rows[n] = (uint16_t)row;
                        n++;
                }
        return n;
}

/* Takes the keys of a chunk's rows that count from @values: those of successful tasks. */
static size_t task_keys_read_only(const struct task_keys *k, size_t chunk, const int64_t *values, uint64_t *keys,
                                  uint16_t *rows)
{
        const struct task_chunk *c = k->t->chunks[chunk];
        size_t n = 0;
        for (size_t word = 0; word < ((size_t)c->n + 63) / 64; word++)
                for (uint64_t bits = k->only[chunk * ONLY_WORDS + word]; bits; bits &= bits - 1) {
                        size_t row = word * 64 + (size_t)__builtin_ctzll(bits);
                        keys[n] = task_key_of(values[row]);
                        if (rows)
                                rows[n] = (uint16_t)row;
                        n++;
                }
        return n;
}

size_t task_keys_read(const struct task_keys *k, size_t chunk, uint64_t *keys, uint16_t *rows)
{
        const struct task_chunk *c = k->t->chunks[chunk];
        int64_t values[TASK_CHUNK_ROWS], status[TASK_CHUNK_ROWS], metrics[TASK_CHUNK_ROWS];
        size_t n = 0;
        if (c->n_removed == c->n)
                return 0;
        if (k->only && !k->summary && k->column < TASK_COLUMNS && task_keys_count_only(k, chunk) <= FEW_ROWS)
                return task_keys_read_few(k, chunk, keys, rows);
        task_chunk_read(c, k->column, values);
        /* Successful tasks sort by their values in all columns. */
        if (c->all_success && !c->removed && !k->rank && k->statuses >> TASK_ROW_SUCCESS & 1) {
                if (k->only)
                        return task_keys_read_only(k, chunk, values, keys, rows);
                for (size_t i = 0; i < c->n; i++)
                        keys[i] = task_key_of(values[i]);
                for (size_t i = 0; rows && i < c->n; i++)
                        rows[i] = (uint16_t)i;
                return c->n;
        }
        if (k->summary && c->is_sealed && !c->removed) {
                for (size_t i = 0, odd = 0; i < c->n; i++) {
                        keys[n] = task_key_of(values[i]);
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
                keys[n] = task_key_of(task_keys_order(k, values[i], status[i], metrics[i]));
                if (rows)
                        rows[n] = (uint16_t)i;
                n++;
        }
        return n;
}

/* ------------------------------------------------------------------------------------------------------ runs */

/* True if the keys of a chunk are the values of its rows, but for few odd ones. */
static bool task_keys_are_values(const struct task_keys *k, const struct task_chunk *c)
{
        if (!c->is_sealed || c->removed)
                return false;
        if (k->summary)
                return true;
        return !k->only && k->statuses == UINT32_MAX && (k->column < TASK_METRICS || c->n_odd <= MAX_ODD_KEYS);
}

static void key_run_widen(struct key_run *run)
{
        const uint64_t *keys = run->packed;
        run->least = UINT64_MAX;
        run->greatest = 0;
        for (size_t i = 0; i < run->n; i++) {
                run->least = MIN(run->least, keys[i]);
                run->greatest = MAX(run->greatest, keys[i]);
        }
}

/* Sets the bounds of a computed column of a sealed chunk. Returns false if they are not known without reading it. */
static bool task_chunk_computed_bounds(const struct task_chunk *c, enum task_column column, struct column_bounds *b)
{
        enum task_column first = TASK_METRIC(shuffle_read.remote_bytes), second = TASK_METRIC(shuffle_read.local_bytes);
        if (column == TASK_SCHEDULER_DELAY || column == TASK_GETTING_RESULT_TIME) {
                *b = (struct column_bounds){0, MAX(c->greatest[TASK_DURATION], (int64_t)0)};
                /* The delay is a difference, which may overflow in damaged logs. */
                return c->base[TASK_DURATION] >= 0 && c->base[TASK_METRIC(executor_run_ms)] >= 0 &&
                       c->base[TASK_METRIC(executor_deserialize_ms)] >= 0 &&
                       c->base[TASK_METRIC(result_serialization_ms)] >= 0 && c->base[TASK_GETTING_RESULT] >= 0;
        }
        if (column == TASK_BLOCKS_FETCHED) {
                first = TASK_METRIC(shuffle_read.remote_blocks);
                second = TASK_METRIC(shuffle_read.local_blocks);
        }
        return !__builtin_add_overflow(c->base[first], c->base[second], &b->least) &&
               !__builtin_add_overflow(c->greatest[first], c->greatest[second], &b->greatest);
}

/* Computes the keys of a run, as differences from the least value where those are narrow; or only their bounds. */
static void key_run_compute(const struct task_keys *k, const struct task_chunk *c, struct key_run *run,
                            struct key_buffer *buffer, bool bounds_only)
{
        int64_t values[TASK_CHUNK_ROWS];
        struct column_bounds b;
        bool has_bounds = task_chunk_computed_bounds(c, k->column, &b);
        run->base = has_bounds ? task_key_of(b.least) : 0;
        run->least = run->base;
        run->greatest = has_bounds ? task_key_of(b.greatest) : UINT64_MAX;
        if (bounds_only && (k->summary || !c->n_odd))
                return;
        if (k->column == TASK_SCHEDULER_DELAY && task_chunk_read_narrow_delay(c, buffer->narrow)) {
                run->base = task_key_of(0);
                run->width = sizeof(uint32_t);
                run->packed = buffer->narrow;
                return;
        }
        task_chunk_read(c, k->column, values);
        run->width = sizeof(uint64_t);
        run->packed = buffer->keys;
        if (run->greatest - run->least > UINT32_MAX) {
                run->base = 0;
                for (size_t i = 0; i < run->n; i++)
                        buffer->keys[i] = task_key_of(values[i]);
                return;
        }
        run->width = sizeof(uint32_t);
        run->packed = buffer->narrow;
        for (size_t i = 0; i < run->n; i++)
                buffer->narrow[i] = (uint32_t)(values[i] - b.least);
}

/* Computes the keys of a run that are ranks of values, or only their bounds. */
static void key_run_rank(const struct task_keys *k, const struct task_chunk *c, struct key_run *run,
                         struct key_buffer *buffer, bool bounds_only)
{
        int64_t values[TASK_CHUNK_ROWS], least = INT64_MAX, greatest = INT64_MIN;
        for (int64_t value = c->base[k->column]; value <= c->greatest[k->column]; value++) {
                least = MIN(least, k->rank[value]);
                greatest = MAX(greatest, k->rank[value]);
        }
        run->base = run->least = task_key_of(least);
        run->greatest = task_key_of(greatest);
        run->width = sizeof(uint32_t);
        run->packed = buffer->narrow;
        if (bounds_only)
                return;
        task_chunk_read(c, k->column, values);
        for (size_t i = 0; i < run->n; i++)
                buffer->narrow[i] = (uint32_t)(k->rank[values[i]] - least);
}

/* Sets the run of the rows of a chunk that sort by their value. */
static void key_run_of_chunk(const struct task_keys *k, size_t chunk, struct key_run *run, struct key_buffer *buffer,
                             bool bounds_only)
{
        const struct task_chunk *c = k->t->chunks[chunk];
        int64_t value;
        *run = (struct key_run){.n = c->n, .first_row = chunk * TASK_CHUNK_ROWS, .packed = c->packed};
        if (k->summary || k->column >= TASK_METRICS) {
                run->odd = c->odd;
                run->n_odd = c->n_odd;
        }
        if (task_chunk_is_constant(c, k->column, &value)) {
                run->base = run->least = run->greatest = task_key_of(k->rank ? k->rank[value] : value);
                return;
        }
        if (k->rank) {
                key_run_rank(k, c, run, buffer, bounds_only);
                return;
        }
        if (k->column >= TASK_COLUMNS) {
                key_run_compute(k, c, run, buffer, bounds_only);
                return;
        }
        run->width = c->width[k->column];
        run->packed = c->packed + c->place[k->column];
        run->base = run->least = task_key_of(c->base[k->column]);
        run->greatest = task_key_of(c->greatest[k->column]);
}

/* Sets the run of the rows of a chunk that do not sort by their value. @all: the run of the whole chunk. */
static void key_run_of_odd_rows(const struct task_keys *k, size_t chunk, const struct key_run *all, struct key_run *run,
                                struct key_buffer *buffer)
{
        const struct task_chunk *c = k->t->chunks[chunk];
        *run = (struct key_run){.n = c->n_odd,
                                .packed = buffer->odd,
                                .width = sizeof(uint64_t),
                                .first_row = chunk * TASK_CHUNK_ROWS,
                                .rows = c->odd};
        for (size_t i = 0; i < run->n; i++)
                buffer->odd[i] = task_key_of(task_keys_order(k, task_key_value(key_run_key(all, c->odd[i])),
                                                             task_chunk_get(c, c->odd[i], TASK_STATUS),
                                                             task_chunk_get(c, c->odd[i], TASK_HAS_METRICS)));
        key_run_widen(run);
}

static void task_keys_set_copied_run(const struct task_keys *k, size_t block, struct key_run *run)
{
        size_t first = block * TASK_CHUNK_ROWS;
        *run = (struct key_run){.n = MIN(k->n_copied - first, (size_t)TASK_CHUNK_ROWS),
                                .width = sizeof(uint64_t),
                                .packed = k->copied + first,
                                .copy_rows = k->copied_rows ? k->copied_rows + first : NULL};
}

void task_keys_prepare(struct task_keys *k)
{
        const struct task_columns *t = k->t;
        size_t n_copies = 0;
        uint16_t rows[TASK_CHUNK_ROWS];
        for (size_t chunk = 0; chunk < t->n_chunks; chunk++)
                n_copies +=
                        t->chunks[chunk]->n_removed < t->chunks[chunk]->n && !task_keys_are_values(k, t->chunks[chunk]);
        if (n_copies <= t->n_chunks / 16)
                return;
        k->copied = mem_alloc((t->n_chunks * TASK_CHUNK_ROWS + 1) * sizeof(*k->copied));
        if (!k->summary)
                k->copied_rows = mem_alloc((t->n_chunks * TASK_CHUNK_ROWS + 1) * sizeof(*k->copied_rows));
        for (size_t chunk = 0; chunk < t->n_chunks; chunk++) {
                size_t n = task_keys_read(k, chunk, k->copied + k->n_copied, k->summary ? NULL : rows);
                for (size_t i = 0; k->copied_rows && i < n; i++)
                        k->copied_rows[k->n_copied + i] = (uint32_t)(chunk * TASK_CHUNK_ROWS + rows[i]);
                k->n_copied += n;
        }
        k->copied_bounds = new_array(uint64_t, 2 * task_keys_blocks(k) + 1);
        for (size_t block = 0; block < task_keys_blocks(k); block++) {
                struct key_run run;
                task_keys_set_copied_run(k, block, &run);
                key_run_widen(&run);
                k->copied_bounds[2 * block] = run.least;
                k->copied_bounds[2 * block + 1] = run.greatest;
        }
}

void task_keys_deinit(struct task_keys *k)
{
        free(k->copied);
        free(k->copied_rows);
        free(k->copied_bounds);
}

size_t task_keys_blocks(const struct task_keys *k)
{
        return k->copied ? (k->n_copied + TASK_CHUNK_ROWS - 1) / TASK_CHUNK_ROWS : k->t->n_chunks;
}

static size_t task_keys_set_runs(const struct task_keys *k, size_t block, struct key_run runs[static MAX_KEY_RUNS],
                                 struct key_buffer *buffer, bool bounds_only)
{
        size_t n = 0, first = block * TASK_CHUNK_ROWS;
        if (k->copied) {
                task_keys_set_copied_run(k, block, &runs[0]);
                runs[0].least = k->copied_bounds[2 * block];
                runs[0].greatest = k->copied_bounds[2 * block + 1];
                return 1;
        }
        const struct task_chunk *c = k->t->chunks[block];
        if (c->n_removed == c->n)
                return 0;
        if (task_keys_are_values(k, c)) {
                key_run_of_chunk(k, block, &runs[0], buffer, bounds_only);
                n = runs[0].n > runs[0].n_odd;
                if (!k->summary && runs[0].n_odd) {
                        const struct key_run all = runs[0];
                        key_run_of_odd_rows(k, block, &all, &runs[n++], buffer);
                }
                return n;
        }
        runs[0] = (struct key_run){.n = task_keys_read(k, block, buffer->keys, k->summary ? NULL : buffer->rows),
                                   .width = sizeof(uint64_t),
                                   .packed = buffer->keys,
                                   .first_row = first,
                                   .rows = k->summary ? NULL : buffer->rows};
        key_run_widen(&runs[0]);
        return runs[0].n > 0;
}

size_t task_keys_runs(const struct task_keys *k, size_t block, struct key_run runs[static MAX_KEY_RUNS],
                      struct key_buffer *buffer)
{
        return task_keys_set_runs(k, block, runs, buffer, false);
}

size_t task_keys_run_bounds(const struct task_keys *k, size_t block, struct key_run runs[static MAX_KEY_RUNS],
                            struct key_buffer *buffer)
{
        return task_keys_set_runs(k, block, runs, buffer, true);
}
