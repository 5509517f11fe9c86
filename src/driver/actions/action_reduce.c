/*
 * reduce, fold and aggregate, also as trees.
 *
 * Each task combines its partition into one value. The driver combines these values in the order of partitions, so that
 * the result does not depend on timing. (In Spark it does.)
 */
#include "driver/actions/actions.h"

#include "base/mem.h"
#include "driver/cleaner.h"
#include "exec/actions/action_kinds.h"
#include "rdd/rdd_build.h"
#include "rdd/rdd_registry.h"
#include "rdd/pipeline/task_listeners.h"
#include "structs/struct_row.h"

struct reduce_job {
        struct reduce_action reduce;
        struct reduce_value *partial; /* by output */
        int n;
};

static int reduce_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        struct reduce_job *self = container_of(action, struct reduce_job, reduce.action);
        self->partial[output] = *(struct reduce_value *)result->data;
        free(result->data);
        return 0;
}

static void reduce_reset(struct action *action)
{
        struct reduce_job *self = container_of(action, struct reduce_job, reduce.action);
        for (int i = 0; i < self->n; i++)
                reduce_value_deinit(&self->partial[i]);
}

/* Combines the partial results in the driver, with the operator that tasks use. */
static int reduce_combine(fst_rdd *rdd, struct reduce_job *self, const fst_fn *fn, struct reduce_value *total,
                          struct fst_error *error)
{
        struct task_run run;
        task_run_init(&run, rdd->sc->env.memory, NULL);
        run.services = rdd->sc->env.services;
        struct op *op = reduce_op_new(&run, self->reduce.made, self->reduce.made, fn, self->reduce.zero);
        int r = op_begin(op);
        for (int i = 0; i < self->n && r == 0; i++)
                r = reduce_op_add(op, &self->partial[i]);
        r = task_run_call_listeners(&run, r);
        if (r)
                error_set(error, r, "%s", error_message(&run.error));
        else
                reduce_op_take(op, total);
        op_free(op);
        task_run_deinit(&run);
        return r;
}

static int reduce_run(fst_rdd *rdd, struct reduce_job *self, fst_fn *fn, fst_variable result, fst_site site,
                      struct fst_error *error)
{
        struct reduce_value total = {0};
        self->n = rdd->lineage.partitions;
        self->partial = new_array(struct reduce_value, (size_t)self->n);
        int r = action_run(rdd, &self->reduce.action, NULL, 0, site, error);
        if (r == 0)
                r = reduce_combine(rdd, self, fn, &total, error);
        if (r == 0 && !total.present)
                r = error_set(error, -ENODATA, "empty collection");
        if (r == 0)
                action_give(rdd->sc, self->reduce.made, &total, result);
        reduce_reset(&self->reduce.action);
        free(self->partial);
        reduce_value_deinit(&total);
        return r;
}

int action_reduce(fst_rdd *rdd, const struct reduce_plan *plan, fst_variable result, fst_site site,
                  struct fst_error *error)
{
        struct reduce_job job = {.reduce = {.action = {.class = &reduce_action_class,
                                                       .type = rdd->type,
                                                       .merge = reduce_merge,
                                                       .reset = reduce_reset},
                                            .fn = plan->take,
                                            .made = plan->made,
                                            .zero = plan->zero}};
        fst_fn fn = plan->combine;
        int r = action_check(rdd, error);
        if (r == 0)
                r = action_check_variable(plan->made, result, site.operation, error);
        if (r == 0)
                r = reduce_check(rdd->type, plan->made, &plan->take, error);
        if (r == 0)
                r = reduce_check(plan->made, plan->made, &plan->combine, error);
        if (r == 0)
                r = rdd_registry_describe(rdd->sc, &plan->take, &job.reduce.fn.name, error);
        if (r == 0)
                r = rdd_registry_describe(rdd->sc, &plan->combine, &fn.name, error);
        return r ? r : reduce_run(rdd, &job, &fn, result, site, error);
}

