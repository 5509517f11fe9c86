/*
 * Calls user functions, row by row.
 *
 * FST_ROWS generates one loop for each form of function and kind of row. So a call is one indirect jump with its
 * arguments in registers, and each function is called with its own type. The loop is chosen when the operator is
 * created.
 */
#include "rdd/pipeline/op_element.h"

#include "base/mem.h"
#include "rdd/pipeline/struct_view.h"

#include <stdio.h>

struct element_op {
        struct op op;
        fst_fn fn;
        struct struct_view view; /* its input: rows, or for map_values the values */
        bool filters;            /* its loop takes rows as they are, and pushes some of them */
        uint32_t called;         /* rows for which it was called, after an emitting loop ended early */
        int (*loop)(struct element_op *self, const struct rows *in);
};

#define ARG_NONE(column, size)
#define ARG_I64(column, size) , (column).i64[i]
#define ARG_F64(column, size) , (column).f64[i]
#define ARG_BYTES(column, size) , (column).bytes[i]
#define ARG_FIXED(column, size) , (const void *)((column).fixed + (size_t)i * (size))
#define ROW_ARGS(first, second)                                                                                        \
        ARG_##first(in->batch.key, in->batch.type.key_size) ARG_##second(in->batch.value, in->batch.type.value_size)

/* int f(task, ROW, out) */
#define EMIT_LOOP(first, second, suffix, parameters)                                                                   \
        static int emit_##suffix(struct element_op *self, const struct rows *in)                                       \
        {                                                                                                              \
                int(*f) parameters = (int(*) parameters)self->fn.code;                                                 \
                fst_task *task = &self->op.run->task;                                                                  \
                for (uint32_t i = 0; i < in->batch.rows; i++) {                                                        \
                        int r = f(task ROW_ARGS(first, second), &self->op.out);                                        \
                        if (unlikely(r != 0))                                                                          \
                                return task_run_fail_by(self->op.run, r, self->fn.name);                               \
                        if (unlikely(self->op.status != 0)) {                                                          \
                                self->called = i + 1;                                                                  \
                                return self->op.status;                                                                \
                        }                                                                                              \
                }                                                                                                      \
                return 0;                                                                                              \
        }
FST_ROWS_EMIT(EMIT_LOOP)

/* int64_t f(task, ROW), double f(task, ROW): one result for each row, written directly into a column. */
#define VALUE_LOOP(result, form, column, first, second, suffix, parameters)                                            \
        static int form##_##suffix(struct element_op *self, const struct rows *in)                                     \
        {                                                                                                              \
                result(*f) parameters = (result(*) parameters)self->fn.code;                                           \
                fst_task *task = &self->op.run->task;                                                                  \
                result *results = self->op.out.key.column;                                                             \
                for (uint32_t i = 0; i < in->batch.rows; i++)                                                          \
                        results[i] = f(task ROW_ARGS(first, second));                                                  \
                self->op.out.rows = in->batch.rows;                                                                    \
                return self->op.run->status;                                                                           \
        }
#define VALUE_LOOPS(first, second, suffix, parameters)                                                                 \
        VALUE_LOOP(int64_t, i64, i64, first, second, suffix, parameters)                                               \
        VALUE_LOOP(double, f64, f64, first, second, suffix, parameters)
FST_ROWS(VALUE_LOOPS)

/* bool f(task, ROW): collects the numbers of the rows to keep. */
#define FILTER_LOOP(first, second, suffix, parameters)                                                                 \
        static uint32_t keep_##suffix(struct element_op *self, const struct rows *in, uint16_t *kept)                  \
        {                                                                                                              \
                bool(*f) parameters = (bool(*) parameters)self->fn.code;                                               \
                fst_task *task = &self->op.run->task;                                                                  \
                uint32_t n = 0;                                                                                        \
                for (uint32_t i = 0; i < in->batch.rows; i++) {                                                        \
                        kept[n] = (uint16_t)i;                                                                         \
                        n += f(task ROW_ARGS(first, second));                                                          \
                }                                                                                                      \
                return n;                                                                                              \
        }
FST_ROWS(FILTER_LOOP)

/* int f(task, ROW) */
#define EACH_LOOP(first, second, suffix, parameters)                                                                   \
        static int each_##suffix(struct element_op *self, const struct rows *in)                                       \
        {                                                                                                              \
                int(*f) parameters = (int(*) parameters)self->fn.code;                                                 \
                fst_task *task = &self->op.run->task;                                                                  \
                for (uint32_t i = 0; i < in->batch.rows; i++) {                                                        \
                        int r = f(task ROW_ARGS(first, second));                                                       \
                        if (unlikely(r != 0))                                                                          \
                                return task_run_fail_by(self->op.run, r, self->fn.name);                               \
                }                                                                                                      \
                return self->op.run->status;                                                                           \
        }
