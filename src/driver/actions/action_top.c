/*
 * top, take_ordered: each task sends its first rows in the order (rdd/sort/op_top.h), at most as many as requested. The
 * same operator takes the first of them here. Nothing is sorted as a whole.
 */
#include "driver/actions/actions.h"

#include "base/mem.h"
#include "driver/actions/result_rows.h"
#include "exec/actions/row_sink.h"
#include "rdd/pipeline/op_chain.h"
#include "rdd/pipeline/op_element.h"
#include "rdd/pipeline/op_key.h"
#include "rdd/sort/op_top.h"
#include "store/page.h"

static struct op *top_merge_op(struct task_run *run, const struct rows_action *rows, fst_type row)
{
        struct op *top = top_op_new(run, rows->made, (size_t)rows->limit, rows->order, rows->keyed);
        struct op *sink = row_sink_new(run, row, rows->limit);
        if (rows->keyed)
                sink = chain_op_new(value_op_new(run, rows->made, row), sink);
        return chain_op_new(top, sink);
}

/* Merges the rows of the tasks, in the order of their partitions, into the requested rows. */
static int top_merge(fst_rdd *rdd, const struct rows_action *rows, const struct page *sent, struct page **out,
                     struct fst_error *error)
{
        struct task_run run;
        size_t bytes;
        task_run_init(&run, rdd->sc->env.memory, NULL);
        struct op *op = top_merge_op(&run, rows, rdd->type);
        struct op *sink = chain_op_last(op);
        int r = op_feed_pages(op, rows->made, sent);
        if (r < 0)
                error_set(error, r, "%s", error_message(&run.error));
        else
                *out = row_sink_take(rows->keyed ? chain_op_last(sink) : sink, &bytes);
        op_free(op);
        task_run_deinit(&run);
        return r < 0 ? r : 0;
}

static int top_use_key(fst_rdd *rdd, struct rows_action *rows, const fst_fn *key, fst_type key_type,
                       struct fst_error *error)
{
        char given[64];
        if (FST_SHAPE_FORM(key->shape) == FST_FORM_BUILTIN && FST_SHAPE_TAG(key->shape) == FST_BUILTIN_IDENTITY)
                return 0;
        if (!key_type.key || key_type.value)
                return error_set(error, -EINVAL, "take_ordered_by takes the type of the keys only, but was given %s",
                                 fst_type_name(key_type, given));
        rows->keyed = true;
        rows->fn = *key;
        rows->made = fst_type_pair(key_type, key_op_value(rdd->type));
        int r = fst_type_check(key_type, error);
        if (r == 0)
                r = element_check(ELEMENT_MAP, rdd->type, key_type, key, error);
        return r ? r : rdd_registry_describe(rdd->sc, key, &rows->fn.name, error);
}

static int top_take(fst_rdd *rdd, int64_t n, const fst_fn *key, fst_type key_type, enum fst_order order,
                    struct page **out, fst_site site, struct fst_error *error)
{
        struct rows_job job = {rows_action_of(&top_action_class, rdd, rdd->type, n)};
        job.rows.order = order;
        *out = NULL;
        int r = action_check(rdd, error);
        if (r == 0 && key)
                r = top_use_key(rdd, &job.rows, key, key_type, error);
        if (r || n <= 0)
                return r;
        r = rows_job_run(&job, rdd, NULL, 0, site, error);
        if (r == 0) {
                struct page *sent = rows_job_take(&job, NULL);
                r = top_merge(rdd, &job.rows, sent, out, error);
                page_list_free(NULL, sent);
        }
        rows_job_deinit(&job);
        return r;
}

static int top_run(fst_rdd *rdd, int64_t n, const fst_fn *key, fst_type key_type, enum fst_order order, fst_iter **iter,
                   fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct page *pages;
        int r = top_take(rdd, n, key, key_type, order, &pages, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        *iter = result_rows_new(rdd->sc, rdd->type, pages, MAX(n, 0));
        return 0;
}

FST_API int fst_take_ordered_at(fst_rdd *rdd, int64_t n, enum fst_order order, fst_iter **rows, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, rows, "rows", site))
                return -EINVAL;
        return top_run(rdd, n, NULL, (fst_type){0}, order, rows, site);
}

FST_API int fst_take_ordered_by_at(fst_rdd *rdd, int64_t n, fst_fn key, fst_type key_type, enum fst_order order,
                                   fst_iter **rows, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, rows, "rows", site))
                return -EINVAL;
        return top_run(rdd, n, &key, key_type, order, rows, site);
}
