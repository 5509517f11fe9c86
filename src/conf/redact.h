/*
 * Hides secrets in logs, event logs and pages: replaces values if spark.redaction.regex matches the key or the value.
 *
 * The expressions are Java's. Supported are those that have a POSIX extended form: a leading (?i), (?:…), \d \w \s and
 * their opposites, \b. Others (look-around, reluctant and possessive repetition, back references, other flags) are
 * refused, so that no secret is shown because its pattern was misread.
 */
#pragma once

#include "base/buf.h"

#include <regex.h>

struct fst_conf;
struct fst_error;

#define REDACTED "*********(redacted)"

struct redactor {
        regex_t keys;
        bool has_keys;
};

/* Read the key. Returns 0, or -EINVAL with @error, which names key and position, and @r empty. */
int redactor_init(struct redactor *r, const struct fst_conf *conf, struct fst_error *error);

/*
 * With @keys instead of spark.redaction.regex (NULL: not set), for output before the configuration is checked. An
 * invalid expression leaves the default in effect.
 */
void redactor_init_lenient(struct redactor *r, const char *keys);
void redactor_deinit(struct redactor *r);

/* Returns @value, or REDACTED if @key or @value matches. Any thread. */
const char *redactor_value(const struct redactor *r, const char *key, const char *value);

/* Compile a Java expression as described above. @name is for messages. Returns 0, or -EINVAL with @error. */
int redact_compile(regex_t *out, const char *name, const char *expression, struct fst_error *error);
