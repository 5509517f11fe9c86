/*
 * The map outputs of this process that the tasks of a stage read.
 *
 * They are looked up once for the stage, because a task would take a lock and a reference of each: with 10,000 map and
 * 10,000 reduce tasks 100 million times. Where most blocks are empty, tasks find the others in a table of bits.
 */
#pragma once

#include "base/mem.h"

#include <stdint.h>

struct shuffle_inputs;
struct shuffle_output;
struct shuffle_store;

struct stage_outputs {
        int refs;                   /* atomic */
        struct shuffle_output **at; /* references by map partition; NULL: not in this process */
        int n;
        /* A row of bits for each reduce partition: the map partitions whose output has pages for it or must be looked
         * at. NULL: all must. */
        uint64_t *wanted;
        size_t words; /* of a row */
};

/* Returns a reference to the outputs of @inputs at the location @here. They are looked up at the first call. Any
 * thread. */
struct stage_outputs *stage_outputs_get(struct shuffle_inputs *inputs, int here, struct shuffle_store *store);

/* Drops a reference. NULL is allowed. Any thread. */
void stage_outputs_unref(struct stage_outputs *outputs);

/* The stage has ended: its outputs are kept only for tasks that still run. Any thread. */
void stage_outputs_end(struct shuffle_inputs *inputs);

/* The first map partition from @map on that a task of the reduce partition @partition must look at, or the number of
 * map partitions. */
static inline int stage_outputs_next(const struct stage_outputs *outputs, int partition, int map)
{
        if (!outputs->wanted)
                return map;
        const uint64_t *row = &outputs->wanted[(size_t)partition * outputs->words];
        for (; map < outputs->n; map = (map / 64 + 1) * 64) {
                uint64_t rest = row[map / 64] >> map % 64;
                if (rest)
                        return map + __builtin_ctzll(rest);
        }
        return outputs->n;
}
