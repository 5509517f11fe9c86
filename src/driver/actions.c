/*
 * What actions have in common, and the driver's half of the small ones: count, foreach, reduce. The tasks' half is in
 * exec/action_*.c. See actions.h.
 */
#include "driver/actions.h"

#include "base/mem.h"
#include "exec/action_kinds.h"
#include "exec/slot.h"
#include "rdd/aggregate.h"
#include "rdd/op_combine.h"
#include "rdd/op_element.h"

#include <stdio.h>

int action_check(fst_rdd *rdd, struct fst_error *error)
{
        if (rdd->sc->status)
                return error_set(error, rdd->sc->status, "%s", error_message(&rdd->sc->error));
        if (slot_is_this_thread())
                return error_set(error, -EDEADLK,
                                 "RDD transformations and actions can only be invoked by the driver, not inside of "
                                 "other transformations (SPARK-5063)");
        int r = rdd_plan(rdd);
        return r ? error_set(error, r, "%s", error_message(&rdd->error)) : 0;
}

int action_run(fst_rdd *rdd, struct action *action, const int *partitions, int n, fst_site site,
               struct fst_error *error)
{
        int r = action_check(rdd, error);
        if (r == 0)
                r = range_bounds_prepare(rdd, site, error);
        if (r)
                return r;
        const char *file = strrchr(site.file, '/');
        _cleanup_free_ char *call_site =
                mem_printf("%s at %s:%d", site.operation, file ? file + 1 : site.file, site.line);
        struct job_request request = {
                .rdd = rdd,
                .partitions = partitions,
                .n = partitions ? n : rdd->lineage.partitions,
                .action = action,
                .call_site = call_site,
        };
        if (request.n == 0)
                return 0;
        return job_runner_run(rdd->sc->runner, &request, error);
}

int action_failed(fst_rdd *rdd, fst_site site, int status, struct fst_error *error)
{
        const char *file = strrchr(site.file, '/');
        _cleanup_free_ char *name = mem_printf("%s at %s:%d", site.operation, file ? file + 1 : site.file, site.line);
        return context_action_failed(rdd->sc, name, status, error);
}

/* ----------------------------------------------------------------------------------------------------- count */

struct count_job {
        struct action action;
        int64_t total;
};

static int count_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        container_of(action, struct count_job, action)->total += result->number;
        return 0;
}

static void count_reset(struct action *action)
{
        container_of(action, struct count_job, action)->total = 0;
}

FST_API int fst_count_at(fst_rdd *rdd, int64_t *count, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct count_job job = {
                {.class = &count_action_class, .type = rdd->type, .merge = count_merge, .reset = count_reset}, 0};
        int r = action_run(rdd, &job.action, NULL, 0, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        *count = job.total;
        return 0;
}

/* --------------------------------------------------------------------------------------------------- foreach */

static int no_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        return 0;
}

FST_API int fst_foreach_at(fst_rdd *rdd, fst_fn f, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct foreach_action action = {{.class = &foreach_action_class, .type = rdd->type, .merge = no_merge}, f};
        int r = action_check(rdd, &error);
        if (r == 0)
                r = element_check(ELEMENT_FOREACH, rdd->type, rdd->type, &f, &error);
        if (r == 0)
                r = rdd_registry_describe(rdd->sc, &f, &action.fn.name, &error);
        if (r == 0)
                r = action_run(rdd, &action.action, NULL, 0, site, &error);
        return r ? action_failed(rdd, site, r, &error) : 0;
}

/* ---------------------------------------------------------------------------------------------------- reduce */

/*
 * Each task reduces its partition; the partial results, which are few, are kept by partition and reduced in that
 * order at the end, so that the outcome does not depend on which task was quickest.
 */
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
        for (int i = 0; i < self->n; i++) {
                free(self->partial[i].data);
                self->partial[i] = (struct reduce_value){0};
        }
}

struct kept_bytes {
        struct kept_result kept;
        char data[];
};

static void kept_bytes_free(struct kept_result *kept)
{
        free(container_of(kept, struct kept_bytes, kept));
}

/* Reduce the partial results here, with the same operator that tasks use. */
static int reduce_partials(fst_rdd *rdd, struct reduce_job *self, struct reduce_value *total, struct fst_error *error)
{
        struct task_run run;
        task_run_init(&run, rdd->sc->env.memory, NULL);
        struct op *op = reduce_op_new(&run, self->reduce.action.type, &self->reduce.fn);
        int r = op_begin(op);
        for (int i = 0; i < self->n && r == 0; i++)
                r = reduce_op_add(op, &self->partial[i]);
        if (r)
                error_set(error, r, "%s", error_message(&run.error));
        else
                reduce_op_take(op, total);
        op_free(op);
        task_run_deinit(&run);
        return r;
}

static int give_result(fst_rdd *rdd, struct reduce_value *total, uint32_t tag, void *result, struct fst_error *error)
{
        if (!total->present)
                return error_set(error, -ENODATA, "empty collection");
        switch (tag & 0xff) {
        case FST_KIND_BYTES: {
                struct kept_bytes *kept = mem_alloc(sizeof(*kept) + total->size + 1);
                kept->kept.free = kept_bytes_free;
                memcpy(kept->data, total->data, total->size);
                kept->data[total->size] = 0;
                context_keep(rdd->sc, &kept->kept);
                *(fst_bytes *)result = (fst_bytes){kept->data, total->size};
                return 0;
        }
        case FST_KIND_FIXED:
                memcpy(result, total->data, total->size);
                return 0;
        default:
                memcpy(result, &total->number, 8);
                return 0;
        }
}

FST_API int fst_reduce_at(fst_rdd *rdd, fst_fn f, uint32_t result_tag, void *result, size_t result_size, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        char have[64], want[64];
        struct reduce_job job = {
                .reduce = {{.class = &reduce_action_class,
                            .type = rdd->type,
                            .merge = reduce_merge,
                            .reset = reduce_reset},
                           f}};
        struct reduce_value total = {0};
        int r = action_check(rdd, &error);
        if (r == 0 && fst_type_tag(rdd->type) != result_tag)
                r = error_set(&error, -EINVAL, "reduce gives %s, but the variable is for %s",
                              fst_type_name(rdd->type, have), fst_tag_name(result_tag, want));
        if (r == 0 && rdd->type.key == FST_KIND_FIXED && rdd->type.key_size != result_size)
                r = error_set(&error, -EINVAL, "reduce gives FIXED of %u bytes, but the variable has %zu bytes",
                              rdd->type.key_size, result_size);
        if (r == 0)
                r = combine_check(rdd->type, &f, &error);
        if (r == 0)
                r = rdd_registry_describe(rdd->sc, &f, &job.reduce.fn.name, &error);
        if (r == 0) {
                job.n = rdd->lineage.partitions;
                job.partial = new_array(struct reduce_value, (size_t)job.n);
                r = action_run(rdd, &job.reduce.action, NULL, 0, site, &error);
        }
        if (r == 0)
                r = reduce_partials(rdd, &job, &total, &error);
        if (r == 0)
                r = give_result(rdd, &total, result_tag, result, &error);
        for (int i = 0; i < job.n; i++)
                free(job.partial[i].data);
        free(job.partial);
        free(total.data);
        return r ? action_failed(rdd, site, r, &error) : 0;
}
