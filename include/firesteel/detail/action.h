/* How actions find the types of what they are given and of where their results go. Not meant to be called by name. */
#pragma once

/* What *p is: a struct is FIXED. */
#define FST_KIND_BEHIND(p)                                                                                             \
        _Generic(*(p),                                                                                                 \
                int64_t: FST_KIND_I64,                                                                                 \
                long long: FST_KIND_I64,                                                                               \
                double: FST_KIND_F64,                                                                                  \
                fst_bytes: FST_KIND_BYTES,                                                                             \
                default: FST_KIND_FIXED)

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

#define FST_NO_VARIABLE ((fst_variable){0})
#define FST_FIRST_1(rdd, row) fst_first_at((rdd), FST_VARIABLE(row), FST_NO_VARIABLE, FST_HERE("first"))
#define FST_FIRST_2(rdd, key, value) fst_first_at((rdd), FST_VARIABLE(key), FST_VARIABLE(value), FST_HERE("first"))
#define FST_FIRST_PICK(a, b, name, ...) name
