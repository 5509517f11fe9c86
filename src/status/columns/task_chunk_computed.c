/* Columns that are computed from others; see task_chunk.h. */
#include "status/columns/task_chunk.h"

#include "base/mem.h"

/* Adds @sign times a column to @values. */
static void task_chunk_add(const struct task_chunk *c, enum task_column column, int64_t sign, int64_t *values)
{
        int64_t more[TASK_CHUNK_ROWS];
        if (!c->base[column] &&
            (c->is_sealed ? !c->width[column]
                          : !c->open[column] && !c->started && !c->ended && !task_chunk_is_rising(c, column)))
                return;
        task_chunk_read_stored(c, column, more);
        for (size_t i = 0; i < c->n; i++)
                values[i] += sign * more[i];
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

/* The compiler makes vector operations of these loops. */
#define ADD_NARROW(type)                                                                                               \
        for (size_t i = 0; i < n; i++)                                                                                 \
        values[i] += sign * (int32_t)((const type *)from)[i]
#define ADD_NARROW_BY_WIDTH                                                                                            \
        do {                                                                                                           \
                if (width == sizeof(uint8_t))                                                                          \
                        ADD_NARROW(uint8_t);                                                                           \
                else if (width == sizeof(uint16_t))                                                                    \
                        ADD_NARROW(uint16_t);                                                                          \
                else if (width == sizeof(uint32_t))                                                                    \
                        ADD_NARROW(uint32_t);                                                                          \
        } while (0)

#ifdef __x86_64__
__attribute__((target("avx2"))) static void column_add_narrow_avx2(const void *from, uint8_t width, size_t n,
                                                                   int32_t sign, int32_t *restrict values)
{
        ADD_NARROW_BY_WIDTH;
}
#endif

/* Adds @sign times the differences of a packed column to @values. Nothing overflows. */
static void column_add_narrow(const void *from, uint8_t width, size_t n, int32_t sign, int32_t *restrict values)
{
#ifdef __x86_64__
        if (__builtin_cpu_supports("avx2")) {
                column_add_narrow_avx2(from, width, n, sign, values);
                return;
        }
#endif
        ADD_NARROW_BY_WIDTH;
}

void task_chunk_read_narrow(const struct task_chunk *c, enum task_column column, int64_t origin, uint32_t *values)
{
        int32_t first = (int32_t)(c->base[column] - origin), read[TASK_CHUNK_ROWS];
        for (size_t i = 0; i < c->n; i++)
                read[i] = first;
        column_add_narrow(c->packed + c->place[column], c->width[column], c->n, 1, read);
        for (size_t i = 0; i < c->n; i++)
                values[i] = (uint32_t)read[i];
}

bool task_chunk_read_narrow_delay(const struct task_chunk *c, uint32_t *values)
{
        static const enum task_column columns[] = {TASK_DURATION, TASK_METRIC(executor_run_ms),
                                                   TASK_METRIC(executor_deserialize_ms),
                                                   TASK_METRIC(result_serialization_ms)};
        int32_t delays[TASK_CHUNK_ROWS], first = 0;
        int64_t none;
        if (!c->is_sealed || c->n_running || !task_chunk_is_constant(c, TASK_GETTING_RESULT_TIME, &none))
                return false;
        for (size_t k = 0; k < ARRAY_SIZE(columns); k++) {
                if (c->base[columns[k]] < 0 || c->greatest[columns[k]] > INT32_MAX / (int)ARRAY_SIZE(columns))
                        return false;
                first += (k ? -1 : 1) * (int32_t)c->base[columns[k]];
        }
        for (size_t i = 0; i < c->n; i++)
                delays[i] = first;
        for (size_t k = 0; k < ARRAY_SIZE(columns); k++)
                column_add_narrow(c->packed + c->place[columns[k]], c->width[columns[k]], c->n, k ? -1 : 1, delays);
        for (size_t i = 0; i < c->n; i++)
                values[i] = (uint32_t)MAX(delays[i], 0);
        return true;
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
