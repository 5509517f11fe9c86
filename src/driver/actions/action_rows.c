/*
 * collect and take, and their derivatives: first, is_empty.
 *
 * take reads few partitions first, then more while rows are missing, by Spark's rule.
 */
#include "driver/actions/actions.h"

#include "base/mem.h"
#include "driver/actions/result_rows.h"
#include "store/page.h"

#include <math.h>

FST_API int fst_collect_at(fst_rdd *rdd, fst_iter **iter, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, iter, "rows", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct rows_job job = {rows_action_of(&rows_action_class, rdd, rdd->type, INT64_MAX)};
        int r = rows_job_run(&job, rdd, NULL, 0, site, &error);
        if (r == 0)
                *iter = result_rows_new(rdd->sc, rdd->type, rows_job_take(&job, NULL), INT64_MAX);
        rows_job_deinit(&job);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

/* -------------------------------------------------------------------------------------------------------- take */

/* Returns the number of partitions to read next: Spark's rule, with the numbers of spark.rdd.limit.*. */
static int take_next_round(int seen, int64_t found, int64_t wanted, int64_t first, int64_t scale_up)
{
        if (seen == 0)
                return (int)MIN(first, (int64_t)INT32_MAX);
        double most = MIN((double)seen * (double)scale_up, (double)INT32_MAX);
        if (found == 0)
                return (int)most;
        /* A double, because with a great @wanted it exceeds every integer. */
        double guess = ceil(1.5 * (double)wanted * seen / (double)found) - seen;
        return (int)MAX(MIN(guess, most), 1.0);
}

static int take_round(fst_rdd *rdd, int from, int count, int64_t missing, struct page **pages, int64_t *found,
                      fst_site site, struct fst_error *error)
{
        struct rows_job job = {rows_action_of(&rows_action_class, rdd, rdd->type, missing)};
        _cleanup_free_ int *partitions = new_array(int, (size_t)count);
        for (int i = 0; i < count; i++)
                partitions[i] = from + i;
        int64_t n = 0;
        int r = rows_job_run(&job, rdd, partitions, count, site, error);
        if (r == 0)
                *pages = rows_job_take(&job, &n);
        *found += n;
        rows_job_deinit(&job);
        return r;
}

int action_take_rules(fst_rdd *rdd, struct take_rules *rules, struct fst_error *error)
{
        int64_t first = 1, scale_up = 4;
        int r = conf_get_int(rdd->sc->conf, "spark.rdd.limit.initialNumPartitions", &first, error);
        if (r == 0)
                r = conf_get_int(rdd->sc->conf, "spark.rdd.limit.scaleUpFactor", &scale_up, error);
        if (r == 0)
                *rules = (struct take_rules){MAX(first, 1), MAX(scale_up, 2)};
        return r;
}

int action_take_round(const struct take_rules *rules, int seen, int partitions, int64_t found, int64_t wanted)
{
        return MIN(take_next_round(seen, found, wanted, rules->first, rules->scale_up), partitions - seen);
}

/* Takes the first @count rows, or more. */
static int action_take(fst_rdd *rdd, int64_t count, struct page **out, fst_site site, struct fst_error *error)
{
        struct page *pages = NULL, **tail = &pages;
        struct take_rules rules;
        int64_t found = 0;
        int seen = 0, r = action_check(rdd, error);
        if (r == 0)
                r = action_take_rules(rdd, &rules, error);
        while (r == 0 && found < count && seen < rdd->lineage.partitions) {
                int n = action_take_round(&rules, seen, rdd->lineage.partitions, found, count);
                r = take_round(rdd, seen, n, count - found, tail, &found, site, error);
                while (*tail)
                        tail = &(*tail)->next;
                seen += n;
        }
        if (r)
                page_list_free(NULL, pages);
        else
                *out = pages;
        return r;
}

FST_API int fst_take_at(fst_rdd *rdd, int64_t count, fst_iter **iter, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, iter, "rows", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct page *pages;
        int r = action_take(rdd, count, &pages, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        *iter = result_rows_new(rdd->sc, rdd->type, pages, MAX(count, 0));
        return 0;
}

/* ------------------------------------------------------------------------------------------------ first, is_empty */

static void first_give_row(fst_rdd *rdd, const struct page *page, fst_variable key, fst_variable value)
{
        fst_type key_type = {.key = rdd->type.key, .key_size = rdd->type.key_size};
        fst_type value_type = {.key = rdd->type.value, .key_size = rdd->type.value_size};
        struct page_cursor cursor;
        fst_batch batch;
        page_cursor_init(&cursor, rdd->type);
        page_cursor_start(&cursor, page);
        page_cursor_next(&cursor, &batch);
        struct reduce_value k = reduce_value_at(key_type, batch.key, 0);
        action_give(rdd->sc, key_type, &k, key);
        if (value.kind) {
                struct reduce_value v = reduce_value_at(value_type, batch.value, 0);
                action_give(rdd->sc, value_type, &v, value);
        }
        page_cursor_deinit(&cursor);
}

static int first_check_variables(fst_rdd *rdd, fst_variable key, fst_variable value, struct fst_error *error)
{
        char have[64], want[64];
        fst_type key_type = {.key = rdd->type.key, .key_size = rdd->type.key_size};
        fst_type value_type = {.key = rdd->type.value, .key_size = rdd->type.value_size};
        if (fst_type_tag(fst_type_seen(rdd->type)) != FST_TAG(key.kind, value.kind))
                return error_set(error, -EINVAL, "first gives %s, but the variables are for %s",
                                 fst_type_name(rdd->type, have), fst_tag_name(FST_TAG(key.kind, value.kind), want));
        int r = action_check_variable(key_type, key, "first", error);
        return r || !value.kind ? r : action_check_variable(value_type, value, "first", error);
}

FST_API int fst_first_at(fst_rdd *rdd, fst_variable key, fst_variable value, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct page *pages = NULL;
        int r = action_check(rdd, &error);
        if (r == 0)
                r = first_check_variables(rdd, key, value, &error);
        if (r == 0)
                r = action_take(rdd, 1, &pages, site, &error);
        if (r == 0 && !pages)
                r = error_set(&error, -ENODATA, "empty collection");
        if (r)
                return action_failed(rdd, site, r, &error);
        first_give_row(rdd, pages, key, value);
        page_list_free(NULL, pages);
        return 0;
}

FST_API int fst_is_empty_at(fst_rdd *rdd, bool *empty, fst_site site)
{
        rdd = rdd_given(rdd, site);
        if (action_check_place(rdd, empty, "answer", site))
                return -EINVAL;
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct page *pages;
        int r = action_take(rdd, 1, &pages, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        *empty = !pages;
        page_list_free(NULL, pages);
        return 0;
}
