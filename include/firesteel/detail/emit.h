/* How fst_emit finds kinds and writes columns. Nothing here is meant to be called by name. */
#pragma once

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
        memcpy(column.fixed + (size_t)out->rows * size, x, size);
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

static inline bool fst_out_ready(fst_out *out, uint32_t tag)
{
        return fst_likely(out->tag == tag && out->rows < out->room) || fst_out_more(out, tag);
}

#define FST_EMIT_1(out, x)                                                                                             \
        do {                                                                                                           \
                fst_out *out_ = (out);                                                                                 \
                if (fst_out_ready(out_, FST_TAG(FST_KIND_OF(x), FST_KIND_NONE))) {                                     \
                        FST_SETTER_OF(x)(out_, out_->key, out_->key_size, x);                                          \
                        out_->rows++;                                                                                  \
                }                                                                                                      \
        } while (0)

#define FST_EMIT_2(out, k, v)                                                                                          \
        do {                                                                                                           \
                fst_out *out_ = (out);                                                                                 \
                if (fst_out_ready(out_, FST_TAG(FST_KIND_OF(k), FST_KIND_OF(v)))) {                                    \
                        FST_SETTER_OF(k)(out_, out_->key, out_->key_size, k);                                          \
                        FST_SETTER_OF(v)(out_, out_->value, out_->value_size, v);                                      \
                        out_->rows++;                                                                                  \
                }                                                                                                      \
        } while (0)

#define FST_EMIT_PICK(a, b, name, ...) name
#define fst_emit(out, ...) FST_EMIT_PICK(__VA_ARGS__, FST_EMIT_2, FST_EMIT_1, )(out, __VA_ARGS__)
