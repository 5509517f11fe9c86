/*
 * min, max, sum, mean, stats and histogram.
 *
 * The partitions' counters are merged in the order of partitions, so that rounding does not depend on timing. The
 * results for no rows, and for rows that are not finite, are Spark's.
 */
#include "driver/actions/actions.h"

#include "base/mem.h"
#include "base/public_struct.h"
#include "exec/actions/action_kinds.h"

#include <math.h>

/* ------------------------------------------------------------------------------------------------- min, max, sum */

static int numeric_reduce(fst_rdd *rdd, fst_fn fn, const struct reduce_value *zero, fst_variable result, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = action_reduce(rdd, &(struct reduce_plan){fn, fn, rdd->type, zero}, result, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

FST_API int fst_min_at(fst_rdd *rdd, fst_variable row, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return numeric_reduce(rdd, fst_fn_min, NULL, row, site);
}

FST_API int fst_max_at(fst_rdd *rdd, fst_variable row, fst_site site)
{
        rdd = rdd_given(rdd, site);
        return numeric_reduce(rdd, fst_fn_max, NULL, row, site);
}

/* ------------------------------------------------------------------------------------------------------ counters */

struct stats_job {
        struct stats_action stats;
        struct stat_counter *counters; /* by output */
        int n;
};

static int stats_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        struct stats_job *self = container_of(action, struct stats_job, stats.action);
        self->counters[output] = *(struct stat_counter *)result->data;
        free(result->data);
        return 0;
}

static void stats_reset(struct action *action)
{
        struct stats_job *self = container_of(action, struct stats_job, stats.action);
        for (int i = 0; i < self->n; i++)
                self->counters[i] = STAT_COUNTER_INIT;
}

static int numeric_check(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        char have[64];
        int r = action_check(rdd, error);
        if (r == 0 && !action_takes_numbers(rdd->type))
                r = error_set(error, -EINVAL, "%s takes I64 or F64, not %s", site.operation,
                              fst_type_name(rdd->type, have));
        return r;
}

static int stats_count(fst_rdd *rdd, bool sum_only, struct stat_counter *total, fst_site site, struct fst_error *error)
{
        struct stats_job job = {
                .stats = {{.class = &stats_action_class, .type = rdd->type, .merge = stats_merge, .reset = stats_reset},
                          sum_only}};
        int r = numeric_check(rdd, site, error);
        if (r)
                return r;
        job.n = rdd->lineage.partitions;
        job.counters = new_array(struct stat_counter, (size_t)job.n);
        stats_reset(&job.stats.action);
        r = action_run(rdd, &job.stats.action, NULL, 0, site, error);
        *total = STAT_COUNTER_INIT;
        for (int i = 0; i < job.n && r == 0; i++)
                if (!sum_only) {
                        stat_counter_merge(total, &job.counters[i]);
                } else {
                        total->n += job.counters[i].n;
                        total->sum += job.counters[i].sum;
                }
        free(job.counters);
        return r;
}

FST_API int fst_sum_at(fst_rdd *rdd, fst_variable sum, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        const struct reduce_value zero = {.present = true};
        struct fst_error error = FST_ERROR_INIT;
        struct stat_counter total;
        int r = numeric_check(rdd, site, &error);
        if (r == 0 && sum.kind == FST_KIND_I64)
                return numeric_reduce(rdd, fst_fn_sum, &zero, sum, site);
        if (r == 0)
                r = action_check_variable(FST_F64, sum, "sum", &error);
        if (r == 0)
                r = stats_count(rdd, true, &total, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        *(double *)sum.to = total.sum;
        return 0;
}

/* Spark merges at least one counter. */
static int stats_count_all(fst_rdd *rdd, struct stat_counter *total, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = stats_count(rdd, false, total, site, &error);
        if (r == 0 && rdd->lineage.partitions == 0)
                r = error_set(&error, -ENODATA, "empty collection");
        return r ? action_failed(rdd, site, r, &error) : 0;
}

FST_API int fst_mean_at(fst_rdd *rdd, double *mean, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, mean, "mean", site))
                return -EINVAL;
        struct stat_counter total;
        int r = stats_count_all(rdd, &total, site);
        if (r == 0)
                *mean = total.mean;
        return r;
}

FST_API int fst_stats_at(fst_rdd *rdd, struct fst_statistics *stats, size_t size, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, stats, "statistics", site))
                return -EINVAL;
        struct stat_counter c;
        int r = stats_count_all(rdd, &c, site);
        if (r)
                return r;
        double variance = c.n > 0 ? c.squares / (double)c.n : NAN;
        double sample = c.n > 1 ? c.squares / (double)(c.n - 1) : NAN;
        const struct fst_statistics all = {.count = c.n,
                                           .sum = c.sum,
                                           .mean = c.mean,
                                           .min = c.min,
                                           .max = c.max,
                                           .variance = variance,
                                           .stdev = sqrt(variance),
                                           .sample_variance = sample,
                                           .sample_stdev = sqrt(sample)};
        public_struct_copy(stats, size, &all, sizeof(all));
        return 0;
}

