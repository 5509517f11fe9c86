/* See op_reduce.h. The engine's own functions on numbers are loops over columns (rdd/pipeline/column_math.h).
 * Application functions have a loop for each form and type of rows, chosen when the operator is created. */
#include "rdd/aggregate/op_reduce.h"

#include "base/mem.h"
#include "rdd/pipeline/column_math.h"
#include "rdd/pipeline/struct_view.h"
#include "structs/struct_row.h"
#include "rdd/aggregate/op_combine.h"

struct reduce_op {
        struct op op; /* its type is the rows' type */
        fst_fn fn;
        fst_type made;
        const struct reduce_value *zero; /* borrowed, or NULL */
        struct reduce_value value;
        size_t room;        /* size of the buffer value.data */
        struct op *emitted; /* target of an emitting function, or NULL */
        int (*loop)(struct reduce_op *self, const fst_batch *in, uint32_t at);
        struct struct_view view;      /* the rows, for the application's functions */
        struct struct_column structs; /* of a value that is a struct */
        struct arena encoded;
};

static struct reduce_op *reduce_of(struct op *op)
{
        return container_of(op, struct reduce_op, op);
}

static double reduce_bits_to_f64(int64_t bits)
{
        double x;
        memcpy(&x, &bits, 8);
        return x;
}

static int64_t reduce_f64_to_bits(double x)
{
        int64_t bits;
        memcpy(&bits, &x, 8);
        return bits;
}

static int reduce_op_set_data(struct reduce_op *self, const void *data, size_t size)
{
        if (size > self->room || !self->value.data) {
                char *grown = mem_try_grow(self->value.data, size + 16);
                if (!grown)
                        return task_run_fail(self->op.run, -ENOMEM,
                                             "no memory for a value of %zu bytes: raise spark.executor.memoryOverhead "
                                             "(with a local master the limit of the control group), or run fewer tasks "
                                             "at a time",
                                             size);
                self->value.data = grown;
                self->room = size + 16;
        }
        if (size)
                memmove(self->value.data, data, size);
        self->value.size = size;
        return 0;
}

struct reduce_value reduce_value_at(fst_type type, fst_column column, uint32_t row)
{
        struct reduce_value value = {.present = true};
        if (type.key == FST_KIND_BYTES) {
                value.data = (char *)column.bytes[row].data;
                value.size = column.bytes[row].len;
        } else if (type.key == FST_KIND_FIXED) {
                value.data = column.fixed + (size_t)row * type.key_size;
                value.size = type.key_size;
        } else {
                value.number = column.i64[row];
        }
        return value;
}

void reduce_value_deinit(struct reduce_value *value)
{
        free(value->data);
        *value = (struct reduce_value){0};
}

void reduce_value_copy(struct reduce_value *to, const struct reduce_value *from)
{
        *to = *from;
        if (!from->data)
                return;
        to->data = mem_alloc(from->size + 16);
        if (from->size)
                memcpy(to->data, from->data, from->size);
}

/* ------------------------------------------------------------------------------------------- built-in functions */

static int64_t reduce_builtin_i64(uint32_t builtin, int64_t total, const int64_t *x, uint32_t n)
{
        switch (builtin) {
        case FST_BUILTIN_SUM:
                return column_sum_i64(total, x, n);
        case FST_BUILTIN_MIN:
                return column_min_i64(total, x, n);
        case FST_BUILTIN_MAX:
                return column_max_i64(total, x, n);
        default:
                return total;
        }
}

static double reduce_builtin_f64(uint32_t builtin, double total, const double *x, uint32_t n)
{
        switch (builtin) {
        case FST_BUILTIN_SUM: /* one after another, as with any function of reduce */
                for (uint32_t i = 0; i < n; i++)
                        total += x[i];
                return total;
        case FST_BUILTIN_MIN:
                return column_min_f64(total, x, n);
        case FST_BUILTIN_MAX:
                return column_max_f64(total, x, n);
        default:
                return total;
        }
}

static fst_bytes reduce_row_bytes(const fst_batch *in, uint32_t i)
{
        if (in->type.key == FST_KIND_BYTES)
                return in->key.bytes[i];
        return (fst_bytes){in->key.fixed + (size_t)i * in->type.key_size, in->type.key_size};
}

