/*
 * count_by_key, count_by_value, collect_as_map and reduce_by_key_locally, whose rows become a map
 * (driver/actions/map.h), and lookup.
 *
 * As in Spark, a shuffle adds the counts before they are collected, so that a task or the driver has each key once.
 * reduce_by_key_locally instead makes each task send one pair for each of its keys, and combines them here.
 */
#include "driver/actions/actions.h"

#include "base/mem.h"
#include "driver/cleaner.h"
#include "driver/actions/map.h"
#include "driver/actions/preliminary_jobs.h"
#include "driver/actions/result_rows.h"
#include "exec/actions/row_sink.h"
#include "rdd/pipeline/op_chain.h"
#include "rdd/aggregate/op_combine.h"
#include "rdd/aggregate/op_lookup.h"
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/pipeline/task_listeners.h"
#include "shuffle/shuffle_store.h"
#include "store/page.h"

static int action_check_pairs(fst_rdd *rdd, fst_site site, struct fst_error *error)
{
        char have[64];
        int r = action_check(rdd, error);
        if (r == 0 && !rdd->type.value)
                r = error_set(error, -EINVAL, "%s needs pairs, not %s", site.operation, fst_type_name(rdd->type, have));
        return r;
}

static int action_collect_map(fst_rdd *rdd, fst_map **map, fst_site site, struct fst_error *error)
{
        struct rows_job job = {rows_action_of(&rows_action_class, rdd, rdd->type, INT64_MAX)};
        int r = rows_job_run(&job, rdd, NULL, 0, site, error);
        if (r == 0)
                r = map_new(rdd->sc, rdd->type, rows_job_take(&job, NULL), map, error);
        rows_job_deinit(&job);
        return r;
}

FST_API int fst_collect_as_map_at(fst_rdd *rdd, fst_map **map, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, map, "map", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = action_check_pairs(rdd, site, &error);
        if (r == 0)
                r = action_collect_map(rdd, map, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

static int action_count_into_map(fst_rdd *rdd, fst_map **map, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int first = rdd_registry_next_id(rdd->sc);
        fst_rdd *counts = fst_reduce_by_key_at(rdd_with_one(rdd, site), fst_fn_sum, 0, site);
        int r = action_collect_map(counts, map, site, &error);
        cleaner_drop(counts, first);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

static int action_refuse(fst_rdd *rdd, fst_site site, int status, const char *why)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = action_check(rdd, &error);
        return action_failed(rdd, site, r ? r : error_set(&error, status, "%s", why), &error);
}

FST_API int fst_count_by_key_at(fst_rdd *rdd, fst_map **map, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, map, "map", site))
                return -EINVAL;
        if (!rdd->type.value)
                return action_refuse(rdd, site, -EINVAL, "count_by_key needs pairs");
        return action_count_into_map(rdd, map, site);
}

FST_API int fst_count_by_value_at(fst_rdd *rdd, fst_map **map, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, map, "map", site))
                return -EINVAL;
        if (rdd->type.value)
                return action_refuse(rdd, site, -EINVAL,
                                     "count_by_value does not count pairs: map each pair to one value first");
        return action_count_into_map(rdd, map, site);
}

/* ----------------------------------------------------------------------------------------- reduce_by_key_locally */

static int action_combine_locally(fst_rdd *rdd, const fst_fn *fn, const struct page *sent, struct page **out,
                                  struct fst_error *error)
{
        struct task_run run;
        size_t bytes;
        task_run_init(&run, rdd->sc->env.memory, &rdd->sc->env.shuffles->space);
        run.services = rdd->sc->env.services;
        struct op *op = chain_op_new(combine_op_new(&run, rdd->type, fn), row_sink_new(&run, rdd->type, INT64_MAX));
        int r = op_feed_pages(op, rdd->type, sent);
        r = task_run_call_listeners(&run, r ? r : run.status);
        if (r)
                error_set(error, r, "%s", error_message(&run.error));
        else
                *out = row_sink_take(chain_op_last(op), &bytes);
        op_free(op);
        task_run_deinit(&run);
        return r;
}

