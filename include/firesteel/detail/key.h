/* Keys for maps, lookup and filter_by_range. Private: do not use these names. */
#pragma once

#include <firesteel/types.h>

#include <firesteel/emit.h>

FST_BEGIN_DECLS

typedef struct fst_key {
        uint8_t kind;
        uint32_t size; /* of the struct that `fixed` points to; 0: not known */
        union {
                int64_t i64;
                double f64;
                fst_bytes bytes;
                const void *fixed;
        };
} fst_key;

static inline fst_key fst_key_i64(int64_t x)
{
        return (fst_key){.kind = FST_KIND_I64, .size = 0, .i64 = x};
}

static inline fst_key fst_key_f64(double x)
{
        return (fst_key){.kind = FST_KIND_F64, .size = 0, .f64 = x};
}

static inline fst_key fst_key_bytes(fst_bytes x)
{
        return (fst_key){.kind = FST_KIND_BYTES, .size = 0, .bytes = x};
}

static inline fst_key fst_key_text(const char *x)
{
        return fst_key_bytes(fst_bytes_of(x));
}

static inline fst_key fst_key_fixed(const void *x)
{
        return (fst_key){.kind = FST_KIND_FIXED, .size = 0, .fixed = x};
}

static inline fst_key fst_key_sized(fst_key key, uint32_t size)
{
        key.size = size;
        return key;
}

#define FST_KEY_OF_TYPE(x)                                                                                             \
        _Generic((x),                                                                                                  \
                fst_bytes: fst_key_bytes,                                                                              \
                char *: fst_key_text,                                                                                  \
                const char *: fst_key_text,                                                                            \
                float: fst_key_f64,                                                                                    \
                double: fst_key_f64,                                                                                   \
                bool: fst_key_i64,                                                                                     \
                char: fst_key_i64,                                                                                     \
                signed char: fst_key_i64,                                                                              \
                unsigned char: fst_key_i64,                                                                            \
                short: fst_key_i64,                                                                                    \
                unsigned short: fst_key_i64,                                                                           \
                int: fst_key_i64,                                                                                      \
                unsigned: fst_key_i64,                                                                                 \
                long: fst_key_i64,                                                                                     \
                unsigned long: fst_key_i64,                                                                            \
                long long: fst_key_i64,                                                                                \
                unsigned long long: fst_key_i64,                                                                       \
                default: fst_key_fixed)(x)
#define FST_KEY(x) fst_key_sized(FST_KEY_OF_TYPE(x), FST_STRUCT_SIZE(x))

FST_END_DECLS
