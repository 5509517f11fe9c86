/*
 * Sums and extremes of columns, in loops that the compiler makes vectors of.
 *
 * Minima and maxima are in the order in which numbers sort (rdd/pipeline/record.h): -0.0 before 0.0, NaN after all others.
 */
#pragma once

#include <stdint.h>

/* @total with @n numbers at @x taken into it. Sums wrap. */
int64_t column_sum_i64(int64_t total, const int64_t *x, uint32_t n);
int64_t column_min_i64(int64_t total, const int64_t *x, uint32_t n);
int64_t column_max_i64(int64_t total, const int64_t *x, uint32_t n);
double column_min_f64(double total, const double *x, uint32_t n);
double column_max_f64(double total, const double *x, uint32_t n);

/* The sum of @n numbers at @x, of eight interleaved partial sums: closer than that of one after another. */
double column_sum_f64(const double *x, uint32_t n);

/* The sum of the squares of their distances from @mean, likewise. */
double column_squares_f64(const double *x, uint32_t n, double mean);
