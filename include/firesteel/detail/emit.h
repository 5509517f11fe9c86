/* Kinds and columns of fst_emit. Private: do not use these names. */
#pragma once

FST_BEGIN_DECLS

#define FST_KIND_OF(x)                                                                                                 \
        _Generic((x),                                                                                                  \
                fst_bytes: FST_KIND_BYTES,                                                                             \
                char *: FST_KIND_BYTES,                                                                                \
                const char *: FST_KIND_BYTES,                                                                          \
                float: FST_KIND_F64,                                                                                   \
                double: FST_KIND_F64,                                                                                  \
                bool: FST_KIND_I64,                                                                                    \
                char: FST_KIND_I64,                                                                                    \
                signed char: FST_KIND_I64,                                                                             \
                unsigned char: FST_KIND_I64,                                                                           \
                short: FST_KIND_I64,                                                                                   \
                unsigned short: FST_KIND_I64,                                                                          \
                int: FST_KIND_I64,                                                                                     \
                unsigned: FST_KIND_I64,                                                                                \
                long: FST_KIND_I64,                                                                                    \
                unsigned long: FST_KIND_I64,                                                                           \
                long long: FST_KIND_I64,                                                                               \
                unsigned long long: FST_KIND_I64,                                                                      \
                default: FST_KIND_FIXED)

#define FST_SETTER_OF(x)                                                                                               \
        _Generic((x),                                                                                                  \
                fst_bytes: fst_set_bytes,                                                                              \
                char *: fst_set_text,                                                                                  \
                const char *: fst_set_text,                                                                            \
                float: fst_set_f64,                                                                                    \
                double: fst_set_f64,                                                                                   \
                bool: fst_set_i64,                                                                                     \
                char: fst_set_i64,                                                                                     \
                signed char: fst_set_i64,                                                                              \
                unsigned char: fst_set_i64,                                                                            \
                short: fst_set_i64,                                                                                    \
                unsigned short: fst_set_i64,                                                                           \
                int: fst_set_i64,                                                                                      \
                unsigned: fst_set_i64,                                                                                 \
                long: fst_set_i64,                                                                                     \
                unsigned long: fst_set_i64,                                                                            \
                long long: fst_set_i64,                                                                                \
                unsigned long long: fst_set_i64,                                                                       \
                default: fst_set_fixed)

/*
 * The size of the struct that @x points to, which must be that of the rows; 0 where it is not known: a void pointer,
 * and pointers to elements of an array. Does not evaluate @x.
 */
#define FST_POINTER_TO_FIXED(x)                                                                                        \
        _Generic((x),                                                                                                  \
                fst_bytes: (char *)0,                                                                                  \
                char *: (char *)0,                                                                                     \
                const char *: (char *)0,                                                                               \
                void *: (char *)0,                                                                                     \
                const void *: (char *)0,                                                                               \
                float: (char *)0,                                                                                      \
                double: (char *)0,                                                                                     \
                bool: (char *)0,                                                                                       \
                char: (char *)0,                                                                                       \
                signed char: (char *)0,                                                                                \
                unsigned char: (char *)0,                                                                              \
                short: (char *)0,                                                                                      \
                unsigned short: (char *)0,                                                                             \
                int: (char *)0,                                                                                        \
                unsigned: (char *)0,                                                                                   \
                long: (char *)0,                                                                                       \
                unsigned long: (char *)0,                                                                              \
                long long: (char *)0,                                                                                  \
                unsigned long long: (char *)0,                                                                         \
                default: (x))
#define FST_IS_STRUCT(lvalue) (__builtin_classify_type(lvalue) == 12 || __builtin_classify_type(lvalue) == 13)
#define FST_STRUCT_SIZE(x)                                                                                             \
        (sizeof(FST_POINTER_TO_FIXED(x)) == sizeof(void *) && FST_IS_STRUCT(*FST_POINTER_TO_FIXED(x))                  \
                 ? (uint32_t)sizeof(*FST_POINTER_TO_FIXED(x))                                                          \
                 : 0)

/* Sizes of a key and of a value, as far as they are known. */
#define FST_SIZES(key, value) ((uint64_t)(key) | (uint64_t)(value) << 32)

static inline bool fst_sizes_fit(uint64_t sizes, uint32_t key_size, uint32_t value_size)
{
        return (!(uint32_t)sizes || (uint32_t)sizes == key_size) && (!(sizes >> 32) || sizes >> 32 == value_size);
}

static inline void fst_set_i64(fst_out *out, fst_column column, uint32_t size, int64_t x)
{
        (void)size;
        column.i64[out->rows] = x;
}

static inline void fst_set_f64(fst_out *out, fst_column column, uint32_t size, double x)
{
        (void)size;
        column.f64[out->rows] = x;
}

static inline void fst_set_fixed(fst_out *out, fst_column column, uint32_t size, const void *x)
{
        if (fst_likely(!out->structs))
                memcpy(column.fixed + (size_t)out->rows * size, x, size);
        else
                fst_out_struct(out, column, size, x);
}

static inline void fst_set_bytes(fst_out *out, fst_column column, uint32_t size, fst_bytes x)
{
        (void)size;
        uintptr_t at = (uintptr_t)x.data;
        if (!fst_likely(at - out->stable[0].start < out->stable[0].size) &&
            at - out->stable[1].start >= out->stable[1].size)
                x = fst_out_copy(out, x.data, x.len);
        column.bytes[out->rows] = x;
}

static inline void fst_set_text(fst_out *out, fst_column column, uint32_t size, const char *x)
{
        fst_set_bytes(out, column, size, fst_bytes_of(x));
}

static inline bool fst_out_ready(fst_out *out, uint32_t tag, uint64_t sizes, const char *file, int line)
{
        return fst_likely(out->tag == tag && out->rows < out->room &&
                          fst_sizes_fit(sizes, out->key_size, out->value_size)) ||
               fst_out_more(out, tag, sizes, file, line);
}

#define FST_EMIT_1(out, x)                                                                                             \
        do {                                                                                                           \
                fst_out *out_ = (out);                                                                                 \
                if (fst_out_ready(out_, FST_TAG(FST_KIND_OF(x), FST_KIND_NONE), FST_SIZES(FST_STRUCT_SIZE(x), 0),      \
                                  __FILE__, __LINE__)) {                                                               \
                        FST_SETTER_OF(x)(out_, out_->key, out_->key_size, x);                                          \
                        out_->rows++;                                                                                  \
                }                                                                                                      \
        } while (0)

#define FST_EMIT_2(out, k, v)                                                                                          \
        do {                                                                                                           \
                fst_out *out_ = (out);                                                                                 \
                if (fst_out_ready(out_, FST_TAG(FST_KIND_OF(k), FST_KIND_OF(v)),                                       \
                                  FST_SIZES(FST_STRUCT_SIZE(k), FST_STRUCT_SIZE(v)), __FILE__, __LINE__)) {            \
                        FST_SETTER_OF(k)(out_, out_->key, out_->key_size, k);                                          \
                        FST_SETTER_OF(v)(out_, out_->value, out_->value_size, v);                                      \
                        out_->rows++;                                                                                  \
                }                                                                                                      \
        } while (0)

#define FST_EMIT_PICK(a, b, name, ...) name
#define fst_emit(out, ...) FST_EMIT_PICK(__VA_ARGS__, FST_EMIT_2, FST_EMIT_1, )(out, __VA_ARGS__)

FST_END_DECLS
