/*
 * Hadoop's file patterns: `*`, `?`, `[abc]`, `[a-c]`, `[^a]` or `[!a]`, `{ab,cd}` (also nested, also with slashes
 * inside), and `\` before a character that stands for itself. Characters are UTF-8; a byte that is not part of any
 * counts as one.
 */
#pragma once

#include "base/vec.h"

#include <stdbool.h>

struct fst_error;

struct glob_words {
        char **data;
        size_t len, cap;
};

void glob_words_deinit(struct glob_words *words);

/*
 * Cut a comma list of paths at the commas that are not in braces (nor behind a `\`, which stays); the words are
 * owned by @words. Always succeeds; an empty text is one empty word.
 */
void glob_split_list(const char *text, struct glob_words *words);

/*
 * The patterns without braces that @pattern stands for, in order, "{a,b}c" giving "ac" and "bc"; `\` stays. With
 * @only_with_slash braces that hold no slash are left alone, and those that are not closed; without it they are
 * -EINVAL. -E2BIG for more than 10,000 patterns.
 */
int glob_expand(const char *pattern, bool only_with_slash, struct glob_words *words, struct fst_error *error);

/*
 * -EINVAL when a brace or a bracket of one path component is not closed, nothing follows a last `\`, or a letter or
 * digit does that Hadoop's regular expressions have no such escape for.
 */
int glob_check(const char *pattern, struct fst_error *error);

/* Whether @pattern has anything but ordinary (or quoted) characters. */
bool glob_has_magic(const char *pattern);

/* @pattern without its quoting: what it matches when it has no magic. Owned by the caller. */
char *glob_unquote(const char *pattern);

/* Whether @pattern, without braces, matches all of @name. Time is at most the product of both lengths. */
bool glob_match(const char *pattern, const char *name);