FST_ROWS(EACH_LOOP)

typedef int (*loop_fn)(struct element_op *, const struct rows *);
typedef uint32_t (*keep_fn)(struct element_op *, const struct rows *, uint16_t *);

#define LOOP_INDEX(first, second) (FST_KIND_##first | FST_KIND_##second << 3)
#define LOOP_OF_TAG(tag) (((tag)&7) | ((tag) >> 8 & 7) << 3)
#define EMIT_ENTRY(first, second, suffix, parameters) [LOOP_INDEX(first, second)] = emit_##suffix,
#define I64_ENTRY(first, second, suffix, parameters) [LOOP_INDEX(first, second)] = i64_##suffix,
#define F64_ENTRY(first, second, suffix, parameters) [LOOP_INDEX(first, second)] = f64_##suffix,
#define KEEP_ENTRY(first, second, suffix, parameters) [LOOP_INDEX(first, second)] = keep_##suffix,
#define EACH_ENTRY(first, second, suffix, parameters) [LOOP_INDEX(first, second)] = each_##suffix,

static const loop_fn emit_loops[64] = {FST_ROWS_EMIT(EMIT_ENTRY)};
static const loop_fn i64_loops[64] = {FST_ROWS(I64_ENTRY)};
static const loop_fn f64_loops[64] = {FST_ROWS(F64_ENTRY)};
static const keep_fn keep_loops[64] = {FST_ROWS(KEEP_ENTRY)};
static const loop_fn each_loops[64] = {FST_ROWS(EACH_ENTRY)};

/* ------------------------------------------------------------------------------------------- operators */

static struct element_op *element_of(struct op *op)
{
        return container_of(op, struct element_op, op);
}

/* Calls the loop after setting the state that user code may read. */
static int element_call(struct element_op *self, const struct rows *in)
{
        struct task_run *run = self->op.run;
        if (unlikely(task_run_stopped(run)))
                return task_run_cancelled(run);
        if (!self->filters && !(in = struct_view_rows(&self->view, run, in)))
                return run->status;
        run->task.captured = self->fn.captured;
        const char *outer = task_run_enter(run, self->fn.name);
        int r = self->loop(self, in);
        task_run_leave(run, outer);
        return r;
}

static int element_push_rows(struct element_op *self, const struct rows *in, uint32_t at)
{
        return op_flush(&self->op);
}

/* Pushes the values in `out` with the keys of @in from row @at on. */
static int element_push_values(struct element_op *self, const struct rows *in, uint32_t at)
{
        struct op *op = &self->op;
        struct rows pairs = rows_part(in, at, op->out.rows);
        pairs.batch.type = op->type;
        pairs.batch.value = op->out.key;
        int r = op_push(op, &pairs);
        op->out.rows = 0;
        arena_reset(&op->heap);
        return r;
}

static int flat_map_consume(struct op *op, const struct rows *in)
{
        op_borrow(op, in);
        int r = element_call(element_of(op), in);
        return r ? r : op_input_done(op);
}

/* Calls an emitting function, which must emit once for each row of @args, and pushes the rows it made. Pushes in parts
 * when values are large, so that a batch of them does not fill the memory. */
static int element_emit_one_for_one(struct element_op *self, const struct rows *args, const char *what,
                                    int (*push)(struct element_op *, const struct rows *in, uint32_t at),
                                    const struct rows *in)
{
        struct op *op = &self->op;
        for (uint32_t at = 0; at < args->batch.rows;) {
                struct rows part = rows_part(args, at, args->batch.rows - at);
                uint32_t n = part.batch.rows;
                op->out.room = FST_BATCH_ROWS + 1; /* so that an excess row is detected and not flushed */
                int r = element_call(self, &part);
                if (r == OP_FULL) {
                        n = self->called;
                        op->status = 0;
                } else if (r) {
                        return r;
                }
                if (op->out.rows != n)
                        return task_run_fail(
                                op->run, -EINVAL, "%s emitted %u %s for %u: %s", self->fn.name, op->out.rows, what, n,
                                push == element_push_rows ? "a function of map emits one row for each (flat_map "
                                                            "takes any number)"
                                                          : "map_values needs one for each");
                r = push(self, in, at);
                if (r)
                        return r;
                at += n;
        }
        return 0;
}

/* map by an emitting function: like flat_map, but each call must emit once. */
static int map_emit_consume(struct op *op, const struct rows *in)
{
        op_borrow(op, in);
        return element_emit_one_for_one(element_of(op), in, "rows", element_push_rows, in);
}

