/* See task_event_batch.h. */
#include "events/task_event_batch.h"

#include "base/mem.h"

#include <string.h>

_Static_assert(TASK_END_COLUMNS <= 32, "a column has a bit in a word of 32");
_Static_assert(sizeof(struct task_event_batch) % sizeof(int64_t) == 0, "values are aligned");

enum { N_METRICS = sizeof(struct task_metrics) / sizeof(int64_t), EVEN_METRICS = N_METRICS & ~1 };

size_t task_event_batch_bytes(const struct task_event_batch *b)
{
        size_t arrays = (size_t)__builtin_popcount(b->varying);
        return sizeof(*b) + (b->n_columns + arrays * b->n) * sizeof(int64_t);
}

/* ------------------------------------------------------------------------------------------------ description */

static bool task_event_is_alike(const struct task_info *a, const struct task_info *b)
{
        return a->executor == b->executor && a->stage_id == b->stage_id && a->stage_attempt == b->stage_attempt &&
               a->locality == b->locality && a->speculative == b->speculative;
}

/* The bits in which values differ from the first one, and from those that rise by one. */
struct task_event_difference {
        uint64_t constant, rising;
};

static inline void task_event_compare(struct task_event_difference *d, int64_t first, int64_t value, size_t i)
{
        d->constant |= (uint64_t)first ^ (uint64_t)value;
        d->rising |= ((uint64_t)first + i) ^ (uint64_t)value;
}

static inline void task_event_compare_info(struct task_event_difference *d, const struct task_info *first,
                                           const struct task_info *info, size_t i)
{
        task_event_compare(&d[TASK_EVENT_ID], first->id, info->id, i);
        task_event_compare(&d[TASK_EVENT_INDEX], first->index, info->index, i);
        task_event_compare(&d[TASK_EVENT_ATTEMPT], first->attempt, info->attempt, i);
        task_event_compare(&d[TASK_EVENT_PARTITION], first->partition, info->partition, i);
        task_event_compare(&d[TASK_EVENT_LAUNCH], first->launch_ms, info->launch_ms, i);
}

static void task_event_describe(struct task_event_batch *head, const struct task_info *first,
                                const struct task_event_difference *d, size_t n, size_t n_columns)
{
        *head = (struct task_event_batch){.n = (uint32_t)n,
                                          .n_columns = (uint32_t)n_columns,
                                          .stage_id = first->stage_id,
                                          .stage_attempt = first->stage_attempt,
                                          .locality = first->locality,
                                          .speculative = first->speculative,
                                          .executor = first->executor};
        for (size_t c = 0; c < n_columns; c++) {
                if (!d[c].constant)
                        continue;
                if (!d[c].rising)
                        head->rising |= (uint32_t)1 << c;
                else
                        head->varying |= (uint32_t)1 << c;
        }
}

void task_event_batch_of_starts(struct task_event_batch *head, const struct task_start *starts, size_t n)
{
        struct task_event_difference d[TASK_START_COLUMNS] = {0};
        const struct task_info *first = &starts->info;
        size_t i = 1;
        for (; i < n && i < MAX_TASK_EVENT_BATCH && task_event_is_alike(first, &starts[i].info); i++)
                task_event_compare_info(d, first, &starts[i].info, i);
        task_event_describe(head, first, d, i, TASK_START_COLUMNS);
}

void task_event_batch_of_ends(struct task_event_batch *head, const struct task_end *ends, size_t n)
{
        struct task_event_difference d[TASK_END_COLUMNS] = {0};
        uint64_t differs[N_METRICS] = {0};
        const struct task_info *first = &ends->info;
        const uint64_t *expected = (const uint64_t *)&ends->metrics;
        size_t i = 1;
        for (; i < n && i < MAX_TASK_EVENT_BATCH; i++) {
                const struct task_end *e = &ends[i];
                const uint64_t *metrics = (const uint64_t *)&e->metrics;
                if (e->detail || ends->detail || e->kind != ends->kind || e->state != ends->state ||
                    e->presence != ends->presence || !task_event_is_alike(first, &e->info))
                        break;
                task_event_compare_info(d, first, &e->info, i);
                task_event_compare(&d[TASK_EVENT_FINISH], ends->finish_ms, e->finish_ms, i);
                task_event_compare(&d[TASK_EVENT_GETTING_RESULT], ends->getting_result_ms, e->getting_result_ms, i);
                for (size_t c = 0; c < EVEN_METRICS; c++) /* an even number: the compiler uses vectors */
                        differs[c] |= metrics[c] ^ expected[c];
                for (size_t c = EVEN_METRICS; c < N_METRICS; c++)
                        differs[c] |= metrics[c] ^ expected[c];
        }
        for (size_t c = 0; c < N_METRICS; c++)
                d[TASK_EVENT_METRICS + c] =
                        (struct task_event_difference){.constant = differs[c], .rising = ~(uint64_t)0};
        task_event_describe(head, first, d, i, TASK_END_COLUMNS);
        head->kind = ends->kind;
        head->state = ends->state;
        head->presence = ends->presence;
        head->detail = ends->detail;
}

