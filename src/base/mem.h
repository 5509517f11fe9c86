/*
 * Memory for control structures, and scope-bound release.
 *
 * Small control allocations abort the process when memory is gone: nothing sensible can be done about a
 * 40-byte list node. Whatever is sized by a user or by the wire goes through a `try` variant with a cap, and
 * fails its operation instead of the process (src/base/README.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/param.h> /* has a MIN and MAX that evaluate twice; ours replace them, whoever includes it later */

/* Allocate, or abort with a message that names the size. Memory from mem_zero is all zero bytes. */
void *mem_alloc(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *mem_zero(size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1)));
void *mem_grow(void *old, size_t size) __attribute__((returns_nonnull, alloc_size(2)));
char *mem_strdup(const char *text) __attribute__((malloc, returns_nonnull));
char *mem_strndup(const char *text, size_t length) __attribute__((malloc, returns_nonnull));

/*
 * For sizes that a user or a peer decides: NULL where the system or the guard (mem_set_guard) has no memory for it.
 * mem_try_grow leaves @old as it was then.
 */
void *mem_try(size_t size) __attribute__((malloc, alloc_size(1)));
void *mem_try_grow(void *old, size_t size) __attribute__((alloc_size(2)));

/*
 * Whether @size bytes more are within the limit of this process. True without a guard, and for less than MEM_LARGE
 * bytes. Ask before you map memory; mem_try asks by itself.
 */
bool mem_has_room(size_t size);
#define MEM_LARGE ((size_t)1 << 20)

/*
 * @has_room knows the limit of this process. It is called on any thread before each large allocation, and once more
 * after the system refused an allocation of any size, which is then repeated if it answers true. NULL: no limit.
 */
void mem_set_guard(bool (*has_room)(size_t size));

/* Like printf, into a string that the caller owns. */
char *mem_printf(const char *format, ...) __attribute__((malloc, returns_nonnull, format(printf, 1, 2)));

#define new0(type) ((type *)mem_zero(sizeof(type)))
#define new_array(type, count) ((type *)mem_zero_array((count), sizeof(type)))
void *mem_zero_array(size_t count, size_t size) __attribute__((malloc, returns_nonnull, alloc_size(1, 2)));

/* Release at the end of the scope: `_cleanup_(buf_deinit) struct buf b = BUF_INIT;`. */
#define _cleanup_(function) __attribute__((cleanup(function), unused)) /* a guard need not be read */
#define _cleanup_free_ _cleanup_(mem_freep)
static inline void mem_freep(void *p)
{
        free(*(void **)p);
}

/* Take a pointer out of a variable, which becomes NULL: makes a transfer of ownership visible. */
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
