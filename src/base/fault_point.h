/*
 * Fault points: named places in an executor at which tests/faults kills, stops or cuts off the process. Nothing else
 * uses them.
 *
 * FIRESTEEL_FAULT_POINTS in the environment names a listening unix socket. At each fault point the executor writes one
 * line "ID PID PLACE\n" to it and waits until it reads a byte or the listener closes the socket. Meanwhile the listener
 * may act on the process. Each thread has its own connection, so that a waiting thread does not block the others.
 *
 * Without the variable a fault point costs one load and one branch that is never taken.
 */
#pragma once

#include <stdbool.h>

enum fault_place {
        FAULT_REGISTER,    /* before it registers with the driver */
        FAULT_MAP,         /* while it writes rows to a map output, or just after the output is complete */
        FAULT_FETCH,       /* before it requests map outputs, or their next page, from another executor */
        FAULT_REDUCE,      /* after it has read all map outputs of a partition, or before it reports the result */
        FAULT_COMMIT,      /* before or just after the commit of an output */
        FAULT_CACHED_READ, /* while it reads the rows of a cached partition, local or remote */
        FAULT_BROADCAST,   /* before it requests a piece of a broadcast value or stage */
};

extern bool fault_points_armed;

/* Reads the environment. Call it before the first thread starts. @executor_id is borrowed forever. */
void fault_points_init(const char *executor_id);

/* The slow path of fault_point. Any thread. */
void fault_point_passed(enum fault_place place);

static inline void fault_point(enum fault_place place)
{
        if (__builtin_expect(fault_points_armed, 0))
                fault_point_passed(place);
}
