/*
 * Rows as text, as Spark prints them: BYTES as they are, I64 and F64 as Java prints them, FIXED as two hexadecimal
 * digits a byte, pairs as "(key,value)".
 */
#pragma once

#include <firesteel/iter.h>

/* The longest that value @row of a column prints as; and print it at @p, where there is room for that: behind it. */
size_t value_text_size(uint8_t kind, uint32_t size, const fst_column *column, uint32_t row);
char *value_text_print(char *p, uint8_t kind, uint32_t size, const fst_column *column, uint32_t row);

/* The same for a row of @batch. */
size_t row_text_size(const fst_batch *batch, uint32_t row);
char *row_text_print(char *p, const fst_batch *batch, uint32_t row);
