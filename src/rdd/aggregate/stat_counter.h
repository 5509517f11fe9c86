/*
 * Count, mean, variance and extremes of numbers, so that counters of parts can be merged (Chan, Golub and LeVeque, as
 * Spark's StatCounter does).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stat_counter {
        int64_t n;
        double sum, mean, squares; /* squares: of the distances from the mean */
        double min, max;           /* +inf and -inf without numbers; NaN if one of them is */
};

#define STAT_COUNTER_INIT ((struct stat_counter){.min = __builtin_inf(), .max = -__builtin_inf()})

/* Count @n numbers at @x. @sum_only: nothing but their number and their sum. */
void stat_counter_add(struct stat_counter *c, const double *x, uint32_t n, bool sum_only);

/* Count what @other has counted. */
void stat_counter_merge(struct stat_counter *c, const struct stat_counter *other);
