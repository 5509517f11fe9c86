/*
 * Sums, minima and maxima of columns, in loops that the compiler vectorizes.
 *
 * Minima and maxima use the sort order of numbers (rdd/pipeline/record.h): -0.0 before 0.0, NaN after all others.
 */
#pragma once

#include <stdint.h>

/* @total combined with @n numbers at @x. Sums wrap. */
int64_t column_sum_i64(int64_t total, const int64_t *x, uint32_t n);
int64_t column_min_i64(int64_t total, const int64_t *x, uint32_t n);
int64_t column_max_i64(int64_t total, const int64_t *x, uint32_t n);
double column_min_f64(double total, const double *x, uint32_t n);
double column_max_f64(double total, const double *x, uint32_t n);

/* The sum of @n numbers at @x as eight interleaved partial sums: more accurate than one running sum. */
double column_sum_f64(const double *x, uint32_t n);

/* The sum of the squared distances from @mean, computed in the same way. */
double column_squares_f64(const double *x, uint32_t n, double mean);