FST_API int fst_reduce_at(fst_rdd *rdd, fst_fn f, fst_variable result, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = action_reduce(rdd, &(struct reduce_plan){f, f, rdd->type, NULL}, result, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

int action_constant(fst_constant c, fst_type *type, struct reduce_value *value, struct fst_error *error)
{
        *value = (struct reduce_value){.present = true};
        *type = (fst_type){.key = c.kind, .key_size = c.kind == FST_KIND_BYTES ? 0 : (uint32_t)c.size};
        if (!c.at)
                return error_set(error, -EINVAL, "it was given NULL instead of an initial value");
        if (c.size > FST_FIXED_MAX)
                return error_set(error, -EINVAL, "a value of %zu bytes is more than the %d that FIXED may have", c.size,
                                 FST_FIXED_MAX);
        if (c.kind == FST_KIND_BYTES) {
                const fst_bytes *bytes = c.at;
                value->data = (char *)bytes->data;
                value->size = bytes->len;
        } else if (c.kind == FST_KIND_FIXED) {
                value->data = (char *)c.at;
                value->size = c.size;
        } else {
                memcpy(&value->number, c.at, 8);
        }
        return 0;
}

/* Combines the last level of the tree like any other reduce. */
static int reduce_tree(fst_rdd *rdd, const struct reduce_plan *plan, int depth, fst_variable result, fst_site site,
                       struct fst_error *error)
{
        int r = action_check(rdd, error);
        if (r == 0 && depth < 1)
                r = error_set(error, -EINVAL, "Depth must be greater than or equal to 1 but got %d.", depth);
        if (r == 0)
                r = action_check_variable(plan->made, result, site.operation, error);
        if (r == 0)
                r = reduce_check(rdd->type, plan->made, &plan->take, error);
        if (r == 0)
                r = reduce_check(plan->made, plan->made, &plan->combine, error);
        if (r)
                return r;
        if (rdd->lineage.partitions == 0)
                return action_reduce(rdd, plan, result, site, error);
        int first = rdd_registry_next_id(rdd->sc);
        fst_rdd *few = rdd_fold_tree(rdd, &plan->take, &plan->combine, plan->made, plan->zero, depth, site);
        struct reduce_plan rest = {plan->combine, plan->combine, plan->made, plan->zero};
        r = action_reduce(few, &rest, result, site, error);
        cleaner_drop(few, first);
        return r;
}

FST_API int fst_tree_reduce_at(fst_rdd *rdd, fst_fn f, int depth, fst_variable result, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        int r = reduce_tree(rdd, &(struct reduce_plan){f, f, rdd->type, NULL}, depth, result, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

FST_API int fst_tree_aggregate_at(fst_rdd *rdd, fst_constant zero, fst_fn take, fst_fn combine_fn, int depth,
                                  fst_variable result, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct reduce_value begin;
        struct reduce_plan plan = {.take = take, .combine = combine_fn, .zero = &begin};
        int r = action_constant(zero, &plan.made, &begin, &error);
        if (r == 0)
                r = reduce_tree(rdd, &plan, depth, result, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

FST_API int fst_aggregate_at(fst_rdd *rdd, fst_constant zero, fst_fn take, fst_fn combine_fn, fst_variable result,
                             fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct reduce_value begin;
        struct reduce_plan plan = {.take = take, .combine = combine_fn, .zero = &begin};
        int r = action_constant(zero, &plan.made, &begin, &error);
        if (r == 0)
                r = action_reduce(rdd, &plan, result, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

/* fold of rows that are structs with fields. */
static int fold_structs(fst_rdd *rdd, const struct struct_type *s, const void *zero, fst_fn f, fst_variable result,
                        fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        size_t size = struct_row_size(s, zero);
        _cleanup_free_ char *row = mem_alloc(size + 1);
        struct_row_write(s, zero, row);
        struct reduce_value begin = {.present = true, .data = row, .size = size};
        int r = action_reduce(rdd, &(struct reduce_plan){f, f, rdd->type, &begin}, result, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

FST_API int fst_fold_at(fst_rdd *rdd, fst_constant zero, fst_fn f, fst_variable result, fst_site site)
{
        rdd = rdd_given(rdd, site);
        const struct struct_type *s = struct_type_of_column(rdd->type.key, rdd->type.key_size);
        if (s && zero.at && zero.size == s->size)
                return fold_structs(rdd, s, zero.at, f, result, site);
        return fst_aggregate_at(rdd, zero, f, f, result, site);
}
