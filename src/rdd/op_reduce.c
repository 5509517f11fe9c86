/* See op_reduce.h. The engine's own functions on numbers are loops over columns; user functions are called in order. */
#include "rdd/op_reduce.h"

#include "base/mem.h"
#include "rdd/op_combine.h"

struct reduce_op {
        struct op op;
        fst_fn fn;
        struct reduce_value value;
        size_t room;        /* allocated for value.data */
        struct op *emitted; /* what an emitting function emits into, or NULL */
};

static struct reduce_op *reduce_of(struct op *op)
{
        return container_of(op, struct reduce_op, op);
}

static double as_f64(int64_t bits)
{
        double x;
        memcpy(&x, &bits, 8);
        return x;
}

static int64_t as_bits(double x)
{
        int64_t bits;
        memcpy(&bits, &x, 8);
        return bits;
}

static void set_data(struct reduce_op *self, const void *data, size_t size)
{
        if (size > self->room || !self->value.data) {
                self->room = size + 16;
                self->value.data = mem_grow(self->value.data, self->room);
        }
        if (size)
                memmove(self->value.data, data, size);
        self->value.size = size;
}

/* -------------------------------------------------------------------------------------------------- numbers */

static int64_t reduce_i64(struct reduce_op *self, int64_t total, const int64_t *x, uint32_t n)
{
        if (FST_SHAPE_FORM(self->fn.shape) == FST_FORM_I64) {
                int64_t (*f)(fst_task *, int64_t, int64_t) = (int64_t(*)(fst_task *, int64_t, int64_t))self->fn.code;
                for (uint32_t i = 0; i < n; i++)
                        total = f(&self->op.run->task, total, x[i]);
                return total;
        }
        uint64_t sum = (uint64_t)total;
        switch (FST_SHAPE_TAG(self->fn.shape)) {
        case FST_BUILTIN_SUM:
                for (uint32_t i = 0; i < n; i++)
                        sum += (uint64_t)x[i];
                return (int64_t)sum;
        case FST_BUILTIN_MIN:
                for (uint32_t i = 0; i < n; i++)
                        total = MIN(total, x[i]);
                return total;
        case FST_BUILTIN_MAX:
                for (uint32_t i = 0; i < n; i++)
                        total = MAX(total, x[i]);
                return total;
        default:
                return total;
        }
}

/* min and max take numbers in the order in which they sort: NaN is the greatest. */
static bool f64_below(double a, double b)
{
        return a != a ? false : b != b ? true : a < b || (a == b && as_bits(a) < as_bits(b));
}

static double reduce_f64(struct reduce_op *self, double total, const double *x, uint32_t n)
{
        if (FST_SHAPE_FORM(self->fn.shape) == FST_FORM_F64) {
                double (*f)(fst_task *, double, double) = (double (*)(fst_task *, double, double))self->fn.code;
                for (uint32_t i = 0; i < n; i++)
                        total = f(&self->op.run->task, total, x[i]);
                return total;
        }
        for (uint32_t i = 0; i < n; i++)
                switch (FST_SHAPE_TAG(self->fn.shape)) {
                case FST_BUILTIN_SUM:
                        total += x[i];
                        break;
                case FST_BUILTIN_MIN:
                        total = f64_below(x[i], total) ? x[i] : total;
                        break;
                case FST_BUILTIN_MAX:
                        total = f64_below(total, x[i]) ? x[i] : total;
                        break;
                default:
                        break;
                }
        return total;
}

/* --------------------------------------------------------------------------------------------- bytes and structs */

static int reduce_bytes(struct reduce_op *self, fst_bytes x)
{
        int (*f)(fst_task *, fst_bytes, fst_bytes, fst_out *) =
                (int (*)(fst_task *, fst_bytes, fst_bytes, fst_out *))self->fn.code;
        struct task_run *run = self->op.run;
        fst_out *out = &self->emitted->out;
        combine_out_reset(out); /* of what a call that failed left behind, too */
        int r = f(&run->task, (fst_bytes){self->value.data, self->value.size}, x, out);
        if (r)
                return task_run_fail_by(run, r, self->fn.name);
        if (out->rows != 1)
                return task_run_fail(run, -EINVAL, "%s emitted %u values: a combining function emits one",
                                     self->fn.name, out->rows);
        set_data(self, out->key.bytes[0].data, out->key.bytes[0].len);
        return 0;
}