static int reduce_builtin_loop(struct reduce_op *self, const fst_batch *in, uint32_t at)
{
        uint32_t builtin = FST_SHAPE_TAG(self->fn.shape), n = in->rows - at;
        struct reduce_value *value = &self->value;
        if (in->type.key == FST_KIND_I64)
                value->number = reduce_builtin_i64(builtin, value->number, in->key.i64 + at, n);
        else if (in->type.key == FST_KIND_F64)
                value->number = reduce_f64_to_bits(
                        reduce_builtin_f64(builtin, reduce_bits_to_f64(value->number), in->key.f64 + at, n));
        else if (builtin != FST_BUILTIN_FIRST)
                for (uint32_t i = at; i < in->rows; i++) {
                        fst_bytes x = reduce_row_bytes(in, i);
                        int order = fst_bytes_compare(x, (fst_bytes){value->data, value->size});
                        int r = 0;
                        if (builtin == FST_BUILTIN_MIN ? order < 0 : order > 0)
                                r = reduce_op_set_data(self, x.data, x.len);
                        if (r)
                                return r;
                }
        return 0;
}

/* ---------------------------------------------------------------------------------- the application's functions */

#define ARG_NONE(column, size)
#define ARG_I64(column, size) , (column).i64[i]
#define ARG_F64(column, size) , (column).f64[i]
#define ARG_BYTES(column, size) , (column).bytes[i]
#define ARG_FIXED(column, size) , (const void *)((column).fixed + (size_t)i * (size))
#define ROW_ARGS(first, second) ARG_##first(in->key, in->type.key_size) ARG_##second(in->value, in->type.value_size)

/* The types of rows without a value: X(kind, suffix, type of the parameter). FST_KEYS. */
#define I64_LOOP(kind, suffix, type)                                                                                   \
        static int i64_##suffix(struct reduce_op *self, const fst_batch *in, uint32_t at)                              \
        {                                                                                                              \
                int64_t (*f)(fst_task *, int64_t, type) = (int64_t(*)(fst_task *, int64_t, type))self->fn.code;        \
                int64_t so_far = self->value.number;                                                                   \
                for (uint32_t i = at; i < in->rows; i++)                                                               \
                        so_far = f(&self->op.run->task, so_far ROW_ARGS(kind, NONE));                                  \
                self->value.number = so_far;                                                                           \
                return 0;                                                                                              \
        }
#define F64_LOOP(kind, suffix, type)                                                                                   \
        static int f64_##suffix(struct reduce_op *self, const fst_batch *in, uint32_t at)                              \
        {                                                                                                              \
                double (*f)(fst_task *, double, type) = (double (*)(fst_task *, double, type))self->fn.code;           \
                double so_far = reduce_bits_to_f64(self->value.number);                                                \
                for (uint32_t i = at; i < in->rows; i++)                                                               \
                        so_far = f(&self->op.run->task, so_far ROW_ARGS(kind, NONE));                                  \
                self->value.number = reduce_f64_to_bits(so_far);                                                       \
                return 0;                                                                                              \
        }
FST_KEYS(I64_LOOP)
FST_KEYS(F64_LOOP)

/* Makes the emitted row the value. @r is the function's result. */
static int reduce_take_emitted(struct reduce_op *self, int r)
{
        struct task_run *run = self->op.run;
        fst_out *out = &self->emitted->out;
        if (r)
                return task_run_fail_by(run, r, self->fn.name);
        if (out->rows != 1)
                return task_run_fail(run, -EINVAL, "%s emitted %u values, but a combining function must emit one",
                                     self->fn.name, out->rows);
        return reduce_op_set_data(self, out->key.bytes[0].data, out->key.bytes[0].len);
}

