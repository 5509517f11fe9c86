/*
 * Redaction; see redact.h.
 *
 * Rewrites Java's expression for regcomp, character by character. glibc supports \w \W \s \S \b \B itself, so only \d,
 * quoting by \Q…\E and groups are rewritten.
 */
#include "conf/redact.h"

#include "base/error.h"
#include "base/mem.h"
#include "conf/conf.h"

#include <ctype.h>

static int redact_refuse(const char *name, const char *expression, const char *at, const char *what,
                         struct fst_error *error)
{
        return error_set(error, -EINVAL, "%s should be a regular expression, but was %s: %s at '%s' is not supported",
                         name, expression, what, at);
}

/* Rewrites an escape outside or inside of brackets. Returns the position after it. */
static const char *redact_rewrite_escape(struct buf *out, const char *p, bool in_brackets)
{
        char c = p[1];
        if (in_brackets) {
                if (c == 'd')
                        buf_puts(out, "0-9");
                else if (c == 'w')
                        buf_puts(out, "a-zA-Z0-9_");
                else if (c == 's')
                        buf_puts(out, " \t\n\r\f\v");
                else if (isalnum((unsigned char)c) || c == '\0' || strchr("]^-\\[", c))
                        return NULL; /* not possible in brackets */
                else
                        buf_putc(out, c);
                return p + 2;
        }
        if (c == 'd')
                buf_puts(out, "[0-9]");
        else if (c == 'D')
                buf_puts(out, "[^0-9]");
        else if (c == 't')
                buf_putc(out, '\t');
        else if (c == 'n')
                buf_putc(out, '\n');
        else if (c && (strchr("wWsSbB", c) || ispunct((unsigned char)c)))
                buf_append(out, p, 2);
        else
                return NULL;
        return p + 2;
}

/* Rewrites Java's @expression, without its leading (?i), as a POSIX one. */
static int redact_rewrite(struct buf *out, const char *name, const char *expression, const char *p,
                          struct fst_error *error)
{
        bool in_brackets = false, repeated = false;
        while (*p) {
                if (*p == '\\') {
                        const char *next = redact_rewrite_escape(out, p, in_brackets);
                        if (!next)
                                return redact_refuse(name, expression, p, "this escape", error);
                        p = next;
                        repeated = false;
                        continue;
                }
                if (in_brackets) {
                        if (*p == '[' || (*p == '&' && p[1] == '&'))
                                return redact_refuse(name, expression, p, "a class within a class", error);
                        in_brackets = *p != ']';
                        buf_putc(out, *p++);
                        repeated = false;
                        continue;
                }
                if (*p == '(' && p[1] == '?') {
                        if (p[2] != ':')
                                return redact_refuse(name, expression, p, "this kind of group", error);
                        buf_putc(out, '(');
                        p += 3;
                        repeated = false;
                        continue;
                }
                if (repeated && (*p == '?' || *p == '+'))
                        return redact_refuse(name, expression, p, "reluctant or possessive repetition", error);
                repeated = strchr("*+?}", *p) != NULL;
                if (*p == '[') {
                        in_brackets = true;
                        buf_putc(out, *p++);
                        if (*p == '^')
                                buf_putc(out, *p++);
                        if (*p == ']')
                                return redact_refuse(name, expression, p, "an empty class", error);
                        continue;
                }
                buf_putc(out, *p++);
        }
        return 0;
}

int redact_compile(regex_t *out, const char *name, const char *expression, struct fst_error *error)
{
        bool any_case = strncmp(expression, "(?i)", 4) == 0;
        _cleanup_(buf_deinit) struct buf posix = BUF_INIT;
        int r = redact_rewrite(&posix, name, expression, expression + (any_case ? 4 : 0), error);
        if (r < 0)
                return r;
        regex_t compiled;
        r = regcomp(&compiled, buf_text(&posix), REG_EXTENDED | (any_case ? REG_ICASE : 0));
        if (r != 0) {
                char why[128];
                regerror(r, &compiled, why, sizeof(why));
                return error_set(error, -EINVAL, "%s should be a regular expression, but was %s: %s", name, expression,
                                 why);
        }
        *out = compiled;
        return 0;
}

int redactor_init(struct redactor *r, const struct fst_conf *conf, struct fst_error *error)
{
        static const char name[] = "spark.redaction.regex";
        _cleanup_free_ char *keys = NULL;
        r->has_keys = false;
        int e = conf_get_string(conf, name, &keys, error);
        if (e == 0 && keys)
                e = redact_compile(&r->keys, name, keys, error);
        if (e < 0)
                return e;
        r->has_keys = keys != NULL;
        return 0;
}

void redactor_init_lenient(struct redactor *r, const char *keys)
{
        struct fst_conf conf;
        conf_init(&conf);
        if (keys)
                conf_set(&conf, "spark.redaction.regex", keys);
        if (redactor_init(r, &conf, NULL) < 0) {
                conf_deinit(&conf);
                conf_init(&conf);
                redactor_init(r, &conf, NULL);
        }
        conf_deinit(&conf);
}

void redactor_deinit(struct redactor *r)
{
        if (r->has_keys)
                regfree(&r->keys);
        r->has_keys = false;
}

const char *redactor_value(const struct redactor *r, const char *key, const char *value)
{
        if (!r->has_keys)
                return value;
        bool matches = regexec(&r->keys, key, 0, NULL, 0) == 0 || regexec(&r->keys, value, 0, NULL, 0) == 0;
        return matches ? REDACTED : value;
}
