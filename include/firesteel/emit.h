/*
 * Returning rows.
 *
 *      fst_emit(out, value)            for a type that is not a pair
 *      fst_emit(out, key, value)       for a pair
 *
 * Integers of any width become I64 and floats F64; fst_bytes and C strings become BYTES; a pointer to anything else
 * is read as FIXED, or as a struct with fields (struct.h). fst_emit copies bytes unless they lie in the input row of
 * the function, so you may reuse a buffer at once. Do not share a static buffer between functions: fst_emit may call
 * functions of later operators, on this thread, before it has copied the row. If a kind is not the declared one, or a
 * struct has another size, the task fails with a message that names both types. A `const void *` is not checked.
 *
 * fst_emit does not fail. Once no more rows are needed (the job was cancelled, take() has enough) it drops them, and
 * the engine does not call the function again.
 */
#pragma once

#include <firesteel/types.h>

FST_BEGIN_DECLS

/* The rows of a batch, column by column: at most FST_BATCH_ROWS. */
#define FST_BATCH_ROWS 1024

typedef union fst_column {
        int64_t *i64;
        double *f64;
        fst_bytes *bytes;
        char *fixed; /* rows × size, without padding between rows */
} fst_column;

typedef struct fst_out {
        uint32_t rows, room; /* rows emitted since the last batch was passed on; room for rows */
        uint32_t tag;        /* FST_TAG of the declared type */
        uint32_t key_size, value_size;
        fst_column key, value;
        struct fst_stable { /* memory that outlives the batch: bytes in it are not copied */
                uintptr_t start;
                size_t size;
        } stable[2];
        struct op *op; /* private to the engine */
        uint32_t structs; /* not 0: a column has rows of structs (struct.h) */
} fst_out;

#define FST_TAG(key, value) ((uint32_t)(key) | (uint32_t)(value) << 8)

/* Makes room for a row. Returns false if the row is to be dropped. The task may have failed. */
FST_API bool fst_out_more(fst_out *out, uint32_t tag, uint64_t sizes, const char *file, int line) __attribute__((cold));

/* Writes a struct to row `rows` of @column, which has rows of structs, or FIXED rows of @size bytes. */
FST_API void fst_out_struct(fst_out *out, fst_column column, uint32_t size, const void *x);

/* Copies bytes into memory that lives as long as the batch. */
FST_API fst_bytes fst_out_copy(fst_out *out, const void *data, size_t len);

FST_END_DECLS

#include <firesteel/detail/emit.h>