/* Empties the emitter first: a failed call may have left rows. */
#define EMIT_LOOP(kind, suffix, type)                                                                                  \
        static int emit_##suffix(struct reduce_op *self, const fst_batch *in, uint32_t at)                             \
        {                                                                                                              \
                int (*f)(fst_task *, fst_bytes, type, fst_out *) =                                                     \
                        (int (*)(fst_task *, fst_bytes, type, fst_out *))self->fn.code;                                \
                fst_out *out = &self->emitted->out;                                                                    \
                int r = 0;                                                                                             \
                for (uint32_t i = at; i < in->rows && r == 0; i++) {                                                   \
                        fst_bytes so_far = {self->value.data, self->value.size};                                       \
                        combine_out_reset(out);                                                                        \
                        r = reduce_take_emitted(self, f(&self->op.run->task, so_far ROW_ARGS(kind, NONE), out));       \
                }                                                                                                      \
                return r;                                                                                              \
        }
FST_KEYS(EMIT_LOOP)

#define INTO_LOOP(first, second, suffix, parameters)                                                                   \
        static int into_##suffix(struct reduce_op *self, const fst_batch *in, uint32_t at)                             \
        {                                                                                                              \
                int(*f) parameters = (int(*) parameters)self->fn.code;                                                 \
                for (uint32_t i = at; i < in->rows; i++) {                                                             \
                        int r = f(&self->op.run->task, self->value.data ROW_ARGS(first, second));                      \
                        if (unlikely(r != 0))                                                                          \
                                return task_run_fail_by(self->op.run, r, self->fn.name);                               \
                }                                                                                                      \
                return 0;                                                                                              \
        }
FST_INTOS(INTO_LOOP)

typedef int (*loop_fn)(struct reduce_op *, const fst_batch *, uint32_t);
#define I64_ENTRY(kind, suffix, type) [FST_KIND_##kind] = i64_##suffix,
#define F64_ENTRY(kind, suffix, type) [FST_KIND_##kind] = f64_##suffix,
#define EMIT_ENTRY(kind, suffix, type) [FST_KIND_##kind] = emit_##suffix,
#define INTO_ENTRY(first, second, suffix, p) [FST_KIND_##first | FST_KIND_##second << 3] = into_##suffix,

static const loop_fn i64_loops[8] = {FST_KEYS(I64_ENTRY)}, f64_loops[8] = {FST_KEYS(F64_ENTRY)},
                     emit_loops[8] = {FST_KEYS(EMIT_ENTRY)}, into_loops[64] = {FST_INTOS(INTO_ENTRY)};

/* Combines rows into a value that is a struct with fields. Between batches the value is bytes, which no batch owns. */
static int reduce_into_struct(struct reduce_op *self, const fst_batch *in, uint32_t at)
{
        fst_bytes encoded = {self->value.data, self->value.size};
        struct fst_error error = FST_ERROR_INIT;
        int r = struct_column_read(&self->structs, &encoded, 1, &error);
        if (r)
                return task_run_fail_with(self->op.run, r, &error);
        self->value.data = self->structs.rows;
        r = into_loops[in->type.key | in->type.value << 3](self, in, at);
        self->value.data = (char *)encoded.data;
        if (r)
                return r;
        size_t size = struct_row_size(self->structs.type, self->structs.rows);
        arena_reset(&self->encoded);
        char *row = arena_alloc(&self->encoded, size);
        struct_row_write(self->structs.type, self->structs.rows, row);
        return reduce_op_set_data(self, row, size);
}

static loop_fn reduce_loop_for(fst_type in, fst_type made, const fst_fn *fn)
{
        if (FST_SHAPE_FORM(fn->shape) == FST_FORM_INTO && made.key == FST_KIND_BYTES)
                return reduce_into_struct;
        switch (FST_SHAPE_FORM(fn->shape)) {
        case FST_FORM_I64:
                return i64_loops[in.key];
        case FST_FORM_F64:
                return f64_loops[in.key];
        case FST_FORM_EMIT:
                return emit_loops[in.key];
        case FST_FORM_INTO:
                return into_loops[in.key | in.value << 3];
        default:
                return reduce_builtin_loop;
        }
}

static bool reduce_builtin_fits(fst_type in, fst_type made, uint32_t builtin)
{
        return fst_type_equal(in, made) && builtin != FST_BUILTIN_IDENTITY &&
               (builtin != FST_BUILTIN_SUM || made.key == FST_KIND_I64 || made.key == FST_KIND_F64);
}

