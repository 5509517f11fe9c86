/*
 * Hadoop's file patterns; see glob.h.
 *
 * Braces are expanded before matching. So matching only backtracks to stars, and takes time up to pattern times name.
 * Expansion could grow exponentially. It is counted and limited.
 *
 * Differs from Hadoop only for invalid patterns: there `*` inside brackets becomes part of a regular expression, here
 * it is a star.
 */
#include "io/fs/glob.h"

#include "base/error.h"
#include "base/mem.h"

#include <ctype.h>
#include <stdint.h>
#include <string.h>

#define MAX_PATTERNS 10000
#define MAX_STEPS 100000

void glob_words_deinit(struct glob_words *words)
{
        for (size_t i = 0; i < words->len; i++)
                free(words->data[i]);
        vec_deinit(words);
}

void glob_split_list(const char *text, struct glob_words *words)
{
        const char *word = text;
        size_t depth = 0;
        for (const char *p = text;; p++) {
                if (*p == '{') {
                        depth++;
                } else if (*p == '}' && depth > 0) {
                        depth--;
                } else if (!*p || (*p == ',' && depth == 0)) {
                        vec_push(words, mem_strndup(word, (size_t)(p - word)));
                        if (!*p)
                                return;
                        word = p + 1;
                } else if (*p == '\\' && p[1]) {
                        p++;
                }
        }
}

/* The first brace from @at on, or the end. *@close is its closing brace, or NULL. */
static const char *glob_find_brace(const char *at, const char **close, bool *slash)
{
        const char *open = at;
        while (*open && *open != '{')
                open += *open == '\\' && open[1] ? 2 : 1;
        *close = NULL;
        *slash = false;
        if (!*open)
                return open;
        size_t depth = 1;
        for (const char *p = open + 1; *p; p++) {
                if (*p == '\\' && p[1])
                        p++;
                else if (*p == '/')
                        *slash = true;
                else if (*p == '{')
                        depth++;
                else if (*p == '}' && --depth == 0) {
                        *close = p;
                        break;
                }
        }
        return open;
}

struct brace_expansion {
        bool only_with_slash;
        size_t steps;
        struct glob_words *words;
        struct fst_error *error;
};

static int glob_expand_braces(struct brace_expansion *x, const char *pattern, size_t at)
{
        const char *close;
        bool slash;
        const char *open = glob_find_brace(pattern + at, &close, &slash);
        while (*open && close && x->only_with_slash && !slash)
                open = glob_find_brace(close + 1, &close, &slash);

        if (++x->steps > MAX_STEPS || x->words->len > MAX_PATTERNS)
                return error_set(x->error, -E2BIG, "Illegal file pattern: its braces expand to more than %d patterns",
                                 MAX_PATTERNS);
        /* The component is kept; glob_check reports the error. */
        if (!*open || (!close && x->only_with_slash)) {
                vec_push(x->words, mem_strdup(pattern));
                return 0;
        }
        if (!close)
                return error_set(x->error, -EINVAL, "Illegal file pattern: Unclosed group: `%s`", pattern);

        size_t head = (size_t)(open - pattern), depth = 0;
        const char *alternative = open + 1;
        for (const char *p = open + 1; p <= close; p++) {
                if (*p == '\\' && p < close) {
                        p++;
                } else if (*p == '{') {
                        depth++;
                } else if (*p == '}' && p < close) {
                        depth--;
                } else if (p == close || (*p == ',' && depth == 0)) {
                        _cleanup_free_ char *one = mem_printf("%.*s%.*s%s", (int)head, pattern, (int)(p - alternative),
                                                              alternative, close + 1);
                        int r = glob_expand_braces(x, one, head);
                        if (r < 0)
                                return r;
                        alternative = p + 1;
                }
        }
        return 0;
}

int glob_expand(const char *pattern, bool only_with_slash, struct glob_words *words, struct fst_error *error)
{
        struct glob_words found = {0};
        struct brace_expansion x = {.only_with_slash = only_with_slash, .words = &found, .error = error};
        int r = glob_expand_braces(&x, pattern, 0);
        for (size_t i = 0; r == 0 && i < found.len; i++)
                vec_push(words, steal(found.data[i]));
        glob_words_deinit(&found);
        return r;
}

/* The end of the bracket expression at @p, after its ']', or NULL. */
static const char *glob_set_end(const char *p)
{
        p++;
        if (*p == '^' || *p == '!')
                p++;
        for (const char *first = p; *p; p++) {
                if (*p == ']' && p > first)
                        return p + 1;
                if (*p == '\\' && !*++p)
                        break;
        }
        return NULL;
}

/* Hadoop makes a regular expression of each component and reports the invalid one. */
static int glob_unclosed(const char *what, const char *pattern, const char *at, struct fst_error *error)
{
        while (at > pattern && at[-1] != '/')
                at--;
        size_t n = strcspn(at, "/");
        return error_set(error, -EINVAL, "Illegal file pattern: error parsing regexp: %s at pos %zu: `%.*s`", what, n,
                         (int)n, at);
}

