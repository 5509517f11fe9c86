/*
 * Failures of executors, in all and by host, within a time: Spark's FailureTracker. Times are ns of any monotonic
 * clock.
 */
#pragma once

#include "base/vec.h"

#include <stdint.h>

struct failure_times {
        int64_t *data;
        size_t len, cap;
};

struct host_failures {
        char *host;
        struct failure_times times;
};

struct failure_tracker {
        int64_t validity; /* ns after which a failure is forgotten; 0 or negative: never */
        struct failure_times times;
        VEC(struct host_failures) hosts;
};

void failure_tracker_deinit(struct failure_tracker *t);

/* @host NULL: the host is not known, or failures are not counted by host. */
void failure_tracker_add(struct failure_tracker *t, const char *host, int64_t now);

/* Failures that still count: all, or those of one host. */
int failure_tracker_count(struct failure_tracker *t, int64_t now);
int failure_tracker_count_host(struct failure_tracker *t, const char *host, int64_t now);
