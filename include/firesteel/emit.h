/*
 * Giving rows back.
 *
 *      fst_emit(out, value)            for a type that is no pair
 *      fst_emit(out, key, value)       for a pair
 *
 * Integers of any width become I64, floats F64; fst_bytes and C strings become BYTES; a pointer to anything else
 * is read as FIXED. Bytes are copied unless they lie in the row that the function was given, so buffers of your
 * own may be reused at once; but functions of operators behind may be called, on this thread, before fst_emit has taken
 * the row, so a static buffer is for one function alone. A kind that is not what the operator declared, and a pointer
 * to a struct of another size, fail the task with both named; a `const void *` is not checked.
 *
 * Emitting cannot fail as far as your function is concerned: when nothing more is wanted (the job was cancelled,
 * take() has enough) rows are dropped, and the engine does not call the function again.
 */
#pragma once

#include <firesteel/types.h>

FST_BEGIN_DECLS

/* Rows of a batch, column by column; at most FST_BATCH_ROWS of them. */
#define FST_BATCH_ROWS 1024

typedef union fst_column {
        int64_t *i64;
        double *f64;
        fst_bytes *bytes;
        char *fixed; /* rows × size, without padding between rows */
} fst_column;

typedef struct fst_out {
        uint32_t rows, room; /* emitted and not yet handed on; as many fit */
        uint32_t tag;        /* FST_TAG of the declared type */
        uint32_t key_size, value_size;
        fst_column key, value;
        struct fst_stable { /* memory that outlives the batch: bytes in it need no copy */
                uintptr_t start;
                size_t size;
        } stable[2];
        struct op *op; /* the engine's own */
} fst_out;

#define FST_TAG(key, value) ((uint32_t)(key) | (uint32_t)(value) << 8)

/* Make room, or say why there is none: false drops the row. */
FST_API bool fst_out_more(fst_out *out, uint32_t tag, uint64_t sizes, const char *file, int line) __attribute__((cold));

/* Copy bytes into memory that lives as long as the batch. */
FST_API fst_bytes fst_out_copy(fst_out *out, const void *data, size_t len);

FST_END_DECLS

#include <firesteel/detail/emit.h>
