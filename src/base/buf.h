/*
 * A growable byte string. A NUL always follows it, so that it can be read as a C string.
 *
 *      _cleanup_(buf_deinit) struct buf line = BUF_INIT;
 *      buf_printf(&line, "%s=%d", key, value);
 *
 * `data` is never NULL after the first append. buf_text returns a string in every state. Growth aborts when out of
 * memory: check sizes that come from a user or a peer first, or use buf_try_reserve.
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

/* The same for a secret: also overwrites its memory. */
void buf_deinit_secret(struct buf *b);

/* Empties the buffer and keeps its memory. */
void buf_reset(struct buf *b);

/* Makes room for @more bytes and the NUL. The content does not change. */
void buf_reserve(struct buf *b, size_t more);

/*
 * As buf_reserve, for sizes that a user or a peer decides: returns false when out of memory. Reserves at most half as
 * much again.
 */
bool buf_try_reserve(struct buf *b, size_t more);

void buf_append(struct buf *b, const void *data, size_t len);
void buf_puts(struct buf *b, const char *text);
void buf_putc(struct buf *b, char c);
void buf_printf(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void buf_vprintf(struct buf *b, const char *format, va_list args);

/* Shortens the content to @len bytes. @len is at most the present length. */
void buf_truncate(struct buf *b, size_t len);

/* Returns the content as a string, "" when empty. Valid until the next change. */
const char *buf_text(const struct buf *b);

/* Returns the content as a string that the caller owns, never NULL. @b is empty afterwards. */
char *buf_steal(struct buf *b);
