/*
 * The operator's metrics, with the genuine operator's names, as Prometheus' text.
 *
 * They count from the start of this process, as the genuine ones do. One thread.
 */
#pragma once

#include "base/buf.h"
#include "operator/resources/application_status.h"

struct fst_error;
struct operator_metrics;

/*
 * @prefix goes before each name; "" for none. The buckets are numbers of seconds, separated by commas, ascending.
 * Returns 0, or -EINVAL with @error if they are not.
 */
int operator_metrics_new(const char *prefix, const char *start_buckets, const char *submit_buckets,
                         struct operator_metrics **out, struct fst_error *error);
void operator_metrics_free(struct operator_metrics *m); /* NULL is allowed */

/* A new application was seen. */
void operator_metrics_add_application(struct operator_metrics *m);

/*
 * An application went from one state to another. Times in ms since the object was created, and since it was submitted;
 * negative: unknown.
 */
void operator_metrics_transition(struct operator_metrics *m, enum application_state from, enum application_state to,
                                 int64_t since_created_ms, int64_t since_submitted_ms);

/* The operator's values at the time of a scrape. */
struct operator_gauges {
        size_t queue_depth, applications, running, schedules;
        bool leading;
};

void operator_metrics_put(const struct operator_metrics *m, const struct operator_gauges *gauges, struct buf *out);
