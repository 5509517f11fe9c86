/*
 * Allocation that aborts and allocation that returns NULL. exec/guard/memory_guard.h installs the guard, which knows
 * control groups.
 */
#include "base/mem.h"

#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

static bool (*_Atomic guard)(size_t size);

void mem_set_guard(bool (*has_room)(size_t size))
{
        atomic_store(&guard, has_room);
}

static bool guard_has_room(size_t size)
{
        bool (*has_room)(size_t) = atomic_load_explicit(&guard, memory_order_relaxed);
        return has_room && has_room(size);
}

bool mem_has_room(size_t size)
{
        return size < MEM_LARGE || !atomic_load_explicit(&guard, memory_order_relaxed) || guard_has_room(size);
}

/* The guard may have made the system refuse (RLIMIT_DATA). It grants vital allocations its reserve. */
static void *mem_retry(void *(*allocate)(void *old, size_t size), void *old, size_t size)
{
        return guard_has_room(size) ? allocate(old, size) : NULL;
}

/* For allocations that abort if they fail: the guard grants its reserve to all that it takes for small. */
static void *mem_retry_vital(void *(*allocate)(void *old, size_t size), void *old, size_t size)
{
        return guard_has_room(MIN(size, MEM_LARGE - 1)) ? allocate(old, size) : NULL;
}

static void *allocate_any(void *old, size_t size)
{
        return malloc(size);
}

static void *allocate_zero(void *old, size_t size)
{
        return calloc(1, size);
}

static void *mem_checked(void *p, size_t size)
{
        if (unlikely(!p)) {
                fprintf(stderr, "firesteel: out of memory (%zu bytes)\n", size);
                abort();
        }
        return p;
}

void *mem_alloc(size_t size)
{
        void *p = malloc(size ? size : 1);
        return likely(p) ? p : mem_checked(mem_retry_vital(allocate_any, NULL, size ? size : 1), size);
}

void *mem_zero(size_t size)
{
        void *p = calloc(1, size ? size : 1);
        return likely(p) ? p : mem_checked(mem_retry_vital(allocate_zero, NULL, size ? size : 1), size);
}

void *mem_zero_array(size_t count, size_t size)
{
        size_t total;
        void *p = calloc(count ? count : 1, size ? size : 1);
        if (unlikely(!p) && !__builtin_mul_overflow(count, size, &total))
                p = mem_retry_vital(allocate_zero, NULL, total ? total : 1);
        return mem_checked(p, count * size);
}

void *mem_grow(void *old, size_t size)
{
        void *p = realloc(old, size ? size : 1);
        return likely(p) ? p : mem_checked(mem_retry_vital(realloc, old, size ? size : 1), size);
}

void *mem_try(size_t size)
{
        return mem_try_grow(NULL, size);
}

void *mem_try_grow(void *old, size_t size)
{
        size_t has = old ? malloc_usable_size(old) : 0;
        if (size > has &&
            !mem_has_room(size - has)) /* realloc grows a large block in place, or moves it without a copy */
                return NULL;
        void *p = realloc(old, size ? size : 1);
        return likely(p) ? p : mem_retry(realloc, old, size ? size : 1);
}

bool mem_try_reserve(void **data, size_t *room, size_t need)
{
        if (need <= *room)
                return true;
        void *grown = mem_try_grow(*data, need);
        if (!grown)
                return false;
        *data = grown;
        *room = need;
        return true;
}

char *mem_strdup_if(const char *text)
{
        return text ? mem_strdup(text) : NULL;
}

char *mem_strdup(const char *text)
{
        size_t size = strlen(text) + 1;
        return memcpy(mem_alloc(size), text, size);
}

char *mem_strndup(const char *text, size_t length)
{
        size_t n = strnlen(text, length);
        char *copy = mem_alloc(n + 1);
        copy[n] = 0;
        return n ? (memcpy(copy, text, n), copy) : copy;
}

char *mem_printf(const char *format, ...)
{
        char *text = NULL;
        va_list args;
        va_start(args, format);
        int n = vasprintf(&text, format, args);
        va_end(args);
        if (unlikely(n < 0) && guard_has_room(MEM_LARGE - 1)) {
                va_start(args, format);
                n = vasprintf(&text, format, args);
                va_end(args);
        }
        return mem_checked(n < 0 ? NULL : text, n < 0 ? 0 : (size_t)n + 1);
}
