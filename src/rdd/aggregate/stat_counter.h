/* Count, mean, variance, minimum and maximum of numbers. Counters of parts can be merged (Chan, Golub and LeVeque, as
 * in Spark's StatCounter). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stat_counter {
        int64_t n;
        double sum, mean, squares; /* squares: sum of squared distances from the mean */
        double min, max;           /* +inf and -inf without numbers; NaN if any number is NaN */
};

#define STAT_COUNTER_INIT ((struct stat_counter){.min = __builtin_inf(), .max = -__builtin_inf()})

/* Adds @n numbers at @x. @sum_only: only count and sum. */
void stat_counter_add(struct stat_counter *c, const double *x, uint32_t n, bool sum_only);

/* Adds the numbers of @other. */
void stat_counter_merge(struct stat_counter *c, const struct stat_counter *other);
