/* The map outputs of one shuffle: for each map partition the executor that holds it and the driver's handle.
 *
 * Only the scheduler changes it: when a map task succeeds, and on loss. The driver reads it to tell a reduce task
 * where to fetch. While `epoch` is unchanged, so is the content of a complete table.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>
#include <stdint.h>

/* A bit of a handle: the output is stored outside of executors. The loss of the executor that wrote it does not lose
 * it, only a failed fetch does. */
#define MAP_OUTPUT_STORED (UINT64_C(1) << 63)

/* Executors of earlier drivers of the application have numbers from here on (driver/resume). Few outputs are looked for
 * by them, and a list for each would need too much room.
 */
#define MAX_LISTED_EXECUTORS (1 << 30)

struct map_output {
        uint64_t handle;        /* the driver's; 0 while absent */
        int32_t executor;       /* index of the executor that holds it, or wrote a stored one; -1: absent */
        int32_t next, previous; /* map partitions in the list of this executor's outputs; -1: none */
};

struct map_outputs {
        int shuffle_id;
        int n;                 /* map partitions */
        int available;         /* outputs that are present */
        uint64_t epoch;        /* increases with every removal, and when the last missing one arrives */
        struct map_output *at; /* by map partition */
        VEC(int32_t) first;    /* by executor, as far as executors have outputs: the head of its list; -1: none */
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

/* Records an output. Returns false, recording nothing, if the output exists, because tasks may be reading it. */
bool map_outputs_add(struct map_outputs *m, int map_partition, int executor, uint64_t handle);

static inline bool map_output_is_stored(const struct map_output *output)
{
        return (output->handle & MAP_OUTPUT_STORED) != 0;
}

/* @executor has sent its output to @to. Returns false if it holds no output of that handle. */
bool map_outputs_move(struct map_outputs *m, int map_partition, uint64_t handle, int executor, int to);

/* @executor has stored its output of @handle outside of executors, and the output has @stored from now on. Returns
 * false if it holds no output of that handle. */
bool map_outputs_store(struct map_outputs *m, int map_partition, uint64_t handle, int executor, uint64_t stored);

/*
 * The map partitions whose outputs @executor holds or wrote, rising, in an array that the caller owns (NULL if there
 * are none). Returns their number.
 */
int map_outputs_of_executor(const struct map_outputs *m, int executor, int32_t **partitions);

/* Removes one output if it exists and (@executor < 0 or held by @executor), and calls @removed. Returns true if it
 * was removed.
 */
bool map_outputs_remove(struct map_outputs *m, int map_partition, int executor, map_output_removed_fn *removed,
                        void *owner);

/* Removes all outputs on @executor, or everything if @executor < 0. Stored ones stay unless @stored. Returns the number
 * of removed ones. */
int map_outputs_remove_executor(struct map_outputs *m, int executor, bool stored, map_output_removed_fn *removed,
                                void *owner);
