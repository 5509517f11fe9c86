/* How what is given by address, and where results go, is found the type of. Not meant to be called by name. */
#pragma once

/* What *p is: a struct is FIXED. */
#define FST_KIND_BEHIND(p)                                                                                             \
        _Generic(*(p), int64_t                                                                                         \
                 : FST_KIND_I64, long long                                                                             \
                 : FST_KIND_I64, double                                                                                \
                 : FST_KIND_F64, fst_bytes                                                                             \
                 : FST_KIND_BYTES, default                                                                             \
                 : FST_KIND_FIXED)

/* A variable of the application's that a result is written to. */
typedef struct fst_variable {
        void *to;
        size_t size;
        uint8_t kind;
} fst_variable;
#define FST_VARIABLE(p) ((fst_variable){(p), sizeof(*(p)), FST_KIND_BEHIND(p)})

/* One that is read. */
typedef struct fst_constant {
        const void *at;
        size_t size;
        uint8_t kind;
} fst_constant;
#define FST_CONSTANT(p) ((fst_constant){(p), sizeof(*(p)), FST_KIND_BEHIND(p)})

/* The type of its value. */
static inline fst_type fst_constant_type(fst_constant c)
{
        return (fst_type){.key = c.kind, .key_size = c.kind == FST_KIND_BYTES ? 0 : (uint32_t)c.size};
}
