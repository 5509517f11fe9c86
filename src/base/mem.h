/*
 * Memory for control structures, and release at the end of a scope.
 *
 * Small control allocations abort the process when memory is exhausted: no caller could handle the loss of a 40-byte
 * list node. Sizes that a user or a peer decides go through a `try` variant with a cap, which fails the operation
 * instead of the process (src/base/README.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h> /* defines MIN and MAX, which evaluate twice; included here so that ours replace them */

/* Allocates, or aborts with a message that names the size. mem_zero clears the memory. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *mem_zero(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *mem_grow(void *old, size_t size) __attribute__((returns_nonnull, alloc_size(2)));
char *mem_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *mem_strdup_if(const char *text); /* NULL for NULL */
char *mem_strndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));

/*
 * As above, for sizes that a user or a peer decides: returns NULL if the system or the guard (mem_set_guard) refuses.
 * mem_try_grow then leaves @old unchanged.
 */
void *mem_try(size_t size) __attribute__((malloc, alloc_size(1)));
void *mem_try_grow(void *old, size_t size) __attribute__((alloc_size(2)));

/* Grows *@data, which has *@room bytes, to at least @need and keeps its bytes. Returns false, and changes nothing, as
 * above. */
bool mem_try_reserve(void **data, size_t *room, size_t need);

/*
 * Whether @size more bytes are within the limit of this process. Always true without a guard and for less than
 * MEM_LARGE bytes. Call it before you map memory. mem_try calls it itself.
 */
bool mem_has_room(size_t size);
#define MEM_LARGE ((size_t)1 << 20)

/*
 * Installs a guard that knows the memory limit of this process. It is called on any thread before each large
 * allocation, and again after the system refused an allocation of any size, which is repeated if the guard returns
 * true. NULL removes the guard.
 */
void mem_set_guard(bool (*has_room)(size_t size));

/* As printf, into a string that the caller owns. */
char *mem_printf(const char *format, ...) __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

#define new0(type) ((type *)mem_zero(sizeof(type)))
#define new_array(type, count) ((type *)mem_zero_array((count), sizeof(type)))
void *mem_zero_array(size_t count, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));

/* Releases a variable at the end of its scope: `_cleanup_(buf_deinit) struct buf b = BUF_INIT;`. */
#define _cleanup_(function) __attribute__((cleanup(function), unused)) /* a lock guard need not be read */
#define _cleanup_free_ _cleanup_(mem_freep)
static inline void mem_freep(void *p)
{
        free(*(void **)p);
}

/* Moves a pointer out of a variable, which becomes NULL: shows a transfer of ownership. */
#define steal(variable)                                                                                                \
        ({                                                                                                             \
                __auto_type stolen_ = (variable);                                                                      \
                (variable) = NULL;                                                                                     \
                stolen_;                                                                                               \
        })

#define ARRAY_SIZE(array) (sizeof(array) / sizeof((array)[0]))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define container_of(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))
#undef MIN
#undef MAX
#define MIN(a, b)                                                                                                      \
        ({                                                                                                             \
                __auto_type a_ = (a);                                                                                  \
                __auto_type b_ = (b);                                                                                  \
                a_ < b_ ? a_ : b_;                                                                                     \
        })
#define MAX(a, b)                                                                                                      \
        ({                                                                                                             \
                __auto_type a_ = (a);                                                                                  \
                __auto_type b_ = (b);                                                                                  \
                a_ > b_ ? a_ : b_;                                                                                     \
        })
