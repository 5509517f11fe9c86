/*
 * The event log: a listener that writes events as Spark's JSON lines, from which a history server (Spark's or ours)
 * shows the application afterwards.
 *
 * As in Spark, every event but task starts and ends, stage submissions and the environment causes a flush, here once
 * the bus is idle. If writing fails (a full disk), the log reports it once, stops, and keeps its ".inprogress". The
 * application continues.
 */
#pragma once

#include "driver/events/event_file.h"
#include "events/event_json.h"
#include "driver/events/listener_bus.h"

struct fst_conf;
struct event_log;

struct event_log_options {
        struct event_file_options file;
        bool block_updates;    /* spark.eventLog.logBlockUpdates.enabled */
        bool accumulables;     /* spark.eventLog.includeTaskMetricsAccumulators */
        bool executor_metrics; /* spark.eventLog.logStageExecutorMetrics: a SparkListenerStageExecutorMetrics for each
                                  executor that ran tasks of a stage, before the stage's end */
        struct event_json_redact redact;
};

/* Returns Spark's defaults: /tmp/spark-events, zstd, rolling at 128 MiB. The caller sets ids and redaction. */
struct event_log_options event_log_defaults(void);

/*
 * Apply spark.eventLog.* and spark.io.compression.* to the result of event_log_defaults. The caller owns file.dir and
 * frees it once the log is open. Returns 0, or -EINVAL with @error, which names the key.
 */
int event_log_read_conf(struct event_log_options *options, const struct fst_conf *conf, struct fst_error *error);

/* Create the log and write its first line. Returns as event_file_open. */
int event_log_open(struct event_log **log, const struct event_log_options *options, struct fst_error *error);

/* The listener for the bus. Borrowed. */
struct listener *event_log_listener(struct event_log *log);

/* For tests: the path of the file or directory, for messages. Borrowed. */
const char *event_log_path(const struct event_log *log);

/* For tests: the number of events written. Called after the bus has stopped. */
int64_t event_log_events(const struct event_log *log);

/* Called after the bus has stopped, which closes the log. NULL is allowed. */
void event_log_free(struct event_log *log);