/* ---------------------------------------------------------------------------------------------------- values */

/* Where a column lies in an event. Starts and ends begin with struct task_info. */
static size_t task_event_offset(size_t column, bool *is_short)
{
        *is_short = false;
        switch (column) {
        case TASK_EVENT_ID:
                return offsetof(struct task_info, id);
        case TASK_EVENT_LAUNCH:
                return offsetof(struct task_info, launch_ms);
        case TASK_EVENT_FINISH:
                return offsetof(struct task_end, finish_ms);
        case TASK_EVENT_GETTING_RESULT:
                return offsetof(struct task_end, getting_result_ms);
        case TASK_EVENT_INDEX:
                *is_short = true;
                return offsetof(struct task_info, index);
        case TASK_EVENT_ATTEMPT:
                *is_short = true;
                return offsetof(struct task_info, attempt);
        case TASK_EVENT_PARTITION:
                *is_short = true;
                return offsetof(struct task_info, partition);
        default:
                return offsetof(struct task_end, metrics) + (column - TASK_EVENT_METRICS) * sizeof(int64_t);
        }
}

_Static_assert(offsetof(struct task_start, info) == 0 && offsetof(struct task_end, info) == 0, "events begin alike");

static int64_t task_event_load(const char *at, bool is_short)
{
        return is_short ? *(const int32_t *)at : *(const int64_t *)at;
}

static void task_event_put(const struct task_event_batch *head, const char *events, size_t size,
                           struct task_event_batch *to)
{
        int64_t *array = to->values + head->n_columns;
        *to = *head;
        for (size_t c = 0; c < head->n_columns; c++) {
                bool is_short;
                const char *at = events + task_event_offset(c, &is_short);
                to->values[c] = task_event_load(at, is_short);
                if (!(head->varying >> c & 1))
                        continue;
                for (size_t i = 0; i < head->n; i++)
                        array[i] = task_event_load(at + i * size, is_short);
                array += head->n;
        }
}

void task_event_batch_put_starts(const struct task_event_batch *head, const struct task_start *starts,
                                 struct task_event_batch *to)
{
        task_event_put(head, (const char *)starts, sizeof(*starts), to);
}

void task_event_batch_put_ends(const struct task_event_batch *head, const struct task_end *ends,
                               struct task_event_batch *to)
{
        task_event_put(head, (const char *)ends, sizeof(*ends), to);
}

void task_event_batch_begin(struct task_event_batch *b, const struct task_info *common, size_t n, size_t n_columns)
{
        const struct task_event_difference none[TASK_END_COLUMNS] = {0};
        task_event_describe(b, common, none, n, n_columns);
}

int64_t *task_event_batch_next(struct task_event_batch *b)
{
        return b->values + b->n_columns + (size_t)__builtin_popcount(b->varying) * b->n;
}

void task_event_batch_close(struct task_event_batch *b, size_t column)
{
        const int64_t *values = task_event_batch_next(b);
        struct task_event_difference d = {0};
        for (size_t i = 1; i < b->n; i++)
                task_event_compare(&d, values[0], values[i], i);
        b->values[column] = values[0];
        if (!d.constant)
                return;
        if (d.rising)
                b->varying |= (uint32_t)1 << column;
        else
                b->rising |= (uint32_t)1 << column;
}

/* Sets a column of events that were filled with its first value. */
static void task_event_get(const struct task_event_batch *b, size_t column, char *events, size_t size)
{
        bool is_short;
        char *at = events + task_event_offset(column, &is_short);
        for (size_t i = 0; i < b->n; i++, at += size) {
                int64_t value = task_event_value(b, column, i);
                if (is_short)
                        *(int32_t *)at = (int32_t)value;
                else
                        *(int64_t *)at = value;
        }
}