static int action_reduce_locally(fst_rdd *rdd, fst_fn f, fst_map **map, fst_site site, struct fst_error *error)
{
        struct rows_job job = {rows_action_of(&combine_action_class, rdd, rdd->type, INT64_MAX)};
        fst_type value = {.key = rdd->type.value, .key_size = rdd->type.value_size};
        struct page *pages;
        job.rows.fn = f;
        int r = action_check_pairs(rdd, site, error);
        if (r == 0)
                r = combine_check(value, &f, error);
        if (r == 0)
                r = rdd_registry_describe(rdd->sc, &f, &job.rows.fn.name, error);
        if (r == 0)
                r = rows_job_run(&job, rdd, NULL, 0, site, error);
        if (r == 0 && job.n == 0)
                r = error_set(error, -ENODATA, "empty collection");
        if (r == 0) {
                struct page *sent = rows_job_take(&job, NULL);
                r = action_combine_locally(rdd, &job.rows.fn, sent, &pages, error);
                page_list_free(NULL, sent);
        }
        if (r == 0)
                r = map_new(rdd->sc, rdd->type, pages, map, error);
        rows_job_deinit(&job);
        return r;
}

FST_API int fst_reduce_by_key_locally_at(fst_rdd *rdd, fst_fn f, fst_map **map, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, map, "map", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = action_reduce_locally(rdd, f, map, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

/* --------------------------------------------------------------------------------------------------------- lookup */

/*
 * Find the one partition that can have @key, if it is known (*@to, else -1). Returns a negative status if the
 * application's function failed.
 */
static int lookup_partition_of(fst_rdd *rdd, const struct reduce_value *key, int *to, struct fst_error *error)
{
        fst_bytes bytes = {key->data, key->size};
        int64_t number = key->number;
        fst_batch row = {.type = rdd->type, .rows = 1, .key = {.i64 = &number}};
        struct task_run run;
        struct row_placer placing;
        uint32_t place = 0;
        *to = -1;
        if (!rdd->partitioner || !partitioner_ready(rdd->partitioner))
                return 0;
        if (row.type.key == FST_KIND_BYTES)
                row.key.bytes = &bytes;
        else if (row.type.key == FST_KIND_FIXED)
                row.key.fixed = key->data;
        task_run_init(&run, rdd->sc->env.memory, NULL);
        run.services = rdd->sc->env.services;
        row_placer_begin(&placing, rdd->partitioner, &run, 0);
        int r = row_placer_place(&placing, &row, &place);
        if (r)
                error_set(error, r, "%s", error_message(&run.error));
        else if ((int)place < rdd->lineage.partitions)
                *to = (int)place;
        task_run_deinit(&run);
        return r;
}

static int action_lookup(fst_rdd *rdd, fst_key key, fst_iter **rows, fst_site site, struct fst_error *error)
{
        fst_type value = {.key = rdd->type.value, .key_size = rdd->type.value_size};
        struct rows_job job = {rows_action_of(&lookup_action_class, rdd, value, INT64_MAX)};
        struct reduce_value wanted;
        _cleanup_(arena_deinit) struct arena space = ARENA_INIT;
        job.rows.value = &wanted;
        int r = action_check_pairs(rdd, site, error);
        if (r == 0)
                r = lookup_key(rdd->type, key, &space, &wanted, error);
        int place = -1;
        if (r == 0)
                r = preliminary_jobs_run(rdd, site, error);
        if (r == 0)
                r = lookup_partition_of(rdd, &wanted, &place, error);
        if (r)
                return r;
        r = rows_job_run(&job, rdd, place < 0 ? NULL : &place, 1, site, error);
        if (r == 0)
                *rows = result_rows_new(rdd->sc, value, rows_job_take(&job, NULL), INT64_MAX);
        rows_job_deinit(&job);
        return r;
}

FST_API int fst_lookup_at(fst_rdd *rdd, fst_key key, fst_iter **rows, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, rows, "rows", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = action_lookup(rdd, key, rows, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}
