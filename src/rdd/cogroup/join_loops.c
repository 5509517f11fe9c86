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

join_loop join_loop_of(const fst_fn *fn)
{
        uint32_t shape = fn->shape;
        return loops[LOOP_INDEX(FST_SHAPE_TAG(shape) & 0xff, FST_SHAPE_TAG(shape) >> 8, FST_SHAPE_THIRD(shape))];
}
