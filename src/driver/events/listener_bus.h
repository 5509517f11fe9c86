/*
 * The listener bus: carries events from the schedulers to listeners on a thread of its own, in the order in which
 * they were posted, whatever their kind.
 *
 * Bounded: at most `capacity` events (spark.scheduler.listenerbus.eventqueue.capacity) are underway. A producer
 * that is further ahead waits as long as the listeners make progress; where Spark would drop events, none is
 * lost. Only when the listeners have delivered nothing at all for `stall_ms` (a hung disk) are events dropped,
 * with Spark's warning and a count, because the application must go on (docs/differences.md).
 *
 * Threads: posting is safe from every thread but the bus's own. Listeners are called on the bus's thread only,
 * one after another in the order of their addition.
 */
#pragma once

#include "driver/events/events.h"

struct listener_bus;

/*
 * What a listener wants to hear; NULL for what it does not. Events are borrowed until the callback returns.
 * Embed it first in the listener's struct; fill it with designated initialisers.
 */
struct listener {
        const char *name; /* for warnings: "EventLoggingListener" */

#define LISTENER_CALLBACK(kind) void (*on_##kind)(struct listener * self, const struct kind *event);
        EVENT_KINDS(LISTENER_CALLBACK) /* on_job_start, on_stage_completed, … */
#undef LISTENER_CALLBACK

        /* Task events come in arrays, in order; never empty. */
        void (*on_task_starts)(struct listener *self, const struct task_start *batch, size_t n);
        void (*on_task_ends)(struct listener *self, const struct task_end *batch, size_t n);

        /* All that was posted so far has been delivered and the bus is about to sleep. */
        void (*on_idle)(struct listener *self);

        /* The bus stops; nothing comes any more. */
        void (*on_stop)(struct listener *self);
};

struct listener_bus_options {
        size_t capacity;  /* events; 0: 10,000 */
        int64_t stall_ms; /* 0: 10,000 */
};

/* A bus without a thread: events may be posted (and wait) before listener_bus_start. */
struct listener_bus *listener_bus_new(struct listener_bus_options options);

/* Add a listener, which must outlive the bus. Before listener_bus_start only. */
void listener_bus_add(struct listener_bus *bus, struct listener *listener);

/* Start delivering. Before that posting never waits: what was posted is delivered first. Aborts without a thread. */
void listener_bus_start(struct listener_bus *bus);

/*
 * Post an event. It is copied with all that it points to (but executor_ref's). May wait, see above. After
 * listener_bus_stop it is ignored.
 *
 *      listener_bus_post_job_start(bus, &(struct job_start){.id = 3, …});
 */
#define LISTENER_BUS_POST(kind) void listener_bus_post_##kind(struct listener_bus *bus, const struct kind *event);
EVENT_KINDS(LISTENER_BUS_POST)
#undef LISTENER_BUS_POST

/* Post @n task events with one queue operation (some tens of nanoseconds an event). */
void listener_bus_post_task_starts(struct listener_bus *bus, const struct task_start *batch, size_t n);
void listener_bus_post_task_ends(struct listener_bus *bus, const struct task_end *batch, size_t n);

/* Wait until everything posted before this call was delivered; false after @timeout_ms. Not on the bus's thread. */
bool listener_bus_wait_until_empty(struct listener_bus *bus, int64_t timeout_ms);

/* Events lost so far. */
uint64_t listener_bus_dropped(struct listener_bus *bus);

/* Deliver what is underway, tell listeners (on_stop), end the thread. A second call does nothing. */
void listener_bus_stop(struct listener_bus *bus);

/* Stop and release. NULL is allowed. */
void listener_bus_free(struct listener_bus *bus);
