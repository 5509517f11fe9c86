/* See launch_command.h. */
#include "standalone/wire/launch_command.h"

#include "base/buf.h"
#include "base/mem.h"
#include "conf/redact.h"
#include "exec/executor_process.h"

void launch_command_arguments(const Firesteel__Standalone__Command *command, const struct placeholder *placeholders,
                              size_t n, struct string_list *words)
{
        for (size_t i = 0; i < command->n_arguments; i++) {
                const char *word = command->arguments[i];
                for (size_t p = 0; p < n; p++)
                        if (strcmp(placeholders[p].name, command->arguments[i]) == 0)
                                word = placeholders[p].value;
                string_list_add(words, word);
        }
}

void launch_command_environment(const Firesteel__Standalone__Command *command, const char *secret,
                                struct string_list *variables)
{
        executor_process_environment(variables, secret);
        for (size_t i = 0; i < command->n_environment; i++)
                string_list_set_variable(variables, command->environment[i]->key, command->environment[i]->value);
        if (command->n_library_path == 0)
                return;
        struct buf path = BUF_INIT;
        const char *before = string_list_variable(variables, "LD_LIBRARY_PATH");
        for (size_t i = 0; i < command->n_library_path; i++)
                buf_printf(&path, "%s%s", i ? ":" : "", command->library_path[i]);
        if (before && *before)
                buf_printf(&path, ":%s", before);
        string_list_set_variable(variables, "LD_LIBRARY_PATH", buf_text(&path));
        buf_deinit(&path);
}

/* Appends "key=value" or "-Dkey=value" with the value redacted if it is secret. */
static void put_word(struct buf *out, const char *word, const struct redactor *redactor)
{
        const char *equals = strchr(word, '='), *key = strncmp(word, "-D", 2) == 0 ? word + 2 : word;
        if (!equals || equals < key) {
                buf_puts(out, word);
                return;
        }
        _cleanup_free_ char *name = mem_strndup(key, (size_t)(equals - key));
        buf_append(out, word, (size_t)(equals + 1 - word));
        buf_puts(out, redactor_value(redactor, name, equals + 1));
}

char *launch_command_text(const struct string_list *words, const struct redactor *redactor)
{
        struct buf text = BUF_INIT;
        for (size_t i = 0; i < words->len; i++) {
                buf_puts(&text, i ? "\" \"" : "\"");
                put_word(&text, words->data[i], redactor);
        }
        buf_putc(&text, '"');
        return buf_steal(&text);
}

static void launch_command_put_list(struct buf *out, char *const *words, size_t n, const struct redactor *redactor)
{
        buf_puts(out, "List(");
        for (size_t i = 0; i < n; i++) {
                buf_puts(out, i ? ", " : "");
                put_word(out, words[i], redactor);
        }
        buf_putc(out, ')');
}

char *launch_command_show(const Firesteel__Standalone__Command *command, const struct redactor *redactor)
{
        struct buf text = BUF_INIT;
        buf_printf(&text, "Command(%s,", command->main_class);
        launch_command_put_list(&text, command->arguments, command->n_arguments, redactor);
        buf_puts(&text, ",Map(");
        for (size_t i = 0; i < command->n_environment; i++) {
                const Firesteel__Standalone__Property *p = command->environment[i];
                buf_printf(&text, "%s%s -> %s", i ? ", " : "", p->key, redactor_value(redactor, p->key, p->value));
        }
        buf_puts(&text, "),");
        launch_command_put_list(&text, command->class_path, command->n_class_path, redactor);
        buf_putc(&text, ',');
        launch_command_put_list(&text, command->library_path, command->n_library_path, redactor);
        buf_putc(&text, ',');
        launch_command_put_list(&text, command->java_options, command->n_java_options, redactor);
        buf_putc(&text, ')');
        return buf_steal(&text);
}

bool launch_name_is_safe(const char *name)
{
        return *name && strcmp(name, ".") != 0 && strcmp(name, "..") != 0 && !strchr(name, '/') && strlen(name) < 256;
}
