/*
 * Lists: several rows of one type as one value of BYTES. fst_group_by_key and fst_group_by make a list of the values or
 * rows of each key.
 *
 *      // (user, list of orders) → (user, sum)
 *      static double total(fst_task *task, fst_bytes orders)
 *      {
 *              double sum = 0, order;
 *              for (fst_list list = fst_list_of(orders, FST_F64); fst_list_next(&list, &order);)
 *                      sum += order;
 *              return sum;
 *      }
 *
 * A list is its elements one after another, each in the form
 *
 *      [key length u32] [value length u32] key value
 *
 * little-endian and unaligned. A length is present only for a column of BYTES, and a value only for pairs. A function
 * may therefore write a list itself, and two lists of one type, one after the other, are a list.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/iter.h>

FST_BEGIN_DECLS

/* The elements that are still to be read. */
typedef struct fst_list {
        const char *at, *end;
        fst_type type;
        int status;
} fst_list;

/* The elements of @bytes, a list of @type. They are views, valid as long as @bytes. */
static inline fst_list fst_list_of(fst_bytes bytes, fst_type type)
{
        return (fst_list){bytes.data, bytes.data + bytes.len, type, 0};
}

/*
 * bool fst_list_next(fst_list *list, T *x)
 * bool fst_list_next(fst_list *list, K *key, V *value)
 *
 * Reads the next element. Returns false at the end. The variables must have the elements' types: int64_t, double,
 * fst_bytes, or `const void *` for FIXED. That pointer points into the list and need not be aligned: copy the struct
 * with memcpy. If the types differ, or the bytes are not a list of that type, fst_list_next logs an error and returns
 * false, and fst_list_status is negative.
 */
#define fst_list_next(list, ...) FST_NEXT_PICK(__VA_ARGS__, FST_LIST_NEXT_2, FST_LIST_NEXT_1, )(list, __VA_ARGS__)

/* 0, or the negative status of a failure. */
static inline int fst_list_status(const fst_list *list)
{
        return list->status;
}

FST_END_DECLS

#include <firesteel/detail/list.h>

FST_BEGIN_DECLS

/*
 * The number of elements of @bytes, a list of @type. The time is constant if all elements have one size. Otherwise the
 * list is read.
 */
static inline int64_t fst_list_count(fst_bytes bytes, fst_type type)
{
        fst_bytes key, value;
        int64_t n = 0;
        if (type.key != FST_KIND_BYTES && type.value != FST_KIND_BYTES)
                return (int64_t)(bytes.len / ((size_t)type.key_size + type.value_size));
        fst_list list = fst_list_of(bytes, type);
        while (fst_list_step(&list, FST_TAG(type.key, type.value), &key, &value))
                n++;
        return n;
}

FST_END_DECLS
