/*
 * The words of a scheduler trace (sched/sched_recorder.h): a line is words between single spaces. A number is
 * decimal; a text has its spaces, control characters, '%' and '/' written as %XX, an empty one is "%", and "-" is
 * no text at all.
 */
#pragma once

#include "base/buf.h"

#include <stdint.h>

/* Append a space and the word. */
void trace_put_number(struct buf *b, int64_t number);
void trace_put_text(struct buf *b, const char *text);

/* A line that is read word by word. */
struct trace_words {
        const char *at, *end;
        bool bad; /* a word was missing or was not what was asked for */
};

struct trace_words trace_words_of(const char *line, size_t len);
bool trace_words_left(const struct trace_words *w);

/* The next word as it stands, NUL-terminated in @word (at most @size bytes); "" and bad if there is none. */
void trace_take_word(struct trace_words *w, char *word, size_t size);

/* The next word as a number in @low … @high; @low and bad if it is none. */
int64_t trace_take_number(struct trace_words *w, int64_t low, int64_t high);

/* The next word as a text that the caller frees; NULL for "-", and if there is none. */
char *trace_take_text(struct trace_words *w);
