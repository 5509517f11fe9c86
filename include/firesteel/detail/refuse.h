/*
 * One-line compiler errors for wrong arguments. For an argument of a wrong type a macro's _Generic selects one of these
 * functions, and the compiler prints its sentence. They are never defined. Private: do not use these names.
 */
#pragma once

#include <firesteel/types.h>

FST_BEGIN_DECLS

#define FST_REFUSE(type, name, sentence) __attribute__((error(sentence))) type name(const char *what, ...)

FST_REFUSE(fst_type, fst_refuse_number,
           "a row, or a variable for one, is int64_t, double, fst_bytes or a struct, and no other type of number: see "
           "firesteel/types.h");
FST_REFUSE(fst_type, fst_refuse_text,
           "a row of text, or a variable for one, is fst_bytes and not char *: fst_bytes_of(\"text\") makes one of a "
           "string, see firesteel/types.h");

/* The type of *p as a row: FIXED for a struct or an array. Types that no row has do not compile. */
#define FST_TYPE_BEHIND(p)                                                                                             \
        _Generic(*(p),                                                                                                 \
                int64_t: FST_I64,                                                                                      \
                long long: FST_I64,                                                                                    \
                double: FST_F64,                                                                                       \
                fst_bytes: FST_BYTES,                                                                                  \
                char *: fst_refuse_text(""),                                                                           \
                const char *: fst_refuse_text(""),                                                                     \
                _Bool: fst_refuse_number(""),                                                                          \
                char: fst_refuse_number(""),                                                                           \
                signed char: fst_refuse_number(""),                                                                    \
                unsigned char: fst_refuse_number(""),                                                                  \
                short: fst_refuse_number(""),                                                                          \
                unsigned short: fst_refuse_number(""),                                                                 \
                int: fst_refuse_number(""),                                                                            \
                unsigned: fst_refuse_number(""),                                                                       \
                unsigned long: fst_refuse_number(""),                                                                  \
                unsigned long long: fst_refuse_number(""),                                                             \
                float: fst_refuse_number(""),                                                                          \
                long double: fst_refuse_number(""),                                                                    \
                default: FST_FIXED(sizeof(*(p))))

/* @p, which must be a T * or NULL. For a pointer to anything else the compiler reports @refuse. */
#define FST_POINTER_TO(T, p, refuse) _Generic((p), T * : (p), void * : (p), default : refuse("", (p)))

FST_REFUSE(int64_t *, fst_refuse_count, "this macro writes a number of rows, to an int64_t: see firesteel/action.h");
FST_REFUSE(double *, fst_refuse_f64, "this macro writes its result to a double: see firesteel/action.h");
FST_REFUSE(bool *, fst_refuse_bool, "this macro writes its result to a bool: see firesteel/action.h");
/* Where results of these types are written. */
#define FST_COUNT_TO(p)                                                                                                \
        _Generic((p), int64_t *: (p), long long *: (int64_t *)(void *)(p), void *: (p), default: fst_refuse_count("", (p)))
#define FST_F64_TO(p) FST_POINTER_TO(double, p, fst_refuse_f64)
#define FST_BOOL_TO(p) FST_POINTER_TO(bool, p, fst_refuse_bool)

FST_END_DECLS
