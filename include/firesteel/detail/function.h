/*
 * Functions of many forms for operators, without a cast that the compiler cannot check: FST_FN selects, by the
 * function's type, a constructor that takes exactly that type and records its form. Private, but FST_SHAPE and the
 * enums are part of the binary interface: a binding fills an fst_fn itself.
 */
#pragma once

#include <firesteel/detail/refuse.h>

FST_BEGIN_DECLS

FST_REFUSE(fst_fn, fst_refuse_function,
           "a function for an operator has a form of firesteel/function.h, such as int64_t f(fst_task *, ROW) or "
           "int f(fst_task *, ROW, fst_out *), where ROW is one or two of int64_t, double, fst_bytes and const void *");

enum fst_form {
        FST_FORM_NONE = 0,
        FST_FORM_EMIT,        /* int f(task, ROW, out) */
        FST_FORM_I64,         /* int64_t f(task, ROW) */
        FST_FORM_F64,         /* double f(task, ROW) */
        FST_FORM_BOOL,        /* bool f(task, ROW) */
        FST_FORM_EACH,        /* int f(task, ROW) */
        FST_FORM_ITER,        /* int f(task, iter, out) */
        FST_FORM_BATCH,       /* int f(task, batch, out) */
        FST_FORM_INTO,        /* int f(task, void *, const void *) */
        FST_FORM_BUILTIN,     /* the engine's own; `code` is NULL and the parameters hold its number */
        FST_FORM_JOIN,        /* int f(task, key, left, right, out); a pointer for a kind with FST_POINTER */
        FST_FORM_GROUP,       /* int f(task, key, iter, out) */
        FST_FORM_COGROUP,     /* int f(task, key, iter, iter, out) */
        FST_FORM_COGROUP_ALL, /* int f(task, key, iter *groups[], out) */
        FST_FORM_ITER_2,      /* int f(task, iter, iter, out) */
        FST_FORM_ITER_ALL,    /* int f(task, iter *parts[], out) */
        FST_FORM_ITER_AT,     /* int f(task, index, iter, out) */
        FST_FORM_EACH_ITER,   /* int f(task, iter) */
        FST_FORM_PLACE,       /* int f(task, key, partitions) */
};

enum fst_builtin {
        FST_BUILTIN_SUM = 1,
        FST_BUILTIN_MIN,
        FST_BUILTIN_MAX,
        FST_BUILTIN_FIRST,
        FST_BUILTIN_IDENTITY,
};

/*
 * Added to the kind of a value in shapes of joins: the parameter is a pointer, NULL for a missing row. FIXED is always
 * passed by pointer.
 */
#define FST_POINTER 4
#define FST_KIND_I64_POINTER (FST_KIND_I64 | FST_POINTER)
#define FST_KIND_F64_POINTER (FST_KIND_F64 | FST_POINTER)
#define FST_KIND_BYTES_POINTER (FST_KIND_BYTES | FST_POINTER)

/* The form, the kind of the first parameter, and that of the second (FST_KIND_NONE if there is one parameter). */
#define FST_SHAPE(form, first, second) ((uint32_t)(form) << 16 | (uint32_t)(second) << 8 | (uint32_t)(first))
#define FST_SHAPE_FORM(shape) ((shape) >> 16 & 0xff)
#define FST_SHAPE_TAG(shape) ((shape)&0xffff)

/* The same with the kind of a third parameter. */
#define FST_SHAPE_3(form, first, second, third) (FST_SHAPE(form, first, second) | (uint32_t)(third) << 24)
#define FST_SHAPE_THIRD(shape) ((shape) >> 24)

/* Every parameter list that ROW stands for: X(first, second, suffix, parameters). */
#define FST_ROWS(X)                                                                                                    \
        X(I64, NONE, i64, (fst_task *, int64_t))                                                                       \
        X(F64, NONE, f64, (fst_task *, double))                                                                        \
        X(BYTES, NONE, bytes, (fst_task *, fst_bytes))                                                                 \
        X(FIXED, NONE, fixed, (fst_task *, const void *))                                                              \
        X(I64, I64, i64_i64, (fst_task *, int64_t, int64_t))                                                           \
        X(I64, F64, i64_f64, (fst_task *, int64_t, double))                                                            \
        X(I64, BYTES, i64_bytes, (fst_task *, int64_t, fst_bytes))                                                     \
        X(I64, FIXED, i64_fixed, (fst_task *, int64_t, const void *))                                                  \
        X(F64, I64, f64_i64, (fst_task *, double, int64_t))                                                            \
        X(F64, F64, f64_f64, (fst_task *, double, double))                                                             \
        X(F64, BYTES, f64_bytes, (fst_task *, double, fst_bytes))                                                      \
        X(F64, FIXED, f64_fixed, (fst_task *, double, const void *))                                                   \
        X(BYTES, I64, bytes_i64, (fst_task *, fst_bytes, int64_t))                                                     \
        X(BYTES, F64, bytes_f64, (fst_task *, fst_bytes, double))                                                      \
        X(BYTES, BYTES, bytes_bytes, (fst_task *, fst_bytes, fst_bytes))                                               \
        X(BYTES, FIXED, bytes_fixed, (fst_task *, fst_bytes, const void *))                                            \
        X(FIXED, I64, fixed_i64, (fst_task *, const void *, int64_t))                                                  \
        X(FIXED, F64, fixed_f64, (fst_task *, const void *, double))                                                   \
        X(FIXED, BYTES, fixed_bytes, (fst_task *, const void *, fst_bytes))                                            \
        X(FIXED, FIXED, fixed_fixed, (fst_task *, const void *, const void *))