static struct task_info task_event_info(const struct task_event_batch *b)
{
        return (struct task_info){.id = b->values[TASK_EVENT_ID],
                                  .launch_ms = b->values[TASK_EVENT_LAUNCH],
                                  .executor = b->executor,
                                  .stage_id = b->stage_id,
                                  .stage_attempt = b->stage_attempt,
                                  .index = (int32_t)b->values[TASK_EVENT_INDEX],
                                  .attempt = (int32_t)b->values[TASK_EVENT_ATTEMPT],
                                  .partition = (int32_t)b->values[TASK_EVENT_PARTITION],
                                  .locality = b->locality,
                                  .speculative = b->speculative};
}

void task_event_batch_get_starts(const struct task_event_batch *b, struct task_start *out)
{
        for (size_t i = 0; i < b->n; i++)
                out[i].info = task_event_info(b);
        for (size_t c = 0; c < TASK_START_COLUMNS; c++)
                if ((b->varying | b->rising) >> c & 1)
                        task_event_get(b, c, (char *)out, sizeof(*out));
}

void task_event_batch_get_ends(const struct task_event_batch *b, struct task_end *out)
{
        struct task_end first = {.info = task_event_info(b),
                                 .getting_result_ms = b->values[TASK_EVENT_GETTING_RESULT],
                                 .finish_ms = b->values[TASK_EVENT_FINISH],
                                 .kind = b->kind,
                                 .state = b->state,
                                 .presence = b->presence,
                                 .detail = b->detail};
        memcpy(&first.metrics, &b->values[TASK_EVENT_METRICS], sizeof(first.metrics));
        for (size_t i = 0; i < b->n; i++)
                out[i] = first;
        for (size_t c = 0; c < TASK_END_COLUMNS; c++)
                if ((b->varying | b->rising) >> c & 1)
                        task_event_get(b, c, (char *)out, sizeof(*out));
}

/* ------------------------------------------------------------------------------------------------- summaries */

int64_t task_event_sum(const struct task_event_batch *b, size_t column)
{
        const int64_t *values = task_event_values(b, column);
        uint64_t n = b->n, first = (uint64_t)b->values[column], sum = 0;
        if (!values)
                return (int64_t)(n * first + (task_event_is_rising(b, column) ? n * (n - 1) / 2 : 0));
        for (size_t i = 0; i < n; i++)
                sum += (uint64_t)values[i];
        return (int64_t)sum;
}

/* Writes the times of a column minus those of another. */
static void task_event_subtract(const struct task_event_batch *b, size_t column, size_t minus, int64_t *ms)
{
        const int64_t *values = task_event_values(b, column), *other = task_event_values(b, minus);
        for (size_t i = 0; i < b->n && values; i++)
                ms[i] = values[i];
        for (size_t i = 0; i < b->n && !values; i++)
                ms[i] = task_event_value(b, column, i);
        for (size_t i = 0; i < b->n && other; i++)
                ms[i] -= other[i];
        for (size_t i = 0; i < b->n && !other; i++)
                ms[i] -= task_event_value(b, minus, i);
}

void task_event_durations(const struct task_event_batch *b, struct task_event_durations *d)
{
        const uint32_t launch = 1 << TASK_EVENT_LAUNCH, finish = 1 << TASK_EVENT_FINISH;
        const int64_t *finishes = task_event_values(b, TASK_EVENT_FINISH);
        int64_t first_launch = b->values[TASK_EVENT_LAUNCH];
        d->are_equal = !((b->varying | b->rising) & (launch | finish));
        d->ms[0] = b->values[TASK_EVENT_FINISH] - first_launch;
        d->greatest = d->ms[0];
        if (d->are_equal)
                return;
        if (finishes && !((b->varying | b->rising) & launch))
                for (size_t i = 0; i < b->n; i++)
                        d->ms[i] = finishes[i] - first_launch;
        else
                task_event_subtract(b, TASK_EVENT_FINISH, TASK_EVENT_LAUNCH, d->ms);
        for (size_t i = 1; i < b->n; i++)
                d->greatest = MAX(d->greatest, d->ms[i]);
}

struct task_event_range task_event_range(const struct task_event_batch *b, size_t column)
{
        const int64_t *values = task_event_values(b, column);
        struct task_event_range r = {b->values[column], b->values[column]};
        if (!values && task_event_is_rising(b, column))
                r.greatest += b->n - 1;
        for (size_t i = 0; values && i < b->n; i++) {
                r.least = MIN(r.least, values[i]);
                r.greatest = MAX(r.greatest, values[i]);
        }
        return r;
}
