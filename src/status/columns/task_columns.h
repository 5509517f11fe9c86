/*
 * The tasks of one stage attempt as columns, in the order of their starts: some 30 bytes for each ended task.
 *
 * Rows lie in chunks of at most 1,024. A chunk in which tasks run has 64-bit columns; one that a start fills has none
 * while its values are equal or rise by one from row to row, in few runs. When the last task of a chunk has ended it is
 * sealed: each column becomes a base and differences of 0, 1, 2, 4 or 8 bytes. Columns that are all zero cost nothing.
 *
 * Rows may be removed, oldest completion first (spark.ui.retainedTasks). Row numbers do not change.
 *
 * The chunks of restored columns may lie elsewhere until a function below needs them first. So readers of the same
 * columns must not run at the same time.
 *
 * Quantiles and sorted pages need no sorting: they select by radix, with some passes over one column.
 */
#pragma once

#include "events/task_event_batch.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum task_column {
        TASK_ID,
        TASK_INDEX,
        TASK_ATTEMPT,
        TASK_PARTITION, /* minus the index */
        TASK_LAUNCH,    /* ms since 1970 */
        TASK_EXECUTOR,  /* the number that the caller gave */
        TASK_LOCALITY,
        TASK_SPECULATIVE,
        TASK_STATUS,         /* enum task_row_status */
        TASK_HAS_METRICS,    /* 0 or 1 */
        TASK_DURATION,       /* ms; of ended tasks */
        TASK_GETTING_RESULT, /* ms after the launch; 0: never */
        /* The metrics, in the order of struct task_metrics. */
        TASK_METRICS,
        TASK_PUSH_METRICS = TASK_METRICS + sizeof(struct task_metrics) / sizeof(int64_t),
        TASK_COLUMNS = TASK_PUSH_METRICS + sizeof(struct push_read_metrics) / sizeof(int64_t),
        /* Computed from others. */
        TASK_SCHEDULER_DELAY = TASK_COLUMNS,
        TASK_GETTING_RESULT_TIME,
        TASK_SHUFFLE_READ_BYTES,
        TASK_BLOCKS_FETCHED,
        TASK_ALL_COLUMNS
};

/* The column of a member of struct task_metrics or struct push_read_metrics. */
#define TASK_METRIC(member) (TASK_METRICS + offsetof(struct task_metrics, member) / sizeof(int64_t))
#define TASK_PUSH_METRIC(member) (TASK_PUSH_METRICS + offsetof(struct push_read_metrics, member) / sizeof(int64_t))

enum task_row_status { TASK_ROW_RUNNING, TASK_ROW_GETTING_RESULT, TASK_ROW_SUCCESS, TASK_ROW_FAILED, TASK_ROW_KILLED };

struct task_columns;

/* Where chunks lie that were not read yet. */
struct task_columns_loader {
        /* Reads the chunks of @t. Returns false if they are lost, and then @t has none. */
        bool (*load)(struct task_columns_loader *loader, struct task_columns *t);
        void (*free)(struct task_columns_loader *loader);
};

struct task_columns {
        struct task_columns_loader *loader; /* owned; NULL: the chunks are here */
        struct task_chunk **chunks;
        size_t n_chunks, cap;
        size_t n_rows;     /* that were added */
        size_t n_retained; /* that were not removed */
        size_t bytes;      /* of memory */
        bool unordered;    /* ids do not grow */
};

void task_columns_deinit(struct task_columns *t);

/* Reads the chunks if they lie elsewhere. If they are lost, no rows are left. */
void task_columns_load(struct task_columns *t);

/* The same, for files that read chunks. */
static inline void task_columns_need(const struct task_columns *t)
{
        if (__builtin_expect(t->loader != NULL, 0))
                task_columns_load((struct task_columns *)t);
}

/* Adds a started task. Returns its row. */
size_t task_columns_start(struct task_columns *t, const struct task_info *info, uint32_t executor);

