/* Lists of owned strings. */
#include "base/string_list.h"

#include "base/mem.h"
#include "base/vec.h"

void string_list_deinit(struct string_list *words)
{
        for (size_t i = 0; i < words->len; i++)
                free(words->data[i]);
        vec_deinit(words);
}

void string_list_add(struct string_list *words, const char *word)
{
        vec_push(words, mem_strdup(word));
}

void string_list_take(struct string_list *words, char *word)
{
        vec_push(words, word);
}

char **string_list_argv(struct string_list *words)
{
        vec_reserve(words, words->len + 1);
        words->data[words->len] = NULL;
        return words->data;
}

static size_t string_list_find(const struct string_list *words, const char *name)
{
        size_t n = strlen(name), i = 0;
        while (i < words->len && (strncmp(words->data[i], name, n) != 0 || words->data[i][n] != '='))
                i++;
        return i;
}

const char *string_list_variable(const struct string_list *words, const char *name)
{
        size_t i = string_list_find(words, name);
        return i < words->len ? words->data[i] + strlen(name) + 1 : NULL;
}

void string_list_set_variable(struct string_list *words, const char *name, const char *value)
{
        size_t i = string_list_find(words, name);
        if (i < words->len) {
                free(words->data[i]);
                words->data[i] = words->data[--words->len];
        }
        if (value)
                vec_push(words, mem_printf("%s=%s", name, value));
}
