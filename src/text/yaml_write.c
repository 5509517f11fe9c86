/*
 * Writes trees as block YAML. Readers differ in the scalars that they take for texts (YAML 1.1 knows yes, 0o17 and
 * 12:30:00), so a text is written plain only if it begins with a letter or "/", contains no YAML syntax, and is not a
 * word with another meaning for any reader.
 */
#include "text/yaml.h"

#include "base/buf.h"
#include "base/mem.h"

#include <strings.h>

static bool is_plain(const char *s, size_t len)
{
        static const char *const words[] = {"y", "n", "yes", "no", "on", "off", "true", "false", "null"};
        static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        if (len == 0 || !strchr("/", s[0]) == !strchr(letters, s[0]) || strlen(s) != len)
                return false;
        if (s[strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789 _./-+=@%,~$(){}[]:")])
                return false;
        if (s[len - 1] == ' ' || s[len - 1] == ':' || strpbrk(s, ",[]{}") || strstr(s, ": "))
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (strcasecmp(s, words[i]) == 0)
                        return false;
        return true;
}

/* Decodes the character at @s, valid UTF-8 checked by jansson. Sets *@n to its length. */
static unsigned yaml_write_character(const unsigned char *s, size_t *n)
{
        if (s[0] < 0x80) {
                *n = 1;
                return s[0];
        }
        if (s[0] < 0xe0) {
                *n = 2;
                return (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu);
        }
        if (s[0] < 0xf0) {
                *n = 3;
                return (s[0] & 0x0fu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu);
        }
        *n = 4;
        return (s[0] & 0x07u) << 18 | (s[1] & 0x3fu) << 12 | (s[2] & 0x3fu) << 6 | (s[3] & 0x3fu);
}

static void write_quoted(struct buf *out, const char *s, size_t len)
{
        buf_putc(out, '"');
        for (size_t i = 0, n; i < len; i += n) {
                unsigned c = yaml_write_character((const unsigned char *)s + i, &n);
                if (c == '"' || c == '\\')
                        buf_printf(out, "\\%c", (char)c);
                else if (c == '\n')
                        buf_puts(out, "\\n");
                else if (c == '\t')
                        buf_puts(out, "\\t");
                else if (c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0xd800 && c < 0xe000) || c == 0x2028 ||
                         c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff)
                        buf_printf(out, "\\u%04X", c);
                else
                        buf_append(out, s + i, n);
        }
        buf_putc(out, '"');
}

/* Writes several lines of printable characters, the last one terminated, unchanged after a "|". */
static bool is_literal(const char *s, size_t len)
{
        if (len < 2 || s[len - 1] != '\n' || s[len - 2] == '\n' || s[0] == ' ' || s[0] == '\n' || strlen(s) != len)
                return false;
        for (size_t i = 0; i < len; i++)
                if ((unsigned char)s[i] >= 0x7f || ((unsigned char)s[i] < 0x20 && s[i] != '\n'))
                        return false;
        return true;
}

static void yaml_write_write_text(struct buf *out, const json_t *value, int level)
{
        const char *s = json_string_value(value);
        size_t len = json_string_length(value);
        if (is_plain(s, len)) {
                buf_append(out, s, len);
        } else if (is_literal(s, len)) {
                buf_putc(out, '|');
                for (const char *line = s; *line;) {
                        size_t n = strcspn(line, "\n");
                        if (n > 0)
                                buf_printf(out, "\n%*s%.*s", 2 * level, "", (int)n, line);
                        else
                                buf_putc(out, '\n');
                        line += n + 1;
                }
        } else {
                write_quoted(out, s, len);
        }
        buf_putc(out, '\n');
}

static void write_value(struct buf *out, const json_t *value, int level, bool in_sequence);

/* YAML readers look for the colon at most 1,024 characters after the start of a key. */
#define MAX_SHORT_KEY 1000

/* Turns the text written since @start into "? KEY" and a new line. */
static void write_long_key(struct buf *out, size_t start, int level)
{
        _cleanup_free_ char *key = mem_strndup(out->data + start, out->len - start);
        buf_truncate(out, start);
        buf_printf(out, "? %s\n%*s", key, 2 * level, "");
}

static void write_mapping(struct buf *out, const json_t *value, int level, bool in_sequence)
{
        bool first = in_sequence; /* the first key follows the "- " */
        for (void *i = json_object_iter((json_t *)value); i; i = json_object_iter_next((json_t *)value, i)) {
                const char *key = json_object_iter_key(i);
                buf_printf(out, "%*s", first ? 0 : 2 * level, "");
                first = false;
                size_t len = strlen(key), start = out->len;
                if (is_plain(key, len))
                        buf_puts(out, key);
                else
                        write_quoted(out, key, len);
                if (out->len - start > MAX_SHORT_KEY)
                        write_long_key(out, start, level);
                buf_putc(out, ':');
                write_value(out, json_object_iter_value(i), level + 1, false);
        }
}

static void write_sequence(struct buf *out, const json_t *value, int level, bool in_sequence)
{
        bool first = in_sequence;
        for (size_t i = 0; i < json_array_size(value); i++) {
                buf_printf(out, "%*s-", first ? 0 : 2 * level, "");
                first = false;
                write_value(out, json_array_get(value, i), level + 1, true);
        }
}

/* Writes @value after a "key:" or a "-", which have no space yet. */
static void write_value(struct buf *out, const json_t *value, int level, bool in_sequence)
{
        bool mapping = json_is_object(value), sequence = json_is_array(value);
        if ((mapping && json_object_size(value) > 0) || (sequence && json_array_size(value) > 0)) {
                buf_putc(out, in_sequence ? ' ' : '\n');
                (mapping ? write_mapping : write_sequence)(out, value, level, in_sequence);
                return;
        }
        buf_putc(out, ' ');
        if (json_is_string(value)) {
                yaml_write_write_text(out, value, level);
        } else {
                char *text = json_dumps(value, JSON_ENCODE_ANY);
                buf_printf(out, "%s\n", text ? text : "null");
                free(text);
        }
}

char *yaml_write(const json_t *value)
{
        struct buf out = BUF_INIT;
        if (json_object_size(value) > 0)
                write_mapping(&out, value, 0, false);
        else if (json_array_size(value) > 0)
                write_sequence(&out, value, 0, false);
        else if (json_is_string(value))
                yaml_write_write_text(&out, value, 1);
        else
                write_value(&out, value, 0, true);
        if (out.data[0] == ' ') /* for a root that is a scalar */
                memmove(out.data, out.data + 1, out.len--);
        return buf_steal(&out);
}
