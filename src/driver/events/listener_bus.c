/*
 * The listener bus; see listener_bus.h.
 *
 * Events are copied into chunks of 256 KiB. A chunk is a sequence of entries: a header, then either task starts or ends
 * as columns (events/task_event_batch.h), or a pointer to one event in the chunk's own arena. The bus's thread takes
 * the whole list of chunks at once, passes the columns to listeners without copying, and returns the chunks for reuse.
 * So a batch of task events costs one lock and the bytes in which its tasks differ, and in the long run no memory is
 * allocated. Only listeners that want arrays cost the time to make them.
 *
 * Waking a thread costs a producer more than all of that. So the bus's thread does not sleep at once when it has run
 * dry, but checks again after LINGER_MS. Producers signal it only if it sleeps, or if it lingers while the queue fills
 * up or another thread waits for an empty queue. A busy application wakes it some 200 times a second, with any number
 * of tasks.
 *
 * Invariants, under the lock: `posted - delivered` events are pending. Only the last chunk of the list is appended to.
 * The list holds no empty chunk. The order of delivery is the order of the lock.
 *
 * Differs from Spark, where several queues with a thread each drop events when full: here one thread serves all
 * listeners, which are fast, and producers wait; see the header.
 */
#include "driver/events/listener_bus.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "metrics/metrics_registry.h"

#include <inttypes.h>
#include <pthread.h>
#include <time.h>

#define CHUNK_BYTES ((size_t)256 << 10)
#define CHUNK_SIDE_BYTES ((size_t)1 << 20) /* a chunk whose arena exceeds this is full */
#define MAX_SPARE_CHUNKS 4
#define MAX_PENDING_BYTES ((size_t)64 << 20)
#define LINGER_MS 5
#define DROP_REPORT_MS 60000

enum bus_entry_kind {
        ENTRY_TASK_STARTS,
        ENTRY_TASK_ENDS,
#define ENTRY_KIND(kind) ENTRY_##kind,
        EVENT_KINDS(ENTRY_KIND)
#undef ENTRY_KIND
};

struct bus_entry {
        uint32_t kind; /* enum bus_entry_kind */
        uint32_t n;
        uint64_t payload[]; /* a struct task_event_batch of n events, or one pointer */
};

struct event_chunk {
        struct event_chunk *next;
        struct arena side;
        struct bus_entry *last; /* NULL: empty */
        size_t used;            /* bytes of `data` */
        size_t events;
        size_t bytes; /* as counted in bytes_pending */
        uint64_t data[CHUNK_BYTES / sizeof(uint64_t)];
};

/* Timers of a listener and of its queue. */
struct listener_timers {
        struct metric_timer *listener, *queue;
};

enum consumer_state { CONSUMER_WORKING, CONSUMER_LINGERING, CONSUMER_SLEEPING };

struct listener_bus {
        size_t capacity;
        int64_t stall_ms;
        VEC(struct listener *) listeners;
        struct listener_timers *timers; /* of each listener; NULL: not measured. Atomic */
        struct task_start *starts;      /* a batch as an array, on the bus's thread; NULL: not needed yet */
        struct task_end *ends;
        pthread_t thread;
        pthread_mutex_t lock;
        pthread_cond_t work; /* the bus's thread waits on it */
        pthread_cond_t room; /* producers, and threads that wait for an empty queue */
        struct event_chunk *first, *last;
        struct event_chunk *spare;
        size_t n_spare;
        size_t bytes_pending;
        uint64_t posted, delivered, dropped;
        uint64_t dropped_reported;
        int64_t drop_report_ms; /* when drops were last reported; 0: never */
        size_t waiters;
        enum consumer_state state;
        bool started, stopping, stopped;
        bool stalled; /* a producer waited in vain: drop events until there is room */
};

static struct timespec listener_bus_deadline(int64_t ms_from_now)
{
        return timespec_of_ns(now_ns() + ms_to_ns(ms_from_now));
}

