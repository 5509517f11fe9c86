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

/* Tells which heartbeats end a point. The event log writes only those. */
struct node_pace {
        int step, n_pending; /* heartbeats in a point, and in the unfinished one */
        size_t n;            /* points */
};

/* Adds some heartbeats in one. Returns whether a point ends; pace->n counts it, after half of NODE_POINTS were merged
 * if there were as many. */
bool node_pace_add(struct node_pace *pace, int heartbeats);

/* Returns true if node_pace_add can have made it. */
bool node_pace_is_valid(const struct node_pace *pace);

struct node_series {
        struct node_counters last; /* of the newest heartbeat */
        bool has_last;
        struct node_pace pace;
        int64_t pending_ms;                    /* length of the unfinished one */
        struct node_point pending;             /* sums, weighted by time */
        struct node_point points[NODE_POINTS]; /* pace.n */
};

/* Adds a heartbeat that stands for @heartbeats. Ignores one that is not later than the last. Counters that went back
 * begin again. */
void node_series_add(struct node_series *s, const struct node_counters *now, int heartbeats);

/* Copies the points that end between two times to @out, the oldest first. Returns their number. */
size_t node_series_get(const struct node_series *s, int64_t from_ms, int64_t to_ms,
                       struct node_point out[static NODE_POINTS]);
