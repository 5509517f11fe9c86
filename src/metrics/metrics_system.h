/*
 * The sinks of a process: each reports the metrics of a registry with a period of its own.
 *
 * Each sink has a thread, so that a slow peer delays neither the application nor other sinks. A report takes at most 5
 * s, the last one, at the stop, 1 s. A sink that fails is named once in a warning, and again only after a success.
 *
 * | class | |
 * |---|---|
 * | org.apache.spark.metrics.sink.ConsoleSink | standard output |
 * | org.apache.spark.metrics.sink.CsvSink | a file for each metric in a directory |
 * | org.apache.spark.metrics.sink.GraphiteSink | TCP or UDP |
 * | org.apache.spark.metrics.sink.StatsdSink | UDP |
 * | org.apache.spark.metrics.sink.Slf4jSink | lines of the log, component "metrics" |
 * | firesteel.PushGatewaySink, com.banzaicloud.spark.metrics.sink.PrometheusSink | HTTP to a pushgateway |
 * | MetricsServlet, PrometheusServlet | pages: no sink is started |
 * | JmxSink | ignored with a warning |
 */
#pragma once

struct fst_conf;
struct fst_error;
struct metrics_registry;
struct metrics_system;

struct metrics_system_options {
        const char *instance;              /* "driver" */
        const struct fst_conf *conf;       /* borrowed for the call */
        const char *conf_dir;              /* of metrics.properties; NULL: none */
        struct metrics_registry *registry; /* must outlive the system */
        const char *app_id, *executor_id;  /* for the groups of a pushgateway; copied; may be NULL */
};

/*
 * Starts the configured sinks. Returns 0 with *@out NULL if there are none, or -EINVAL with @error: "Sink class X
 * cannot be instantiated: REASON".
 */
int metrics_system_start(const struct metrics_system_options *options, struct metrics_system **out,
                         struct fst_error *error);

/* Reports once more, ends the threads, and releases. NULL is allowed. */
void metrics_system_stop(struct metrics_system *system);
