/* The driver's record of each map output, and the inputs of a stage that it makes of them. On the scheduler's thread. */
#pragma once

#include "sched/map_outputs.h"
#include "shuffle/shuffle_reader.h"

/*
 * The handle of a map output, which the scheduler keeps: the id of its task + 1 in the lower 40 bits; and of an output
 * outside of executors MAP_OUTPUT_STORED and its place (shuffle/remote_shuffle.h), which is below 2^23 and not 0.
 */
#define OUTPUT_HANDLE_TASK_BITS 40

static inline uint64_t output_handle(int64_t task_id, uint32_t place)
{
        uint64_t stored = place ? MAP_OUTPUT_STORED | (uint64_t)place << OUTPUT_HANDLE_TASK_BITS : 0;
        return stored | ((uint64_t)task_id + 1);
}

static inline int64_t output_handle_task(uint64_t handle)
{
        return (int64_t)(handle & ((UINT64_C(1) << OUTPUT_HANDLE_TASK_BITS) - 1)) - 1;
}

static inline uint32_t output_handle_place(uint64_t handle)
{
        return (uint32_t)((handle & ~MAP_OUTPUT_STORED) >> OUTPUT_HANDLE_TASK_BITS);
}

/*
 * Fills @inputs, whose array the caller owns, with the places of map outputs. @location_of has the location of each of
 * @n_executors executors, or -1. A missing output has no location: a persisted RDD in between was complete, and the
 * output is not read. @writer_of returns the number of an executor that has stored outputs outside of executors.
 */
void stage_inputs_read(struct shuffle_inputs *inputs, const struct map_outputs *from, const int32_t *location_of,
                       int n_executors, int32_t (*writer_of)(const void *owner, int executor), const void *owner);
