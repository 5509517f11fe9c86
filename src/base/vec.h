/*
 * A growable array of any element type. The macro declares a struct:
 *
 *      VEC(int) ids = {0};
 *      vec_push(&ids, 7);
 *      for (size_t i = 0; i < ids.len; i++) use(ids.data[i]);
 *      vec_deinit(&ids);
 */
#pragma once

#include "base/mem.h"

#define VEC(type)                                                                                                      \
        struct {                                                                                                       \
                type *data;                                                                                            \
                size_t len, cap;                                                                                       \
        }

#define vec_reserve(v, count)                                                                                          \
        do {                                                                                                           \
                size_t need_ = (count);                                                                                \
                if (need_ > (v)->cap) {                                                                                \
                        size_t cap_ = (v)->cap ? (v)->cap * 2 : 8;                                                     \
                        (v)->cap = cap_ < need_ ? need_ : cap_;                                                        \
                        (v)->data = mem_grow((v)->data, (v)->cap * sizeof(*(v)->data));                                \
                }                                                                                                      \
        } while (0)

/* Reserves room for few elements: a quarter more than needed. For vectors of which thousands exist. */
#define vec_reserve_tight(v, count)                                                                                    \
        do {                                                                                                           \
                size_t few_ = (count);                                                                                 \
                if (few_ > (v)->cap) {                                                                                 \
                        (v)->cap = few_ + few_ / 4;                                                                    \
                        (v)->data = mem_grow((v)->data, (v)->cap * sizeof(*(v)->data));                                \
                }                                                                                                      \
        } while (0)

#define vec_push(v, ...)                                                                                               \
        do {                                                                                                           \
                vec_reserve(v, (v)->len + 1);                                                                          \
                (v)->data[(v)->len++] = (__VA_ARGS__);                                                                 \
        } while (0)

/* In a vector sorted by @member: the index of the first element whose @member is at least @key, or len. */
#define vec_place(v, member, key)                                                                                      \
        ({                                                                                                             \
                size_t low_ = 0, high_ = (v)->len;                                                                     \
                while (low_ < high_) {                                                                                 \
                        size_t middle_ = low_ + (high_ - low_) / 2;                                                    \
                        if ((v)->data[middle_].member < (key))                                                         \
                                low_ = middle_ + 1;                                                                    \
                        else                                                                                           \
                                high_ = middle_;                                                                       \
                }                                                                                                      \
                low_;                                                                                                  \
        })

/* Inserts an element at index @at and moves the later ones up. */
#define vec_insert(v, at, ...)                                                                                         \
        do {                                                                                                           \
                size_t at_ = (at);                                                                                     \
                vec_reserve(v, (v)->len + 1);                                                                          \
                memmove(&(v)->data[at_ + 1], &(v)->data[at_], ((v)->len - at_) * sizeof(*(v)->data));                  \
                (v)->len++;                                                                                            \
                (v)->data[at_] = (__VA_ARGS__);                                                                        \
        } while (0)

/* Removes the first @n elements. */
#define vec_drop(v, n)                                                                                                 \
        do {                                                                                                           \
                size_t n_ = (n);                                                                                       \
                (v)->len -= n_;                                                                                        \
                if (n_)                                                                                                \
                        memmove((v)->data, (v)->data + n_, (v)->len * sizeof(*(v)->data));                             \
        } while (0)

#define vec_deinit(v)                                                                                                  \
        do {                                                                                                           \
                free((v)->data);                                                                                       \
                (v)->data = NULL;                                                                                      \
                (v)->len = (v)->cap = 0;                                                                               \
        } while (0)
