/*
 * The event log: a listener that writes what happens as Spark's JSON lines, so that the history server (Spark's
 * or ours) can show the application afterwards.
 *
 * Like Spark it flushes after every event but task starts and ends, stage submissions and the environment; here
 * when the bus has caught up. When writing fails (a full disk), that is told once, the log ends there and keeps
 * its ".inprogress", and the application goes on.
 */
#pragma once

#include "driver/events/event_file.h"
#include "driver/events/event_json.h"
#include "driver/events/listener_bus.h"

struct fst_conf;
struct event_log;

struct event_log_options {
        struct event_file_options file;
        bool block_updates;    /* spark.eventLog.logBlockUpdates.enabled */
        bool accumulables;     /* spark.eventLog.includeTaskMetricsAccumulators */
        bool executor_metrics; /* spark.eventLog.logStageExecutorMetrics: a SparkListenerStageExecutorMetrics for each
                                * executor that ran tasks of a stage, before the stage's end */
        struct event_json_redact redact;
};

/* Spark's defaults: /tmp/spark-events, zstd, rolling at 128 MiB. Ids and redaction are left to the caller. */
struct event_log_options event_log_defaults(void);

/*
 * What spark.eventLog.* and spark.io.compression.* say, on top of event_log_defaults. file.dir is owned by the caller
 * (free it once the log is open). -EINVAL names the key.
 */
int event_log_read_conf(struct event_log_options *options, const struct fst_conf *conf, struct fst_error *error);

/* Create the log and write its first line. As event_file_open. */
int event_log_open(struct event_log **log, const struct event_log_options *options, struct fst_error *error);

/* To be added to the bus. Borrowed. */
struct listener *event_log_listener(struct event_log *log);

/* The file or directory, for messages. Borrowed. */
const char *event_log_path(const struct event_log *log);

/* Events written. After the bus has stopped. */
int64_t event_log_events(const struct event_log *log);

/* After the bus was stopped, which has closed the log. NULL is allowed. */
void event_log_free(struct event_log *log);
