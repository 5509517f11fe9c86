/*
 * Rows of structs as bytes: the columns one after another, so that the order of the bytes is the order of the columns,
 * and equal bytes are equal columns.
 *
 *  - I64, I32: big-endian with the sign bit flipped, 8 and 4 bytes
 *  - F64: the bits, big-endian, of negative numbers all flipped and of others the sign bit; 0.0 for -0.0, and one NaN,
 *    which is the greatest
 *  - BOOL: 0 or 1
 *  - BYTES: the bytes, with 0xff behind each NUL, and two NULs at the end; as the last column only the bytes
 *
 * This is the encoding of firesteel/key.h in ascending order, but for -0.0 and the last text.
 */
#pragma once

#include "structs/struct_type.h"

/* The bytes that @row, a struct in memory, takes. */
size_t struct_row_size(const struct struct_type *s, const void *row);

/* Writes them to @to. */
void struct_row_write(const struct struct_type *s, const void *row, char *to);

/*
 * Reads @encoded into the struct at @row. Texts become views into @encoded, but those with NUL bytes are copied to
 * @space, which has encoded.len bytes. Returns 0, STRUCT_ROW_E_SPACE if @space is NULL and needed, or -EBADMSG. The
 * struct is undefined after a result other than 0.
 */
int struct_row_read(const struct struct_type *s, fst_bytes encoded, void *row, char *space);
#define STRUCT_ROW_E_SPACE 1

/*
 * The row as text, as Spark prints tuples: "(Ann,30,61.5)". The first returns the maximal length, the second writes to
 * @p, which has that much room, and returns the end. Bytes that are not a row print as "(?)".
 */
size_t struct_row_text_size(const struct struct_type *s, fst_bytes encoded);
char *struct_row_print(const struct struct_type *s, fst_bytes encoded, char *p);
