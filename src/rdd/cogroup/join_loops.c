/* See join_loops.h. */
#include "rdd/cogroup/join_loops.h"

#include "base/mem.h"

#define ARG_I64(column, size, i) , (column).i64[i]
#define ARG_F64(column, size, i) , (column).f64[i]
#define ARG_BYTES(column, size, i) , (column).bytes[i]
#define ARG_FIXED(column, size, i) , (const void *)((column).fixed ? (column).fixed + (size_t)(i) * (size) : NULL)
#define ARG_I64_POINTER(column, size, i) , (const int64_t *)((column).i64 ? &(column).i64[i] : NULL)
#define ARG_F64_POINTER(column, size, i) , (const double *)((column).f64 ? &(column).f64[i] : NULL)
#define ARG_BYTES_POINTER(column, size, i) , (const fst_bytes *)((column).bytes ? &(column).bytes[i] : NULL)

#define JOIN_LOOP(k, l, r, suffix, parameters)                                                                         \
        static int loop_##suffix(struct op *op, const fst_fn *fn, const fst_batch *left, uint32_t at, uint32_t step,   \
                                 const fst_batch *right, uint32_t from, uint32_t to)                                   \
        {                                                                                                              \
                int(*f) parameters = (int(*) parameters)fn->code;                                                      \
                fst_task *task = &op->run->task;                                                                       \
                for (; from < to; from++, at += step) {                                                                \
                        int e = f(task ARG_##k(left->key, left->type.key_size, at)                                     \
                                          ARG_##l(left->value, left->type.value_size, at)                              \
                                                  ARG_##r(right->value, right->type.value_size, from),                 \
                                  &op->out);                                                                           \
                        if (unlikely(e != 0))                                                                          \
                                return task_run_fail_by(op->run, e, fn->name);                                         \
                        if (unlikely(op->status != 0))                                                                 \
                                return op->status;                                                                     \
                }                                                                                                      \
                return 0;                                                                                              \
        }
FST_JOINS(JOIN_LOOP)

/* Indexes by the kind of the key minus one (0 … 3) and by the kinds of the values with FST_POINTER (1 … 7). */
#define LOOP_INDEX(k, l, r) (((k)-1) | (l) << 2 | (r) << 5)
#define LOOP_ENTRY(k, l, r, suffix, parameters) [LOOP_INDEX(FST_KIND_##k, FST_KIND_##l, FST_KIND_##r)] = loop_##suffix,
static const join_loop loops[256] = {FST_JOINS(LOOP_ENTRY)};

void join_caller_init(struct join_caller *c, const fst_fn *fn, fst_type left, fst_type right)
{
        uint32_t shape = fn->shape;
        c->loop = loops[LOOP_INDEX(FST_SHAPE_TAG(shape) & 0xff, FST_SHAPE_TAG(shape) >> 8, FST_SHAPE_THIRD(shape))];
        struct_column_init(&c->keys, left.key, left.key_size);
        struct_column_init(&c->lefts, left.value, left.value_size);
        struct_column_init(&c->rights, right.value, right.value_size);
        c->shows_structs = c->keys.type || c->lefts.type || c->rights.type;
}

void join_caller_deinit(struct join_caller *c)
{
        struct_column_deinit(&c->keys);
        struct_column_deinit(&c->lefts);
        struct_column_deinit(&c->rights);
}

/* Makes @column, @rows rows from row @at of @from on, one that the function sees. A missing column stays NULL. */
static int join_column_show(struct struct_column *structs, fst_column from, uint8_t kind, uint32_t size, uint32_t at,
                            uint32_t rows, fst_column *column, struct fst_error *error)
{
        if (!from.fixed)
                return 0;
        *column = column_from(from, kind, size, at);
        if (!structs->type)
                return 0;
        int r = struct_column_read(structs, column->bytes, rows, error);
        column->fixed = structs->rows;
        return r;
}

int join_caller_call_structs(struct join_caller *c, struct op *op, const fst_fn *fn, const fst_batch *left, uint32_t at,
                             uint32_t step, const fst_batch *right, uint32_t from, uint32_t to)
{
        uint32_t rights = to - from, lefts = step ? rights : 1;
        fst_type l = left->type, r = right->type;
        fst_batch a = {.rows = lefts, .type = fst_type_seen(l)}, b = {.rows = rights, .type = fst_type_seen(r)};
        struct fst_error error = FST_ERROR_INIT;
        int e = join_column_show(&c->keys, left->key, l.key, l.key_size, at, lefts, &a.key, &error);
        if (e == 0)
                e = join_column_show(&c->lefts, left->value, l.value, l.value_size, at, lefts, &a.value, &error);
        if (e == 0)
                e = join_column_show(&c->rights, right->value, r.value, r.value_size, from, rights, &b.value, &error);
        return e ? task_run_fail_with(op->run, e, &error) : c->loop(op, fn, &a, 0, step, &b, 0, rights);
}
