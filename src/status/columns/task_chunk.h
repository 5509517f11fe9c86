/* A chunk of rows of task_columns, for the files that implement them. */
#pragma once

#include "status/columns/task_columns.h"

enum { TASK_CHUNK_ROWS = 1024 };

/*
 * Rows of an open chunk that started together: in each column that a start fills, equal values or such that rise by
 * one.
 */
struct started_run {
        uint16_t row, n;
        uint8_t rising; /* a bit for each column */
        int64_t first[TASK_STATUS];
};

/*
 * Rows of an open chunk that ended together, with the columns from TASK_STATUS to the last of struct task_metrics. They
 * stay apart until the chunk is packed, so that values that are equal in all rows are never written.
 */
struct ended_run {
        struct ended_run *next;
        size_t row, n;
        uint64_t varying; /* a bit for each column with an array, the lowest for TASK_STATUS */
        uint64_t filled;  /* a bit for each column whose values are not all zero */
        int64_t values[]; /* the first value of each column, then n values of each varying one */
};

enum { ENDED_COLUMNS = TASK_PUSH_METRICS - TASK_STATUS, MAX_STARTED_RUNS = 16, MAX_ENDED_RUNS = 16 };

struct task_chunk {
        uint16_t n, room;
        uint16_t n_running, n_removed;
        bool is_sealed;
        bool all_success; /* sealed, and all rows succeeded and have metrics */
        uint16_t n_odd;   /* of a sealed one: rows without success or metrics, which summaries skip */
        uint16_t *odd;    /* these rows, in order; NULL: none */
        int64_t first_id, last_id;
        bool has_finish; /* sealed, and the next two are known: bounds of the ends of the rows that were not removed */
        int64_t first_finish_ms, last_finish_ms;
        uint8_t *removed; /* a bit for each removed row; NULL: none */
        size_t bytes;
        int64_t *open[TASK_COLUMNS]; /* of an open chunk; NULL: base, and base + row if `rising` has the column's bit */
        struct started_run *started; /* of an open chunk, in order: all rows. NULL: none. Excludes `open` and `base` */
        struct ended_run *ended;     /* of an open chunk */
        uint8_t n_started_runs, started_room;
        size_t n_ended_runs;
        uint64_t rising;
        int64_t base[TASK_COLUMNS]; /* of an open chunk: not 0 only in columns that a start fills */
        /* The columns of a sealed chunk. */
        char *packed;
        int64_t greatest[TASK_COLUMNS];
        uint32_t place[TASK_COLUMNS]; /* in packed */
        uint8_t width[TASK_COLUMNS];
};

struct task_chunk *task_chunk_new(size_t room);
void task_chunk_free(struct task_chunk *c);

/* Frees the columns of a chunk whose rows were removed. What remains is where the chunk was and which ids it had. */
void task_chunk_empty(struct task_chunk *c);

/* Gives an open chunk room for more rows. */
void task_chunk_grow(struct task_chunk *c, size_t room);

/* Packs an open chunk, in which no task runs. */
void task_chunk_seal(struct task_chunk *c);

/* Lists the rows of a chunk that summaries skip, of which none is listed. Packing does it. */
void task_chunk_list_odd(struct task_chunk *c);

/* Unpacks a sealed chunk, one of whose tasks ends once more. */
void task_chunk_unseal(struct task_chunk *c);

static inline bool task_chunk_is_rising(const struct task_chunk *c, size_t column)
{
        return c->rising >> column & 1;
}

/* The value of a row of an open chunk in a column without an array. */
static inline int64_t task_chunk_expected(const struct task_chunk *c, size_t row, size_t column)
{
        return (int64_t)((uint64_t)c->base[column] + (task_chunk_is_rising(c, column) ? row : 0));
}

/* Gives a column of an open chunk an array. Rows that have not started are zero. */
void task_chunk_open_column(struct task_chunk *c, size_t column);

/* Returns the run that holds the end of a row, or NULL. */
struct ended_run *task_chunk_find_ended(const struct task_chunk *c, size_t row);

/* Writes the runs of starts to arrays. */
void task_chunk_flush_started(struct task_chunk *c);

/* Writes the runs of ends to arrays. */
void task_chunk_flush_ended(struct task_chunk *c);

