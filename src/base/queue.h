/*
 * A first-in, first-out queue of any element type. The macro declares a struct:
 *
 *      QUEUE(struct event) events = {0};
 *      queue_push(&events, (struct event){.id = 7});
 *      for (struct event e; queue_pop(&events, &e);) handle(&e);
 *      queue_deinit(&events);
 *
 * The loop may push while it pops. The queue is one array and reuses the space of popped elements.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>

/* data[head] to data[len - 1] are waiting. */
#define QUEUE(type)                                                                                                    \
        struct {                                                                                                       \
                type *data;                                                                                            \
                size_t head, len, cap;                                                                                 \
        }

#define queue_push(q, ...)                                                                                             \
        do {                                                                                                           \
                if ((q)->len == (q)->cap && (q)->head > (q)->len / 2) {                                                \
                        (q)->len -= (q)->head;                                                                         \
                        memmove((q)->data, (q)->data + (q)->head, (q)->len * sizeof(*(q)->data));                      \
                        (q)->head = 0;                                                                                 \
                }                                                                                                      \
                vec_push(q, __VA_ARGS__);                                                                              \
        } while (0)

#define queue_is_empty(q) ((q)->head == (q)->len)

/* Moves the oldest element to *@out. Returns false, with *@out unchanged, if the queue is empty. */
#define queue_pop(q, out)                                                                                              \
        ({                                                                                                             \
                const bool any_ = !queue_is_empty(q);                                                                  \
                if (any_)                                                                                              \
                        *(out) = (q)->data[(q)->head++];                                                               \
                if (any_ && queue_is_empty(q))                                                                         \
                        (q)->head = (q)->len = 0;                                                                      \
                any_;                                                                                                  \
        })

#define queue_deinit(q)                                                                                                \
        do {                                                                                                           \
                (q)->head = 0;                                                                                         \
                vec_deinit(q);                                                                                         \
        } while (0)
