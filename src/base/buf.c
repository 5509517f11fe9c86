/* Growable byte strings. Invariant: data == NULL and cap == 0, or len < cap and data[len] == 0. */
#include "base/buf.h"

#include "base/mem.h"

#include <stdio.h>

void buf_deinit(struct buf *b)
{
        free(b->data);
        *b = BUF_INIT;
}

void buf_deinit_secret(struct buf *b)
{
        if (b->data)
                explicit_bzero(b->data, b->cap);
        buf_deinit(b);
}

void buf_reset(struct buf *b)
{
        if (b->data)
                b->data[b->len = 0] = 0;
}

void buf_reserve(struct buf *b, size_t more)
{
        size_t need = b->len + more + 1;
        if (need <= b->cap)
                return;
        size_t cap = b->cap ? b->cap : 64;
        while (cap < need)
                cap *= 2;
        b->data = mem_grow(b->data, cap);
        b->cap = cap;
        b->data[b->len] = 0;
}

bool buf_try_reserve(struct buf *b, size_t more)
{
        size_t need = b->len + more + 1;
        if (need <= more)
                return false;
        if (need <= b->cap)
                return true;
        size_t cap = MAX(need, b->cap + b->cap / 2);
        char *data = mem_try_grow(b->data, cap);
        if (!data)
                return false;
        b->data = data;
        b->cap = cap;
        b->data[b->len] = 0;
        return true;
}

void buf_append(struct buf *b, const void *data, size_t len)
{
        buf_reserve(b, len);
        if (len)
                memcpy(b->data + b->len, data, len);
        b->data[b->len += len] = 0;
}

void buf_puts(struct buf *b, const char *text)
{
        buf_append(b, text, strlen(text));
}

void buf_putc(struct buf *b, char c)
{
        buf_append(b, &c, 1);
}

void buf_vprintf(struct buf *b, const char *format, va_list args)
{
        va_list again;
        va_copy(again, args);
        int n = vsnprintf(NULL, 0, format, again);
        va_end(again);
        if (n < 0)
                return;
        buf_reserve(b, (size_t)n);
        vsnprintf(b->data + b->len, (size_t)n + 1, format, args);
        b->len += (size_t)n;
}

void buf_printf(struct buf *b, const char *format, ...)
{
        va_list args;
        va_start(args, format);
        buf_vprintf(b, format, args);
        va_end(args);
}

void buf_truncate(struct buf *b, size_t len)
{
        if (len < b->len)
                b->data[b->len = len] = 0;
}

const char *buf_text(const struct buf *b)
{
        return b->data ? b->data : "";
}

char *buf_steal(struct buf *b)
{
        char *text = b->data ? b->data : mem_strdup("");
        *b = BUF_INIT;
        return text;
}
