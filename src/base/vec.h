/*
 * A growable array of any type, as a struct that names its element:
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

#define vec_push(v, ...)                                                                                               \
        do {                                                                                                           \
                vec_reserve(v, (v)->len + 1);                                                                          \
                (v)->data[(v)->len++] = (__VA_ARGS__);                                                                 \
        } while (0)

#define vec_deinit(v)                                                                                                  \
        do {                                                                                                           \
                free((v)->data);                                                                                       \
                (v)->data = NULL;                                                                                      \
                (v)->len = (v)->cap = 0;                                                                               \
        } while (0)
