/* Prints rows like Spark: BYTES unchanged, I64 and F64 as in Java, FIXED as two hexadecimal digits a byte, structs
 * with fields as "(Ann,30,61.5)", pairs as "(key,value)". */
#pragma once

#include <firesteel/iter.h>

/* value_text_size: the maximal length of value @row of a column as text. The second prints it at @p, which has that
 * much room, and returns the end. */
size_t value_text_size(uint8_t kind, uint32_t size, const fst_column *column, uint32_t row);
char *value_text_print(char *p, uint8_t kind, uint32_t size, const fst_column *column, uint32_t row);

/* The same for row @row of @batch. */
size_t row_text_size(const fst_batch *batch, uint32_t row);
char *row_text_print(char *p, const fst_batch *batch, uint32_t row);
