/*
 * The metrics of a process: meters, timers, and sources of gauges and counters.
 *
 *      struct metrics_registry *registry = metrics_registry_new("app-1.driver");
 *      struct metric_timer *timer = metrics_registry_timer(registry, "DAGScheduler.messageProcessingTime");
 *      metric_timer_update(timer, took_ns, now);
 *      metrics_registry_snapshot(registry, now, &snapshot);
 *
 * Gauges and counters cost nothing between snapshots: a source is a function that a snapshot calls. An update of a
 * meter costs an atomic addition, that of a timer a lock that is hardly ever taken by another thread.
 *
 * Timers keep a reservoir of 1,028 values in which newer ones weigh more (forward decay, 0.015 a
 * second), as Dropwizard's default does. Rates of meters decay as the load of Unix does, with a tick every 5 s.
 *
 * Any thread may update and take snapshots. Times are of CLOCK_MONOTONIC in nanoseconds. Metrics live as long as their
 * registry.
 */
#pragma once

#include "metrics/metrics_snapshot.h"

struct metrics_registry;
struct metric_meter;
struct metric_timer;

/* Copies @prefix, which goes before each name with a dot; NULL: none. */
struct metrics_registry *metrics_registry_new(const char *prefix);
void metrics_registry_free(struct metrics_registry *r); /* NULL is allowed */

/* Return the metric @name. Create it at first. A name has one kind. @now: when a meter begins to count. */
struct metric_meter *metrics_registry_meter(struct metrics_registry *r, const char *name, int64_t now);
struct metric_timer *metrics_registry_timer(struct metrics_registry *r, const char *name, int64_t now);

/* Do nothing if the metric is NULL, for code whose metrics are off. */
void metric_meter_mark(struct metric_meter *m, int64_t n, int64_t now);
void metric_timer_update(struct metric_timer *t, int64_t duration_ns, int64_t now);

/*
 * A source adds gauges and counters to a snapshot, under names such as "BlockManager.memory.maxMem_MB". It runs on any
 * thread, under the registry's lock, and must not block. @owner must outlive the registry's snapshots.
 */
typedef void metrics_source_fn(void *owner, struct metrics_snapshot *out);
void metrics_registry_add_source(struct metrics_registry *r, metrics_source_fn *fn, void *owner);

/* Replaces the content of @out, which must be initialised. */
void metrics_registry_snapshot(struct metrics_registry *r, int64_t now, struct metrics_snapshot *out);
