/*
 * Metrics as Spark's servlets show them: /metrics/master/json (Dropwizard's form) and Prometheus' text, where a name
 * becomes metrics_<name>_Number and _Value, everything but letters and digits an underscore.
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
        char *name, *text; /* text: not NULL for a gauge that is one */
        int64_t value;
};

struct metrics {
        VEC(struct metric) gauges;
};

#define METRICS_INIT ((struct metrics){0})

void metrics_deinit(struct metrics *m);

/* What was not said before; the name is copied. */
void metrics_gauge(struct metrics *m, const char *name, int64_t value);
void metrics_text(struct metrics *m, const char *name, const char *value);

/* Sorted by name. Texts are not in Prometheus' form, which has only numbers. */
void metrics_put_json(struct metrics *m, struct buf *out);
void metrics_put_prometheus(struct metrics *m, struct buf *out);
