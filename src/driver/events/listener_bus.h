/*
 * The listener bus: delivers events of the schedulers to listeners on a thread of its own, in the order of posting.
 *
 * At most `capacity` events (spark.scheduler.listenerbus.eventqueue.capacity) are pending. A producer waits for room as
 * long as the listeners make progress, where Spark would drop events. Only if the listeners deliver nothing for
 * `stall_ms` (a hung disk), events are dropped, with Spark's warning and a count, so that the application continues
 * (docs/differences.md).
 *
 * Threads: any thread but the bus's own may post. Listeners run only on the bus's thread, in the order in which they
 * were added.
 */
#pragma once

#include "events/events.h"
#include "events/task_event_batch.h"

struct listener_bus;
struct metrics_registry;

/*
 * The callbacks of a listener; NULL for events that it ignores. Events are borrowed until the callback returns. Embed
 * it first in the listener's struct, and fill it with designated initialisers.
 */
struct listener {
        const char *name; /* for warnings: "EventLoggingListener" */

#define LISTENER_CALLBACK(kind) void (*on_##kind)(struct listener * self, const struct kind *event);
        EVENT_KINDS(LISTENER_CALLBACK) /* on_job_start, on_stage_completed, … */
#undef LISTENER_CALLBACK

        /* Task events come in arrays, in order; never empty. */
        void (*on_task_starts)(struct listener *self, const struct task_start *batch, size_t n);
        void (*on_task_ends)(struct listener *self, const struct task_end *batch, size_t n);

        /* The same events as columns. A listener that has one of these callbacks gets no array of that kind. */
        void (*on_task_start_batch)(struct listener *self, const struct task_event_batch *batch);
        void (*on_task_end_batch)(struct listener *self, const struct task_event_batch *batch);

        /* All posted events have been delivered and the bus is about to sleep. */
        void (*on_idle)(struct listener *self);

        /* The bus has stopped: no more events follow. */
        void (*on_stop)(struct listener *self);
};

struct listener_bus_options {
        size_t capacity;  /* events; 0: 10,000 */
        int64_t stall_ms; /* 0: 10,000 */
};

/* Create a bus without a thread. Events may be posted (and wait) before listener_bus_start. */
struct listener_bus *listener_bus_new(struct listener_bus_options options);

/* Add a listener, which must outlive the bus. Only before listener_bus_start. */
void listener_bus_add(struct listener_bus *bus, struct listener *listener);

/*
 * Start the thread, which first delivers the events posted before. Until then posting never waits. Aborts if the thread
 * cannot be started.
 */
void listener_bus_start(struct listener_bus *bus);

/*
 * Post an event. Copies it with everything it points to, except executor_ref. May wait for room. Ignored after
 * listener_bus_stop.
 *
 *      listener_bus_post_job_start(bus, &(struct job_start){.id = 3, …});
 */
#define LISTENER_BUS_POST(kind) void listener_bus_post_##kind(struct listener_bus *bus, const struct kind *event);
EVENT_KINDS(LISTENER_BUS_POST)
#undef LISTENER_BUS_POST

/*
 * Post @n task events with one queue operation (some tens of nanoseconds for each event). Only tests post starts so:
 * the driver posts them as batches of columns.
 */
void listener_bus_post_task_starts(struct listener_bus *bus, const struct task_start *batch, size_t n);
void listener_bus_post_task_ends(struct listener_bus *bus, const struct task_end *batch, size_t n);

/* Post the events of a batch. So at most a batch more than the capacity may be pending. */
void listener_bus_post_task_batch(struct listener_bus *bus, const struct task_event_batch *b);

/*
 * Wait until all events posted before this call were delivered. Returns false after @timeout_ms. Not on the
 * bus's thread.
 */
bool listener_bus_wait_until_empty(struct listener_bus *bus, int64_t timeout_ms);

/* For tests: the number of dropped events. */
uint64_t listener_bus_dropped(struct listener_bus *bus);

/* Counts of events since the start. Any thread. */
struct listener_bus_counts {
        uint64_t posted, pending, dropped;
};
struct listener_bus_counts listener_bus_counts(struct listener_bus *bus);

/*
 * From now on, time each listener and queue: LiveListenerBus.listenerProcessingTime.CLASS, under Spark's name of the
 * class, and LiveListenerBus.queue.QUEUE.listenerProcessingTime. An array of task events counts once. After the last
 * listener was added. @registry must outlive the thread of the bus. Call it once.
 */
void listener_bus_measure(struct listener_bus *bus, struct metrics_registry *registry);

/*
 * Fills @names with Spark's queues that have a listener here: "appStatus", "eventLog", "shared". One queue stands for
 * all of them. Returns their number, at most LISTENER_QUEUES.
 */
enum { LISTENER_QUEUES = 3 };
size_t listener_bus_queues(const struct listener_bus *bus, const char **names);

/* Deliver pending events, call on_stop of the listeners, and end the thread. A second call does nothing. */
void listener_bus_stop(struct listener_bus *bus);

/* Stop and release. NULL is allowed. */
void listener_bus_free(struct listener_bus *bus);
