/*
 * A list of owned strings, for command lines and environments:
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

/* string_list_add appends a copy of @word. string_list_take appends @word and owns it. */
void string_list_add(struct string_list *words, const char *word);
void string_list_take(struct string_list *words, char *word);

/* Returns the strings with a NULL after them. Borrowed until the next change. */
char **string_list_argv(struct string_list *words);

/* For lists of "NAME=value": returns the value of @name or NULL. Setting replaces the value. @value NULL removes it. */
const char *string_list_variable(const struct string_list *words, const char *name);
void string_list_set_variable(struct string_list *words, const char *name, const char *value);
