/* A chunk of rows of task_columns, for the files that implement them. */
#pragma once

#include "status/task_columns.h"

/* A sealed chunk knows at most TASK_CHUNK_MAX_ODD rows that summaries skip. */
enum { TASK_CHUNK_ROWS = 1024, TASK_CHUNK_MAX_ODD = 64 };

struct task_chunk {
        uint16_t n, room;
        uint16_t n_running, n_removed;
        bool is_sealed;
        bool all_success; /* sealed, and all rows succeeded and have metrics */
        uint16_t n_odd;   /* of a sealed one: rows without success or metrics; TASK_CHUNK_MAX_ODD + 1: many */
        uint16_t *odd;    /* these rows, in order; NULL: none or many */
        int64_t first_id, last_id;
        uint8_t *removed; /* a bit for each removed row; NULL: none */
        size_t bytes;
        int64_t *open[TASK_COLUMNS]; /* of an open chunk; NULL: all zero */
        /* The columns of a sealed chunk. */
        char *packed;
        int64_t base[TASK_COLUMNS], greatest[TASK_COLUMNS];
        uint32_t place[TASK_COLUMNS]; /* in packed */
        uint8_t width[TASK_COLUMNS];
};

struct task_chunk *task_chunk_new(size_t room);
void task_chunk_free(struct task_chunk *c);

int64_t task_chunk_get(const struct task_chunk *c, size_t row, enum task_column column);

/* Reads all rows of a column, removed ones too. @values has room for TASK_CHUNK_ROWS. */
void task_chunk_read(const struct task_chunk *c, enum task_column column, int64_t *values);

/* Returns true and the @value of all rows of a sealed chunk, if they are known to be equal without reading them. */
bool task_chunk_is_constant(const struct task_chunk *c, enum task_column column, int64_t *value);

/* True if a summary may read the packed columns: all rows are there, and the odd ones are known. */
static inline bool task_chunk_is_regular(const struct task_chunk *c)
{
        return c->is_sealed && !c->removed && c->n_odd <= TASK_CHUNK_MAX_ODD;
}

static inline bool task_chunk_is_removed(const struct task_chunk *c, size_t row)
{
        return c->removed && c->removed[row / 8] >> row % 8 & 1;
}
