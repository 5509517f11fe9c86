/*
 * Chunks of 1024 attempts (16 bytes each) under an array of pointers. An application of 10^9 tasks uses 10^6 chunks, of
 * which two or three exist at any time. Leading empty entries of the array are dropped before it grows.
 */
#include "sched/tasks/task_table.h"

#include "base/mem.h"

#include <string.h>

void task_table_start(struct task_table *t, int64_t first)
{
        t->base = (MAX(MIN(first, INT64_MAX / 2), 0) + TASK_CHUNK - 1) >> TASK_CHUNK_BITS;
        t->first_id = t->next_id = t->base << TASK_CHUNK_BITS;
}

void task_table_deinit(struct task_table *t)
{
        for (size_t i = 0; i < t->chunks.len; i++)
                free(t->chunks.data[i]);
        for (size_t i = 0; i < t->adopted.len; i++)
                free(t->adopted.data[i]);
        free(t->spare);
        vec_deinit(&t->adopted);
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

/* The position of the batch with @task_id, or of the first one behind it. */
static size_t task_table_adopted_place(const struct task_table *t, int64_t task_id)
{
        size_t at = 0, end = t->adopted.len;

        while (at < end) {
                const size_t middle = at + (end - at) / 2;
                const struct adopted_attempts *a = t->adopted.data[middle];

                if (a->first_id + a->n <= task_id)
                        at = middle + 1;
                else
                        end = middle;
        }
        return at;
}

struct task_attempt *task_table_adopt(struct task_table *t, int64_t first, int n)
{
        const size_t at = task_table_adopted_place(t, first);

        if (first < 0 || n < 1 || first > t->first_id - n ||
            (at < t->adopted.len && t->adopted.data[at]->first_id < first + n))
                return NULL;
        struct adopted_attempts *a = mem_zero(sizeof(*a) + (size_t)n * sizeof(a->at[0]));

        a->first_id = first;
        a->n = n;
        vec_insert(&t->adopted, at, a);
        return a->at;
}

struct task_attempt *task_table_find_adopted(const struct task_table *t, int64_t task_id)
{
        const size_t at = task_table_adopted_place(t, task_id);

        if (at == t->adopted.len || t->adopted.data[at]->first_id > task_id)
                return NULL;
        return &t->adopted.data[at]->at[task_id - t->adopted.data[at]->first_id];
}

static void task_table_end_adopted(struct task_table *t, int64_t task_id)
{
        const size_t at = task_table_adopted_place(t, task_id);
        struct adopted_attempts *a = t->adopted.data[at];

        a->at[task_id - a->first_id].run = NULL;
        if (++a->ended < a->n)
                return;
        free(a);
        t->adopted.len--;
        memmove(&t->adopted.data[at], &t->adopted.data[at + 1], (t->adopted.len - at) * sizeof(a));
}

void task_table_end(struct task_table *t, int64_t task_id)
{
        if (task_id < t->first_id) {
                task_table_end_adopted(t, task_id);
                return;
        }
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
