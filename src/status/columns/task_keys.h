/* The keys by which rows of task_columns are sorted, for the files that select some of them. */
#pragma once

#include "status/columns/task_chunk.h"

/* Which rows count, and by what they are sorted. */
struct task_keys {
        const struct task_columns *t;
        enum task_column column;
        bool summary;         /* only successful tasks with metrics, by value */
        uint32_t statuses;    /* a bit for each enum task_row_status that counts */
        const int64_t *rank;  /* sorts by rank[value]; NULL: by value */
        const uint64_t *only; /* a bit for each row that counts; NULL: all */
        /* Copies, if most chunks would have to be read and filtered in each pass; NULL: none. */
        uint64_t *copied;
        uint64_t *copied_bounds; /* the least and the greatest key of each block */
        uint32_t *copied_rows;   /* of each key; NULL in a summary */
        size_t n_copied;
};

/*
 * Keys of rows that lie one behind the other: key i is base + packed[i], as a number of @width bytes. Keys of a sealed
 * chunk lie where its column lies, all others in a buffer.
 */
struct key_run {
        size_t n;
        uint64_t base;
        const void *packed;
        uint8_t width;             /* 0: all keys are the base */
        uint64_t least, greatest;  /* bounds */
        const uint16_t *odd;       /* the places of keys that do not count, in order */
        size_t n_odd;              /* their number */
        size_t first_row;          /* the row of key i is first_row + i, */
        const uint16_t *rows;      /* or first_row + rows[i], */
        const uint32_t *copy_rows; /* or copy_rows[i] */
};

/* A chunk has a run of its column, and one of the rows of tasks that sort otherwise, or only one in a buffer. */
enum { MAX_KEY_RUNS = 2, MAX_ODD_KEYS = 64 };
struct key_buffer {
        uint64_t keys[TASK_CHUNK_ROWS];
        uint32_t narrow[TASK_CHUNK_ROWS];
        uint64_t odd[MAX_ODD_KEYS];
        uint16_t rows[TASK_CHUNK_ROWS];
};

/* Keys are unsigned, in the order of the signed values. */
static inline uint64_t task_key_of(int64_t value)
{
        return (uint64_t)value ^ (uint64_t)1 << 63;
}

static inline int64_t task_key_value(uint64_t key)
{
        return (int64_t)(key ^ (uint64_t)1 << 63);
}

/* Makes copies where that is cheaper than several passes. */
void task_keys_prepare(struct task_keys *k);
void task_keys_deinit(struct task_keys *k);

/* Returns the number of blocks of neighbouring rows, to which the next function gives access. */
size_t task_keys_blocks(const struct task_keys *k);

/* Sets the runs of a block. Returns their number. They refer to @buffer. */
size_t task_keys_runs(const struct task_keys *k, size_t block, struct key_run runs[static MAX_KEY_RUNS],
                      struct key_buffer *buffer);

/* The same, for their number of keys and bounds only. */
size_t task_keys_run_bounds(const struct task_keys *k, size_t block, struct key_run runs[static MAX_KEY_RUNS],
                            struct key_buffer *buffer);

/* Returns how many of a chunk's rows are among those that count at all. */
size_t task_keys_count_only(const struct task_keys *k, size_t chunk);

/* Reads the keys of a chunk's rows that count, and their rows unless @rows is NULL. Returns their number. */
size_t task_keys_read(const struct task_keys *k, size_t chunk, uint64_t *keys, uint16_t *rows);

/* The key of a place in a run. */
static inline uint64_t key_run_key(const struct key_run *run, size_t i)
{
        switch (run->width) {
        case sizeof(uint8_t):
                return run->base + ((const uint8_t *)run->packed)[i];
        case sizeof(uint16_t):
                return run->base + ((const uint16_t *)run->packed)[i];
        case sizeof(uint32_t):
                return run->base + ((const uint32_t *)run->packed)[i];
        case sizeof(uint64_t):
                return run->base + ((const uint64_t *)run->packed)[i];
        default:
                return run->base;
        }
}

static inline size_t key_run_row(const struct key_run *run, size_t i)
{
        if (run->copy_rows)
                return run->copy_rows[i];
        return run->first_row + (run->rows ? run->rows[i] : i);
}
