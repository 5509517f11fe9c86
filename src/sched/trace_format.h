/* Words of a scheduler trace (sched/sched_recorder.h): a line has words separated by single spaces. Numbers are
 * decimal. In a text, spaces, control characters, '%' and '/' are written as %XX. The empty text is "%", and "-" is
 * NULL.
 */
#pragma once

#include "base/buf.h"

#include <stdarg.h>
#include <stdint.h>

/* Append a space and the word. */
void trace_put_number(struct buf *b, int64_t number);
void trace_put_text(struct buf *b, const char *text);

/* Appends as printf does, with %d and %PRId64 for numbers and %s for texts (NULL allowed). */
void trace_put(struct buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));
void trace_put_list(struct buf *b, const char *format, va_list args);

/* A reader of the words of a line. */
struct trace_words {
        const char *at, *end;
        bool bad; /* a word was missing or malformed */
};

struct trace_words trace_words_of(const char *line, size_t len);
bool trace_words_left(const struct trace_words *w);

/* Reads the next word into @word, NUL-terminated (at most @size bytes); "" and bad if there is none. */
void trace_take_word(struct trace_words *w, char *word, size_t size);

/* Reads the next word as a number in @low … @high; @low and bad if it is not one. */
int64_t trace_take_number(struct trace_words *w, int64_t low, int64_t high);

/* Reads the next word as a text that the caller frees; NULL for "-", and if there is none. */
char *trace_take_text(struct trace_words *w);