#define FST_ROWS_EMIT(X)                                                                                               \
        X(I64, NONE, i64, (fst_task *, int64_t, fst_out *))                                                            \
        X(F64, NONE, f64, (fst_task *, double, fst_out *))                                                             \
        X(BYTES, NONE, bytes, (fst_task *, fst_bytes, fst_out *))                                                      \
        X(FIXED, NONE, fixed, (fst_task *, const void *, fst_out *))                                                   \
        X(I64, I64, i64_i64, (fst_task *, int64_t, int64_t, fst_out *))                                                \
        X(I64, F64, i64_f64, (fst_task *, int64_t, double, fst_out *))                                                 \
        X(I64, BYTES, i64_bytes, (fst_task *, int64_t, fst_bytes, fst_out *))                                          \
        X(I64, FIXED, i64_fixed, (fst_task *, int64_t, const void *, fst_out *))                                       \
        X(F64, I64, f64_i64, (fst_task *, double, int64_t, fst_out *))                                                 \
        X(F64, F64, f64_f64, (fst_task *, double, double, fst_out *))                                                  \
        X(F64, BYTES, f64_bytes, (fst_task *, double, fst_bytes, fst_out *))                                           \
        X(F64, FIXED, f64_fixed, (fst_task *, double, const void *, fst_out *))                                        \
        X(BYTES, I64, bytes_i64, (fst_task *, fst_bytes, int64_t, fst_out *))                                          \
        X(BYTES, F64, bytes_f64, (fst_task *, fst_bytes, double, fst_out *))                                           \
        X(BYTES, BYTES, bytes_bytes, (fst_task *, fst_bytes, fst_bytes, fst_out *))                                    \
        X(BYTES, FIXED, bytes_fixed, (fst_task *, fst_bytes, const void *, fst_out *))                                 \
        X(FIXED, I64, fixed_i64, (fst_task *, const void *, int64_t, fst_out *))                                       \
        X(FIXED, F64, fixed_f64, (fst_task *, const void *, double, fst_out *))                                        \
        X(FIXED, BYTES, fixed_bytes, (fst_task *, const void *, fst_bytes, fst_out *))                                 \
        X(FIXED, FIXED, fixed_fixed, (fst_task *, const void *, const void *, fst_out *))

/*
 * Every parameter list of joins: a key, a left and a right value, each perhaps a pointer, and the output: X(key, left,
 * right, suffix, parameters).
 */
#define FST_JOINS(X)                                                                                                   \
        FST_JOINS_OF_KEY(X, I64, i64, int64_t)                                                                         \
        FST_JOINS_OF_KEY(X, F64, f64, double)                                                                          \
        FST_JOINS_OF_KEY(X, BYTES, bytes, fst_bytes)                                                                   \
        FST_JOINS_OF_KEY(X, FIXED, fixed, const void *)
