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

/* ------------------------------------------------------------------------------------------------- chunks */

struct task_chunk *task_chunk_new(size_t room)
{
        struct task_chunk *c = new0(struct task_chunk);
        c->room = (uint16_t)room;
        c->bytes = sizeof(*c);
        return c;
}

/* Frees the columns of a chunk whose rows were removed. What remains is where the chunk was and which ids it had. */
static void task_chunk_empty(struct task_chunk *c)
{
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                free(c->open[i]);
                c->open[i] = NULL;
                c->base[i] = c->width[i] = 0;
        }
        free(c->packed);
        c->packed = NULL;
        free(c->odd);
        c->odd = NULL;
        c->is_sealed = true;
        c->all_success = false;
        c->bytes = sizeof(*c) + TASK_CHUNK_ROWS / 8;
}

void task_chunk_free(struct task_chunk *c)
{
        task_chunk_empty(c);
        free(c->removed);
        free(c);
}

static void task_chunk_set(struct task_chunk *c, size_t row, enum task_column column, int64_t value)
{
        if (!c->open[column]) {
                if (!value)
                        return;
                c->open[column] = new_array(int64_t, c->room);
                c->bytes += c->room * sizeof(int64_t);
        }
        c->open[column][row] = value;
}

/* Gives an open chunk room for more rows. */
static void task_chunk_grow(struct task_chunk *c, size_t room)
{
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                if (!c->open[i])
                        continue;
                c->open[i] = mem_grow(c->open[i], room * sizeof(int64_t));
                memset(c->open[i] + c->room, 0, (room - c->room) * sizeof(int64_t));
                c->bytes += (room - c->room) * sizeof(int64_t);
        }
        c->room = (uint16_t)room;
}

static uint8_t task_chunk_width(uint64_t range)
{
        if (range == 0)
                return 0;
        return range <= UINT8_MAX ? 1 : range <= UINT16_MAX ? 2 : range <= UINT32_MAX ? 4 : 8;
}

static void task_chunk_pack_column(struct task_chunk *c, size_t column, char *to)
{
        const int64_t *from = c->open[column];
        uint64_t base = (uint64_t)c->base[column];
        for (size_t i = 0; i < c->n; i++) {
                uint64_t value = (uint64_t)from[i] - base;
                memcpy(to + i * c->width[column], &value, c->width[column]); /* little endian */
        }
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "task_chunk_pack_column stores the low bytes of values first"
#endif

/* Packs an open chunk, in which no task runs. */
static void task_chunk_list_odd(struct task_chunk *c)
{
        uint16_t odd[TASK_CHUNK_MAX_ODD];
        c->n_odd = 0;
        for (size_t row = 0; !c->all_success && row < c->n && c->n_odd <= TASK_CHUNK_MAX_ODD; row++) {
                bool succeeded = c->open[TASK_STATUS] && c->open[TASK_STATUS][row] == TASK_ROW_SUCCESS;
                if (succeeded && c->open[TASK_HAS_METRICS] && c->open[TASK_HAS_METRICS][row])
                        continue;
                if (c->n_odd < TASK_CHUNK_MAX_ODD)
                        odd[c->n_odd] = (uint16_t)row;
                c->n_odd++;
        }
        if (!c->n_odd || c->n_odd > TASK_CHUNK_MAX_ODD)
                return;
        c->odd = new_array(uint16_t, c->n_odd);
        memcpy(c->odd, odd, c->n_odd * sizeof(*odd));
}

static void task_chunk_seal(struct task_chunk *c)
{
        size_t bytes = 0;
        c->all_success = true;
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                int64_t least = c->open[i] ? c->open[i][0] : 0, greatest = least;
                for (size_t row = 1; c->open[i] && row < c->n; row++) {
                        least = MIN(least, c->open[i][row]);
                        greatest = MAX(greatest, c->open[i][row]);
                }
                c->base[i] = least;
                c->greatest[i] = greatest;
                c->width[i] = task_chunk_width((uint64_t)greatest - (uint64_t)least);
                bytes = (bytes + 7) & ~(size_t)7;
                c->place[i] = (uint32_t)bytes;
                bytes += (size_t)c->width[i] * c->n;
        }
        c->all_success = c->width[TASK_STATUS] == 0 && c->base[TASK_STATUS] == TASK_ROW_SUCCESS &&
                         c->width[TASK_HAS_METRICS] == 0 && c->base[TASK_HAS_METRICS];
        task_chunk_list_odd(c);
        c->packed = mem_alloc(bytes + 8);
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                if (c->width[i])
                        task_chunk_pack_column(c, i, c->packed + c->place[i]);
                free(c->open[i]);
                c->open[i] = NULL;
        }
        c->is_sealed = true;
        c->room = c->n;
        c->bytes = sizeof(*c) + bytes + 8 + (c->odd ? c->n_odd * sizeof(*c->odd) : 0) +
                   (c->removed ? TASK_CHUNK_ROWS / 8 : 0);
}

