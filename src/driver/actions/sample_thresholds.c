/*
 * Thresholds of exact stratified samples (rdd/aggregate/stratified_sampler.h). A job draws numbers for all pairs and
 * sends those that may decide. With replacement, another job counts the pairs of each key first.
 */
#include "driver/actions/preliminary_jobs.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/vec.h"
#include "driver/cleaner.h"
#include "driver/actions/result_rows.h"
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/aggregate/stratified_sampler.h"
#include "store/page.h"

struct stratum_number {
        uint32_t stratum;
        double number;
};

/* The numbers of each key, from all tasks. */
struct stratum_numbers {
        size_t n;
        int64_t *items, *accepted;
        VEC(struct stratum_number) waiting;
};

static void stratum_numbers_deinit(struct stratum_numbers *f)
{
        free(f->items);
        free(f->accepted);
        vec_deinit(&f->waiting);
}

static void sample_thresholds_add(struct stratum_numbers *f, int64_t key, double number)
{
        size_t stratum = (size_t)(key / STEP_RESULTS);
        if (key < 0 || stratum >= f->n)
                return;
        switch (key % STEP_RESULTS) {
        case STEP_ITEMS:
                f->items[stratum] += (int64_t)number;
                break;
        case STEP_ACCEPTED:
                f->accepted[stratum] += (int64_t)number;
                break;
        default:
                vec_push(&f->waiting, (struct stratum_number){(uint32_t)stratum, number});
        }
}

static void sample_thresholds_add_all(struct stratum_numbers *f, fst_type type, const struct page *pages)
{
        struct page_cursor cursor;
        fst_batch batch;
        page_cursor_init(&cursor, type);
        for (; pages; pages = pages->next) {
                page_cursor_start(&cursor, pages);
                while (page_cursor_next(&cursor, &batch))
                        for (uint32_t i = 0; i < batch.rows; i++)
                                sample_thresholds_add(f, batch.key.i64[i], batch.value.f64[i]);
        }
        page_cursor_deinit(&cursor);
}

/* Run the job of one step. @f is empty before, and has the numbers of all keys afterwards. */
static int sample_thresholds_run_step(fst_rdd *sampled, enum sample_step step, struct stratum_numbers *f, fst_site site,
                                      struct fst_error *error)
{
        int first = rdd_registry_next_id(sampled->sc);
        fst_rdd *rdd = rdd_sample_step(sampled, step);
        struct rows_job job = {rows_action_of(&rows_action_class, rdd, rdd->type, INT64_MAX)};
        int r = action_check(rdd, error);
        if (r == 0)
                r = rows_job_prepare(&job, rdd, rdd->lineage.partitions, error);
        if (r == 0)
                r = action_run_job(rdd, &job.rows.action, NULL, 0, site, error);
        if (r == 0) {
                struct page *pages = rows_job_take(&job, NULL);
                f->n = sampled->by_key.strata->n;
                f->items = new_array(int64_t, f->n + 1);
                f->accepted = new_array(int64_t, f->n + 1);
                sample_thresholds_add_all(f, rdd->type, pages);
                page_list_free(NULL, pages);
        }
        rows_job_deinit(&job);
        cleaner_drop(rdd, first);
        return r;
}

static int sample_thresholds_count_items(fst_rdd *sampled, fst_site site, struct fst_error *error)
{
        _cleanup_(stratum_numbers_deinit) struct stratum_numbers f = {0};
        struct strata *strata = sampled->by_key.strata;
        if (sampled->by_key.counted)
                return 0; /* tasks of an earlier, failed job may still read the bounds */
        int r = sample_thresholds_run_step(sampled, SAMPLE_COUNT, &f, site, error);
        for (size_t i = 0; r == 0 && i < strata->n; i++)
                if (f.items[i])
                        strata_bounds_replaced(strata->data[i].fraction, f.items[i], &strata->data[i].accept,
                                               &strata->data[i].wait);
        sampled->by_key.counted = r == 0;
        return r;
}

static int sample_thresholds_by_stratum(const void *a, const void *b)
{
        const struct stratum_number *x = a, *y = b;
        return (x->stratum > y->stratum) - (x->stratum < y->stratum);
}

static void sample_thresholds_set(fst_rdd *sampled, struct stratum_numbers *f)
{
        struct strata *strata = sampled->by_key.strata;
        _cleanup_free_ double *numbers = new_array(double, f->waiting.len + 1);
        if (f->waiting.len)
                qsort(f->waiting.data, f->waiting.len, sizeof(*f->waiting.data), sample_thresholds_by_stratum);
        for (size_t i = 0, at = 0; i < strata->n; i++) {
                struct stratum *s = &strata->data[i];
                size_t n = 0;
                for (; at < f->waiting.len && f->waiting.data[at].stratum == i; at++)
                        numbers[n++] = f->waiting.data[at].number;
                if (!f->items[i])
                        continue;
                if (!sampled->by_key.replaced)
                        strata_bounds_once(s->fraction, f->items[i], &s->accept, &s->wait);
                if (!strata_threshold(s->fraction, f->items[i], f->accepted[i], numbers, n, s->accept, &s->threshold))
                        log_warn("StratifiedSamplingUtils",
                                 "%s takes a few rows more or fewer of a key than "
                                 "requested: the random numbers exceeded their bounds, as in one of 10,000 samples",
                                 sampled->call_site);
        }
}

bool sample_thresholds_ready(const fst_rdd *rdd)
{
        return rdd->op != RDD_SAMPLED_BY_KEY || rdd_sample_ready(rdd);
}

int sample_thresholds_compute(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        _cleanup_(stratum_numbers_deinit) struct stratum_numbers f = {0};
        int r = rdd->by_key.replaced ? sample_thresholds_count_items(rdd, site, error) : 0;
        if (r == 0)
                r = sample_thresholds_run_step(rdd, SAMPLE_DRAW, &f, site, error);
        if (r)
                return r;
        sample_thresholds_set(rdd, &f);
        __atomic_store_n(&rdd->by_key.ready, true, __ATOMIC_RELEASE);
        return 0;
}
