/*
 * See column_math.h.
 *
 * A compiler must not reorder additions of doubles, nor comparisons that distinguish NaN or the sign of zero. Therefore
 * eight lanes are written out. Afterwards the code handles what lanes cannot express: whether there was a NaN, and the
 * sign of an extreme of zero.
 */
#include "rdd/pipeline/column_math.h"

#include "rdd/pipeline/record.h"

#define LANES 8

int64_t column_sum_i64(int64_t total, const int64_t *x, uint32_t n)
{
        uint64_t sum = (uint64_t)total;
        for (uint32_t i = 0; i < n; i++)
                sum += (uint64_t)x[i];
        return (int64_t)sum;
}

int64_t column_min_i64(int64_t total, const int64_t *x, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                total = x[i] < total ? x[i] : total;
        return total;
}

int64_t column_max_i64(int64_t total, const int64_t *x, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                total = x[i] > total ? x[i] : total;
        return total;
}

static double add_lanes(const double *lanes)
{
        return ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]));
}

double column_sum_f64(const double *x, uint32_t n)
{
        double lanes[LANES] = {0};
        uint32_t i = 0;
        for (; i + LANES <= n; i += LANES)
                for (int k = 0; k < LANES; k++)
                        lanes[k] += x[i + (uint32_t)k];
        for (int k = 0; i < n; i++, k++)
                lanes[k] += x[i];
        return add_lanes(lanes);
}

double column_squares_f64(const double *x, uint32_t n, double mean)
{
        double lanes[LANES] = {0};
        uint32_t i = 0;
        for (; i + LANES <= n; i += LANES)
                for (int k = 0; k < LANES; k++)
                        lanes[k] += (x[i + (uint32_t)k] - mean) * (x[i + (uint32_t)k] - mean);
        for (int k = 0; i < n; i++, k++)
                lanes[k] += (x[i] - mean) * (x[i] - mean);
        return add_lanes(lanes);
}

static bool column_math_below(double a, double b)
{
        return record_f64_prefix(a) < record_f64_prefix(b);
}

/* Compares one number after another, where the order of NaN and of the two zeros matters. */
static double exact_min(double total, const double *x, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                total = column_math_below(x[i], total) ? x[i] : total;
        return total;
}

static double exact_max(double total, const double *x, uint32_t n)
{
        for (uint32_t i = 0; i < n; i++)
                total = column_math_below(total, x[i]) ? x[i] : total;
        return total;
}

double column_min_f64(double total, const double *x, uint32_t n)
{
        double lanes[LANES];
        uint32_t i = 0;
        for (int k = 0; k < LANES; k++)
                lanes[k] = total;
        for (; i + LANES <= n; i += LANES)
                for (int k = 0; k < LANES; k++)
                        lanes[k] = x[i + (uint32_t)k] < lanes[k] ? x[i + (uint32_t)k] : lanes[k];
        double least = exact_min(exact_min(total, lanes, LANES), x + i, n - i);
        return least == 0 || total != total ? exact_min(total, x, n) : least;
}

double column_max_f64(double total, const double *x, uint32_t n)
{
        double lanes[LANES];
        bool nan = total != total;
        uint32_t i = 0;
        for (int k = 0; k < LANES; k++)
                lanes[k] = total;
        for (; i + LANES <= n; i += LANES)
                for (int k = 0; k < LANES; k++)
                        lanes[k] = x[i + (uint32_t)k] > lanes[k] ? x[i + (uint32_t)k] : lanes[k];
        for (uint32_t j = 0; j < n; j++)
                nan |= x[j] != x[j];
        double most = exact_max(exact_max(total, lanes, LANES), x + i, n - i);
        return most == 0 || nan ? exact_max(total, x, n) : most;
}
