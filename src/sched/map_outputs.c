/*
 * A plain array by map partition: the map side of a shuffle is dense, every reduce task reads all of it, and executors
 * are lost so rarely that a linear search is fine.
 *
 * Invariant: available is the number of entries whose executor is ≥ 0. An absent entry has handle 0. In Spark a later
 * success replaces an earlier one. Here the first one stays while its executor lives, so reduce tasks that know it
 * need no update.
 */
#include "sched/map_outputs.h"

#include "base/mem.h"

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
        *m = (struct map_outputs){0};
}

bool map_outputs_add(struct map_outputs *m, int map_partition, int executor, uint64_t handle)
{
        if (map_outputs_has(m, map_partition))
                return false;
        m->at[map_partition] = (struct map_output){.handle = handle, .executor = executor};
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
        at->executor = to;
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
        m->at[map_partition] = (struct map_output){.executor = -1};
        m->available--;
        m->epoch++;
        removed(owner, m->shuffle_id, map_partition, old.executor, old.handle);
        return true;
}

int map_outputs_remove_executor(struct map_outputs *m, int executor, bool stored, map_output_removed_fn *removed,
                                void *owner)
{
        int count = 0;

        for (int i = 0; i < m->n && m->available > 0; i++)
                if (stored || !map_output_is_stored(&m->at[i]))
                        count += map_outputs_remove(m, i, executor, removed, owner);
        return count;
}
