/*
 * Actions on whole partitions: foreach_partition, run_job, and to_local_iterator, which holds one partition in the
 * driver at a time.
 */
#include "driver/actions/actions.h"

#include "base/mem.h"
#include "rdd/pipeline/struct_view.h"
#include "driver/actions/result_rows.h"
#include "store/page.h"

#include <limits.h>

static int action_check_form(const fst_fn *f, uint32_t form, const char *wanted, fst_site site, struct fst_error *error)
{
        if (FST_SHAPE_FORM(f->shape) == form)
                return 0;
        return error_set(error, -EINVAL, "%s is not a function for %s, which takes the form %s", f->name,
                         site.operation, wanted);
}

int foreach_partition_action_init(struct foreach_action *action, fst_rdd *rdd, fst_fn f, fst_site site,
                                  struct fst_error *error)
{
        *action = (struct foreach_action){
                {.class = &foreach_partition_action_class, .type = rdd->type, .merge = action_no_merge}, f};
        int r = action_check(rdd, error);
        if (r == 0)
                r = action_check_form(&f, FST_FORM_EACH_ITER, "int f(fst_task *, fst_iter *)", site, error);
        return r ? r : rdd_registry_describe(rdd->sc, &f, &action->fn.name, error);
}

FST_API int fst_foreach_partition_at(fst_rdd *rdd, fst_fn f, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct foreach_action action;
        int r = foreach_partition_action_init(&action, rdd, f, site, &error);
        if (r == 0)
                r = action_run(rdd, &action.action, NULL, 0, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

/* ------------------------------------------------------------------------------------------------------- run_job */

int action_check_partitions(fst_rdd *rdd, const int *partitions, size_t n, struct fst_error *error)
{
        if (partitions && n > INT_MAX)
                return error_set(error, -EINVAL, "a job takes at most %d partitions, not %zu", INT_MAX, n);
        for (size_t i = 0; partitions && i < n; i++)
                if (partitions[i] < 0 || partitions[i] >= rdd->lineage.partitions)
                        return error_set(error, -EINVAL,
                                         "Attempting to access a non-existent partition: %d. Total number of "
                                         "partitions: %d",
                                         partitions[i], rdd->lineage.partitions);
        return 0;
}

FST_API int fst_run_job_at(fst_rdd *rdd, fst_fn f, fst_type type, const int *partitions, size_t n, fst_iter **rows,
                           fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, rows, "rows", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct rows_job job = {rows_action_of(&run_job_action_class, rdd, type, INT64_MAX)};
        job.rows.fn = f;
        int r = action_check(rdd, &error);
        if (r == 0)
                r = fst_type_check(type, &error);
        if (r == 0)
                r = action_check_form(&f, FST_FORM_ITER, "int f(fst_task *, fst_iter *, fst_out *)", site, &error);
        if (r == 0)
                r = rdd_registry_describe(rdd->sc, &f, &job.rows.fn.name, &error);
        if (r == 0)
                r = action_check_partitions(rdd, partitions, n, &error);
        if (r == 0)
                r = rows_job_run(&job, rdd, partitions, (int)n, site, &error);
        if (r == 0)
                *rows = result_rows_new(rdd->sc, type, rows_job_take(&job, NULL), INT64_MAX);
        rows_job_deinit(&job);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

/* -------------------------------------------------------------------------------------------- to_local_iterator */

struct local_rows {
        fst_iter iter;
        struct context_result owned;
        fst_rdd *rdd;
        fst_site site;
        int next;           /* partition */
        struct page *pages; /* the previous partition's; the first is being read */
        struct page_cursor cursor;
        struct struct_view view;
        bool reading;
};

static int local_rows_fetch(struct local_rows *self)
{
        _cleanup_(context_leave) fst_context *in = context_enter(self->rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct rows_job job = {rows_action_of(&rows_action_class, self->rdd, self->rdd->type, INT64_MAX)};
        int r = rows_job_run(&job, self->rdd, &self->next, 1, self->site, &error);
        if (r == 0)
                self->pages = rows_job_take(&job, NULL);
        rows_job_deinit(&job);
        self->next++;
        return r ? action_failed(self->rdd, self->site, r, &error) : 0;
}

/* Makes the structs of the current batch. False: a row is damaged. */
static bool local_rows_show(struct local_rows *self)
{
        struct fst_error error = FST_ERROR_INIT;
        self->iter.status = struct_view_batch(&self->view, &self->iter.batch, &self->iter.batch, &error);
        if (self->iter.status)
                action_failed(self->rdd, self->site, self->iter.status, &error);
        return self->iter.status == 0;
}

static bool local_rows_refill(fst_iter *iter)
{
        struct local_rows *self = container_of(iter, struct local_rows, iter);
        iter->at = 0;
        for (;;) {
                if (self->reading && page_cursor_next(&self->cursor, &iter->batch))
                        return local_rows_show(self);
                iter->batch.rows = 0;
                if (self->reading) {
                        struct page *read = self->pages;
                        self->pages = read->next;
                        page_free(NULL, read);
                        self->reading = false;
                }
                if (!self->pages && self->next == self->rdd->lineage.partitions)
                        return false;
                if (!self->pages && (iter->status = local_rows_fetch(self)))
                        return false;
                if (self->pages)
                        page_cursor_start(&self->cursor, self->pages);
                self->reading = self->pages != NULL;
        }
}

static void local_rows_free(struct context_result *owned)
{
        struct local_rows *self = container_of(owned, struct local_rows, owned);
        page_list_free(NULL, self->pages);
        page_cursor_deinit(&self->cursor);
        struct_view_deinit(&self->view);
}

FST_API int fst_to_local_iterator_at(fst_rdd *rdd, fst_iter **rows, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, rows, "rows", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = action_check(rdd, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        struct local_rows *self = new0(struct local_rows);
        struct_view_init(&self->view, rdd->type);
        self->iter.tag = fst_type_tag(self->view.seen);
        self->iter.batch.type = self->view.seen;
        self->iter.refill = local_rows_refill;
        self->owned.free = local_rows_free;
        self->owned.iter = &self->iter;
        self->owned.memory = self;
        self->rdd = rdd;
        self->site = site;
        page_cursor_init(&self->cursor, rdd->type);
        context_own(rdd->sc, &self->owned);
        *rows = &self->iter;
        return 0;
}
