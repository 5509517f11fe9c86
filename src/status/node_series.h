/*
 * The course of an executor's node: processors, memory, disks, network, from the counters of its heartbeats. Pure.
 *
 * A series has at most NODE_POINTS points. When it is full, each two neighbours become one, and a point then stands for
 * twice as many heartbeats. So the memory is bounded, and the whole time is covered.
 */
#pragma once

#include "events/events.h"

#include <stddef.h>

enum { NODE_POINTS = 60 };

/* Averages over the time between two points. */
struct node_point {
        int64_t ms;                  /* its end, since 1970 */
        float node_cpu;              /* busy part of all processors, 0 to 1 */
        float process_cpu;           /* processors that the executor's process used */
        float memory;                /* used part of the node's memory, 0 to 1 */
        float disk_bytes, net_bytes; /* a second, both directions */
};

struct node_series {
        struct node_counters last; /* of the newest heartbeat */
        bool has_last;
        int step, n_pending;       /* heartbeats in a point, and in the unfinished one */
        int64_t pending_ms;        /* length of the unfinished one */
        struct node_point pending; /* sums, weighted by time */
        size_t n;
        struct node_point points[NODE_POINTS];
};

/* Adds a heartbeat. Ignores one that is not later than the last. Counters that went back begin again. */
void node_series_add(struct node_series *s, const struct node_counters *now);

/* Copies the points that end between two times to @out, the oldest first. Returns their number. */
size_t node_series_get(const struct node_series *s, int64_t from_ms, int64_t to_ms,
                       struct node_point out[static NODE_POINTS]);
