/* See stat_counter.h. Numbers are processed in blocks, so that the second pass finds a block in the cache. */
#include "rdd/aggregate/stat_counter.h"

#include "rdd/pipeline/column_math.h"

/* Like Java's Math.min and Math.max: NaN if either is NaN. */
static double stat_counter_f64_min(double a, double b)
{
        return a != a || b != b ? __builtin_nan("") : column_min_f64(a, &b, 1);
}

static double stat_counter_f64_max(double a, double b)
{
        return column_max_f64(a, &b, 1);
}

/* As in Spark: based on the mean of the much larger side, otherwise on both. */
static double stat_counter_merged_mean(const struct stat_counter *a, const struct stat_counter *b, double delta)
{
        double n = (double)(a->n + b->n);
        if (b->n < a->n / 10)
                return a->mean + delta * (double)b->n / n;
        if (a->n < b->n / 10)
                return b->mean - delta * (double)a->n / n;
        return (a->mean * (double)a->n + b->mean * (double)b->n) / n;
}

void stat_counter_merge(struct stat_counter *c, const struct stat_counter *other)
{
        if (other->n == 0)
                return;
        if (c->n == 0) {
                *c = *other;
                return;
        }
        double delta = other->mean - c->mean, n = (double)(c->n + other->n);
        c->mean = stat_counter_merged_mean(c, other, delta);
        c->squares += other->squares + delta * delta * (double)c->n * (double)other->n / n;
        c->n += other->n;
        c->sum += other->sum;
        c->min = stat_counter_f64_min(c->min, other->min);
        c->max = stat_counter_f64_max(c->max, other->max);
}

void stat_counter_add(struct stat_counter *c, const double *x, uint32_t n, bool sum_only)
{
        struct stat_counter block = STAT_COUNTER_INIT;
        if (n == 0)
                return;
        block.n = n;
        block.sum = column_sum_f64(x, n);
        if (sum_only) {
                c->n += n;
                c->sum += block.sum;
                return;
        }
        block.mean = block.sum / n;
        block.squares = column_squares_f64(x, n, block.mean);
        block.max = column_max_f64(block.max, x, n);
        block.min = block.max != block.max ? block.max : column_min_f64(block.min, x, n);
        stat_counter_merge(c, &block);
}
