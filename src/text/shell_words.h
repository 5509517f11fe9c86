/*
 * Options in one string, as SPARK_SUBMIT_OPTS and spark.driver.extraJavaOptions hold them, and their quoting: the
 * rules of a shell, without its expansions.
 *
 *      -Da=b  '-Dname=two words'  "-Dquote=\"x\""      three options
 *
 * A backslash stands for the next character, except between single quotes; quotes may begin and end inside a word;
 * '' and "" alone are an empty word. Blanks are those of Java, Unicode's included.
 */
#pragma once

#include <stddef.h>

struct fst_error;

/* Words that it owns. */
struct option_words {
        char **data;
        size_t len, cap;
};

void option_words_deinit(struct option_words *words);

/* Append a copy of @word, or @word itself, which it then owns. */
void option_words_add(struct option_words *words, const char *word);
void option_words_take(struct option_words *words, char *word);

/*
 * Append the words of @text, NULL being none. -EINVAL with Spark's sentence in @error and @words as it was when a
 * quote or a backslash is left open.
 */
int option_string_split(const char *text, struct option_words *words, struct fst_error *error);

/* @word so that Python's shlex.split, and option_string_split, make it one word again. Owned by the caller. */
char *option_string_quote(const char *word);
