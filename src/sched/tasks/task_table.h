/* Finds attempts by task id.
 *
 * Task ids are dense, so the table is an array in chunks. A chunk is freed when all its tasks have ended. A long task
 * keeps only its own chunk.
 */
#pragma once

#include "sched/sched.h"

#include "base/vec.h"

struct launched_batch;

enum { TASK_CHUNK_BITS = 10, TASK_CHUNK = 1 << TASK_CHUNK_BITS };

struct task_attempt {
        struct launched_batch *run; /* NULL after its end */
        int32_t index;              /* in the task set */
        uint16_t number;            /* attempt number */
        bool kill_sent;
        bool crash_suspect; /* named as the task that crashed its executor */
};

struct task_table_chunk {
        int ended;
        struct task_attempt at[TASK_CHUNK];
};

/* Attempts of a batch that an earlier driver launched. */
struct adopted_attempts {
        int64_t first_id;
        int n, ended;
        struct task_attempt at[]; /* n */
};

struct task_table {
        VEC(struct task_table_chunk *) chunks; /* of ids from base on; NULL where all have ended */
        int64_t base;                    /* number of chunks dropped in front */
        int64_t next_id;
        struct task_table_chunk *spare;
        int64_t first_id;                       /* ids below are those of earlier drivers */
        VEC(struct adopted_attempts *) adopted; /* by first id; few at a time */
};

/* Sets the id of the first task, at least @first. Before any is added. */
void task_table_start(struct task_table *t, int64_t first);

void task_table_deinit(struct task_table *t);

/* Assigns the next task id. The caller fills in the attempt. */
struct task_attempt *task_table_add(struct task_table *t, int64_t *task_id);

/*
 * Adds the attempts with the ids @first … @first + @n - 1 of an earlier driver. Returns NULL if one of them is not an
 * earlier driver's, or is there already. The caller fills them in.
 */
struct task_attempt *task_table_adopt(struct task_table *t, int64_t first, int n);

/* The attempt of an earlier driver, or NULL. */
struct task_attempt *task_table_find_adopted(const struct task_table *t, int64_t task_id);

/* The attempt while its chunk exists, otherwise NULL. An ended attempt has no run. */
static inline struct task_attempt *task_table_find(const struct task_table *t, int64_t task_id)
{
        int64_t chunk = (task_id >> TASK_CHUNK_BITS) - t->base;

        if (task_id < 0 || task_id >= t->next_id)
                return NULL;
        if (chunk < 0)
                return t->adopted.len > 0 ? task_table_find_adopted(t, task_id) : NULL;
        if (!t->chunks.data[chunk])
                return NULL;
        return &t->chunks.data[chunk]->at[task_id & (TASK_CHUNK - 1)];
}

/* The attempt ended; @attempt must not be used any more. */
void task_table_end(struct task_table *t, int64_t task_id);
