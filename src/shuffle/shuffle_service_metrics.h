/*
 * The metrics of a shuffle service, under Spark's names, and the sinks of metrics.properties (instance
 * "shuffleService") that report them.
 */
#pragma once

#include <stdint.h>

struct fst_conf;
struct fst_error;
struct shuffle_metrics;
struct shuffle_service;

/*
 * Starts the sinks. Returns 0 with *@out NULL without any, or -EINVAL with @error for an invalid sink. @service must
 * outlive the result.
 */
int shuffle_metrics_start(struct shuffle_service *service, const struct fst_conf *conf, struct shuffle_metrics **out,
                          struct fst_error *error);

/* Reports once more, which takes at most a second, and ends the sinks. Requests may still be counted. */
void shuffle_metrics_stop(struct shuffle_metrics *m); /* NULL is allowed */
void shuffle_metrics_free(struct shuffle_metrics *m); /* after the last request. NULL is allowed */

enum shuffle_request { SHUFFLE_REQUEST_OTHER, SHUFFLE_REQUEST_OPEN, SHUFFLE_REQUEST_REGISTER };

/* Counts a request that took @ns. Any thread. NULL is allowed. */
void shuffle_metrics_count(struct shuffle_metrics *m, enum shuffle_request request, int64_t ns);