static int reduce_fixed(struct reduce_op *self, const void *x)
{
        int (*f)(fst_task *, void *, const void *) = (int (*)(fst_task *, void *, const void *))self->fn.code;
        int r = f(&self->op.run->task, self->value.data, x);
        return r ? task_run_fail_by(self->op.run, r, self->fn.name) : 0;
}

static int add_data(struct reduce_op *self, const char *data, size_t size)
{
        if (!self->value.present) {
                set_data(self, data, size);
                self->value.present = true;
                return 0;
        }
        if (FST_SHAPE_FORM(self->fn.shape) == FST_FORM_BUILTIN) /* fst_first */
                return 0;
        return self->emitted ? reduce_bytes(self, (fst_bytes){data, size}) : reduce_fixed(self, data);
}

/* -------------------------------------------------------------------------------------------------- the sink */

static int reduce_batch(struct reduce_op *self, const fst_batch *in)
{
        uint32_t i = 0;
        int r = 0;
        switch (in->type.key) {
        case FST_KIND_I64:
        case FST_KIND_F64:
                if (!self->value.present && in->rows) {
                        self->value.number = in->key.i64[i++];
                        self->value.present = true;
                }
                if (in->type.key == FST_KIND_I64)
                        self->value.number = reduce_i64(self, self->value.number, in->key.i64 + i, in->rows - i);
                else
                        self->value.number =
                                as_bits(reduce_f64(self, as_f64(self->value.number), in->key.f64 + i, in->rows - i));
                return self->op.run->status;
        case FST_KIND_BYTES:
                for (; i < in->rows && r == 0; i++)
                        r = add_data(self, in->key.bytes[i].data, in->key.bytes[i].len);
                return r;
        default:
                for (; i < in->rows && r == 0; i++)
                        r = add_data(self, in->key.fixed + (size_t)i * in->type.key_size, in->type.key_size);
                return r;
        }
}

static int reduce_consume(struct op *op, const struct rows *in)
{
        struct reduce_op *self = reduce_of(op);
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        op->run->task.captured = self->fn.captured;
        const char *outer = task_run_enter(op->run, self->fn.name);
        int r = reduce_batch(self, &in->batch);
        task_run_leave(op->run, outer);
        return r;
}

int reduce_op_add(struct op *op, const struct reduce_value *value)
{
        if (!value->present)
                return 0;
        int64_t number = value->number;
        fst_bytes bytes = {value->data, value->size};
        struct rows rows = {.batch = {.rows = 1, .type = op->type}};
        if (op->type.key == FST_KIND_BYTES)
                rows.batch.key.bytes = &bytes;
        else if (op->type.key == FST_KIND_FIXED)
                rows.batch.key.fixed = value->data;
        else
                rows.batch.key.i64 = &number;
        return reduce_consume(op, &rows);
}

void reduce_op_take(struct op *op, struct reduce_value *value)
{
        struct reduce_op *self = reduce_of(op);
        *value = self->value;
        self->value = (struct reduce_value){0};
        self->room = 0;
}

static int reduce_begin(struct op *op)
{
        struct reduce_op *self = reduce_of(op);
        self->value.present = false;
        return 0;
}

static void reduce_free(struct op *op)
{
        struct reduce_op *self = reduce_of(op);
        op_free(self->emitted);
        free(self->value.data);
        op_deinit(op);
        free(self);
}

static const struct op_class reduce_class = {"reduce", .begin = reduce_begin, .consume = reduce_consume,
                                             .free = reduce_free};

struct op *reduce_op_new(struct task_run *run, fst_type type, const fst_fn *fn)
{
        struct reduce_op *self = new0(struct reduce_op);
        op_init(&self->op, &reduce_class, run, type);
        self->fn = *fn;
        if (FST_SHAPE_FORM(fn->shape) == FST_FORM_EMIT)
                self->emitted = combine_out_new(run, type);
        return &self->op;
}