/* Unpacks a sealed chunk, one of whose tasks ends once more. */
static void task_chunk_unseal(struct task_chunk *c)
{
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                if (!c->width[i] && !c->base[i])
                        continue;
                int64_t *values = new_array(int64_t, c->n);
                task_chunk_read(c, (enum task_column)i, values);
                c->open[i] = values;
        }
        free(c->packed);
        c->packed = NULL;
        free(c->odd);
        c->odd = NULL;
        c->is_sealed = c->all_success = false;
        c->bytes = sizeof(*c) + (size_t)c->n * sizeof(int64_t) * TASK_COLUMNS;
}

int64_t task_chunk_get(const struct task_chunk *c, size_t row, enum task_column column)
{
        if (!c->is_sealed)
                return c->open[column] ? c->open[column][row] : 0;
        uint64_t value = 0;
        memcpy(&value, c->packed + c->place[column] + row * c->width[column], c->width[column]);
        return (int64_t)((uint64_t)c->base[column] + value);
}

#define UNPACK(type)                                                                                                   \
        do {                                                                                                           \
                const type *from = (const type *)(c->packed + c->place[column]);                                       \
                for (size_t i = 0; i < c->n; i++)                                                                      \
                        values[i] = (int64_t)((uint64_t)c->base[column] + from[i]);                                    \
        } while (0)

static void task_chunk_read_stored(const struct task_chunk *c, enum task_column column, int64_t *values)
{
        if (!c->is_sealed) {
                if (c->open[column])
                        memcpy(values, c->open[column], c->n * sizeof(int64_t));
                else
                        memset(values, 0, c->n * sizeof(int64_t));
                return;
        }
        switch (c->width[column]) {
        case 0:
                for (size_t i = 0; i < c->n; i++)
                        values[i] = c->base[column];
                break;
        case 1:
                UNPACK(uint8_t);
                break;
        case 2:
                UNPACK(uint16_t);
                break;
        case 4:
                UNPACK(uint32_t);
                break;
        default:
                UNPACK(uint64_t);
                break;
        }
}

#define ADD_PACKED(type)                                                                                               \
        do {                                                                                                           \
                const type *from = (const type *)(c->packed + c->place[column]);                                       \
                for (size_t i = 0; i < c->n; i++)                                                                      \
                        values[i] += sign * (c->base[column] + (int64_t)from[i]);                                      \
        } while (0)

/* Adds @sign times a column to @values. */
static void task_chunk_add(const struct task_chunk *c, enum task_column column, int64_t sign, int64_t *values)
{
        if (c->is_sealed ? !c->width[column] && !c->base[column] : !c->open[column])
                return;
        switch (c->is_sealed ? c->width[column] : 8) {
        case 1:
                ADD_PACKED(uint8_t);
                break;
        case 2:
                ADD_PACKED(uint16_t);
                break;
        default: {
                int64_t more[TASK_CHUNK_ROWS];
                task_chunk_read_stored(c, column, more);
                for (size_t i = 0; i < c->n; i++)
                        values[i] += sign * more[i];
                break;
        }
        }
}

bool task_chunk_is_constant(const struct task_chunk *c, enum task_column column, int64_t *value)
{
        enum task_column first = column, second = column;
        switch (column) {
        case TASK_SCHEDULER_DELAY:
                return false;
        case TASK_GETTING_RESULT_TIME:
                *value = 0;
                return c->is_sealed && !c->width[TASK_GETTING_RESULT] && !c->base[TASK_GETTING_RESULT];
        case TASK_SHUFFLE_READ_BYTES:
                first = TASK_METRIC(shuffle_read.remote_bytes);
                second = TASK_METRIC(shuffle_read.local_bytes);
                break;
        case TASK_BLOCKS_FETCHED:
                first = TASK_METRIC(shuffle_read.remote_blocks);
                second = TASK_METRIC(shuffle_read.local_blocks);
                break;
        default:
                break;
        }
        if (!c->is_sealed || c->width[first] || c->width[second])
                return false;
        *value = first == second ? c->base[first] : c->base[first] + c->base[second];
        return true;
}

