/*
 * An exponentially decaying reservoir: a sample of values in which newer ones are more likely (Cormode and others,
 * forward decay). Its distribution describes the last five minutes or so. Not thread-safe.
 */
#pragma once

#include "metrics/metrics_snapshot.h"

enum { RESERVOIR_SIZE = 1028 };

struct metrics_reservoir {
        struct reservoir_value {
                double priority, weight;
                int64_t value;
        } * heap; /* the least priority first; NULL before the first value */
        size_t n;
        int64_t start; /* ns: weights are relative to it */
        uint64_t random;
};

void metrics_reservoir_init(struct metrics_reservoir *r, int64_t now);
void metrics_reservoir_deinit(struct metrics_reservoir *r);
void metrics_reservoir_update(struct metrics_reservoir *r, int64_t value, int64_t now);
/* All zero without values. */
void metrics_reservoir_read(const struct metrics_reservoir *r, struct metric_distribution *out);
