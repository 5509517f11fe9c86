/*
 * Chunks of 1024 attempts (16 bytes each) under an array of pointers. An application of 10^9 tasks uses 10^6 chunks, of
 * which two or three exist at any time. Leading empty entries of the array are dropped before it grows.
 */
#include "sched/tasks/task_table.h"

void task_table_start(struct task_table *t, int64_t first)
{
        t->base = (MAX(MIN(first, INT64_MAX / 2), 0) + TASK_CHUNK - 1) >> TASK_CHUNK_BITS;
        t->next_id = t->base << TASK_CHUNK_BITS;
}

void task_table_deinit(struct task_table *t)
{
        for (size_t i = 0; i < t->chunks.len; i++)
                free(t->chunks.data[i]);
        free(t->spare);
        vec_deinit(&t->chunks);
        *t = (struct task_table){0};
}

static void task_table_add_chunk(struct task_table *t)
{
        if (t->chunks.len == t->chunks.cap) {
                size_t empty = 0;

                while (empty < t->chunks.len && !t->chunks.data[empty])
                        empty++;
                if (empty >= t->chunks.len / 2 && empty > 0) {
                        t->chunks.len -= empty;
                        memmove(t->chunks.data, t->chunks.data + empty, t->chunks.len * sizeof(*t->chunks.data));
                        t->base += (int64_t)empty;
                }
        }
        struct task_table_chunk *chunk = t->spare ? steal(t->spare) : mem_alloc(sizeof(*chunk));

        chunk->ended = 0;
        vec_push(&t->chunks, chunk);
}

struct task_attempt *task_table_add(struct task_table *t, int64_t *task_id)
{
        if ((t->next_id & (TASK_CHUNK - 1)) == 0)
                task_table_add_chunk(t);
        *task_id = t->next_id++;
        return &t->chunks.data[t->chunks.len - 1]->at[*task_id & (TASK_CHUNK - 1)];
}

void task_table_end(struct task_table *t, int64_t task_id)
{
        struct task_table_chunk **slot = &t->chunks.data[(task_id >> TASK_CHUNK_BITS) - t->base];

        (*slot)->at[task_id & (TASK_CHUNK - 1)].run = NULL;
        if (++(*slot)->ended < TASK_CHUNK)
                return;
        if (t->spare)
                free(*slot);
        else
                t->spare = *slot;
        *slot = NULL;
}
