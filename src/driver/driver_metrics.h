/*
 * The metrics of a driver: Spark's sources LiveListenerBus, DAGScheduler, BlockManager and appStatus, under the names
 * NAMESPACE.driver.SOURCE.METRIC, and the sinks of metrics.properties that report them.
 *
 * A source reads counts that the driver keeps anyway, and only when a sink reports.
 */
#pragma once

struct driver_metrics;
struct fst_context;
struct fst_error;
struct metrics_snapshot;

/*
 * Starts the sinks of metrics.properties. Returns 0, or -EINVAL with @error for an invalid sink. The listener bus and
 * the application's status must outlive the result.
 */
int driver_metrics_start(struct fst_context *sc, struct driver_metrics **out, struct fst_error *error);

/* Replaces @out, which must be initialised, by the present values. Any thread. */
void driver_metrics_measure(struct driver_metrics *m, struct metrics_snapshot *out);

/* Reports once more, which takes at most a second, and releases. NULL is allowed. */
void driver_metrics_stop(struct driver_metrics *m);
