/* Kinds and columns of fst_next. Private: do not use these names. */
#pragma once

FST_BEGIN_DECLS

#define FST_KIND_OF_POINTER(p)                                                                                         \
        _Generic((p),                                                                                                  \
                int64_t *: FST_KIND_I64,                                                                               \
                long long *: FST_KIND_I64,                                                                             \
                double *: FST_KIND_F64,                                                                                \
                fst_bytes *: FST_KIND_BYTES,                                                                           \
                default: FST_KIND_FIXED)

/* Whether *p is a number, bytes, or a pointer (__builtin_classify_type 5) that may point to a FIXED row. */
#define FST_CAN_READ_INTO(p)                                                                                           \
        _Generic((p),                                                                                                  \
                int64_t *: true,                                                                                       \
                long long *: true,                                                                                     \
                double *: true,                                                                                        \
                fst_bytes *: true,                                                                                     \
                default: __builtin_classify_type(*(p)) == 5)
#define FST_CHECK_READ_INTO(p)                                                                                         \
        _Static_assert(FST_CAN_READ_INTO(p),                                                                           \
                       "rows are read into int64_t, double, fst_bytes, or a pointer to what is FIXED")

#define FST_GETTER_OF(p)                                                                                               \
        _Generic((p),                                                                                                  \
                int64_t *: fst_get_i64,                                                                                \
                long long *: fst_get_long_long,                                                                        \
                double *: fst_get_f64,                                                                                 \
                fst_bytes *: fst_get_bytes,                                                                            \
                default: fst_get_fixed)

/* As FST_STRUCT_SIZE, of what *p points to. */
#define FST_POINTER_TO_POINTER(p)                                                                                      \
        _Generic((p),                                                                                                  \
                int64_t *: (char **)0,                                                                                 \
                long long *: (char **)0,                                                                               \
                double *: (char **)0,                                                                                  \
                fst_bytes *: (char **)0,                                                                               \
                void **: (char **)0,                                                                                   \
                const void **: (char **)0,                                                                             \
                default: __builtin_choose_expr(__builtin_classify_type(*(p)) == 5, (p), (char **)0))
#define FST_READ_SIZE(p)                                                                                               \
        (FST_IS_STRUCT(**FST_POINTER_TO_POINTER(p)) ? (uint32_t)sizeof(**FST_POINTER_TO_POINTER(p)) : 0)

static inline void fst_get_i64(fst_column column, uint32_t row, uint32_t size, int64_t *x)
{
        (void)size;
        *x = column.i64[row];
}

static inline void fst_get_long_long(fst_column column, uint32_t row, uint32_t size, long long *x)
{
        (void)size;
        *x = column.i64[row];
}

static inline void fst_get_f64(fst_column column, uint32_t row, uint32_t size, double *x)
{
        (void)size;
        *x = column.f64[row];
}

static inline void fst_get_bytes(fst_column column, uint32_t row, uint32_t size, fst_bytes *x)
{
        (void)size;
        *x = column.bytes[row];
}

/* @x points to a pointer of any type. */
static inline void fst_get_fixed(fst_column column, uint32_t row, uint32_t size, void *x)
{
        const void *at = column.fixed + (size_t)row * size;
        memcpy(x, &at, sizeof(at));
}

static inline bool fst_iter_ready(fst_iter *iter, uint32_t tag, uint64_t sizes, const char *file, int line)
{
        return fst_likely(iter && iter->tag == tag && iter->at < iter->batch.rows &&
                          fst_sizes_fit(sizes, iter->batch.type.key_size, iter->batch.type.value_size)) ||
               fst_iter_more(iter, tag, sizes, file, line);
}

#define FST_NEXT_1(iter, x)                                                                                            \
        ({                                                                                                             \
                FST_CHECK_READ_INTO(x);                                                                                \
                fst_iter *iter_ = (iter);                                                                              \
                bool more_ = fst_iter_ready(iter_, FST_TAG(FST_KIND_OF_POINTER(x), FST_KIND_NONE),                     \
                                            FST_SIZES(FST_READ_SIZE(x), 0), __FILE__, __LINE__);                       \
                if (more_) {                                                                                           \
                        FST_GETTER_OF(x)(iter_->batch.key, iter_->at, iter_->batch.type.key_size, x);                  \
                        iter_->at++;                                                                                   \
                }                                                                                                      \
                more_;                                                                                                 \
        })

#define FST_NEXT_2(iter, k, v)                                                                                         \
        ({                                                                                                             \
                FST_CHECK_READ_INTO(k);                                                                                \
                FST_CHECK_READ_INTO(v);                                                                                \
                fst_iter *iter_ = (iter);                                                                              \
                bool more_ = fst_iter_ready(iter_, FST_TAG(FST_KIND_OF_POINTER(k), FST_KIND_OF_POINTER(v)),            \
                                            FST_SIZES(FST_READ_SIZE(k), FST_READ_SIZE(v)), __FILE__, __LINE__);        \
                if (more_) {                                                                                           \
                        FST_GETTER_OF(k)(iter_->batch.key, iter_->at, iter_->batch.type.key_size, k);                  \
                        FST_GETTER_OF(v)(iter_->batch.value, iter_->at, iter_->batch.type.value_size, v);              \
                        iter_->at++;                                                                                   \
                }                                                                                                      \
                more_;                                                                                                 \
        })

#define FST_NEXT_PICK(a, b, name, ...) name
#define fst_next(iter, ...) FST_NEXT_PICK(__VA_ARGS__, FST_NEXT_2, FST_NEXT_1, )(iter, __VA_ARGS__)

FST_END_DECLS
