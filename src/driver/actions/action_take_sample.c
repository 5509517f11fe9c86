/*
 * take_sample: takes a sample of a given size in random order, with the same rows for the same seed as Spark.
 *
 * Counts the rows, and draws a sample that is large enough except once in ten thousand times. Draws again if it was too
 * small. Shuffles it and takes the first rows. Seeds and shuffle follow java.util.Random.
 */
#include "driver/actions/actions.h"

#include "base/log.h"
#include "base/mem.h"
#include "driver/cleaner.h"
#include "driver/actions/result_rows.h"
#include "driver/actions/sorted_rows.h"
#include "rdd/rdd_registry.h"
#include "rdd/aggregate/sampler.h"
#include "store/page.h"

#include <math.h>

/* Returns the fraction that almost surely draws @wanted of @rows rows: Spark's SamplingUtils. */
static double take_sample_fraction(int64_t wanted, int64_t rows, bool with_replacement)
{
        double s = (double)wanted, n = (double)rows;
        if (with_replacement)
                return fmax(s + (s < 6 ? 12 : s < 16 ? 9 : 6) * sqrt(s), 1e-10) / n;
        double fraction = s / n, gamma = -log(1e-4) / n;
        return fmin(1, fmax(1e-10, fraction + gamma + sqrt(gamma * gamma + 2 * gamma * fraction)));
}

static int take_sample_collect(fst_rdd *rdd, struct sorted_rows *table, fst_site site, struct fst_error *error)
{
        struct rows_job job = {rows_action_of(&rows_action_class, rdd, rdd->type, INT64_MAX)};
        int r = rows_job_run(&job, rdd, NULL, 0, site, error);
        if (r == 0)
                r = sorted_rows_init(table, rdd->type, rows_job_take(&job, NULL), error);
        rows_job_deinit(&job);
        return r;
}

/* Shuffles @table and returns its first @wanted rows as pages. */
static int take_sample_shuffle(const struct sorted_rows *table, int64_t wanted, uint64_t *random, struct page **out,
                               struct fst_error *error)
{
        _cleanup_free_ uint32_t *order = mem_try(table->n * sizeof(*order));
        struct page *first = NULL, **last = &first;
        if (!order)
                return error_set(error, -ENOMEM, "no memory for a sample of %lld rows", (long long)wanted);
        for (size_t i = 0; i < table->n; i++)
                order[i] = (uint32_t)i;
        for (size_t i = table->n; i-- > 1;) {
                size_t j = (size_t)java_random_below(random, (int32_t)i + 1);
                uint32_t other = order[j];
                order[j] = order[i];
                order[i] = other;
        }
        for (size_t i = 0; i < table->n && (int64_t)i < wanted; i++) {
                fst_batch row = sorted_rows_rows(table, order[i], 1);
                if (*last && page_append_row(*last, &row, 0))
                        continue;
                if (*last)
                        last = &(*last)->next;
                if (page_new(NULL, table->type, page_record_size(&row, 0), last)) {
                        page_list_free(NULL, first);
                        return error_set(error, -ENOMEM, "no memory for a sample of %lld rows", (long long)wanted);
                }
                page_append_row(*last, &row, 0);
        }
        *out = first;
        return 0;
}

static int take_sample_draw(fst_rdd *rdd, bool with_replacement, int64_t wanted, int64_t rows, uint64_t *random,
                            struct sorted_rows *table, fst_site site, struct fst_error *error)
{
        double fraction = take_sample_fraction(wanted, rows, with_replacement);
        for (;;) {
                int first = rdd_registry_next_id(rdd->sc);
                fst_rdd *sample = fst_sample_at(rdd, with_replacement, fraction, java_random_int(random), site);
                int r = take_sample_collect(sample, table, site, error);
                cleaner_drop(sample, first);
                if (r || (int64_t)table->n >= wanted)
                        return r;
                log_warn("SparkContext", "Needed to re-sample due to insufficient sample size.");
                sorted_rows_deinit(table);
        }
}

/* As in Spark: Int.MaxValue - 10 * sqrt(Int.MaxValue) */
#define MAX_SAMPLE (INT32_MAX - 463409)

static int take_sample_run(fst_rdd *rdd, bool with_replacement, int64_t wanted, int64_t seed, struct page **out,
                           fst_site site, struct fst_error *error)
{
        struct sorted_rows table = {0};
        struct count_job count = count_job_of(rdd);
        uint64_t random = java_random_start(seed);
        *out = NULL;
        int r = action_check(rdd, error);
        if (r == 0 && wanted < 0)
                r = error_set(error, -EINVAL, "Negative number of elements requested");
        if (r == 0 && wanted > MAX_SAMPLE)
                r = error_set(error, -EINVAL, "Cannot support a sample size > %d", MAX_SAMPLE);
        if (r || wanted == 0)
                return r;
        r = action_run(rdd, &count.action, NULL, 0, site, error);
        if (r || count.total == 0)
                return r;
        if (!with_replacement && wanted >= count.total)
                r = take_sample_collect(rdd, &table, site, error);
        else
                r = take_sample_draw(rdd, with_replacement, wanted, count.total, &random, &table, site, error);
        if (r == 0)
                r = take_sample_shuffle(&table, wanted, &random, out, error);
        sorted_rows_deinit(&table);
        return r;
}

FST_API int fst_take_sample_at(fst_rdd *rdd, bool with_replacement, int64_t n, int64_t seed, fst_iter **rows,
                               fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, rows, "rows", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct page *pages;
        int r = take_sample_run(rdd, with_replacement, n, seed, &pages, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        *rows = result_rows_new(rdd->sc, rdd->type, pages, INT64_MAX);
        return 0;
}
