/* The master's state as JSON, with the field names of Spark 4.3's JsonProtocol. */
#pragma once

#include "base/buf.h"
#include "standalone/core/master_core.h"
#include "text/json_writer.h"

/* Data of the pages besides the core's state. */
struct master_info {
        const char *url; /* "spark://host:7077" */
        int64_t now;     /* the core's time */
};

/* /json/ as a whole, or one field of it (@field "workers"): {"workers" : […]}; an unknown field has the value "". */
void master_json_put(const struct master *m, const struct master_info *info, const char *field, struct buf *out);

/* /json/clusterutilization */
void master_json_put_utilization(const struct master *m, struct buf *out);

/* One application, active or completed; null for an unknown id. */
void master_json_put_app(const struct master *m, const struct master_info *info, const char *id, struct buf *out);

/* Shared by pages and JSON: the application of that id, or NULL; the sums over workers that are ALIVE. */
struct master_sums {
        int workers, cores, cores_used;
        int64_t memory, memory_used;
};

const struct master_app *master_any_app(const struct master *m, const char *id);
struct master_sums master_sums(const struct master *m);
int64_t master_app_duration(const struct master *m, const struct master_app *app, int64_t now);

/* Around the addresses of a resource, of a master's or a worker's: "gpu" : { "name" : "gpu", "addresses" : [ … ] }. */
void json_begin_resource(struct json_out *j, const char *name);
void json_end_resource(struct json_out *j);

/* "Sun Nov 22 05:41:17 UTC 2026", Java's format of a date. */
void put_java_date(struct buf *out, int64_t ms);
