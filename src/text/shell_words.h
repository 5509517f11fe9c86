/*
 * Splits and quotes options in one string, as in SPARK_SUBMIT_OPTS and spark.driver.extraJavaOptions: the rules of a
 * shell without its expansions.
 *
 *      -Da=b  '-Dname=two words'  "-Dquote=\"x\""      three options
 *
 * A backslash quotes the next character, except inside single quotes. Quotes may begin and end inside a word. '' and ""
 * alone are an empty word. Whitespace is Java's, which includes Unicode's.
 */
#pragma once

#include <stddef.h>

struct fst_error;
struct string_list;

/* A list of owned words. */
struct option_words {
        char **data;
        size_t len, cap;
};

void option_words_deinit(struct option_words *words);

/* option_words_add appends a copy of @word. option_words_take appends @word and owns it. */
void option_words_add(struct option_words *words, const char *word);
void option_words_take(struct option_words *words, char *word);

/*
 * Appends the words of @text. NULL counts as empty. Returns 0, or -EINVAL with Spark's message in @error and @words
 * unchanged if a quote or backslash is unfinished.
 */
int option_string_split(const char *text, struct option_words *words, struct fst_error *error);

/*
 * Quotes @word so that Python's shlex.split and option_string_split read it back as one word. The caller owns the
 * result.
 */
char *option_string_quote(const char *word);

/*
 * Appends the words of @text as containers of Spark get them: a backslash quotes only inside double quotes, and a quote
 * may be unfinished. NULL has none.
 */
void command_string_split(const char *text, struct string_list *out);
