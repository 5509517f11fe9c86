/*
 * Splits and quotes options in one string. Matches parseOptionString and quoteForCommandString of Spark's launcher, and
 * Utils.splitCommandString of Spark's core.
 */
#include "text/shell_words.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/string_list.h"
#include "base/vec.h"

void option_words_deinit(struct option_words *words)
{
        for (size_t i = 0; i < words->len; i++)
                free(words->data[i]);
        vec_deinit(words);
}

void option_words_add(struct option_words *words, const char *word)
{
        vec_push(words, mem_strdup(word));
}

void option_words_take(struct option_words *words, char *word)
{
        vec_push(words, word);
}

/* Returns the length of the whitespace character (by Java's rules) at @p, or 0. */
static size_t shell_words_blank(const char *p)
{
        static const char *const wide[] = {
                "\u1680", "\u2000", "\u2001", "\u2002", "\u2003", "\u2004", "\u2005", "\u2006",
                "\u2008", "\u2009", "\u200a", "\u2028", "\u2029", "\u205f", "\u3000",
        };
        unsigned char c = (unsigned char)*p;
        if (c < 0x80)
                return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
        for (size_t i = 0; i < ARRAY_SIZE(wide); i++) {
                if (strncmp(p, wide[i], 3) == 0)
                        return 3;
        }
        return 0;
}

/* Appends the word at @p to @word and returns its end, or NULL if a quote or backslash is unfinished. */
static const char *take_word(const char *p, struct buf *word)
{
        char quote = 0;
        for (; *p && (quote || !shell_words_blank(p)); p++) {
                if (*p == '\\' && quote != '\'') {
                        if (!p[1])
                                return NULL;
                        buf_putc(word, *++p);
                } else if (quote ? *p == quote : *p == '\'' || *p == '"') {
                        quote = quote ? 0 : *p;
                } else {
                        buf_putc(word, *p);
                }
        }
        return quote ? NULL : p;
}

int option_string_split(const char *text, struct option_words *words, struct fst_error *error)
{
        size_t before = words->len;
        for (const char *p = text ? text : ""; *p;) {
                size_t skip = shell_words_blank(p);
                if (skip) {
                        p += skip;
                        continue;
                }
                _cleanup_(buf_deinit) struct buf word = BUF_INIT;
                p = take_word(p, &word);
                if (!p) {
                        while (words->len > before)
                                free(words->data[--words->len]);
                        return error_set(error, -EINVAL, "Invalid option string: %s", text);
                }
                option_words_take(words, buf_steal(&word));
        }
        return 0;
}

char *option_string_quote(const char *word)
{
        struct buf out = BUF_INIT;
        buf_putc(&out, '"');
        for (; *word; word++) {
                if (*word == '"' || *word == '\\')
                        buf_putc(&out, '\\');
                buf_putc(&out, *word);
        }
        buf_putc(&out, '"');
        return buf_steal(&out);
}

static bool is_command_space(char c)
{
        return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

void command_string_split(const char *text, struct string_list *out)
{
        _cleanup_(buf_deinit) struct buf word = BUF_INIT;
        char quote = 0;
        bool in_word = false;
        for (const char *p = text ? text : ""; *p; p++) {
                if (quote == '"' && *p == '\\') {
                        if (p[1])
                                buf_putc(&word, *++p);
                } else if (quote) {
                        if (*p == quote)
                                quote = 0;
                        else
                                buf_putc(&word, *p);
                } else if (*p == '"' || *p == '\'') {
                        quote = *p;
                        in_word = true;
                } else if (!is_command_space(*p)) {
                        buf_putc(&word, *p);
                        in_word = true;
                } else if (in_word) {
                        string_list_add(out, buf_text(&word));
                        buf_reset(&word);
                        in_word = false;
                }
        }
        if (in_word)
                string_list_add(out, buf_text(&word));
}
