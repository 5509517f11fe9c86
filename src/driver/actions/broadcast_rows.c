/*
 * The rows of the small side of a broadcast join: a job collects them, and they become a broadcast variable.
 *
 * Rows may come in another order if the job runs again, in a driver that resumes the application. So the signature of
 * later jobs has a digest that does not depend on the order (driver/resume/signature.h).
 */
#include "driver/actions/preliminary_jobs.h"

#include "base/mem.h"
#include "driver/actions/result_rows.h"
#include "driver/broadcast_variables.h"
#include "rdd/pipeline/record.h"
#include "sched/sched_conf.h"
#include "store/page.h"

#include <xxhash.h>

bool broadcast_rows_ready(const fst_rdd *rdd)
{
        return rdd->op != RDD_BROADCAST_JOIN || __atomic_load_n(&rdd->broadcast_join.ready, __ATOMIC_ACQUIRE);
}

static uint64_t page_records_digest(const struct page *page)
{
        const unsigned char *at = page->data;
        uint64_t sum = 0;
        for (uint32_t i = 0; i < page->rows; i++) {
                struct record_view r = record_read(page->type, at);
                sum += XXH3_64bits(at, (size_t)(record_end(&r) - at));
                at = record_end(&r);
        }
        return sum;
}

/* A job whose results are too large is told to save its rows. A join can be shuffled instead. */
static int broadcast_rows_advise(const fst_rdd *rdd, int status, struct fst_error *error)
{
        char *text = mem_strdup(error_message(error)), *remedy = strstr(text, RESULT_SIZE_REMEDY);
        if (remedy)
                *remedy = '\0';
        int r = remedy ? error_set(error, status,
                                   "the small side of %s is too large to be collected: %suse fst_join, which shuffles "
                                   "both sides, or raise spark.driver.maxResultSize",
                                   rdd->call_site, text)
                       : status;
        free(text);
        return r;
}

/* Makes the variable of the rows in @pages. */
static int broadcast_rows_publish(fst_rdd *rdd, const struct page *pages, struct fst_error *error)
{
        struct broadcast_side *small = &rdd->broadcast_join.small;
        size_t size = 0, at = 0;
        uint64_t digest = 0;
        for (const struct page *page = pages; page; page = page->next)
                size += page->used;
        char *data = mem_try(size);
        if (!data)
                return error_set(error, -ENOMEM, "no memory for the %zu bytes of the small side of %s", size,
                                 rdd->call_site);
        for (const struct page *page = pages; page; page = page->next) {
                memcpy(data + at, page->data, page->used);
                at += page->used;
                digest += page_records_digest(page);
        }
        int r = broadcast_variable_put(rdd->sc, data, size, &small->variable, error);
        free(data);
        small->size = size;
        rdd->broadcast_join.digest = digest;
        return r;
}

int broadcast_rows_collect(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        fst_rdd *source = rdd->parents[1];
        struct rows_job job = {rows_action_of(&rows_action_class, source, source->type, INT64_MAX)};
        int64_t rows = 0;
        int r = action_check(source, error);
        if (r == 0)
                r = rows_job_prepare(&job, source, source->lineage.partitions, error);
        if (r == 0)
                r = action_run_job(source, &job.rows.action, NULL, 0, site, error);
        if (r)
                r = broadcast_rows_advise(rdd, r, error);
        struct page *pages = r == 0 ? rows_job_take(&job, &rows) : NULL;
        rows_job_deinit(&job);
        if (r == 0 && (uint64_t)rows > MAX_BROADCAST_ROWS)
                r = error_set(error, -E2BIG,
                              "the small side of %s has %" PRId64 " rows, but a table of them has at most %" PRIu64
                              ": use fst_join",
                              rdd->call_site, rows, MAX_BROADCAST_ROWS);
        if (r == 0 && rows > 0)
                r = broadcast_rows_publish(rdd, pages, error);
        page_list_free(NULL, pages);
        if (r)
                return r;
        rdd->broadcast_join.small.rows = (uint64_t)rows;
        __atomic_store_n(&rdd->broadcast_join.ready, true, __ATOMIC_RELEASE);
        return 0;
}