/* The time from the launch to the end in which the driver fetched a large result. 0 while a task runs. */
static void task_chunk_read_fetch_time(const struct task_chunk *c, int64_t *values)
{
        int64_t began[TASK_CHUNK_ROWS], value;
        if (task_chunk_is_constant(c, TASK_GETTING_RESULT_TIME, &value)) {
                memset(values, 0, c->n * sizeof(*values));
                return;
        }
        task_chunk_read_stored(c, TASK_GETTING_RESULT, began);
        task_chunk_read_stored(c, TASK_DURATION, values);
        for (size_t i = 0; i < c->n; i++)
                values[i] = began[i] && values[i] > began[i] ? values[i] - began[i] : 0;
}

static void task_chunk_read_delay(const struct task_chunk *c, int64_t *values)
{
        int64_t other[TASK_CHUNK_ROWS], value;
        task_chunk_read_stored(c, TASK_DURATION, values);
        task_chunk_add(c, TASK_METRIC(executor_run_ms), -1, values);
        task_chunk_add(c, TASK_METRIC(executor_deserialize_ms), -1, values);
        task_chunk_add(c, TASK_METRIC(result_serialization_ms), -1, values);
        if (!task_chunk_is_constant(c, TASK_GETTING_RESULT_TIME, &value)) {
                task_chunk_read_fetch_time(c, other);
                for (size_t i = 0; i < c->n; i++)
                        values[i] -= other[i];
        }
        for (size_t i = 0; i < c->n; i++)
                values[i] = MAX(values[i], (int64_t)0);
        if (c->all_success)
                return;
        task_chunk_read_stored(c, TASK_STATUS, other);
        for (size_t i = 0; i < c->n; i++)
                if (other[i] < TASK_ROW_SUCCESS)
                        values[i] = 0;
}

