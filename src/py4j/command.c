/* Commands; see command.h. */
#include "py4j/command.h"

#include "base/error.h"

/*
 * The number of lines with names after a command's letter. Only then can a line "e" end the command: the length of an
 * array is asked for by a subcommand "e".
 */
static unsigned command_words(char letter, const char *sub, size_t len)
{
        switch (letter) {
        case 'c': /* call: object, method */
        case 'S':
        case 'a': /* array: subcommand, object or class */
        case 'l': /* list */
        case 'm': /* memory */
        case 'h': /* help */
        case 'd': /* names of members */
                return 2;
        case 'i': /* construct: class */
                return 1;
        case 'j': /* views: subcommand, and to import: view, name */
                return len == 1 && sub[0] == 'i' ? 3 : 1;
        case 'f': /* field: subcommand, object, name */
                return 3;
        case 'r': /* reflection: subcommand, name, view or member; a class has only its name */
                return len == 1 && sub[0] == 'c' ? 2 : 3;
        default: /* exception, shutdown */
                return 0;
        }
}

size_t py4j_scan(struct py4j_scanner *s, const char *text, size_t len)
{
        for (;;) {
                const char *end = s->at < len ? memchr(text + s->at, '\n', len - s->at) : NULL;
                if (!end) {
                        s->at = len;
                        return 0;
                }
                const char *line = text + s->line;
                size_t n = (size_t)(end - line);
                if (s->lines == 0 && n != 1) /* no command, which parsing refuses */
                        return (size_t)(end - text) + 1;
                if (s->lines <= 1)
                        s->words = command_words(text[0], line, n);
                s->lines++;
                s->line = s->at = (size_t)(end - text) + 1;
                if (s->lines > s->words + 1 && n == 1 && *line == 'e')
                        return s->line;
        }
}

static int command_add_part(struct py4j_command *out, const char *line, size_t len, struct fst_error *error)
{
        struct py4j_value value;
        if (out->parts.len == PY4J_MAX_PARTS)
                return error_set(error, -EINVAL, "a command has more than %d values", PY4J_MAX_PARTS);
        int r = py4j_value_parse(line, len, &value, error);
        if (r == 0)
                vec_push(&out->parts, value);
        return r;
}

int py4j_command_parse(char *text, size_t len, struct py4j_command *out, struct fst_error *error)
{
        unsigned lines = 0, words = 0;
        *out = (struct py4j_command){.words = {"", "", ""}};
        for (size_t at = 0; at < len; lines++) {
                char *line = text + at, *end = memchr(line, '\n', len - at);
                if (!end)
                        return error_set(error, -EINVAL, "a command ends within a line");
                size_t n = (size_t)(end - line);
                *end = 0;
                at += n + 1;
                if (lines == 0) {
                        if (n != 1)
                                return error_set(error, -EINVAL, "a command does not start with a letter");
                        out->letter = line[0];
                }
                if (lines <= 1)
                        words = command_words(out->letter, line, n);
                if (lines > words && n == 1 && *line == 'e' && lines > 0)
                        return at == len ? 0 : error_set(error, -EINVAL, "text follows a command");
                if (lines > 0 && lines <= words) {
                        out->words[lines - 1] = line;
                } else if (lines > 0) {
                        int r = command_add_part(out, line, n, error);
                        if (r < 0)
                                return r;
                }
        }
        return error_set(error, -EINVAL, "a command does not end with 'e'");
}

void py4j_command_deinit(struct py4j_command *command)
{
        for (size_t i = 0; i < command->parts.len; i++)
                py4j_value_deinit(&command->parts.data[i]);
        vec_deinit(&command->parts);
}
