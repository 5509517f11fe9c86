/*
 * Scheduling pools: a tree whose leaves are task sets, and in which order these are offered cores.
 */
#pragma once

#include <stdbool.h>

enum scheduling_mode { SCHEDULING_FIFO, SCHEDULING_FAIR };

/* A pool as fairscheduler.xml describes it. */
struct pool_spec {
        char *name;
        enum scheduling_mode mode;
        int min_share;
        int weight;
};
