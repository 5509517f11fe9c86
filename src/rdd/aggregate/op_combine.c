/* See op_combine.h. */
#include "rdd/aggregate/op_combine.h"

#include "base/mem.h"
#include "rdd/aggregate/aggregate.h"
#include "rdd/aggregate/combine_rows.h"

/* -------------------------------------------------------------------------------- targets of emitting functions */

static void out_free(struct op *op)
{
        op_deinit(op);
        free(op);
}

static const struct op_class out_class = {"reduce", .free = out_free};

struct op *combine_out_new(struct task_run *run, fst_type value)
{
        struct op *op = new0(struct op);
        op_init(op, &out_class, run, value);
        op_alloc_out(op, value);
        op->one_for_one = true;
        return op;
}

void combine_out_reset(fst_out *out)
{
        out->rows = 0;
        out->op->status = 0;
        arena_reset(&out->op->heap);
}

static bool op_combine_emits(const fst_fn *fn)
{
        return FST_SHAPE_FORM(fn->shape) == FST_FORM_EMIT;
}

struct op *combine_out_for(struct task_run *run, fst_type type, const struct aggregate_values *values, const fst_fn *fn)
{
        if (!op_combine_emits(fn) &&
            !(values && (op_combine_emits(&values->create) || op_combine_emits(&values->merge))))
                return NULL;
        return combine_out_new(run, (fst_type){.key = type.value, .key_size = type.value_size});
}

/* -------------------------------------------------------------------------------------------------- combining */

struct combine_op {
        struct op op;
        fst_fn fn;
        const struct aggregate_values *values;
        struct aggregate *aggregate;
        struct op *emitted; /* NULL unless the function emits */
        bool started;
};

static int combine_begin(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        struct fst_error error = FST_ERROR_INIT;
        int r = aggregate_start(self->aggregate,
                                &(struct aggregate_options){.side = AGGREGATE_REDUCE,
                                                            .memory = task_run_memory(op->run),
                                                            .type = op->type,
                                                            .combine = self->fn,
                                                            .values = self->values,
                                                            .task = &op->run->task,
                                                            .spill = op->run->spill,
                                                            .out = self->emitted ? &self->emitted->out : NULL,
                                                            .out_reset = combine_out_reset},
                                &error);
        self->started = r == 0;
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

static int combine_consume(struct op *op, const struct rows *in)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        struct fst_error error = FST_ERROR_INIT;
        uint32_t at = 0;
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        const char *outer = task_run_enter(op->run, self->values ? self->values->merge.name : self->fn.name);
        int r = aggregate_add(self->aggregate, &in->batch, &at, &error);
        task_run_leave(op->run, outer);
        if (r == FST_AGGREGATE_E_FULL)
                return task_run_fail(op->run, -ENOMEM, "no memory to combine by key or to spill");
        return r ? task_run_fail_with(op->run, r, &error) : 0;
}

/* Pushes the combined rows, after which there are none. */
static int combine_push(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        struct fst_error error = FST_ERROR_INIT;
        struct rows rows = {0};
        int r;
        while ((r = aggregate_next(self->aggregate, &rows.batch, NULL, &error)) == 0 && rows.batch.rows > 0) {
                r = op_push(op, &rows);
                if (r)
                        break;
        }
        if (r < 0)
                task_run_fail_with(op->run, r, &error);
        return r;
}

static int combine_end(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        int r = combine_push(op);
        struct aggregate_stats stats = aggregate_stats(self->aggregate);
        op->run->counters.disk_spilled += (int64_t)stats.spilled_bytes;
        op->class->abandon(op);
        return r;
}

static void combine_abandon(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        if (self->started)
                aggregate_reset(self->aggregate);
        self->started = false;
}

static void combine_free(struct op *op)
{
        struct combine_op *self = container_of(op, struct combine_op, op);
        aggregate_free(self->aggregate);
        op_free(self->emitted);
        op_deinit(op);
        free(self);
}

static const struct op_class combine_class = {
        "reduce_by_key",
        .begin = combine_begin,
        .consume = combine_consume,
        .end = combine_end,
        .abandon = combine_abandon,
        .free = combine_free,
        .bucket_end = combine_push,
};

struct op *combine_op_new_taking(struct task_run *run, fst_type type, const struct aggregate_values *values,
                                 const fst_fn *fn)
{
        struct combine_op *self = new0(struct combine_op);
        op_init(&self->op, &combine_class, run, type);
        self->fn = *fn;
        self->aggregate = aggregate_new();
        self->values = values;
        self->emitted = combine_out_for(run, type, values, fn);
        return &self->op;
}

struct op *combine_op_new(struct task_run *run, fst_type type, const fst_fn *fn)
{
        return combine_op_new_taking(run, type, NULL, fn);
}

int combine_check(fst_type value, const fst_fn *fn, struct fst_error *error)
{
        return combine_rows_check(value, NULL, fn, error);
}