/* True if rows may start as runs: the chunk is empty, or all of its rows did, and there are few runs. */
static inline bool task_chunk_takes_started_run(const struct task_chunk *c)
{
        return (c->n == 0 || c->started) && c->n_started_runs < MAX_STARTED_RUNS;
}

/* Starts the rows of a run, if the chunk takes it. The caller counts them. */
void task_chunk_start_run(struct task_chunk *c, const struct started_run *run);

/* Ends @n rows from @row on with the values of a batch from @at on: tasks that succeeded, with metrics. */
void task_chunk_end_run(struct task_chunk *c, size_t row, size_t n, const struct task_event_batch *b, size_t at,
                        const struct task_event_durations *durations);

/* Ends a row that is in no run, if the chunk takes it. @values: of each of the ENDED_COLUMNS. */
void task_chunk_end_row(struct task_chunk *c, size_t row, const int64_t *values);

/* True if rows may end in runs of one row: others ended in runs, and none in arrays. */
static inline bool task_chunk_takes_ended_row(const struct task_chunk *c)
{
        return c->ended && !c->open[TASK_STATUS] && c->n_ended_runs < MAX_ENDED_RUNS;
}

/* Sets a value of an open chunk whose row is in no run. */
static inline void task_chunk_set(struct task_chunk *c, size_t row, enum task_column column, int64_t value)
{
        if (!c->open[column]) {
                if (value == task_chunk_expected(c, row, column))
                        return;
                task_chunk_open_column(c, column);
        }
        c->open[column][row] = value;
}

/* Sets a value of the row that is about to start. */
static inline void task_chunk_set_start(struct task_chunk *c, enum task_column column, int64_t value)
{
        if (c->n == 0 && !c->open[column])
                c->base[column] = value;
        else if (c->n == 1 && !c->open[column] && (uint64_t)value - (uint64_t)c->base[column] == 1)
                c->rising |= (uint64_t)1 << column;
        else
                task_chunk_set(c, c->n, column, value);
}

/* Several values of a column: @values, or @first, and more by one with each row if @is_rising. */
struct column_run {
        int64_t first;
        bool is_rising;
        const int64_t *values;
};

/* The values of a batch from @at on. Borrows its arrays. */
struct column_run column_run_of(const struct task_event_batch *b, size_t column, size_t at);

struct column_bounds {
        int64_t least, greatest;
};

/* Widens bounds so that they hold @n values. */
void column_bounds_widen(struct column_bounds *b, const int64_t *values, size_t n);

/* Sets the values of @n rows of an open chunk. */
void task_chunk_set_run(struct task_chunk *c, size_t row, size_t n, enum task_column column,
                        const struct column_run *run);

/* Sets the values of @n rows that are about to start. */
void task_chunk_set_started_run(struct task_chunk *c, size_t n, enum task_column column, struct column_run run);

int64_t task_chunk_get(const struct task_chunk *c, size_t row, enum task_column column);

/* Reads all rows of a column that is not computed, removed ones too. */
void task_chunk_read_stored(const struct task_chunk *c, enum task_column column, int64_t *values);

/* Reads each @step-th row of a column that is not computed, from the first one on. Returns their number. */
size_t task_chunk_read_each(const struct task_chunk *c, enum task_column column, size_t step, int64_t *values);

/* Reads all rows of a column, removed ones too. @values has room for TASK_CHUNK_ROWS. */
void task_chunk_read(const struct task_chunk *c, enum task_column column, int64_t *values);

/*
 * Reads a column of a sealed chunk that is not computed, less @origin. The caller knows that all differences have at
 * most 31 bits.
 */
void task_chunk_read_narrow(const struct task_chunk *c, enum task_column column, int64_t origin, uint32_t *values);

/*
 * Reads TASK_SCHEDULER_DELAY of a sealed chunk. Returns false if the values could have more than 31 bits, as in damaged
 * logs, or if a result was fetched or a task has not ended.
 */
bool task_chunk_read_narrow_delay(const struct task_chunk *c, uint32_t *values);

/* Returns true and the @value of all rows of a sealed chunk, if they are known to be equal without reading them. */
bool task_chunk_is_constant(const struct task_chunk *c, enum task_column column, int64_t *value);

static inline bool task_chunk_is_removed(const struct task_chunk *c, size_t row)
{
        return c->removed && c->removed[row / 8] >> row % 8 & 1;
}
