/*
 * Reading a shuffle: the pages of one reduce partition from all map outputs, in the order of the map partitions.
 */
#pragma once

#include "rdd/pipeline.h"
#include "shuffle/shuffle_output.h"

/* The map outputs that a shuffle's readers see, by map partition; NULL where there is none. References are held by
 * whoever made the list. */
struct shuffle_inputs {
        int shuffle_id;
        int n;
        struct shuffle_output **outputs;
};

struct shuffle_reader_env {
        const struct shuffle_inputs *inputs;
        int n_inputs;
        const struct spill_space *space;
};

/* A pipeline's source over a struct shuffle_reader_env. An output that cannot be read is a fetch failure. */
extern const struct shuffle_source shuffle_reader_source;
