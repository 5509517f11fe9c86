/*
 * An array by map partition: the map side of a shuffle is dense, and every reduce task reads all of it. The outputs of
 * an executor are linked, because a loss among 10,000 executors must not search a million outputs.
 *
 * Invariant: available is the number of entries whose executor is ≥ 0, and these are in the list of that executor. An
 * absent entry has handle 0. Only outputs of executors of earlier drivers are in no list. In Spark a later success
 * replaces an earlier one. Here the first one stays while its executor lives, so reduce tasks that know it need no
 * update.
 */
#include "sched/map_outputs.h"

#include "base/mem.h"

#include <stdlib.h>

void map_outputs_init(struct map_outputs *m, int shuffle_id, int n)
{
        *m = (struct map_outputs){.shuffle_id = shuffle_id, .n = n};
        m->at = new_array(struct map_output, (size_t)MAX(n, 1));
        for (int i = 0; i < n; i++)
                m->at[i].executor = -1;
}

void map_outputs_deinit(struct map_outputs *m)
{
        free(m->at);
        vec_deinit(&m->first);
        *m = (struct map_outputs){0};
}

static void map_outputs_link(struct map_outputs *m, int map_partition, int executor)
{
        struct map_output *at = &m->at[map_partition];
        at->executor = executor;
        at->previous = at->next = -1;
        if (executor >= MAX_LISTED_EXECUTORS)
                return;
        while (m->first.len <= (size_t)executor)
                vec_push(&m->first, -1);
        at->next = m->first.data[executor];
        if (at->next >= 0)
                m->at[at->next].previous = map_partition;
        m->first.data[executor] = map_partition;
}

static void map_outputs_unlink(struct map_outputs *m, int map_partition)
{
        const struct map_output *at = &m->at[map_partition];
        if (at->next >= 0)
                m->at[at->next].previous = at->previous;
        if (at->previous >= 0)
                m->at[at->previous].next = at->next;
        else if (at->executor < MAX_LISTED_EXECUTORS)
                m->first.data[at->executor] = at->next;
}

bool map_outputs_add(struct map_outputs *m, int map_partition, int executor, uint64_t handle)
{
        if (map_outputs_has(m, map_partition))
                return false;
        m->at[map_partition].handle = handle;
        map_outputs_link(m, map_partition, executor);
        if (++m->available == m->n)
                m->epoch++;
        return true;
}

/* Returns the output if @executor holds it under this handle, else NULL. */
static struct map_output *map_outputs_held(struct map_outputs *m, int map_partition, uint64_t handle, int executor)
{
        if (map_partition < 0 || map_partition >= m->n)
                return NULL;
        struct map_output *at = &m->at[map_partition];
        return at->executor == executor && at->handle == handle ? at : NULL;
}

bool map_outputs_move(struct map_outputs *m, int map_partition, uint64_t handle, int executor, int to)
{
        struct map_output *at = map_outputs_held(m, map_partition, handle, executor);
        if (!at)
                return false;
        map_outputs_unlink(m, map_partition);
        map_outputs_link(m, map_partition, to);
        m->epoch++;
        return true;
}

bool map_outputs_store(struct map_outputs *m, int map_partition, uint64_t handle, int executor, uint64_t stored)
{
        struct map_output *at = map_outputs_held(m, map_partition, handle, executor);
        if (!at)
                return false;
        at->handle = stored;
        m->epoch++;
        return true;
}

bool map_outputs_remove(struct map_outputs *m, int map_partition, int executor, map_output_removed_fn *removed,
                        void *owner)
{
        struct map_output old = m->at[map_partition];

        if (old.executor < 0 || (executor >= 0 && old.executor != executor))
                return false;
        map_outputs_unlink(m, map_partition);
        m->at[map_partition] = (struct map_output){.executor = -1};
        m->available--;
        m->epoch++;
        removed(owner, m->shuffle_id, map_partition, old.executor, old.handle);
        return true;
}

static int map_partition_compare(const void *a, const void *b)
{
        const int32_t *x = a, *y = b;
        return *x < *y ? -1 : *x > *y;
}

int map_outputs_of_executor(const struct map_outputs *m, int executor, int32_t **partitions)
{
        VEC(int32_t) found = {0};
        int32_t at = executor >= 0 && (size_t)executor < m->first.len ? m->first.data[executor] : -1;
        for (; at >= 0; at = m->at[at].next)
                vec_push(&found, at);
        for (int i = 0; executor >= MAX_LISTED_EXECUTORS && i < m->n; i++)
                if (m->at[i].executor == executor)
                        vec_push(&found, i);
        if (found.len > 1)
                qsort(found.data, found.len, sizeof(*found.data), map_partition_compare);
        *partitions = found.data;
        return (int)found.len;
}

static int map_outputs_remove_all(struct map_outputs *m, bool stored, map_output_removed_fn *removed, void *owner)
{
        int count = 0;
        for (int i = 0; i < m->n && m->available > 0; i++)
                if (stored || !map_output_is_stored(&m->at[i]))
                        count += map_outputs_remove(m, i, -1, removed, owner);
        return count;
}

int map_outputs_remove_executor(struct map_outputs *m, int executor, bool stored, map_output_removed_fn *removed,
                                void *owner)
{
        if (executor < 0)
                return map_outputs_remove_all(m, stored, removed, owner);
        _cleanup_free_ int32_t *partitions = NULL;
        int n = map_outputs_of_executor(m, executor, &partitions), count = 0;
        for (int i = 0; i < n; i++)
                if (stored || !map_output_is_stored(&m->at[partitions[i]]))
                        count += map_outputs_remove(m, partitions[i], executor, removed, owner);
        return count;
}