#define FST_JOINS_OF_KEY(X, key, k, key_type)                                                                          \
        FST_JOINS_OF_LEFT(X, key, I64, k##_i64, key_type, int64_t)                                                     \
        FST_JOINS_OF_LEFT(X, key, F64, k##_f64, key_type, double)                                                      \
        FST_JOINS_OF_LEFT(X, key, BYTES, k##_bytes, key_type, fst_bytes)                                               \
        FST_JOINS_OF_LEFT(X, key, FIXED, k##_fixed, key_type, const void *)                                            \
        FST_JOINS_OF_LEFT(X, key, I64_POINTER, k##_pi64, key_type, const int64_t *)                                    \
        FST_JOINS_OF_LEFT(X, key, F64_POINTER, k##_pf64, key_type, const double *)                                     \
        FST_JOINS_OF_LEFT(X, key, BYTES_POINTER, k##_pbytes, key_type, const fst_bytes *)
#define FST_JOINS_OF_LEFT(X, key, left, kl, key_type, left_type)                                                       \
        X(key, left, I64, kl##_i64, (fst_task *, key_type, left_type, int64_t, fst_out *))                             \
        X(key, left, F64, kl##_f64, (fst_task *, key_type, left_type, double, fst_out *))                              \
        X(key, left, BYTES, kl##_bytes, (fst_task *, key_type, left_type, fst_bytes, fst_out *))                       \
        X(key, left, FIXED, kl##_fixed, (fst_task *, key_type, left_type, const void *, fst_out *))                    \
        X(key, left, I64_POINTER, kl##_pi64, (fst_task *, key_type, left_type, const int64_t *, fst_out *))            \
        X(key, left, F64_POINTER, kl##_pf64, (fst_task *, key_type, left_type, const double *, fst_out *))             \
        X(key, left, BYTES_POINTER, kl##_pbytes, (fst_task *, key_type, left_type, const fst_bytes *, fst_out *))

/* Every type of a key: X(kind, suffix, type). */
#define FST_KEYS(X)                                                                                                    \
        X(I64, i64, int64_t)                                                                                           \
        X(F64, f64, double)                                                                                            \
        X(BYTES, bytes, fst_bytes)                                                                                     \
        X(FIXED, fixed, const void *)

/* A row that goes into a struct of the application's: X(first, second, suffix, the parameters). */
#define FST_INTOS(X)                                                                                                   \
        X(I64, NONE, i64, (fst_task *, void *, int64_t))                                                               \
        X(F64, NONE, f64, (fst_task *, void *, double))                                                                \
        X(BYTES, NONE, bytes, (fst_task *, void *, fst_bytes))                                                         \
        X(FIXED, NONE, fixed, (fst_task *, void *, const void *))                                                      \
        FST_INTOS_OF_KEY(X, I64, i64, int64_t)                                                                         \
        FST_INTOS_OF_KEY(X, F64, f64, double)                                                                          \
        FST_INTOS_OF_KEY(X, BYTES, bytes, fst_bytes)                                                                   \
        FST_INTOS_OF_KEY(X, FIXED, fixed, const void *)
#define FST_INTOS_OF_KEY(X, key, k, key_type)                                                                          \
        X(key, I64, k##_i64, (fst_task *, void *, key_type, int64_t))                                                  \
        X(key, F64, k##_f64, (fst_task *, void *, key_type, double))                                                   \
        X(key, BYTES, k##_bytes, (fst_task *, void *, key_type, fst_bytes))                                            \
        X(key, FIXED, k##_fixed, (fst_task *, void *, key_type, const void *))

#define FST_CONSTRUCTOR(result, form, first, second, suffix, parameters)                                               \
        static inline fst_fn fst_fn_##form##_##suffix(const char *name, result(*f) parameters)                         \
        {                                                                                                              \
                return (fst_fn){(void (*)(void))f, FST_SHAPE(FST_FORM_##form, FST_KIND_##first, FST_KIND_##second), 0, \
                                NULL, name};                                                                           \
        }
#define FST_CONSTRUCT_EMIT(first, second, suffix, p) FST_CONSTRUCTOR(int, EMIT, first, second, suffix, p)
#define FST_CONSTRUCT_ROW(first, second, suffix, p)                                                                    \
        FST_CONSTRUCTOR(int64_t, I64, first, second, suffix, p)                                                        \
        FST_CONSTRUCTOR(double, F64, first, second, suffix, p)                                                         \
        FST_CONSTRUCTOR(bool, BOOL, first, second, suffix, p)                                                          \
        FST_CONSTRUCTOR(int, EACH, first, second, suffix, p)

#define FST_CONSTRUCT_JOIN(key, left, right, suffix, parameters)                                                       \
        static inline fst_fn fst_fn_JOIN_##suffix(const char *name, int(*f) parameters)                                \
        {                                                                                                              \
                return (fst_fn){(void (*)(void))f,                                                                     \
                                FST_SHAPE_3(FST_FORM_JOIN, FST_KIND_##key, FST_KIND_##left, FST_KIND_##right), 0,      \
                                NULL, name};                                                                           \
        }

#define FST_CONSTRUCT_INTO(first, second, suffix, p) FST_CONSTRUCTOR(int, INTO, first, second, suffix, p)
#define FST_CONSTRUCT_KEYED(key, suffix, type)                                                                         \
        FST_CONSTRUCTOR(int, GROUP, key, NONE, suffix, (fst_task *, type, fst_iter *, fst_out *))                      \
        FST_CONSTRUCTOR(int, COGROUP, key, NONE, suffix, (fst_task *, type, fst_iter *, fst_iter *, fst_out *))        \
        FST_CONSTRUCTOR(int, COGROUP_ALL, key, NONE, suffix, (fst_task *, type, fst_iter *const *, fst_out *))         \
        FST_CONSTRUCTOR(int, PLACE, key, NONE, suffix, (fst_task *, type, int))

FST_ROWS_EMIT(FST_CONSTRUCT_EMIT)
FST_JOINS(FST_CONSTRUCT_JOIN)
FST_ROWS(FST_CONSTRUCT_ROW)
FST_CONSTRUCTOR(int, ITER, NONE, NONE, rows, (fst_task *, fst_iter *, fst_out *))
FST_CONSTRUCTOR(int, BATCH, NONE, NONE, rows, (fst_task *, const fst_batch *, fst_out *))
FST_CONSTRUCTOR(int, ITER_2, NONE, NONE, rows, (fst_task *, fst_iter *, fst_iter *, fst_out *))
FST_CONSTRUCTOR(int, ITER_ALL, NONE, NONE, rows, (fst_task *, fst_iter *const *, fst_out *))
FST_CONSTRUCTOR(int, ITER_AT, NONE, NONE, rows, (fst_task *, int, fst_iter *, fst_out *))
FST_CONSTRUCTOR(int, EACH_ITER, NONE, NONE, rows, (fst_task *, fst_iter *))
FST_INTOS(FST_CONSTRUCT_INTO)
FST_KEYS(FST_CONSTRUCT_KEYED)

static inline fst_fn fst_fn_same(const char *name, fst_fn f)
{
        (void)name; /* it has a name */
        return f;
}

static inline fst_fn fst_fn_with(fst_fn f, const void *captured, size_t size)
{
        f.captured = captured;
        f.captured_size = (uint32_t)size;
        return f;
}

#define FST_CHOOSE(result, form, suffix, parameters) result(*) parameters : fst_fn_##form##_##suffix,
#define FST_CHOOSE_EMIT(first, second, suffix, p) FST_CHOOSE(int, EMIT, suffix, p)
#define FST_CHOOSE_INTO(first, second, suffix, p) FST_CHOOSE(int, INTO, suffix, p)
#define FST_CHOOSE_KEYED(key, suffix, type)                                                                            \
        FST_CHOOSE(int, GROUP, suffix, (fst_task *, type, fst_iter *, fst_out *))                                      \
        FST_CHOOSE(int, COGROUP, suffix, (fst_task *, type, fst_iter *, fst_iter *, fst_out *))                        \
        FST_CHOOSE(int, COGROUP_ALL, suffix, (fst_task *, type, fst_iter *const *, fst_out *))                         \
        FST_CHOOSE(int, PLACE, suffix, (fst_task *, type, int))
#define FST_CHOOSE_JOIN(key, left, right, suffix, p) FST_CHOOSE(int, JOIN, suffix, p)
#define FST_CHOOSE_ROW(first, second, suffix, p)                                                                       \
        FST_CHOOSE(int64_t, I64, suffix, p)                                                                            \
        FST_CHOOSE(double, F64, suffix, p)                                                                             \
        FST_CHOOSE(bool, BOOL, suffix, p)                                                                              \
        FST_CHOOSE(int, EACH, suffix, p)

/* clang-format off */
#define FST_FN(function)                                                                                               \
        _Generic((function),                                                                                           \
                FST_ROWS_EMIT(FST_CHOOSE_EMIT)                                                                         \
                FST_ROWS(FST_CHOOSE_ROW)                                                                               \
                FST_JOINS(FST_CHOOSE_JOIN)                                                                             \
                int (*)(fst_task *, fst_iter *, fst_out *): fst_fn_ITER_rows,                                          \
                int (*)(fst_task *, const fst_batch *, fst_out *): fst_fn_BATCH_rows,                                  \
                int (*)(fst_task *, fst_iter *, fst_iter *, fst_out *): fst_fn_ITER_2_rows,                            \
                int (*)(fst_task *, fst_iter *const *, fst_out *): fst_fn_ITER_ALL_rows,                               \
                int (*)(fst_task *, int, fst_iter *, fst_out *): fst_fn_ITER_AT_rows,                                  \
                int (*)(fst_task *, fst_iter *): fst_fn_EACH_ITER_rows,                                                \
                FST_INTOS(FST_CHOOSE_INTO)                                                                             \
                FST_KEYS(FST_CHOOSE_KEYED)                                                                             \
                fst_fn: fst_fn_same,                                                                                   \
                const fst_fn: fst_fn_same,                                                                             \
                default: fst_refuse_function)(#function, (function))
/* clang-format on */

FST_END_DECLS
