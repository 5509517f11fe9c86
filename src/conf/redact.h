/*
 * Secrets stay out of logs, event logs and pages: the value of whatever spark.redaction.regex matches, by its key
 * or by the value itself, is replaced before it is shown; so is each part of a text that
 * spark.redaction.string.regex matches.
 *
 * The expressions are Java's. Those that a POSIX extended expression can say are understood: a leading (?i),
 * (?:…), \d \w \s and their opposites, \b. Others (look-around, reluctant and possessive repetition, back
 * references, other flags) are refused: a secret must not be shown because its pattern was taken for another.
 */
#pragma once

#include "base/buf.h"

#include <regex.h>

struct fst_conf;
struct fst_error;

#define REDACTED "*********(redacted)"

struct redactor {
        regex_t keys, text;
        bool has_keys, has_text;
};

/* Read the two keys. 0, or -EINVAL with @error, which names key and place, and @r empty. */
int redactor_init(struct redactor *r, const struct fst_conf *conf, struct fst_error *error);

/*
 * With @keys in the place of spark.redaction.regex (NULL: not set): for what is shown before a configuration was
 * checked. An expression that cannot be read leaves the default in force.
 */
void redactor_init_lenient(struct redactor *r, const char *keys);
void redactor_deinit(struct redactor *r);

/* @value, or REDACTED if @key or @value matches. From any thread. */
const char *redactor_value(const struct redactor *r, const char *key, const char *value);

/* Append @text with what matches replaced. From any thread. */
void redactor_put_text(const struct redactor *r, struct buf *out, const char *text);

/* Compile Java's expression as described above; @name stands in messages. 0, or -EINVAL with @error. */
int redact_compile(regex_t *out, const char *name, const char *expression, struct fst_error *error);
