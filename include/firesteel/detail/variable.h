/* The types of variables that are passed by address. Private: do not use these names. */
#pragma once

#include <firesteel/detail/refuse.h>

FST_BEGIN_DECLS

/* A variable of the application that receives a result. */
typedef struct fst_variable {
        void *to;
        size_t size;
        uint8_t kind;
} fst_variable;
#define FST_VARIABLE(p) ((fst_variable){(p), sizeof(*(p)), FST_TYPE_BEHIND(p).key})

/* A variable of the application that is read. */
typedef struct fst_constant {
        const void *at;
        size_t size;
        uint8_t kind;
} fst_constant;
#define FST_CONSTANT(p) ((fst_constant){(p), sizeof(*(p)), FST_TYPE_BEHIND(p).key})

/* The type of its value as a row. */
static inline fst_type fst_constant_type(fst_constant c)
{
        return (fst_type){c.kind, FST_KIND_NONE, 0, c.kind == FST_KIND_BYTES ? 0 : (uint32_t)c.size, 0};
}

FST_END_DECLS
