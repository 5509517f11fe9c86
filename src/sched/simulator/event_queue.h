/* The event queue and clock of a simulation. The earliest event comes first; of two at the same time, the one pushed
 * first, so that a run depends only on its seed.
 */
#pragma once

#include "base/vec.h"

#include <stdint.h>

struct event {
        int64_t at; /* ns */
        uint32_t order;
        uint16_t kind;
        uint16_t extra;
        int64_t number; /* these three belong to the owner */
        int32_t index;
};

struct event_queue {
        VEC(struct event) heap;
        uint32_t next_order;
};

void event_queue_deinit(struct event_queue *q);
void event_queue_push(struct event_queue *q, struct event event);

/* Removes and returns the earliest event. The queue must not be empty. */
struct event event_queue_pop(struct event_queue *q);

/* Time of the earliest event; INT64_MAX if there is none. */
static inline int64_t event_queue_time(const struct event_queue *q)
{
        return q->heap.len > 0 ? q->heap.data[0].at : INT64_MAX;
}