void task_chunk_read(const struct task_chunk *c, enum task_column column, int64_t *values)
{
        switch (column) {
        case TASK_SCHEDULER_DELAY:
                task_chunk_read_delay(c, values);
                break;
        case TASK_GETTING_RESULT_TIME:
                task_chunk_read_fetch_time(c, values);
                break;
        case TASK_SHUFFLE_READ_BYTES:
                task_chunk_read_stored(c, TASK_METRIC(shuffle_read.remote_bytes), values);
                task_chunk_add(c, TASK_METRIC(shuffle_read.local_bytes), 1, values);
                break;
        case TASK_BLOCKS_FETCHED:
                task_chunk_read_stored(c, TASK_METRIC(shuffle_read.remote_blocks), values);
                task_chunk_add(c, TASK_METRIC(shuffle_read.local_blocks), 1, values);
                break;
        default:
                task_chunk_read_stored(c, column, values);
                break;
        }
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

size_t task_columns_start(struct task_columns *t, const struct task_info *info, uint32_t executor)
{
        struct task_chunk *c = task_columns_last(t);
        size_t row = c->n, before = c->bytes;
        if (c->is_sealed)
                task_chunk_unseal(c);
        if (row == c->room)
                task_chunk_grow(c, MIN((size_t)c->room * 4, (size_t)TASK_CHUNK_ROWS));
        if (row == 0)
                c->first_id = info->id;
        t->unordered |= t->n_rows && info->id <= t->chunks[t->n_chunks - 1]->last_id && row;
        t->unordered |= t->n_chunks > 1 && !row && info->id <= t->chunks[t->n_chunks - 2]->last_id;
        c->last_id = info->id;
        task_chunk_set(c, row, TASK_ID, info->id);
        task_chunk_set(c, row, TASK_INDEX, info->index);
        task_chunk_set(c, row, TASK_ATTEMPT, info->attempt);
        task_chunk_set(c, row, TASK_PARTITION, info->partition - info->index);
        task_chunk_set(c, row, TASK_LAUNCH, info->launch_ms);
        task_chunk_set(c, row, TASK_EXECUTOR, executor);
        task_chunk_set(c, row, TASK_LOCALITY, info->locality);
        task_chunk_set(c, row, TASK_SPECULATIVE, info->speculative);
        c->n++;
        c->n_running++;
        t->bytes += c->bytes - before;
        t->n_retained++;
        return t->n_rows++;
}

size_t task_columns_read(const struct task_columns *t, size_t first, enum task_column column, int64_t *values)
{
        const struct task_chunk *c = t->chunks[first / TASK_CHUNK_ROWS];
        task_chunk_read(c, column, values);
        return c->n;
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

static int task_age_compare(const void *a, const void *b)
{
        const struct task_age *x = a, *y = b;
        if (x->finish_ms != y->finish_ms)
                return x->finish_ms < y->finish_ms ? -1 : 1;
        return (x->row > y->row) - (x->row < y->row);
}

/* Lists the rows that are retained, with the time by which they are removed. */
static size_t task_columns_list_ages(const struct task_columns *t, bool keep_running, struct task_age *ages)
{
        size_t n = 0;
        for (size_t k = 0; k < t->n_chunks; k++) {
                const struct task_chunk *c = t->chunks[k];
                int64_t launch[TASK_CHUNK_ROWS], duration[TASK_CHUNK_ROWS], status[TASK_CHUNK_ROWS];
                if (c->n_removed == c->n)
                        continue;
                task_chunk_read(c, TASK_LAUNCH, launch);
                task_chunk_read(c, TASK_DURATION, duration);
                task_chunk_read(c, TASK_STATUS, status);
                for (size_t i = 0; i < c->n; i++) {
                        bool runs = status[i] < TASK_ROW_SUCCESS;
                        if (task_chunk_is_removed(c, i))
                                continue;
                        ages[n++] = (struct task_age){.finish_ms = !runs          ? launch[i] + duration[i]
                                                                   : keep_running ? INT64_MAX
                                                                                  : -1,
                                                      .row = k * TASK_CHUNK_ROWS + i};
                }
        }
        return n;
}

enum { AGE_BUCKET_BITS = 12 };

struct task_age_range {
        int64_t least, greatest; /* of ended tasks */
        unsigned shift;
};

/* Running tasks that are kept have the last bucket. */
static size_t task_age_bucket(const struct task_age_range *range, const struct task_age *age)
{
        if (age->finish_ms == INT64_MAX)
                return 1 << AGE_BUCKET_BITS;
        return ((uint64_t)age->finish_ms - (uint64_t)range->least) >> range->shift;
}

/*
 * Moves the @n oldest of the ages to the front, in any order: a bucket sort in which only the bucket of the boundary is
 * sorted.
 */
static void task_ages_select(struct task_age *ages, size_t n_ages, size_t n)
{
        size_t counts[(1 << AGE_BUCKET_BITS) + 1] = {0}, boundary = 0, before = 0, at = 0;
        struct task_age_range range = {.least = INT64_MAX, .greatest = INT64_MIN};
        for (size_t i = 0; i < n_ages; i++) {
                if (ages[i].finish_ms == INT64_MAX)
                        continue;
                range.least = MIN(range.least, ages[i].finish_ms);
                range.greatest = MAX(range.greatest, ages[i].finish_ms);
        }
        while (((uint64_t)range.greatest - (uint64_t)range.least) >> range.shift >= 1 << AGE_BUCKET_BITS)
                range.shift++;
        for (size_t i = 0; i < n_ages; i++)
                counts[task_age_bucket(&range, &ages[i])]++;
        while (boundary < 1 << AGE_BUCKET_BITS && before + counts[boundary] < n)
                before += counts[boundary++];
        for (int pass = 0; pass < 2; pass++) { /* lower buckets, then the boundary behind them */
                size_t first = at;
                for (size_t i = at; i < n_ages; i++) {
                        size_t bucket = task_age_bucket(&range, &ages[i]);
                        if (pass == 0 ? bucket >= boundary : bucket != boundary)
                                continue;
                        struct task_age swap = ages[at];
                        ages[at++] = ages[i];
                        ages[i] = swap;
                }
                if (pass == 1)
                        qsort(ages + first, at - first, sizeof(*ages), task_age_compare);
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

void task_columns_remove_oldest(struct task_columns *t, size_t n, bool keep_running,
                                void (*removed)(void *owner, size_t row), void *owner)
{
        struct task_age *ages = new_array(struct task_age, t->n_retained + 1);
        size_t n_ages = task_columns_list_ages(t, keep_running, ages);
        task_ages_select(ages, n_ages, n);
        for (size_t i = 0; i < n && i < n_ages; i++) {
                task_columns_remove_row(t, ages[i].row);
                if (removed)
                        removed(owner, ages[i].row);
        }
        free(ages);
}
