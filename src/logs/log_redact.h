/* Hides secrets in lines of output: values of "key=value" as spark.redaction.regex says (conf/redact.h). */
#pragma once

#include <stddef.h>

struct buf;
struct redactor;

/* Appends the @n bytes of @line to @out. Values may stand in quotes. Bytes that are not text stay. */
void log_redact_line(const struct redactor *r, const char *line, size_t n, struct buf *out);
