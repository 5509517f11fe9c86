/* Aborting allocation; see mem.h for who may use it. */
#include "base/mem.h"

#include <stdarg.h>
#include <stdio.h>

static void *checked(void *p, size_t size)
{
        if (unlikely(!p)) {
                fprintf(stderr, "firesteel: out of memory (%zu bytes)\n", size);
                abort();
        }
        return p;
}

void *mem_alloc(size_t size)
{
        return checked(malloc(size ? size : 1), size);
}

void *mem_zero(size_t size)
{
        return checked(calloc(1, size ? size : 1), size);
}

void *mem_zero_array(size_t count, size_t size)
{
        return checked(calloc(count ? count : 1, size ? size : 1), count * size);
}

void *mem_grow(void *old, size_t size)
{
        return checked(realloc(old, size ? size : 1), size);
}

char *mem_strdup(const char *text)
{
        return checked(strdup(text), strlen(text) + 1);
}

char *mem_strndup(const char *text, size_t length)
{
        return checked(strndup(text, length), length + 1);
}

char *mem_printf(const char *format, ...)
{
        char *text = NULL;
        va_list args;
        va_start(args, format);
        int n = vasprintf(&text, format, args);
        va_end(args);
        return checked(n < 0 ? NULL : text, n < 0 ? 0 : (size_t)n + 1);
}
