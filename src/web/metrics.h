/*
 * Metrics in the forms of Spark's servlets: /metrics/master/json (Dropwizard) and Prometheus' text, in which a name
 * becomes metrics_<name>_Number and _Value, with underscores for all characters but letters and digits.
 *
 *      struct metrics m = METRICS_INIT;
 *      metrics_gauge(&m, "master.workers", 3);
 *      metrics_put_json(&m, &b);      → {"version":"4.0.0","gauges":{"master.workers":{"value":3}},…
 *      metrics_put_prometheus(&m, &b);→ metrics_master_workers_Number{type="gauges"} 3
 */
#pragma once

#include "base/buf.h"
#include "base/vec.h"

#include <stdint.h>

struct metric {
        char *name, *text; /* text: not NULL for a gauge with a text value */
        int64_t value;
};

struct metrics {
        VEC(struct metric) gauges;
};

#define METRICS_INIT ((struct metrics){0})

void metrics_deinit(struct metrics *m);

/* Add a gauge whose name is new. Copies the name. */
void metrics_gauge(struct metrics *m, const char *name, int64_t value);
void metrics_text(struct metrics *m, const char *name, const char *value);

/* Write the gauges sorted by name. Prometheus' form has only numbers, so it omits texts. */
void metrics_put_json(struct metrics *m, struct buf *out);
void metrics_put_prometheus(struct metrics *m, struct buf *out);