/* ------------------------------------------------------------------------------------------------- queue */

static struct event_chunk *listener_bus_last_chunk(struct listener_bus *bus, size_t need)
{
        struct event_chunk *c = bus->last;
        if (c && sizeof(c->data) - c->used >= need && c->side.bytes <= CHUNK_SIDE_BYTES)
                return c;
        if (bus->spare) {
                c = bus->spare;
                bus->spare = c->next;
                bus->n_spare--;
        } else {
                c = mem_alloc(sizeof(*c));
                c->side = ARENA_INIT;
        }
        c->next = NULL;
        c->last = NULL;
        c->used = c->events = 0;
        c->bytes = sizeof(*c) + c->side.bytes;
        bus->bytes_pending += c->bytes;
        if (bus->last)
                bus->last->next = c;
        else
                bus->first = c;
        bus->last = c;
        return c;
}

static struct bus_entry *listener_bus_add_entry(struct event_chunk *c, enum bus_entry_kind kind)
{
        struct bus_entry *e = (struct bus_entry *)((char *)c->data + c->used);
        e->kind = kind;
        e->n = 0;
        c->used += sizeof(*e);
        c->last = e;
        return e;
}

static void listener_bus_account_arena(struct listener_bus *bus, struct event_chunk *c)
{
        size_t bytes = sizeof(*c) + c->side.bytes;
        bus->bytes_pending += bytes - c->bytes;
        c->bytes = bytes;
}

static void listener_bus_report_drops(struct listener_bus *bus)
{
        if (bus->dropped == bus->dropped_reported)
                return;
        int64_t now = now_ms();
        if (bus->drop_report_ms == 0)
                log_error("AsyncEventQueue", "Dropping event from queue shared. This likely means one of the "
                                             "listeners is stuck (a file system that hangs?) and cannot keep up.");
        else if (now - bus->drop_report_ms < DROP_REPORT_MS && !bus->stopping)
                return;
        log_warn("AsyncEventQueue", "Dropped %" PRIu64 " events from shared since %s.",
                 bus->dropped - bus->dropped_reported,
                 bus->drop_report_ms == 0 ? "the application started" : "the last such message");
        bus->dropped_reported = bus->dropped;
        bus->drop_report_ms = now;
}

static bool listener_bus_has_room(const struct listener_bus *bus)
{
        return bus->posted - bus->delivered < bus->capacity && bus->bytes_pending < MAX_PENDING_BYTES;
}

static void listener_bus_wake_consumer(struct listener_bus *bus, bool urgent)
{
        if (bus->state == CONSUMER_SLEEPING || (bus->state == CONSUMER_LINGERING && urgent)) {
                bus->state = CONSUMER_WORKING;
                pthread_cond_signal(&bus->work);
        }
}

/* Waits for room, with the lock held. Returns false if the @n events must be dropped. */
static bool listener_bus_wait_for_room(struct listener_bus *bus, size_t n)
{
        if (bus->stopped)
                return false;
        if (!bus->started || listener_bus_has_room(bus)) {
                bus->stalled = false;
                return true;
        }
        uint64_t seen = bus->delivered;
        struct timespec until = listener_bus_deadline(bus->stall_ms);
        while (!bus->stopped && !bus->stalled) {
                listener_bus_wake_consumer(bus, true);
                bus->waiters++;
                int timeout = pthread_cond_timedwait(&bus->room, &bus->lock, &until);
                bus->waiters--;
                if (listener_bus_has_room(bus))
                        return !bus->stopped;
                if (bus->delivered != seen) {
                        seen = bus->delivered;
                        until = listener_bus_deadline(bus->stall_ms);
                } else if (timeout) {
                        bus->stalled = true;
                }
        }
        bus->dropped += n;
        listener_bus_report_drops(bus);
        return false;
}

static void listener_bus_posted(struct listener_bus *bus, struct event_chunk *c, size_t n)
{
        c->events += n;
        bus->posted += n;
        listener_bus_wake_consumer(bus, bus->posted - bus->delivered >= bus->capacity / 4);
}

