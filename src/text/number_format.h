/*
 * Formats numbers as Java does (Long.toString; Double.toString of JDK 19 and later: the shortest decimal that reads
 * back as the same double, at least one digit on either side of the point, "1.0E10" from 10^7 on and below 10^-3,
 * "NaN", "Infinity"). Ignores the locale. Writes no NUL. Any thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NUMBER_I64_SIZE 20 /* "-9223372036854775808" */
#define NUMBER_F64_SIZE 24 /* "-2.2250738585072014E-308" */

/* Writes @x to @out, which holds NUMBER_I64_SIZE bytes. Returns the number of bytes written. */
size_t number_format_i64(char *out, int64_t x);

/* As above, with NUMBER_F64_SIZE. */
size_t number_format_f64(char *out, double x);
