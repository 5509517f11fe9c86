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
struct string_list;

/* Borrowed for the life of the metrics. */
struct operator_metrics_options {
        const char *prefix;                         /* goes before each name; "" for none */
        const char *start_buckets, *submit_buckets; /* numbers of seconds, separated by commas, ascending */
        const struct string_list *labels;           /* of applications; they become labels of the metrics */
};

/* Returns 0, or -EINVAL with @error if the buckets are not such numbers. */
int operator_metrics_new(const struct operator_metrics_options *options, struct operator_metrics **out,
                         struct fst_error *error);
void operator_metrics_free(struct operator_metrics *m); /* NULL is allowed */

/*
 * Returns the labels of the metrics of @object, an application, as Prometheus writes them. A label that it lacks is
 * "Unknown". NULL if no labels are configured. The caller owns the text. The other functions take it as @labels.
 */
char *operator_metrics_labels(const struct operator_metrics *m, const json_t *object);

/* A new application was seen. */
void operator_metrics_add_application(struct operator_metrics *m, const char *labels);

/*
 * An application went to the state @to. Times in ms since the object was created, and since it was submitted; negative:
 * unknown.
 */
void operator_metrics_transition(struct operator_metrics *m, const char *labels, enum application_state to,
                                 int64_t since_created_ms, int64_t since_submitted_ms);

void operator_metrics_executor_ended(struct operator_metrics *m, const char *labels, bool succeeded);

/* Counts what runs now: begin with operator_metrics_clear_running, then add each application. */
void operator_metrics_clear_running(struct operator_metrics *m);
void operator_metrics_add_running(struct operator_metrics *m, const char *labels, bool application, size_t executors);

/* The operator's values at the time of a scrape. */
struct operator_gauges {
        size_t queue_depth;
        bool leading;
};

void operator_metrics_put(const struct operator_metrics *m, const struct operator_gauges *gauges, struct buf *out);
