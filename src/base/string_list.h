/*
 * A list of owned texts, as a command line or an environment is built:
 *
 *      _cleanup_(word_list_deinit) struct word_list words = {0};
 *      word_list_add(&words, "firesteel");
 *      word_list_take(&words, mem_printf("--cores=%d", cores));
 *      execv(path, word_list_argv(&words));
 */
#pragma once

#include <stddef.h>

struct word_list {
        char **data;
        size_t len, cap;
};

void word_list_deinit(struct word_list *words);

/* Append a copy of @word, or @word itself, which it then owns. */
void word_list_add(struct word_list *words, const char *word);
void word_list_take(struct word_list *words, char *word);

/* The words with a NULL behind them; borrowed until the next change. */
char **word_list_argv(struct word_list *words);

/* Every word is "NAME=value": the value of @name, or NULL. Setting replaces; @value NULL removes. */
const char *word_list_variable(const struct word_list *words, const char *name);
void word_list_set_variable(struct word_list *words, const char *name, const char *value);
