/*
 * Fault points: named places in an executor's work where a test stops the world. They are the tool of tests/faults,
 * which kills, stops or cuts off executors at chosen moments; nothing else uses them.
 *
 * An executor that finds FIRESTEEL_FAULT_POINTS in its environment, the path of a listening unix socket, says there in
 * one line "ID PID PLACE\n" each time that it passes a place, and waits until it is sent a byte (or the socket is
 * closed). Whoever listens does meanwhile to the process what it likes. Each thread has a connection of its own, so
 * that one that waits holds nobody else up.
 *
 * Without the variable a place costs a load and a branch that is never taken.
 */
#pragma once

#include <stdbool.h>

enum fault_place {
        FAULT_REGISTER,    /* about to register with the driver */
        FAULT_MAP,         /* rows are written to a map output, or it has just become complete */
        FAULT_FETCH,       /* about to ask another executor for map outputs, or to read their next page */
        FAULT_REDUCE,      /* all map outputs of a partition were read, or the result is about to be reported */
        FAULT_COMMIT,      /* an output may be committed and is about to be, or just was */
        FAULT_CACHED_READ, /* rows of a kept partition were found, here or elsewhere, and are being read */
};

extern bool fault_points_armed;

/* Look at the environment; @executor_id is borrowed for ever. Before there are threads. */
void fault_points_init(const char *executor_id);

/* What fault_point does when armed. Any thread. */
void fault_point_passed(enum fault_place place);

static inline void fault_point(enum fault_place place)
{
        if (__builtin_expect(fault_points_armed, 0))
                fault_point_passed(place);
}