/* The length of the escape after the `\\` at @p if it is unknown to RE2, whose regular expressions Hadoop builds of
 * components. 0 if it is known or the character is not a letter or digit. */
static size_t glob_unknown_escape(const char *p)
{
        bool octal = p[0] >= '1' && p[0] <= '7' && p[1] >= '0' && p[1] <= '7';
        if (!isalnum((unsigned char)*p) || octal || strchr("0AbBzQpPdDsSwWafnrtv", *p))
                return 0;
        if (*p != 'x' || !p[1])
                return 1;
        if (p[1] == '{' || (isxdigit((unsigned char)p[1]) && isxdigit((unsigned char)p[2])))
                return 0;
        return p[2] ? 3 : 2;
}

int glob_check(const char *pattern, struct fst_error *error)
{
        const char *close;
        bool slash;
        for (const char *p = glob_find_brace(pattern, &close, &slash); *p;
             p = glob_find_brace(close + 1, &close, &slash))
                if (!close)
                        return glob_unclosed("Unclosed group", pattern, p, error);
        for (const char *p = pattern; *p; p++) {
                if (*p == '\\') {
                        size_t unknown = glob_unknown_escape(++p);
                        if (!*p)
                                return error_set(error, -EINVAL,
                                                 "Illegal file pattern: Missing escaped character: `%s`", pattern);
                        if (unknown)
                                return error_set(error, -EINVAL,
                                                 "Illegal file pattern: error parsing regexp: invalid escape sequence: "
                                                 "`%.*s`",
                                                 (int)unknown + 1, p - 1);
                } else if (*p == '[') {
                        const char *end = glob_set_end(p);
                        if (!end)
                                return glob_unclosed("Unclosed character class", pattern, p, error);
                        p = end - 1;
                }
        }
        return 0;
}

bool glob_has_magic(const char *pattern)
{
        for (const char *p = pattern; *p; p++) {
                if (*p == '\\' && p[1])
                        p++;
                else if (strchr("*?[{", *p))
                        return true;
        }
        return false;
}

char *glob_unquote(const char *pattern)
{
        char *name = mem_strdup(pattern), *out = name;
        for (const char *p = pattern; *p; p++) {
                if (*p == '\\' && p[1])
                        p++;
                *out++ = *p;
        }
        *out = '\0';
        return name;
}

/* Returns the next UTF-8 character, or byte of invalid UTF-8, as a number and advances *@p. */
static uint32_t glob_next_char(const char **p)
{
        const unsigned char *s = (const unsigned char *)*p;
        size_t more = s[0] >= 0xf0 && s[0] < 0xf8 ? 3 : s[0] >= 0xe0 && s[0] < 0xf0 ? 2 : s[0] >= 0xc2 && s[0] < 0xe0;
        uint32_t c = more ? s[0] & (0x3fu >> more) : s[0];
        for (size_t i = 1; i <= more; i++) {
                if ((s[i] & 0xc0) != 0x80) {
                        *p += 1;
                        return s[0] | 0x80000000u; /* never equal to a real character */
                }
                c = c << 6 | (s[i] & 0x3f);
        }
        *p += 1 + more;
        return more == 0 && c >= 0x80 ? c | 0x80000000u : c;
}

static bool glob_set_has(const char *set, const char *end, uint32_t c)
{
        bool negated = *set == '^' || *set == '!';
        bool found = false;
        set += negated;
        while (set < end) {
                if (*set == '\\' && set + 1 < end)
                        set++;
                uint32_t low = glob_next_char(&set), high = low;
                if (set + 1 < end && *set == '-') {
                        set++;
                        if (*set == '\\' && set + 1 < end)
                                set++;
                        high = glob_next_char(&set);
                }
                found |= c >= low && c <= high;
        }
        return found != negated;
}

/* Matches one pattern item, not a star, at the front of the name, and advances both. */
static bool glob_match_one(const char **pattern, const char **name)
{
        const char *p = *pattern;
        if (*p == '?') {
                *pattern = p + 1;
                glob_next_char(name);
                return true;
        }
        if (*p == '[') {
                const char *end = glob_set_end(p);
                if (!end)
                        return false;
                *pattern = end;
                return glob_set_has(p + 1, end - 1, glob_next_char(name));
        }
        /* Literal characters match byte by byte: a `\` may stand within invalid UTF-8. */
        if (*p == '\\' && p[1])
                p++;
        *pattern = p + 1;
        return *(*name)++ == *p;
}

bool glob_match(const char *pattern, const char *name)
{
        const char *star = NULL, *star_name = NULL;
        for (;;) {
                if (*pattern == '*') {
                        star = ++pattern;
                        star_name = name;
                        continue;
                }
                if (!*name && !*pattern)
                        return true;
                const char *p = pattern, *n = name;
                if (*name && *pattern && glob_match_one(&p, &n)) {
                        pattern = p;
                        name = n;
                        continue;
                }
                if (!star || !*star_name)
                        return false;
                glob_next_char(&star_name);
                pattern = star;
                name = star_name;
        }
}