/*
 * Waits for room for @n events and appends an entry for those that @head describes. Returns it, with the lock held: the
 * caller fills in the values and calls listener_bus_end_batch. NULL: the events are dropped, and the lock is free.
 */
static struct task_event_batch *listener_bus_begin_batch(struct listener_bus *bus, enum bus_entry_kind kind,
                                                         const struct task_event_batch *head, size_t n)
{
        pthread_mutex_lock(&bus->lock);
        if (!listener_bus_wait_for_room(bus, n)) {
                pthread_mutex_unlock(&bus->lock);
                return NULL;
        }
        size_t size = task_event_batch_bytes(head);
        struct event_chunk *c = listener_bus_last_chunk(bus, sizeof(struct bus_entry) + size);
        struct bus_entry *e = listener_bus_add_entry(c, kind);
        e->n = head->n;
        c->used += size;
        return (struct task_event_batch *)e->payload;
}

/* Copies the detail of the entry, which is another's, and posts it. */
static void listener_bus_end_batch(struct listener_bus *bus, struct task_event_batch *batch)
{
        if (unlikely(batch->detail)) {
                batch->detail = event_copy_task_detail(&bus->last->side, batch->detail);
                listener_bus_account_arena(bus, bus->last);
        }
        listener_bus_posted(bus, bus->last, batch->n);
        pthread_mutex_unlock(&bus->lock);
}

void listener_bus_post_task_starts(struct listener_bus *bus, const struct task_start *batch, size_t n)
{
        struct task_event_batch head;
        for (; n > 0; batch += head.n, n -= head.n) {
                task_event_batch_of_starts(&head, batch, MIN(n, bus->capacity));
                struct task_event_batch *to = listener_bus_begin_batch(bus, ENTRY_TASK_STARTS, &head, n);
                if (!to)
                        return;
                task_event_batch_put_starts(&head, batch, to);
                listener_bus_end_batch(bus, to);
        }
}

void listener_bus_post_task_ends(struct listener_bus *bus, const struct task_end *batch, size_t n)
{
        struct task_event_batch head;
        for (; n > 0; batch += head.n, n -= head.n) {
                task_event_batch_of_ends(&head, batch, MIN(n, bus->capacity));
                struct task_event_batch *to = listener_bus_begin_batch(bus, ENTRY_TASK_ENDS, &head, n);
                if (!to)
                        return;
                task_event_batch_put_ends(&head, batch, to);
                listener_bus_end_batch(bus, to);
        }
}

void listener_bus_post_task_batch(struct listener_bus *bus, const struct task_event_batch *b)
{
        enum bus_entry_kind kind = b->n_columns == TASK_START_COLUMNS ? ENTRY_TASK_STARTS : ENTRY_TASK_ENDS;
        struct task_event_batch *to = listener_bus_begin_batch(bus, kind, b, b->n);
        if (!to)
                return;
        memcpy(to, b, task_event_batch_bytes(b));
        listener_bus_end_batch(bus, to);
}

