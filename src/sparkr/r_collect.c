/* See r_collect.h. */
#include "sparkr/r_collect.h"

#include "base/error.h"
#include "base/mem.h"
#include "driver/actions/result_rows.h"
#include "driver/context.h"
#include "sparkr/r_site.h"
#include "store/page.h"

/* Sets the columns: views into the pages. */
static void r_collect_index(struct r_rows *rows, fst_type type, size_t n)
{
        struct page_cursor cursor;
        fst_batch batch;
        rows->keys = new_array(fst_bytes, n + 1);
        rows->values = type.value ? new_array(fst_bytes, n + 1) : NULL;
        page_cursor_init(&cursor, type);
        for (const struct page *page = rows->pages; page; page = page->next) {
                page_cursor_start(&cursor, page);
                while (page_cursor_next(&cursor, &batch)) {
                        memcpy(&rows->keys[rows->n], batch.key.bytes, batch.rows * sizeof(*rows->keys));
                        if (rows->values)
                                memcpy(&rows->values[rows->n], batch.value.bytes, batch.rows * sizeof(*rows->keys));
                        rows->n += batch.rows;
                }
        }
        page_cursor_deinit(&cursor);
}

static int r_collect_check_partitions(fst_rdd *rdd, const int *partitions, int n, struct fst_error *error)
{
        for (int i = 0; partitions && i < n; i++)
                if (partitions[i] < 0 || partitions[i] >= rdd->lineage.partitions)
                        return error_set(error, -EINVAL,
                                         "Attempting to access a non-existent partition: %d. Total number of "
                                         "partitions: %d",
                                         partitions[i], rdd->lineage.partitions);
        return 0;
}

int r_collect(fst_rdd *rdd, const int *partitions, int n, struct r_rows *rows, struct fst_error *error)
{
        fst_site site = R_SITE(partitions ? "collectPartitions" : "collect");
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct rows_job job = {rows_action_of(&rows_action_class, rdd, rdd->type, INT64_MAX)};
        int64_t count = 0;
        int r = action_check(rdd, error);
        if (r == 0)
                r = r_collect_check_partitions(rdd, partitions, n, error);
        if (r == 0)
                r = rows_job_run(&job, rdd, partitions, n, site, error);
        if (r == 0) {
                rows->pages = rows_job_take(&job, &count);
                r_collect_index(rows, rdd->type, (size_t)count);
        }
        rows_job_deinit(&job);
        if (r) {
                struct fst_error copy = FST_ERROR_INIT;
                error_set(&copy, r, "%s", error_message(error));
                action_failed(rdd, site, r, &copy);
        }
        return r;
}
