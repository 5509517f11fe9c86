/*
 * The metrics of a driver: Spark's sources LiveListenerBus, DAGScheduler, ExecutorAllocationManager, BlockManager,
 * appStatus, ExecutorMetrics, JVMCPU and (with a local master) executor, under the names
 * NAMESPACE.driver.SOURCE.METRIC, and the sinks of metrics.properties that report them.
 *
 * Most sources read counts that the driver keeps anyway, and only when a sink or a page asks. docs/metrics.md lists all
 * metrics.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct driver_metrics;
struct executor_source;
struct fst_context;
struct fst_error;
struct metric_meter;
struct metrics_snapshot;

/*
 * Starts the sinks of metrics.properties. Returns 0, or -EINVAL with @error for an invalid sink. The listener bus and
 * the application's status must outlive the result.
 */
int driver_metrics_start(struct fst_context *sc, struct driver_metrics **out, struct fst_error *error);

/* Replaces @out, which must be initialised, by the present values. Any thread. */
void driver_metrics_measure(struct driver_metrics *m, struct metrics_snapshot *out);

/* The counts that the scheduler's thread publishes after each of its turns. */
struct scheduler_counts {
        int64_t waiting_stages, failed_stages;
        bool allocates; /* dynamic allocation is on: */
        int64_t executors, executors_to_remove, executors_to_add, executors_needed, executors_target;
        int64_t decommission_unfinished, exited_unexpectedly, gracefully_decommissioned, killed_by_driver;
};
void driver_metrics_set_scheduler(struct driver_metrics *m, const struct scheduler_counts *counts);

/* The scheduler's thread has handled a message, or the results of a batch of tasks, since @began (now_ns). */
void driver_metrics_message_done(const struct driver_metrics *m, int64_t began); /* NULL is allowed */

/*
 * Returns the meter SOURCE.NAME, which it creates at first; it lives as long as the metrics. Any thread. NULL without
 * metrics.
 */
struct metric_meter *driver_metrics_meter(const struct driver_metrics *m, const char *source, const char *name);

/* Where slots of a local master count their tasks. NULL for NULL. */
struct executor_source *driver_metrics_tasks(const struct driver_metrics *m);

/* Reports once more, which takes at most a second, and ends the sinks. Other threads may still count. */
void driver_metrics_end(struct driver_metrics *m); /* NULL is allowed */

/* Reports once more, which takes at most a second, and releases. NULL is allowed. */
void driver_metrics_stop(struct driver_metrics *m);
