/*
 * Secrets that programs on one machine prove to each other: random bytes as hexadecimal text.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The usual size of such a text, for 32 random bytes, with its NUL. */
#define SECRET_TEXT 65

/* Fill @text with (@size - 1) / 2 random bytes, at most 256, as hexadecimal digits and a NUL. Returns 0 or -errno. */
int secret_draw(char *text, size_t size);

/* Returns true if the @len bytes at @given are @secret. The time depends on the length of @secret alone. */
bool secret_equals(const char *given, size_t len, const char *secret);
