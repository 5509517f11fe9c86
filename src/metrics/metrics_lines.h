/*
 * Lines of metrics for sinks: Graphite, StatsD, log lines, the console, CSV files, and the text that a pushgateway
 * accepts. Pure.
 *
 * Texts are left out where a sink takes numbers only. Durations are milliseconds, except for a pushgateway, which gets
 * seconds as its conventions want. Blanks in names become '-'.
 */
#pragma once

#include "metrics/metrics_snapshot.h"

/* Append lines "PREFIX.name value SECONDS\n". @prefix "": none. */
void metrics_put_graphite(const struct metrics_snapshot *m, const char *prefix, int64_t seconds, struct buf *out);

/* Append "PREFIX.name:value|type\n". Each line without its end is a datagram. */
void metrics_put_statsd(const struct metrics_snapshot *m, const char *prefix, struct buf *out);

/* Append "type=GAUGE, name=…, value=…\n" and alike. */
void metrics_put_log(const struct metrics_snapshot *m, struct buf *out);

/*
 * Append the report of Dropwizard's console reporter: a section for each kind that has metrics. @when: the time in its
 * first line.
 */
void metrics_put_console(const struct metrics_snapshot *m, const char *when, struct buf *out);

/* Append the line of one metric for its CSV file, and the line above it that names the columns. */
void metrics_put_csv_header(enum metric_kind kind, struct buf *out);
void metrics_put_csv(const struct metric_sample *s, int64_t seconds, struct buf *out);

/*
 * Append Prometheus' text with HELP and TYPE: counters and gauges as gauges, meters as counters NAME_total, histograms
 * and timers as summaries. @labels: `a="b",c="d"` or "". @ms: put behind each value; negative: none.
 */
void metrics_put_exposition(const struct metrics_snapshot *m, const char *labels, int64_t ms, struct buf *out);
