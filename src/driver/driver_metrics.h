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

/*
 * Starts the sinks. Returns 0 with *@out NULL without any, or -EINVAL with @error for an invalid sink. The listener bus
 * and the application's status must outlive the result.
 */
int driver_metrics_start(struct fst_context *sc, struct driver_metrics **out, struct fst_error *error);

/* Reports once more, which takes at most a second, and releases. NULL is allowed. */
void driver_metrics_stop(struct driver_metrics *m);