/* Adds the started tasks of a batch. */
void task_columns_start_batch(struct task_columns *t, const struct task_event_batch *b, uint32_t executor);

/* Returns the row of a task, or SIZE_MAX if it was never added or was removed. */
size_t task_columns_find(const struct task_columns *t, int64_t id);

void task_columns_getting_result(struct task_columns *t, size_t row, int64_t ms);

/*
 * Ends a task. A task may end again (its output was lost, and it is "resubmitted"): the new end replaces the first one,
 * but the metrics stay if @e has none.
 */
void task_columns_end(struct task_columns *t, size_t row, const struct task_end *e, enum task_row_status status);

/*
 * Ends a batch of tasks that succeeded, with metrics. Returns false, without effect, if not all of them run or if they
 * do not lie one behind the other.
 */
bool task_columns_end_batch(struct task_columns *t, const struct task_event_batch *b,
                            const struct task_event_durations *durations);

/* Packs the last chunk although it has room: no task starts any more. */
void task_columns_finish(struct task_columns *t);

/* Returns a value of a row that was not removed, or 0 if the rows were lost. */
int64_t task_columns_value(const struct task_columns *t, size_t row, enum task_column column);

/*
 * Reads a column of the TASK_BLOCK_ROWS rows from @first on, a multiple of that. Returns their number, which is less at
 * the end, and 0 if the rows were lost. Removed ones have any value.
 */
enum { TASK_BLOCK_ROWS = 1024 };
size_t task_columns_read(const struct task_columns *t, size_t first, enum task_column column, int64_t *values);

/*
 * Returns true if a range that holds the values of all rows of the block from @first on is known without reading them.
 * The ends of the range are equal only if all values are.
 */
bool task_columns_range(const struct task_columns *t, size_t first, enum task_column column, int64_t *least,
                        int64_t *greatest);

/*
 * Returns the differences of the rows of the block from @first on from the least value that task_columns_range gives,
 * and sets their @width in bytes: 1, 2 or 4. NULL: the block has none. Valid until a task starts or ends.
 */
const void *task_columns_packed(const struct task_columns *t, size_t first, enum task_column column, uint8_t *width);

bool task_columns_is_removed(const struct task_columns *t, size_t row);

/* Called with the first of @n neighbouring rows that were removed. */
typedef void (*task_columns_removed_fn)(void *owner, size_t row, size_t n);

/*
 * Removes @n rows: ended tasks, oldest completion first, then running ones; without @keep_running, running ones first.
 * Calls @removed for all of them, unless it is NULL.
 */
void task_columns_remove_oldest(struct task_columns *t, size_t n, bool keep_running, task_columns_removed_fn removed,
                                void *owner);

/*
 * Sets values[i] to the quantile probabilities[i] of a column over the successful tasks that have metrics: as in Spark,
 * the value at index min(floor(q * n), n - 1) of the sorted ones. Returns n. @values is unchanged if n is 0.
 */
size_t task_columns_quantiles(const struct task_columns *t, enum task_column column, const double *probabilities,
                              int64_t *values, size_t n_values);

/*
 * A page of rows in the order of a column, ties in the order of ids. Tasks that did not succeed sort by -value - 1 in
 * columns of metrics, before all others, by -value - 2 in the sums TASK_SHUFFLE_READ_BYTES and TASK_BLOCKS_FETCHED, and
 * by their value in other computed columns. Running tasks sort before all in TASK_DURATION.
 */
struct task_page {
        enum task_column column;
        bool descending;
        size_t offset, length;
        uint32_t statuses;    /* a bit for each enum task_row_status that counts; 0: all */
        const uint64_t *only; /* a bit for each row that counts; NULL: all */
        const int64_t *rank;  /* sorts by rank[value] in place of the value; NULL: by value. Not for metrics */
};

/* Fills @rows, which has room for page->length. Returns their number. */
size_t task_columns_page(const struct task_columns *t, const struct task_page *page, size_t *rows);
