/*
 * A list of owned texts, as a command line or an environment is built:
 *
 *      _cleanup_(string_list_deinit) struct string_list words = {0};
 *      string_list_add(&words, "firesteel");
 *      string_list_take(&words, mem_printf("--cores=%d", cores));
 *      execv(path, string_list_argv(&words));
 */
#pragma once

#include <stddef.h>

struct string_list {
        char **data;
        size_t len, cap;
};

void string_list_deinit(struct string_list *words);

/* Append a copy of @word, or @word itself, which it then owns. */
void string_list_add(struct string_list *words, const char *word);
void string_list_take(struct string_list *words, char *word);

/* The words with a NULL behind them; borrowed until the next change. */
char **string_list_argv(struct string_list *words);

/* Every word is "NAME=value": the value of @name, or NULL. Setting replaces; @value NULL removes. */
const char *string_list_variable(const struct string_list *words, const char *name);
void string_list_set_variable(struct string_list *words, const char *name, const char *value);