#define POST(name)                                                                                                     \
        void listener_bus_post_##name(struct listener_bus *bus, const struct name *event)                              \
        {                                                                                                              \
                pthread_mutex_lock(&bus->lock);                                                                        \
                if (listener_bus_wait_for_room(bus, 1)) {                                                              \
                        struct event_chunk *c =                                                                        \
                                listener_bus_last_chunk(bus, sizeof(struct bus_entry) + sizeof(uint64_t));             \
                        struct bus_entry *e = listener_bus_add_entry(c, ENTRY_##name);                                 \
                        e->n = 1;                                                                                      \
                        e->payload[0] = (uintptr_t)event_copy_##name(&c->side, event);                                 \
                        c->used += sizeof(uint64_t);                                                                   \
                        listener_bus_account_arena(bus, c);                                                            \
                        listener_bus_posted(bus, c, 1);                                                                \
                }                                                                                                      \
                pthread_mutex_unlock(&bus->lock);                                                                      \
        }
EVENT_KINDS(POST)

/* ---------------------------------------------------------------------------------------------- delivery */

static size_t bus_entry_bytes(const struct bus_entry *e)
{
        bool is_batch = e->kind == ENTRY_TASK_STARTS || e->kind == ENTRY_TASK_ENDS;
        return sizeof(*e) +
               (is_batch ? task_event_batch_bytes((const struct task_event_batch *)e->payload) : sizeof(uint64_t));
}

/* Makes the arrays of a batch, if a listener wants them. */
static void listener_bus_expand(struct listener_bus *bus, const struct bus_entry *e)
{
        const struct task_event_batch *b = (const struct task_event_batch *)e->payload;
        for (size_t i = 0; i < bus->listeners.len; i++) {
                const struct listener *l = bus->listeners.data[i];
                if (e->kind == ENTRY_TASK_STARTS && l->on_task_starts && !l->on_task_start_batch) {
                        if (!bus->starts)
                                bus->starts = new_array(struct task_start, MAX_TASK_EVENT_BATCH);
                        task_event_batch_get_starts(b, bus->starts);
                        return;
                }
                if (e->kind == ENTRY_TASK_ENDS && l->on_task_ends && !l->on_task_end_batch) {
                        if (!bus->ends)
                                bus->ends = new_array(struct task_end, MAX_TASK_EVENT_BATCH);
                        task_event_batch_get_ends(b, bus->ends);
                        return;
                }
        }
}

static void listener_bus_deliver_entry(const struct listener_bus *bus, struct listener *l, const struct bus_entry *e)
{
        switch ((enum bus_entry_kind)e->kind) {
        case ENTRY_TASK_STARTS:
                if (l->on_task_start_batch)
                        l->on_task_start_batch(l, (const struct task_event_batch *)e->payload);
                else if (l->on_task_starts)
                        l->on_task_starts(l, bus->starts, e->n);
                break;
        case ENTRY_TASK_ENDS:
                if (l->on_task_end_batch)
                        l->on_task_end_batch(l, (const struct task_event_batch *)e->payload);
                else if (l->on_task_ends)
                        l->on_task_ends(l, bus->ends, e->n);
                break;
#define DELIVER(name)                                                                                                  \
        case ENTRY_##name:                                                                                             \
                if (l->on_##name)                                                                                      \
                        l->on_##name(l, (const struct name *)(uintptr_t)e->payload[0]);                                \
                break;
                EVENT_KINDS(DELIVER)
#undef DELIVER
        }
}

/* Counts the time since @began. Returns the present time. */
static int64_t listener_timers_update(const struct listener_timers *t, int64_t began)
{
        int64_t now = now_ns();
        metric_timer_update(t->listener, now - began, now);
        metric_timer_update(t->queue, now - began, now);
        return now;
}

static void listener_bus_deliver_chunk(struct listener_bus *bus, const struct event_chunk *c)
{
        const struct listener_timers *timers = __atomic_load_n(&bus->timers, __ATOMIC_ACQUIRE);
        for (size_t at = 0; at < c->used;) {
                const struct bus_entry *e = (const struct bus_entry *)((const char *)c->data + at);
                int64_t began = timers ? now_ns() : 0;
                listener_bus_expand(bus, e);
                for (size_t i = 0; i < bus->listeners.len; i++) {
                        listener_bus_deliver_entry(bus, bus->listeners.data[i], e);
                        if (timers)
                                began = listener_timers_update(&timers[i], began);
                }
                at += bus_entry_bytes(e);
        }
}

/* Delivers a list of chunks and returns each for reuse, under the lock. */
static void listener_bus_deliver(struct listener_bus *bus, struct event_chunk *list)
{
        while (list) {
                struct event_chunk *c = list;
                list = c->next;
                listener_bus_deliver_chunk(bus, c);
                arena_reset(&c->side);
                pthread_mutex_lock(&bus->lock);
                bus->delivered += c->events;
                bus->bytes_pending -= c->bytes;
                bool keep = bus->n_spare < MAX_SPARE_CHUNKS;
                if (keep) {
                        c->next = bus->spare;
                        bus->spare = c;
                        bus->n_spare++;
                }
                if (bus->waiters)
                        pthread_cond_broadcast(&bus->room);
                pthread_mutex_unlock(&bus->lock);
                if (!keep) {
                        arena_deinit(&c->side);
                        free(c);
                }
        }
}

static void listener_bus_notify(struct listener_bus *bus, bool stop)
{
        for (size_t i = 0; i < bus->listeners.len; i++) {
                struct listener *l = bus->listeners.data[i];
                void (*callback)(struct listener *) = stop ? l->on_stop : l->on_idle;
                if (callback)
                        callback(l);
        }
}

/* With the lock held: linger, then sleep, until there is work or the bus stops. */
static void listener_bus_wait_for_work(struct listener_bus *bus)
{
        struct timespec until = listener_bus_deadline(LINGER_MS);
        bus->state = CONSUMER_LINGERING;
        while (bus->state == CONSUMER_LINGERING && !bus->stopping)
                if (pthread_cond_timedwait(&bus->work, &bus->lock, &until))
                        break;
        while (!bus->first && !bus->stopping) {
                bus->state = CONSUMER_SLEEPING;
                pthread_cond_wait(&bus->work, &bus->lock);
        }
        bus->state = CONSUMER_WORKING;
}

static void *listener_bus_run(void *arg)
{
        struct listener_bus *bus = arg;
        pthread_mutex_lock(&bus->lock);
        for (;;) {
                struct event_chunk *list = bus->first;
                bus->first = bus->last = NULL;
                if (list) {
                        pthread_mutex_unlock(&bus->lock);
                        listener_bus_deliver(bus, list);
                        pthread_mutex_lock(&bus->lock);
                        if (bus->first)
                                continue;
                        pthread_mutex_unlock(&bus->lock);
                        listener_bus_notify(bus, false);
                        pthread_mutex_lock(&bus->lock);
                        if (bus->first && bus->waiters)
                                continue;
                } else if (bus->stopping) {
                        break;
                }
                if (!bus->stopping)
                        listener_bus_wait_for_work(bus);
        }
        pthread_mutex_unlock(&bus->lock);
        listener_bus_notify(bus, true);
        return NULL;
}

/* --------------------------------------------------------------------------------------------- start and end */

struct listener_bus *listener_bus_new(struct listener_bus_options options)
{
        struct listener_bus *bus = new0(struct listener_bus);
        bus->capacity = options.capacity ? options.capacity : 10000;
        bus->stall_ms = options.stall_ms ? options.stall_ms : 10000;
        pthread_mutex_init(&bus->lock, NULL);
        cond_init_monotonic(&bus->work);
        cond_init_monotonic(&bus->room);
        return bus;
}

void listener_bus_add(struct listener_bus *bus, struct listener *listener)
{
        vec_push(&bus->listeners, listener);
}

/* Spark's class and queue of a listener. */
static const struct listener_place {
        const char *name, *class, *queue;
} listener_places[] = {
        {"AppStatusListener", "org.apache.spark.status.AppStatusListener", "appStatus"},
        {"EventLoggingListener", "org.apache.spark.scheduler.EventLoggingListener", "eventLog"},
};

static struct listener_place listener_find_place(const struct listener *l)
{
        for (size_t i = 0; i < ARRAY_SIZE(listener_places); i++)
                if (strcmp(listener_places[i].name, l->name) == 0)
                        return listener_places[i];
        return (struct listener_place){l->name, l->name, "shared"};
}

void listener_bus_measure(struct listener_bus *bus, struct metrics_registry *registry)
{
        struct listener_timers *timers = new_array(struct listener_timers, bus->listeners.len + 1);
        int64_t now = now_ns();
        for (size_t i = 0; i < bus->listeners.len; i++) {
                struct listener_place place = listener_find_place(bus->listeners.data[i]);
                _cleanup_free_ char *own = mem_printf("LiveListenerBus.listenerProcessingTime.%s", place.class);
                _cleanup_free_ char *queue = mem_printf("LiveListenerBus.queue.%s.listenerProcessingTime", place.queue);
                timers[i].listener = metrics_registry_timer(registry, own, now);
                timers[i].queue = metrics_registry_timer(registry, queue, now);
        }
        __atomic_store_n(&bus->timers, timers, __ATOMIC_RELEASE);
}

size_t listener_bus_queues(const struct listener_bus *bus, const char **names)
{
        size_t n = 0;
        for (size_t i = 0; i < bus->listeners.len; i++) {
                struct listener_place place = listener_find_place(bus->listeners.data[i]);
                size_t known = 0;
                while (known < n && strcmp(names[known], place.queue) != 0)
                        known++;
                if (known == n)
                        names[n++] = place.queue;
        }
        return n;
}

void listener_bus_start(struct listener_bus *bus)
{
        if (pthread_create(&bus->thread, NULL, listener_bus_run, bus) != 0) {
                log_error("LiveListenerBus",
                          "cannot start the listener bus's thread: check the limit of processes (ulimit -u)");
                abort();
        }
        pthread_setname_np(bus->thread, "listener-bus");
        pthread_mutex_lock(&bus->lock);
        bus->started = true;
        pthread_mutex_unlock(&bus->lock);
}

bool listener_bus_wait_until_empty(struct listener_bus *bus, int64_t timeout_ms)
{
        struct timespec until = listener_bus_deadline(timeout_ms);
        pthread_mutex_lock(&bus->lock);
        uint64_t target = bus->posted;
        int timeout = 0;
        bus->waiters++;
        while (bus->delivered < target && !timeout) {
                listener_bus_wake_consumer(bus, true);
                timeout = pthread_cond_timedwait(&bus->room, &bus->lock, &until);
        }
        bus->waiters--;
        bool empty = bus->delivered >= target;
        pthread_mutex_unlock(&bus->lock);
        return empty;
}

uint64_t listener_bus_dropped(struct listener_bus *bus)
{
        pthread_mutex_lock(&bus->lock);
        uint64_t dropped = bus->dropped;
        pthread_mutex_unlock(&bus->lock);
        return dropped;
}

struct listener_bus_counts listener_bus_counts(struct listener_bus *bus)
{
        pthread_mutex_lock(&bus->lock);
        struct listener_bus_counts counts = {bus->posted, bus->posted - bus->delivered, bus->dropped};
        pthread_mutex_unlock(&bus->lock);
        return counts;
}

void listener_bus_stop(struct listener_bus *bus)
{
        pthread_mutex_lock(&bus->lock);
        bool first = !bus->stopping;
        bool join = first && bus->started;
        bus->stopping = bus->stopped = true;
        if (first)
                listener_bus_report_drops(bus);
        pthread_cond_signal(&bus->work);
        pthread_cond_broadcast(&bus->room);
        pthread_mutex_unlock(&bus->lock);
        if (join)
                pthread_join(bus->thread, NULL);
}

static void listener_bus_free_chunks(struct event_chunk *c)
{
        while (c) {
                struct event_chunk *next = c->next;
                arena_deinit(&c->side);
                free(c);
                c = next;
        }
}

void listener_bus_free(struct listener_bus *bus)
{
        if (!bus)
                return;
        listener_bus_stop(bus);
        listener_bus_free_chunks(bus->first);
        listener_bus_free_chunks(bus->spare);
        vec_deinit(&bus->listeners);
        free(bus->timers);
        free(bus->starts);
        free(bus->ends);
        pthread_cond_destroy(&bus->work);
        pthread_cond_destroy(&bus->room);
        pthread_mutex_destroy(&bus->lock);
        free(bus);
}
