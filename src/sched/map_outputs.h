/*
 * The map outputs of one shuffle: for each map partition the executor that holds it and the driver's handle.
 *
 * Written by the scheduler only: on success of a map task, on loss. The driver reads it when it tells a reduce
 * task where to fetch; as long as `epoch` is the same, so is the content of a complete table.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct map_output {
        uint64_t handle;  /* the driver's; 0 while absent */
        int32_t executor; /* index of the executor that has it; -1: absent */
};

struct map_outputs {
        int shuffle_id;
        int n;                 /* map partitions */
        int available;         /* how many are there */
        uint64_t epoch;        /* grows with every removal, and when the last missing one arrives */
        struct map_output *at; /* by map partition */
};

typedef void map_output_removed_fn(void *owner, int shuffle_id, int map_partition, int executor, uint64_t handle);

void map_outputs_init(struct map_outputs *m, int shuffle_id, int n);
void map_outputs_deinit(struct map_outputs *m);

static inline bool map_outputs_complete(const struct map_outputs *m)
{
        return m->available == m->n;
}

static inline bool map_outputs_has(const struct map_outputs *m, int map_partition)
{
        return m->at[map_partition].executor >= 0;
}

/* Record an output. One that is there stays, because tasks may read it: false, and nothing was recorded. */
bool map_outputs_add(struct map_outputs *m, int map_partition, int executor, uint64_t handle);

/* @executor, which holds it, has given it to @to. False: it holds no output of that handle. */
bool map_outputs_move(struct map_outputs *m, int map_partition, uint64_t handle, int executor, int to);

/*
 * Forget one output if it is there and (@executor < 0 or held by @executor); @removed is told. True if it was
 * forgotten.
 */
bool map_outputs_remove(struct map_outputs *m, int map_partition, int executor, map_output_removed_fn *removed,
                        void *owner);

/* Forget all that @executor holds, or everything if @executor < 0. Returns how many. */
int map_outputs_remove_executor(struct map_outputs *m, int executor, map_output_removed_fn *removed, void *owner);
