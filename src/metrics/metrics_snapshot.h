/*
 * The values of metrics at one moment, and their texts: Dropwizard's JSON and Prometheus' text, as Spark's servlets
 * write them. Daemons fill a snapshot when a page is asked for. Sinks get one from a registry
 * (metrics/metrics_registry.h).
 *
 *      struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
 *      metrics_gauge(&m, "master.workers", 3);
 *      metrics_put_json(&m, &b);      → {"version":"4.0.0","gauges":{"master.workers":{"value":3}},…
 *      metrics_put_prometheus(&m, &b);→ metrics_master_workers_Number{type="gauges"} 3
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <stdint.h>

enum metric_kind {
        METRIC_GAUGE,
        METRIC_TEXT,
        METRIC_COUNTER,
        METRIC_HISTOGRAM,
        METRIC_METER,
        METRIC_TIMER,
        METRIC_KINDS
};

enum { METRIC_PERCENTILES = 6 };

/* The distribution of a histogram (its unit) or timer (nanoseconds). */
struct metric_distribution {
        int64_t min, max;
        double mean, stddev;
        double percentile[METRIC_PERCENTILES]; /* 50, 75, 95, 98, 99, 99.9 */
};

/* Events a second. */
struct metric_rates {
        double mean, m1, m5, m15;
};

struct metric_sample {
        char *name, *text; /* owned; text: METRIC_TEXT only */
        enum metric_kind kind;
        int64_t value; /* of a gauge; the count of all others */
        struct metric_distribution distribution;
        struct metric_rates rates;
};

struct metrics_snapshot {
        VEC(struct metric_sample) samples;
        const char *prefix; /* borrowed: put before each name, with a dot; NULL or "": none */
};

#define METRICS_SNAPSHOT_INIT ((struct metrics_snapshot){0})

void metrics_snapshot_deinit(struct metrics_snapshot *m);

/* Add a metric whose name is new. Copies the texts. */
void metrics_gauge(struct metrics_snapshot *m, const char *name, int64_t value);
void metrics_text(struct metrics_snapshot *m, const char *name, const char *value);
void metrics_counter(struct metrics_snapshot *m, const char *name, int64_t count);
/* Takes kind, value, distribution and rates of @sample. */
void metrics_add(struct metrics_snapshot *m, const char *name, const struct metric_sample *sample);

/* Orders the samples by kind, then by name. A text counts as a gauge. */
void metrics_sort(struct metrics_snapshot *m);

/* Returns "p50" … "p999". */
const char *metric_percentile_name(int i);

/* Write the metrics by kind and name. Durations are milliseconds in JSON. Prometheus' form omits texts. */
void metrics_put_json(struct metrics_snapshot *m, struct buf *out);
void metrics_put_prometheus(struct metrics_snapshot *m, struct buf *out);
