/* Hadoop's file patterns: `*`, `?`, `[abc]`, `[a-c]`, `[^a]` or `[!a]`, `{ab,cd}` (may be nested and contain slashes),
 * and `\` to quote a character. Characters are UTF-8. Each byte that is not valid UTF-8 counts as one character. */
#pragma once

#include "base/vec.h"

#include <stdbool.h>

struct fst_error;

struct glob_words {
        char **data;
        size_t len, cap;
};

void glob_words_deinit(struct glob_words *words);

/* Cuts a comma list of paths at commas outside braces that are not quoted by `\` (which stays). @words owns the words.
 * Always succeeds; an empty text is one empty word. */
void glob_split_list(const char *text, struct glob_words *words);

/*
 * Expands the braces of @pattern in order: "{a,b}c" gives "ac" and "bc"; `\` stays. With @only_with_slash, braces
 * without a slash and unclosed braces are kept. Without it, an unclosed brace is -EINVAL. -E2BIG for more than 10,000
 * patterns.
 */
int glob_expand(const char *pattern, bool only_with_slash, struct glob_words *words, struct fst_error *error);

/* Returns -EINVAL if a path component has an unclosed brace or bracket, ends in `\`, or has `\` before a letter or
 * digit that is not an escape of Hadoop's regular expressions. */
int glob_check(const char *pattern, struct fst_error *error);

/* True if @pattern has an unquoted special character. */
bool glob_has_magic(const char *pattern);

/* @pattern without its quoting: the name that it matches if it has no magic. The caller owns it. */
char *glob_unquote(const char *pattern);

/* True if @pattern, which has no braces, matches all of @name. Takes time up to the product of both lengths. */
bool glob_match(const char *pattern, const char *name);
