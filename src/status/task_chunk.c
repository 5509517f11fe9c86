/* Chunks of rows: open ones, packing, reading; see task_chunk.h. */
#include "status/task_chunk.h"

#include "base/mem.h"

struct task_chunk *task_chunk_new(size_t room)
{
        struct task_chunk *c = new0(struct task_chunk);
        c->room = (uint16_t)room;
        c->bytes = sizeof(*c);
        return c;
}

void task_chunk_empty(struct task_chunk *c)
{
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                free(c->open[i]);
                c->open[i] = NULL;
                c->base[i] = c->width[i] = 0;
        }
        c->rising = 0;
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

static void task_chunk_fill(int64_t *to, size_t n, int64_t first, bool is_rising)
{
        for (size_t i = 0; i < n; i++)
                to[i] = (int64_t)((uint64_t)first + (is_rising ? i : 0));
}

void task_chunk_open_column(struct task_chunk *c, size_t column)
{
        c->open[column] = new_array(int64_t, c->room);
        c->bytes += c->room * sizeof(int64_t);
        if (c->base[column] || task_chunk_is_rising(c, column))
                task_chunk_fill(c->open[column], c->n, c->base[column], task_chunk_is_rising(c, column));
        c->base[column] = 0;
        c->rising &= ~((uint64_t)1 << column);
}

struct column_run column_run_of(const struct task_event_batch *b, size_t column, size_t at)
{
        const int64_t *values = task_event_values(b, column);
        return (struct column_run){.first = task_event_value(b, column, at),
                                   .is_rising = task_event_is_rising(b, column),
                                   .values = values ? values + at : NULL};
}

void task_chunk_set_run(struct task_chunk *c, size_t row, size_t n, enum task_column column,
                        const struct column_run *run)
{
        if (!c->open[column]) {
                if (!run->values && run->first == task_chunk_expected(c, row, column) &&
                    (n == 1 || run->is_rising == task_chunk_is_rising(c, column)))
                        return;
                task_chunk_open_column(c, column);
        }
        if (run->values)
                memcpy(c->open[column] + row, run->values, n * sizeof(int64_t));
        else
                task_chunk_fill(c->open[column] + row, n, run->first, run->is_rising);
}

void task_chunk_set_started_run(struct task_chunk *c, size_t n, enum task_column column, struct column_run run)
{
        if (c->n == 0 && !c->open[column] && !run.values) {
                c->base[column] = run.first;
                if (run.is_rising && n > 1)
                        c->rising |= (uint64_t)1 << column;
        } else {
                task_chunk_set_run(c, c->n, n, column, &run);
        }
}

void task_chunk_grow(struct task_chunk *c, size_t room)
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

#define PACK(type)                                                                                                     \
        do {                                                                                                           \
                type *packed = (type *)to;                                                                             \
                for (size_t i = 0; i < c->n; i++)                                                                      \
                        packed[i] = (type)((uint64_t)from[i] - base);                                                  \
        } while (0)

/* @to is aligned to 8. */
static void task_chunk_pack_column(const struct task_chunk *c, size_t column, char *to)
{
        int64_t rising[TASK_CHUNK_ROWS];
        const int64_t *from = c->open[column];
        uint64_t base = (uint64_t)c->base[column];
        if (!from) {
                task_chunk_fill(rising, c->n, c->base[column], true);
                from = rising;
        }
        switch (c->width[column]) {
        case 1:
                PACK(uint8_t);
                break;
        case 2:
                PACK(uint16_t);
                break;
        case 4:
                PACK(uint32_t);
                break;
        default:
                PACK(uint64_t);
                break;
        }
}

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "task_chunk_get reads the low bytes of values first"
#endif

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

void task_chunk_seal(struct task_chunk *c)
{
        size_t bytes = 0;
        c->all_success = true;
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                int64_t least = c->open[i] ? c->open[i][0] : c->base[i], greatest = least;
                if (task_chunk_is_rising(c, i))
                        greatest += c->n - 1;
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
        c->rising = 0;
        c->is_sealed = true;
        c->room = c->n;
        c->bytes = sizeof(*c) + bytes + 8 + (c->odd ? c->n_odd * sizeof(*c->odd) : 0) +
                   (c->removed ? TASK_CHUNK_ROWS / 8 : 0);
}

void task_chunk_unseal(struct task_chunk *c)
{
        for (size_t i = 0; i < TASK_COLUMNS; i++) {
                if (!c->width[i] && !c->base[i])
                        continue;
                int64_t *values = new_array(int64_t, c->n);
                task_chunk_read(c, (enum task_column)i, values);
                c->open[i] = values;
        }
        memset(c->base, 0, sizeof(c->base)); /* all columns with values have arrays */
        free(c->packed);
        c->packed = NULL;
        free(c->odd);
        c->odd = NULL;
        c->is_sealed = c->all_success = c->has_finish = false;
        c->bytes = sizeof(*c) + (size_t)c->n * sizeof(int64_t) * TASK_COLUMNS;
}

int64_t task_chunk_get(const struct task_chunk *c, size_t row, enum task_column column)
{
        if (!c->is_sealed)
                return c->open[column] ? c->open[column][row] : task_chunk_expected(c, row, column);
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
                        task_chunk_fill(values, c->n, c->base[column], task_chunk_is_rising(c, column));
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
        if (!c->base[column] &&
            (c->is_sealed ? !c->width[column] : !c->open[column] && !task_chunk_is_rising(c, column)))
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
