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

struct task_table {
        VEC(struct task_table_chunk *) chunks; /* of ids from base on; NULL where all have ended */
        int64_t base;                    /* number of chunks dropped in front */
        int64_t next_id;
        struct task_table_chunk *spare;
};

/* Sets the id of the first task, at least @first. Before any is added. */
void task_table_start(struct task_table *t, int64_t first);

void task_table_deinit(struct task_table *t);

/* Assigns the next task id. The caller fills in the attempt. */
struct task_attempt *task_table_add(struct task_table *t, int64_t *task_id);

/* The attempt while its chunk exists, otherwise NULL. An ended attempt has no run. */
static inline struct task_attempt *task_table_find(const struct task_table *t, int64_t task_id)
{
        int64_t chunk = (task_id >> TASK_CHUNK_BITS) - t->base;

        if (task_id < 0 || task_id >= t->next_id || chunk < 0 || !t->chunks.data[chunk])
                return NULL;
        return &t->chunks.data[chunk]->at[task_id & (TASK_CHUNK - 1)];
}

/* The attempt ended; @attempt must not be used any more. */
void task_table_end(struct task_table *t, int64_t task_id);
