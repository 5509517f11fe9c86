/* How what is given by address, and where results go, is found the type of. Not meant to be called by name. */
#pragma once

#include <firesteel/detail/refuse.h>

FST_BEGIN_DECLS

/* A variable of the application's that a result is written to. */
typedef struct fst_variable {
        void *to;
        size_t size;
        uint8_t kind;
} fst_variable;
#define FST_VARIABLE(p) ((fst_variable){(p), sizeof(*(p)), FST_TYPE_BEHIND(p).key})

/* One that is read. */
typedef struct fst_constant {
        const void *at;
        size_t size;
        uint8_t kind;
} fst_constant;
#define FST_CONSTANT(p) ((fst_constant){(p), sizeof(*(p)), FST_TYPE_BEHIND(p).key})

/* The type of its value. */
static inline fst_type fst_constant_type(fst_constant c)
{
        return (fst_type){c.kind, FST_KIND_NONE, 0, c.kind == FST_KIND_BYTES ? 0 : (uint32_t)c.size, 0};
}

FST_END_DECLS
