/*
 * See op_flat_map_values.h.
 *
 * The function emits into the operator `values`, whose column is the value column of the pairs. The keys are added
 * after each call, and when the batch is full in the middle of a call.
 */
#include "rdd/pipeline/op_flat_map_values.h"

#include "base/mem.h"
#include "rdd/pipeline/columns.h"
#include "rdd/pipeline/struct_view.h"

struct flat_op {
        struct op op;     /* the result; pushes pairs */
        struct op values; /* the function's output; pushes into `pairs` */
        struct op pairs;
        fst_fn fn;
        struct struct_view view;
        fst_column keys; /* keys of the rows in values.out, up to `filled` */
        uint32_t filled;
        const fst_batch *in;
        uint32_t at; /* the row being flattened */
        int (*loop)(struct flat_op *self, const fst_batch *in);
};

/* Repeats the current row's key for each value that was emitted for it. */
static void flat_fill_keys(struct flat_op *self)
{
        const fst_batch *in = self->in;
        uint32_t to = self->values.out.rows, at = self->at;
        size_t size = self->op.type.key_size;
        if (self->filled == to) /* after the last row there is no key to read */
                return;
        switch (self->op.type.key) {
        case FST_KIND_BYTES:
                for (; self->filled < to; self->filled++)
                        self->keys.bytes[self->filled] = in->key.bytes[at];
                break;
        case FST_KIND_FIXED:
                for (; self->filled < to; self->filled++)
                        memcpy(self->keys.fixed + self->filled * size, in->key.fixed + at * size, size);
                break;
        default:
                for (; self->filled < to; self->filled++)
                        self->keys.i64[self->filled] = in->key.i64[at];
        }
}

#define LOOP(kind, argument)                                                                                           \
        for (uint32_t i = 0; i < in->rows; i++) {                                                                      \
                self->at = i;                                                                                          \
                int r = f(task, argument, &self->values.out);                                                          \
                if (unlikely(r != 0))                                                                                  \
                        return task_run_fail_by(self->op.run, r, self->fn.name);                                       \
                if (unlikely(self->values.status != 0))                                                                \
                        return self->values.status;                                                                    \
                flat_fill_keys(self);                                                                                  \
        }                                                                                                              \
        return self->op.run->status;

#define LOOPS(kind, suffix, type)                                                                                      \
        static int loop_##suffix(struct flat_op *self, const fst_batch *in)                                            \
        {                                                                                                              \
                int (*f)(fst_task *, type, fst_out *) = (int (*)(fst_task *, type, fst_out *))self->fn.code;           \
                fst_task *task = &self->op.run->task;                                                                  \
                LOOP(kind, VALUE_##kind)                                                                               \
        }
#define VALUE_I64 in->value.i64[i]
#define VALUE_F64 in->value.f64[i]
#define VALUE_BYTES in->value.bytes[i]
#define VALUE_FIXED in->value.fixed + (size_t)i * in->type.value_size
FST_KEYS(LOOPS)

/* Pushes the rows of `values` with their keys, when a batch is full or the input ends. */
static int flat_push_pairs(struct op *op, const struct rows *values)
{
        struct flat_op *self = container_of(op, struct flat_op, pairs);
        flat_fill_keys(self);
        self->filled = 0;
        struct rows pairs = *values;
        pairs.batch.type = self->op.type;
        pairs.batch.key = self->keys;
        pairs.batch.value = values->batch.key;
        return op_push(&self->op, &pairs);
}

static int flat_begin(struct op *op)
{
        struct flat_op *self = container_of(op, struct flat_op, op);
        self->filled = 0;
        return op_begin(&self->values);
}

static int flat_consume(struct op *op, const struct rows *in)
{
        struct flat_op *self = container_of(op, struct flat_op, op);
        struct task_run *run = op->run;
        if (unlikely(task_run_stopped(run)))
                return task_run_cancelled(run);
        self->in = &in->batch;
        op_borrow(&self->values, in);
        run->task.captured = self->fn.captured;
        const char *outer = task_run_enter(run, self->fn.name);
        const struct rows *seen = struct_view_rows(&self->view, run, in);
        int r = seen ? self->loop(self, &seen->batch) : run->status;
        task_run_leave(run, outer);
        /* Rows may wait for the next batch only if they do not point into this one. */
        if (r == 0 && fst_type_has_bytes(op->type))
                r = op_flush(&self->values);
        return r;
}

static int flat_end(struct op *op)
{
        return op_flush(&container_of(op, struct flat_op, op)->values);
}

static void flat_abandon(struct op *op)
{
        op_abandon(&container_of(op, struct flat_op, op)->values);
}

static void flat_free(struct op *op)
{
        struct flat_op *self = container_of(op, struct flat_op, op);
        op_deinit(&self->values);
        op_deinit(&self->pairs);
        op_deinit(&self->op);
        struct_view_deinit(&self->view);
        free(self->keys.fixed);
        free(self);
}

static const struct op_class flat_class = {
        "flat_map_values", .begin = flat_begin,     .consume = flat_consume,
        .end = flat_end,   .abandon = flat_abandon, .free = flat_free,
};
static const struct op_class values_class = {"flat_map_values"};
static const struct op_class pairs_class = {"flat_map_values", .consume = flat_push_pairs};

int flat_map_values_check(fst_type in, fst_type out, const fst_fn *fn, struct fst_error *error)
{
        char have[64], want[64];
        if (!in.value)
                return error_set(error, -EINVAL, "flat_map_values needs pairs, but the rows are %s",
                                 fst_type_name(in, have));
        if (in.key != out.key || in.key_size != out.key_size || !out.value)
                return error_set(error, -EINVAL, "flat_map_values keeps keys");
        if (FST_SHAPE_FORM(fn->shape) != FST_FORM_EMIT)
                return error_set(error, -EINVAL,
                                 "%s is not a function that flat_map_values can call: that takes a value, and where to "
                                 "emit (see firesteel/function.h)",
                                 fn->name);
        fst_type value = {.key = in.value, .key_size = in.value_size};
        if (FST_SHAPE_TAG(fn->shape) != fst_type_tag(fst_type_seen(value)))
                return error_set(error, -EINVAL, "%s takes %s, but the values are %s", fn->name,
                                 fst_tag_name(FST_SHAPE_TAG(fn->shape), want), fst_type_name(value, have));
        return 0;
}

struct op *flat_map_values_op_new(struct task_run *run, fst_type in, fst_type out, const fst_fn *fn)
{
        static int (*const loops[])(struct flat_op *, const fst_batch *) = {
                [FST_KIND_I64] = loop_i64,
                [FST_KIND_F64] = loop_f64,
                [FST_KIND_BYTES] = loop_bytes,
                [FST_KIND_FIXED] = loop_fixed,
        };
        struct flat_op *self = new0(struct flat_op);
        fst_type value = {.key = out.value, .key_size = out.value_size};
        op_init(&self->op, &flat_class, run, out);
        op_init(&self->values, &values_class, run, value);
        op_alloc_out(&self->values, value);
        op_init(&self->pairs, &pairs_class, run, out);
        self->values.next = &self->pairs;
        self->keys.fixed = mem_alloc((FST_BATCH_ROWS + 1) * columns_cell(out.key, out.key_size));
        self->fn = *fn;
        struct_view_init(&self->view, (fst_type){.key = FST_KIND_NONE, .value = in.value, .value_size = in.value_size});
        self->loop = loops[self->view.seen.value];
        return &self->op;
}
