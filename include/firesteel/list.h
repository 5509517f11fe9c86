/*
 * Lists: several rows of one type as one value of BYTES. It is what fst_group_by_key and fst_group_by make of the
 * values and rows of a key.
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
 * little-endian and unaligned, where a length stands only if that column is BYTES, and a type that is no pair has no
 * value. So what a function emits may be written as a list too, and two lists of one type, one behind the other, are a
 * list.
 */
#pragma once

#include <firesteel/types.h>

#include <firesteel/iter.h>

FST_BEGIN_DECLS

/* The elements that were not read yet. */
typedef struct fst_list {
        const char *at, *end;
        fst_type type;
        int status;
} fst_list;

/* The elements of @bytes, which are of @type. Views, valid as long as @bytes. */
static inline fst_list fst_list_of(fst_bytes bytes, fst_type type)
{
        return (fst_list){bytes.data, bytes.data + bytes.len, type, 0};
}

/*
 * bool fst_list_next(fst_list *list, T *x)
 * bool fst_list_next(fst_list *list, K *key, V *value)
 *
 * The next element, or false at the end. The variables' types must be the elements': int64_t, double, fst_bytes, or
 * `const void *` for FIXED, which points into the list and need not be aligned: copy the struct with memcpy. If they
 * are not, or the bytes are no list of that type, fst_list_next returns false, says so in the log, and fst_list_status
 * is negative.
 */
#define fst_list_next(list, ...) FST_NEXT_PICK(__VA_ARGS__, FST_LIST_NEXT_2, FST_LIST_NEXT_1, )(list, __VA_ARGS__)

/* 0 while all went well, or negative. */
static inline int fst_list_status(const fst_list *list)
{
        return list->status;
}

FST_END_DECLS

#include <firesteel/detail/list.h>

FST_BEGIN_DECLS

/* How many elements @bytes has, a list of @type; at once where elements have one size, else by reading it. */
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
