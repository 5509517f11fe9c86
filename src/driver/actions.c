/* What actions have in common, and the small ones: count, foreach, reduce. See actions.h. */
#include "driver/actions.h"

#include "base/mem.h"
#include "exec/slot.h"
#include "rdd/aggregate.h"
#include "rdd/op_combine.h"
#include "rdd/op_element.h"
#include "rdd/op_reduce.h"

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

struct count_action {
        struct action action;
        int64_t total;
};

struct count_sink {
        struct op op;
        int64_t rows;
};

static int count_begin(struct op *op)
{
        container_of(op, struct count_sink, op)->rows = 0;
        return 0;
}

static int count_consume(struct op *op, const struct rows *in)
{
        container_of(op, struct count_sink, op)->rows += in->batch.rows;
        return task_run_stopped(op->run) ? task_run_cancelled(op->run) : 0;
}

static void count_free(struct op *op)
{
        op_deinit(op);
        free(container_of(op, struct count_sink, op));
}

static const struct op_class count_class = {"count", .begin = count_begin, .consume = count_consume,
                                            .free = count_free};

static struct op *count_sink_new(struct action *action, struct task_run *run)
{
        struct count_sink *sink = new0(struct count_sink);
        op_init(&sink->op, &count_class, run, (fst_type){0});
        return &sink->op;
}

static int count_result(struct action *action, struct op *sink, struct task_result *result)
{
        result->number = container_of(sink, struct count_sink, op)->rows;
        result->bytes = 8;
        return 0;
}

static int count_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        container_of(action, struct count_action, action)->total += result->number;
        return 0;
}

FST_API int fst_count_at(fst_rdd *rdd, int64_t *count, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct count_action action = {
                {.name = "count", .sink_new = count_sink_new, .result = count_result, .merge = count_merge}, 0};
        int r = action_run(rdd, &action.action, NULL, 0, site, &error);
        if (r)
                return action_failed(rdd, site, r, &error);
        *count = action.total;
        return 0;
}

/* --------------------------------------------------------------------------------------------------- foreach */

struct foreach_action {
        struct action action;
        fst_type type;
        fst_fn fn;
};

static struct op *foreach_sink_new(struct action *action, struct task_run *run)
{
        struct foreach_action *self = container_of(action, struct foreach_action, action);
        return element_op_new(ELEMENT_FOREACH, run, self->type, self->type, &self->fn);
}

static int no_result(struct action *action, struct op *sink, struct task_result *result)
{
        return 0;
}

static int no_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        return 0;
}

FST_API int fst_foreach_at(fst_rdd *rdd, fst_fn f, fst_site site)
{
        _cleanup_(context_leave) fst_context *in = context_enter(rdd->sc);
        struct fst_error error = FST_ERROR_INIT;
        struct foreach_action action = {
                {.name = "foreach", .sink_new = foreach_sink_new, .result = no_result, .merge = no_merge},
                rdd->type,
                f};
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
struct reduce_action {
        struct action action;
        fst_type type;
        fst_fn fn;
        struct reduce_value *partial; /* by output */
        int n;
};

static struct op *reduce_sink_new(struct action *action, struct task_run *run)
{
        struct reduce_action *self = container_of(action, struct reduce_action, action);
        return reduce_op_new(run, self->type, &self->fn);
}

static int reduce_result(struct action *action, struct op *sink, struct task_result *result)
{
        struct reduce_value *value = new0(struct reduce_value);
        reduce_op_take(sink, value);
        result->data = value;
        result->bytes = value->size + 8;
        return 0;
}

static int reduce_merge(struct action *action, int output, struct task_result *result, struct fst_error *error)
{
        struct reduce_action *self = container_of(action, struct reduce_action, action);
        self->partial[output] = *(struct reduce_value *)result->data;
        free(result->data);
        return 0;
}

static void reduce_discard(struct action *action, struct task_result *result)
{
        struct reduce_value *value = result->data;
        if (value)
                free(value->data);
        free(value);
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
static int reduce_partials(fst_rdd *rdd, struct reduce_action *self, struct reduce_value *total,
                           struct fst_error *error)
{
        struct task_run run;
        task_run_init(&run, rdd->sc->memory, NULL);
        struct op *op = reduce_op_new(&run, self->type, &self->fn);
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
        struct reduce_action action = {{.name = "reduce",
                                        .sink_new = reduce_sink_new,
                                        .result = reduce_result,
                                        .merge = reduce_merge,
                                        .discard = reduce_discard},
                                       rdd->type,
                                       f};
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
                r = rdd_registry_describe(rdd->sc, &f, &action.fn.name, &error);
        if (r == 0) {
                action.n = rdd->lineage.partitions;
                action.partial = new_array(struct reduce_value, (size_t)action.n);
                r = action_run(rdd, &action.action, NULL, 0, site, &error);
        }
        if (r == 0)
                r = reduce_partials(rdd, &action, &total, &error);
        if (r == 0)
                r = give_result(rdd, &total, result_tag, result, &error);
        for (int i = 0; i < action.n; i++)
                free(action.partial[i].data);
        free(action.partial);
        free(total.data);
        return r ? action_failed(rdd, site, r, &error) : 0;
}