int reduce_check(fst_type in, fst_type made, const fst_fn *fn, struct fst_error *error)
{
        uint32_t form = FST_SHAPE_FORM(fn->shape), tag = FST_SHAPE_TAG(fn->shape);
        static const uint8_t kinds[] = {
                [FST_FORM_I64] = FST_KIND_I64, [FST_FORM_F64] = FST_KIND_F64, [FST_FORM_EMIT] = FST_KIND_BYTES};
        char rows[64], into[64];
        fst_type seen = fst_type_seen(in), value = fst_type_seen(made);
        bool fits = false;
        if (form == FST_FORM_BUILTIN)
                fits = reduce_builtin_fits(in, made, tag);
        else if (form == FST_FORM_INTO)
                fits = value.key == FST_KIND_FIXED && tag == fst_type_tag(seen);
        else if (form == FST_FORM_I64 || form == FST_FORM_F64 || form == FST_FORM_EMIT)
                fits = value.key == kinds[form] && !in.value && tag == FST_TAG(value.key, seen.key);
        return fits ? 0
                    : error_set(error, -EINVAL,
                                "%s does not take rows of %s into %s (firesteel/function.h lists the forms)", fn->name,
                                fst_type_name(in, rows), fst_type_name(made, into));
}

/* -------------------------------------------------------------------------------------------------- the sink */

/* Without a zero, the first row becomes the value. Returns the number of rows used: none or one. */
static uint32_t reduce_begin_with_row(struct reduce_op *self, const fst_batch *in, int *r)
{
        if (self->value.present || in->rows == 0)
                return 0;
        self->value.present = true;
        if (in->type.key == FST_KIND_I64 || in->type.key == FST_KIND_F64) {
                self->value.number = in->key.i64[0];
        } else {
                fst_bytes x = reduce_row_bytes(in, 0);
                *r = reduce_op_set_data(self, x.data, x.len);
        }
        return 1;
}

static int reduce_consume(struct op *op, const struct rows *in)
{
        struct reduce_op *self = reduce_of(op);
        if (task_run_stopped(op->run))
                return task_run_cancelled(op->run);
        op->run->task.captured = self->fn.captured;
        const char *outer = task_run_enter(op->run, self->fn.name);
        int r = 0;
        uint32_t first = reduce_begin_with_row(self, &in->batch, &r);
        if (self->loop != reduce_builtin_loop && !(in = struct_view_rows(&self->view, op->run, in)))
                r = op->run->status;
        r = r ? r : self->loop(self, &in->batch, first);
        task_run_leave(op->run, outer);
        return r ? r : op->run->status;
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
        self->value.present = self->zero != NULL;
        if (!self->zero)
                return 0;
        self->value.number = self->zero->number;
        if (self->made.key == FST_KIND_BYTES || self->made.key == FST_KIND_FIXED)
                return reduce_op_set_data(self, self->zero->data, self->zero->size);
        return 0;
}

static void reduce_free(struct op *op)
{
        struct reduce_op *self = reduce_of(op);
        op_free(self->emitted);
        free(self->value.data);
        struct_view_deinit(&self->view);
        struct_column_deinit(&self->structs);
        arena_deinit(&self->encoded);
        op_deinit(op);
        free(self);
}

static const struct op_class reduce_class = {"reduce", .begin = reduce_begin, .consume = reduce_consume,
                                             .free = reduce_free};

struct op *reduce_op_new(struct task_run *run, fst_type in, fst_type made, const fst_fn *fn,
                         const struct reduce_value *zero)
{
        struct reduce_op *self = new0(struct reduce_op);
        op_init(&self->op, &reduce_class, run, in);
        self->fn = *fn;
        self->made = made;
        self->zero = zero;
        struct_view_init(&self->view, in);
        struct_column_init(&self->structs, made.key, made.key_size);
        self->loop = reduce_loop_for(self->view.seen, made, fn);
        if (FST_SHAPE_FORM(fn->shape) == FST_FORM_EMIT)
                self->emitted = combine_out_new(run, made);
        return &self->op;
}