static int map_value_consume(struct op *op, const struct rows *in)
{
        int r = element_call(element_of(op), in);
        return r ? r : op_flush(op);
}

static int map_values_consume(struct op *op, const struct rows *in)
{
        struct element_op *self = element_of(op);
        struct rows values = *in;
        values.batch.type = (fst_type){.key = in->batch.type.value, .key_size = in->batch.type.value_size};
        values.batch.key = in->batch.value;
        op_borrow(op, in);
        if (FST_SHAPE_FORM(self->fn.shape) == FST_FORM_EMIT)
                return element_emit_one_for_one(self, &values, "values", element_push_values, in);
        int r = element_call(self, &values);
        return r ? r : element_push_values(self, in, 0);
}

static int filter_loop(struct element_op *self, const struct rows *in)
{
        struct op *op = &self->op;
        uint16_t kept[FST_BATCH_ROWS + 1];
        const struct rows *seen = struct_view_rows(&self->view, op->run, in);
        if (unlikely(!seen))
                return op->run->status;
        uint32_t n = keep_loops[LOOP_OF_TAG(fst_type_tag(self->view.seen))](self, seen, kept);
        if (op->run->status)
                return op->run->status;
        if (n == in->batch.rows) /* nothing to move */
                return op_push(op, in);
        return op_push_some(op, in, kept, n);
}

static int filter_consume(struct op *op, const struct rows *in)
{
        return element_call(element_of(op), in);
}

static int foreach_consume(struct op *op, const struct rows *in)
{
        return element_call(element_of(op), in);
}

static int batch_loop(struct element_op *self, const struct rows *in)
{
        int (*f)(fst_task *, const fst_batch *, fst_out *) =
                (int (*)(fst_task *, const fst_batch *, fst_out *))self->fn.code;
        int r = f(&self->op.run->task, &in->batch, &self->op.out);
        if (r)
                return task_run_fail_by(self->op.run, r, self->fn.name);
        return self->op.status;
}

static void element_free(struct op *op)
{
        struct_view_deinit(&element_of(op)->view);
        op_deinit(op);
        free(element_of(op));
}

static const struct op_class flat_map_class = {"flat_map", .consume = flat_map_consume, .free = element_free};
static const struct op_class map_emit_class = {"map", .consume = map_emit_consume, .free = element_free};
static const struct op_class map_value_class = {"map", .consume = map_value_consume, .free = element_free};
static const struct op_class filter_class = {"filter", .consume = filter_consume, .free = element_free};
static const struct op_class map_values_class = {"map_values", .consume = map_values_consume, .free = element_free};
static const struct op_class foreach_class = {"foreach", .consume = foreach_consume, .free = element_free};
static const struct op_class batches_class = {"map_partitions", .consume = flat_map_consume, .free = element_free};

/* --------------------------------------------------------------------------------------------- checking */

static const char *const kind_verbs[] = {
        [ELEMENT_MAP] = "map",         [ELEMENT_FLAT_MAP] = "flat_map",
        [ELEMENT_FILTER] = "filter",   [ELEMENT_MAP_VALUES] = "map_values",
        [ELEMENT_FOREACH] = "foreach", [ELEMENT_BATCHES] = "map_partitions",
};

static bool element_form_fits(enum element_kind kind, uint32_t form, fst_type result)
{
        switch (kind) {
        case ELEMENT_MAP:
        case ELEMENT_MAP_VALUES:
                return form == FST_FORM_EMIT ||
                       (form == FST_FORM_I64 && fst_type_tag(result) == FST_TAG(FST_KIND_I64, FST_KIND_NONE)) ||
                       (form == FST_FORM_F64 && fst_type_tag(result) == FST_TAG(FST_KIND_F64, FST_KIND_NONE));
        case ELEMENT_FLAT_MAP:
                return form == FST_FORM_EMIT;
        case ELEMENT_FILTER:
                return form == FST_FORM_BOOL;
        case ELEMENT_FOREACH:
                return form == FST_FORM_EACH;
        case ELEMENT_BATCHES:
                return form == FST_FORM_BATCH;
        }
        return false;
}

static fst_type element_value_type(fst_type pair)
{
        return (fst_type){.key = pair.value, .key_size = pair.value_size};
}

/* The parameters of a function for rows of @type, in C. */
static const char *element_row_parameters(fst_type type, char text[static 64])
{
        static const char *const columns[] = {"", "int64_t", "double", "fst_bytes", "const void *"};
        const char *key = type.key < ARRAY_SIZE(columns) ? columns[type.key] : "ROW";
        if (type.value)
                snprintf(text, 64, "%s, %s", key, type.value < ARRAY_SIZE(columns) ? columns[type.value] : "ROW");
        else
                snprintf(text, 64, "%s", key);
        return text;
}

