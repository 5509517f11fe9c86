/*
 * A growable run of bytes that is always followed by a NUL, so that it can be read as a C string.
 *
 *      _cleanup_(buf_deinit) struct buf line = BUF_INIT;
 *      buf_printf(&line, "%s=%d", key, value);
 *
 * `data` is never NULL once something was appended; use buf_text for a string in every state. Growth aborts
 * when memory is gone, so whoever appends what a user or the wire sized checks the size first.
 */
#pragma once

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct buf {
        char *data;
        size_t len;
        size_t cap;
};

#define BUF_INIT ((struct buf){0})

void buf_deinit(struct buf *b);

/* Forget the content, keep the memory. */
void buf_reset(struct buf *b);

/* Make room for @more further bytes (and the NUL) without changing the content. */
void buf_reserve(struct buf *b, size_t more);

/* The same for what a user or the wire sized: false when memory is gone. No more is taken than half as much again. */
bool buf_try_reserve(struct buf *b, size_t more);

void buf_append(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args);

/* Shorten to @len bytes; @len is at most the present length. */
void buf_truncate(struct buf *b, size_t len);

/* The content as a string: "" when empty. Valid until the next change. */
const char *buf_text(const struct buf *b);

/* The content as a string that the caller owns; @b is empty afterwards. Never NULL. */
char *buf_steal(struct buf *b);