/* ----------------------------------------------------------------------------------------------------- histogram */

struct histogram_job {
        struct histogram_action histogram;
        int64_t *counts;
};

static int histogram_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        struct histogram_job *self = container_of(action, struct histogram_job, histogram.action);
        const int64_t *counts = result->data;
        for (int i = 0; i < self->histogram.buckets; i++)
                self->counts[i] += counts[i];
        free(result->data);
        return 0;
}

static void histogram_reset(struct action *action)
{
        struct histogram_job *self = container_of(action, struct histogram_job, histogram.action);
        memset(self->counts, 0, (size_t)self->histogram.buckets * sizeof(*self->counts));
}

/*
 * Computes @buckets buckets of equal width between the smallest and the greatest row, or one if these are equal.
 * Returns their number, or a negative status.
 */
static int histogram_even_bounds(fst_rdd *rdd, int buckets, double *bounds, fst_site site, struct fst_error *error)
{
        struct stat_counter all;
        int r = stats_count(rdd, false, &all, site, error);
        if (r)
                return r;
        if (rdd->lineage.partitions == 0)
                return error_set(error, -ENODATA, "empty collection");
        if (!isfinite(all.min) || !isfinite(all.max))
                return error_set(error, all.n ? -EDOM : -ENODATA,
                                 "Histogram on either an empty RDD or RDD containing +/-infinity or NaN");
        if (all.min == all.max)
                buckets = 1;
        for (int i = 0; i < buckets; i++)
                bounds[i] = all.min + i * (all.max - all.min) / buckets;
        bounds[buckets] = all.max;
        return buckets;
}

static int histogram_check_bounds(const double *bounds, size_t n, struct fst_error *error)
{
        if (n < 2)
                return error_set(error, -EINVAL, "buckets array must have at least two elements");
        if (n > MAX_HISTOGRAM + 1)
                return error_set(error, -EINVAL, "a histogram has at most %d buckets", MAX_HISTOGRAM);
        for (size_t i = 0; bounds && i < n; i++)
                if (bounds[i] != bounds[i] || (i > 0 && bounds[i] <= bounds[i - 1]))
                        return error_set(error, -EINVAL,
                                         "buckets should be sorted, without duplicates: bound %zu is %g", i, bounds[i]);
        return 0;
}

static int histogram_count(fst_rdd *rdd, const double *given, size_t n, struct fst_buckets *out, fst_site site,
                           struct fst_error *error)
{
        int r = numeric_check(rdd, site, error);
        if (r == 0)
                r = histogram_check_bounds(given, n, error);
        if (r)
                return r;
        _cleanup_free_ double *bounds = new_array(double, n);
        _cleanup_free_ int64_t *counts = new_array(int64_t, n);
        int buckets = (int)n - 1;
        if (given)
                memcpy(bounds, given, n * sizeof(*bounds));
        else
                buckets = histogram_even_bounds(rdd, buckets, bounds, site, error);
        if (buckets < 0)
                return buckets;
        struct histogram_job job = {.histogram = {.action = {.class = &histogram_action_class,
                                                             .type = rdd->type,
                                                             .merge = histogram_merge,
                                                             .reset = histogram_reset},
                                                  .bounds = bounds,
                                                  .buckets = buckets,
                                                  .even = !given},
                                    .counts = counts};
        r = action_run(rdd, &job.histogram.action, NULL, 0, site, error);
        if (r)
                return r;
        fst_bytes b = {(const char *)bounds, ((size_t)buckets + 1) * sizeof(*bounds)};
        fst_bytes c = {(const char *)counts, (size_t)buckets * sizeof(*counts)};
        out->buckets = (size_t)buckets;
        out->bounds = (const double *)action_keep_bytes(rdd->sc, b).data;
        out->counts = (const int64_t *)action_keep_bytes(rdd->sc, c).data;
        return 0;
}

FST_API int fst_histogram_at(fst_rdd *rdd, const double *bounds, size_t n, struct fst_buckets *histogram, size_t size,
                             fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, histogram, "histogram", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct fst_buckets buckets = {0};
        int r = histogram_count(rdd, bounds, n, &buckets, site, &error);
        if (r == 0)
                public_struct_copy(histogram, size, &buckets, sizeof(buckets));
        return r ? action_failed(rdd, site, r, &error) : 0;
}
