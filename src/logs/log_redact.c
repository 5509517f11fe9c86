/* See log_redact.h. */
#include "logs/log_redact.h"

#include "base/buf.h"
#include "base/mem.h"
#include "conf/redact.h"

#include <ctype.h>
#include <string.h>

static bool redact_is_of_key(char c)
{
        return isalnum((unsigned char)c) || c == '.' || c == '_' || c == '-';
}

/* The length of the key that ends before @at. */
static size_t redact_key_length(const char *line, size_t at)
{
        size_t n = 0;
        while (n < at && redact_is_of_key(line[at - n - 1]))
                n++;
        return n;
}

/* The length of the value at @line: up to its closing quote, or up to a blank or comma. */
static size_t redact_value_length(const char *line, size_t n)
{
        size_t len = 0;
        while (len < n && !strchr(" \t,;\r\n", line[len]))
                len++;
        return len;
}

void log_redact_line(const struct redactor *r, const char *line, size_t n, struct buf *out)
{
        size_t done = 0;
        for (const char *equals; (equals = memchr(line + done, '=', n - done));) {
                size_t at = (size_t)(equals - line) + 1;
                const size_t key_len = redact_key_length(line, at - 1);
                const char quote = at < n && (line[at] == '"' || line[at] == '\'') ? line[at] : '\0';
                at += quote != '\0';
                const char *end = quote ? memchr(line + at, quote, n - at) : NULL;
                const size_t len = end ? (size_t)(end - line) - at : redact_value_length(line + at, n - at);
                _cleanup_free_ char *key = mem_strndup(line + at - 1 - (quote != '\0') - key_len, key_len);
                _cleanup_free_ char *value = mem_strndup(line + at, len);
                buf_append(out, line + done, at - done);
                done = at;
                if (!key_len || !len || redactor_value(r, key, value) == value)
                        continue;
                buf_puts(out, REDACTED);
                done += len;
        }
        buf_append(out, line + done, n - done);
}