static int element_refuse_form(enum element_kind kind, fst_type in, fst_type out, const fst_fn *fn,
                               struct fst_error *error)
{
        char have[64], want[64], row[64];
        const bool maps = kind == ELEMENT_MAP || kind == ELEMENT_MAP_VALUES;
        const char *result = "int", *emits = maps || kind == ELEMENT_FLAT_MAP ? ", fst_out *" : "";
        if (kind == ELEMENT_BATCHES)
                return error_set(error, -EINVAL,
                                 "%s is not a function that %s to %s can call (see firesteel/function.h)", fn->name,
                                 kind_verbs[kind], fst_type_name(out, want));
        if (kind == ELEMENT_FILTER) {
                result = "bool";
        } else if (maps && !out.value && (out.key == FST_KIND_I64 || out.key == FST_KIND_F64)) {
                result = out.key == FST_KIND_I64 ? "int64_t" : "double";
                emits = "";
        }
        return error_set(
                error, -EINVAL,
                "%s is not a function that %s to %s can call: the rows are %s, so it must be %s %s(fst_task *, "
                "%s%s) (see firesteel/function.h)",
                fn->name, kind_verbs[kind], fst_type_name(out, want), fst_type_name(in, have), result, fn->name,
                element_row_parameters(fst_type_seen(in), row), emits);
}

int element_check(enum element_kind kind, fst_type in, fst_type out, const fst_fn *fn, struct fst_error *error)
{
        char have[64], want[64];
        if (kind == ELEMENT_MAP_VALUES) {
                if (!in.value)
                        return error_set(error, -EINVAL, "map_values needs pairs, but the rows are %s",
                                         fst_type_name(in, have));
                in = element_value_type(in);
                out = element_value_type(out);
        }
        if (!element_form_fits(kind, FST_SHAPE_FORM(fn->shape), out))
                return element_refuse_form(kind, in, out, fn, error);
        if (kind == ELEMENT_BATCHES)
                return 0;
        if (FST_SHAPE_TAG(fn->shape) != fst_type_tag(fst_type_seen(in)))
                return error_set(error, -EINVAL, "%s takes %s, but the rows are %s", fn->name,
                                 fst_tag_name(FST_SHAPE_TAG(fn->shape), want), fst_type_name(in, have));
        return 0;
}

static const struct op_class *element_class_for(enum element_kind kind, uint32_t form)
{
        switch (kind) {
        case ELEMENT_MAP:
                return form == FST_FORM_EMIT ? &map_emit_class : &map_value_class;
        case ELEMENT_FLAT_MAP:
                return &flat_map_class;
        case ELEMENT_FILTER:
                return &filter_class;
        case ELEMENT_MAP_VALUES:
                return &map_values_class;
        case ELEMENT_FOREACH:
                return &foreach_class;
        default:
                return &batches_class;
        }
}

static loop_fn element_loop_for(enum element_kind kind, uint32_t form, uint32_t tag)
{
        if (kind == ELEMENT_FILTER)
                return filter_loop;
        switch (form) {
        case FST_FORM_EMIT:
                return emit_loops[LOOP_OF_TAG(tag)];
        case FST_FORM_I64:
                return i64_loops[LOOP_OF_TAG(tag)];
        case FST_FORM_F64:
                return f64_loops[LOOP_OF_TAG(tag)];
        case FST_FORM_EACH:
                return each_loops[LOOP_OF_TAG(tag)];
        default:
                return batch_loop;
        }
}

struct op *element_op_new(enum element_kind kind, struct task_run *run, fst_type in, fst_type out, const fst_fn *fn)
{
        struct element_op *self = new0(struct element_op);
        uint32_t form = FST_SHAPE_FORM(fn->shape);
        op_init(&self->op, element_class_for(kind, form), run, out);
        fst_type made = kind == ELEMENT_MAP_VALUES ? element_value_type(out) : out;
        if (kind != ELEMENT_FOREACH)
                op_alloc_out(&self->op, made);
        self->fn = *fn;
        self->filters = kind == ELEMENT_FILTER;
        struct_view_init(&self->view, kind == ELEMENT_MAP_VALUES ? element_value_type(in) : in);
        self->loop = element_loop_for(kind, form, FST_SHAPE_TAG(fn->shape));
        self->op.may_defer = kind == ELEMENT_FLAT_MAP || kind == ELEMENT_BATCHES;
        self->op.one_for_one = self->op.in_parts = kind == ELEMENT_MAP || kind == ELEMENT_MAP_VALUES;
        return &self->op;
}
