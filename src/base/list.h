/*
 * An intrusive doubly linked list: the elements carry the links `prev` and `next`, so that removal needs no search.
 *
 *      struct call { struct call *prev, *next; … };
 *      LIST(struct call) calls = {0};
 *      list_append(&calls, call);
 *      for (struct call *c = calls.first; c; c = c->next) use(c);
 *      list_remove(&calls, call);
 *
 * Any struct with the members `first` and `last` is a list. A list that is all zero is empty. The list does not own its
 * elements. An element is in one list at a time, and its links are NULL outside of it.
 */
#pragma once

#include <stddef.h>

#define LIST(type)                                                                                                     \
        struct {                                                                                                       \
                type *first, *last;                                                                                    \
        }

/* Inserts @x behind @at, or at the head if @at is NULL. */
#define list_insert_after(list, at, x)                                                                                 \
        do {                                                                                                           \
                typeof((list)->first) at_ = (at), x_ = (x);                                                            \
                x_->prev = at_;                                                                                        \
                x_->next = at_ ? at_->next : (list)->first;                                                            \
                *(x_->prev ? &x_->prev->next : &(list)->first) = x_;                                                   \
                *(x_->next ? &x_->next->prev : &(list)->last) = x_;                                                    \
        } while (0)

#define list_append(list, x) list_insert_after(list, (list)->last, x)
#define list_prepend(list, x) list_insert_after(list, NULL, x)

/* @x must be in @list. */
#define list_remove(list, x)                                                                                           \
        do {                                                                                                           \
                typeof((list)->first) x_ = (x);                                                                        \
                *(x_->prev ? &x_->prev->next : &(list)->first) = x_->next;                                             \
                *(x_->next ? &x_->next->prev : &(list)->last) = x_->prev;                                              \
                x_->prev = x_->next = NULL;                                                                            \
        } while (0)

/* Removes the first element and returns it, or NULL from an empty list. */
#define list_pop(list)                                                                                                 \
        ({                                                                                                             \
                typeof((list)->first) first_ = (list)->first;                                                          \
                if (first_)                                                                                            \
                        list_remove(list, first_);                                                                     \
                first_;                                                                                                \
        })
