/*
 * Starts or ends of tasks of one stage attempt on one executor, as columns: the form in which the listener bus holds
 * them. Most tasks of a batch differ only in their ids and in few metrics, so a batch has a tenth of the bytes of an
 * array of struct task_end, and sums and copies work on whole columns.
 */
#pragma once

#include "events/events.h"

enum task_event_column {
        TASK_EVENT_ID,
        TASK_EVENT_INDEX,
        TASK_EVENT_ATTEMPT,
        TASK_EVENT_PARTITION,
        TASK_EVENT_LAUNCH,
        TASK_START_COLUMNS,
        /* Only ends have the following. */
        TASK_EVENT_FINISH = TASK_START_COLUMNS,
        TASK_EVENT_GETTING_RESULT,
        TASK_EVENT_METRICS, /* in the order of struct task_metrics */
        TASK_END_COLUMNS = TASK_EVENT_METRICS + sizeof(struct task_metrics) / sizeof(int64_t)
};

/* The column of a member of struct task_metrics. */
#define TASK_EVENT_METRIC(member) (TASK_EVENT_METRICS + offsetof(struct task_metrics, member) / sizeof(int64_t))

enum { MAX_TASK_EVENT_BATCH = 256 };

struct task_event_batch {
        uint32_t n;
        uint32_t n_columns; /* TASK_START_COLUMNS or TASK_END_COLUMNS */
        uint32_t varying;   /* a bit for each column that has an array */
        uint32_t rising;    /* a bit for each column whose values are first, first + 1, first + 2, … */
        int32_t stage_id, stage_attempt;
        uint8_t locality, kind, state, presence;
        bool speculative;
        const struct executor_ref *executor;
        const struct task_detail *detail; /* of an end; n is 1 then. NULL: none */
        int64_t values[];                 /* the first value of each column, then n values of each varying one */
};

/* Bytes of a batch, a multiple of 8. */
size_t task_event_batch_bytes(const struct task_event_batch *b);

/*
 * Describes the first events of an array that fit in one batch, at most @n and at most MAX_TASK_EVENT_BATCH: fills all
 * of @head but its values.
 */
void task_event_batch_of_starts(struct task_event_batch *head, const struct task_start *starts, size_t n);
void task_event_batch_of_ends(struct task_event_batch *head, const struct task_end *ends, size_t n);

/* Writes the batch that @head describes to @to, which has room for task_event_batch_bytes(head). */
void task_event_batch_put_starts(const struct task_event_batch *head, const struct task_start *starts,
                                 struct task_event_batch *to);
void task_event_batch_put_ends(const struct task_event_batch *head, const struct task_end *ends,
                               struct task_event_batch *to);

/*
 * Fills a batch column by column, in the order of columns, with room for MAX_TASK_EVENT_BATCH_BYTES: begin, then for
 * each column either set, or write n values to what next returns and close. Close keeps the array only if its values
 * neither are equal nor rise by one.
 */
#define MAX_TASK_EVENT_BATCH_BYTES                                                                                     \
        (sizeof(struct task_event_batch) + TASK_END_COLUMNS * (1 + MAX_TASK_EVENT_BATCH) * sizeof(int64_t))
void task_event_batch_begin(struct task_event_batch *b, const struct task_info *common, size_t n, size_t n_columns);
int64_t *task_event_batch_next(struct task_event_batch *b);
void task_event_batch_close(struct task_event_batch *b, size_t column);

static inline void task_event_batch_set(struct task_event_batch *b, size_t column, int64_t value)
{
        b->values[column] = value;
}

/* Turns a batch back into events. @out has room for b->n. */
void task_event_batch_get_starts(const struct task_event_batch *b, struct task_start *out);
void task_event_batch_get_ends(const struct task_event_batch *b, struct task_end *out);

/* The n values of a column, or NULL if they are equal or rise by one. */
static inline const int64_t *task_event_values(const struct task_event_batch *b, size_t column)
{
        uint32_t bit = (uint32_t)1 << column;
        if (!(b->varying & bit))
                return NULL;
        return b->values + b->n_columns + (size_t)__builtin_popcount(b->varying & (bit - 1)) * b->n;
}

static inline bool task_event_is_rising(const struct task_event_batch *b, size_t column)
{
        return b->rising >> column & 1;
}

/* One value. */
static inline int64_t task_event_value(const struct task_event_batch *b, size_t column, size_t i)
{
        const int64_t *values = task_event_values(b, column);
        if (values)
                return values[i];
        return (int64_t)((uint64_t)b->values[column] + (task_event_is_rising(b, column) ? i : 0));
}

int64_t task_event_sum(const struct task_event_batch *b, size_t column);

/* The milliseconds from the launch to the finish of the ends. */
struct task_event_durations {
        bool are_equal;
        int64_t greatest;
        int64_t ms[MAX_TASK_EVENT_BATCH]; /* of all ends, or of the first one if they are equal */
};
void task_event_durations(const struct task_event_batch *b, struct task_event_durations *d);

struct task_event_range {
        int64_t least, greatest;
};
struct task_event_range task_event_range(const struct task_event_batch *b, size_t column);
