/* Writes YAML that yaml_parse and other readers of YAML 1.1 and 1.2 read back as the same tree. */
#include "text/yaml_writer.h"

#include "base/mem.h"
#include "text/json_string.h"

#include <ctype.h>
#include <strings.h>

#define INDENT 2

static void yaml_write_value(struct buf *out, const json_t *json, int indent, bool in_list);

static void yaml_indent(struct buf *out, int indent)
{
        for (int i = 0; i < indent; i++)
                buf_putc(out, ' ');
}

/* Whether a plain scalar is this text in every version of YAML: letters first, no word with a meaning. */
static bool yaml_is_plain(const char *text)
{
        static const char *const words[] = {"null", "true", "false", "yes", "no", "on", "off", "y", "n"};
        if (!isalpha((unsigned char)text[0]) && text[0] != '/' && text[0] != '_')
                return false;
        for (size_t i = 0; i < ARRAY_SIZE(words); i++)
                if (strcasecmp(text, words[i]) == 0)
                        return false;
        for (const char *c = text; *c; c++)
                if (!isalnum((unsigned char)*c) && !strchr("._-/@+", *c) && !(*c == ':' && c[1] && c[1] != ' ') &&
                    !(*c == ' ' && isalnum((unsigned char)c[1])))
                        return false;
        return true;
}

/* Whether a literal block keeps the text: printable lines, no blanks at their ends, one newline at the end. */
static bool yaml_is_block(const char *text, size_t len)
{
        if (len < 2 || text[len - 1] != '\n' || text[len - 2] == '\n' || text[0] == ' ' || text[0] == '\n' ||
            !memchr(text, '\n', len - 1))
                return false;
        for (size_t i = 0; i < len; i++) {
                unsigned char c = (unsigned char)text[i];
                if ((c < 0x20 && c != '\n') || c >= 0x7f || (c == '\n' && i > 0 && text[i - 1] == ' '))
                        return false;
        }
        return true;
}

/* As JSON, but YAML allows fewer characters: DEL, C1 controls, U+FFFE and U+FFFF are escaped, and so are
 * line separators. */
static void yaml_put_quoted(struct buf *out, const char *text, size_t len)
{
        _cleanup_(buf_deinit) struct buf quoted = BUF_INIT;
        json_put_string_n(&quoted, text, len);
        for (size_t i = 0; i < quoted.len; i++) {
                const unsigned char *c = (const unsigned char *)quoted.data + i;
                if (c[0] == 0x7f) {
                        buf_puts(out, "\\u007f");
                } else if (c[0] == 0xc2 && c[1] < 0xa0) {
                        buf_printf(out, "\\u%04x", c[1]);
                        i++;
                } else if (c[0] == 0xe2 && c[1] == 0x80 && (c[2] & 0xfe) == 0xa8) {
                        buf_printf(out, "\\u20%02x", c[2] - 0x80);
                        i += 2;
                } else if (c[0] == 0xef && c[1] == 0xbf && c[2] >= 0xbe) {
                        buf_printf(out, "\\uff%02x", c[2] + 0x40);
                        i += 2;
                } else {
                        buf_putc(out, (char)c[0]);
                }
        }
}

static void yaml_write_text(struct buf *out, const char *text, size_t len, int indent)
{
        if (strlen(text) == len && yaml_is_plain(text)) {
                buf_puts(out, text);
                buf_putc(out, '\n');
                return;
        }
        if (!yaml_is_block(text, len)) {
                yaml_put_quoted(out, text, len);
                buf_putc(out, '\n');
                return;
        }
        buf_puts(out, "|\n");
        for (const char *at = text; *at;) {
                size_t line = strcspn(at, "\n");
                if (line > 0)
                        yaml_indent(out, indent);
                buf_append(out, at, line + 1);
                at += line + 1;
        }
}

static void yaml_write_key(struct buf *out, const char *key)
{
        if (yaml_is_plain(key))
                buf_puts(out, key);
        else
                yaml_put_quoted(out, key, strlen(key));
        buf_putc(out, ':');
}

static void yaml_write_members(struct buf *out, const json_t *json, int indent, bool in_list)
{
        const char *key;
        json_t *value;
        bool first = in_list; /* the first member follows the "- " of its element */
        json_object_foreach((json_t *)json, key, value) {
                if (!first)
                        yaml_indent(out, indent);
                first = false;
                yaml_write_key(out, key);
                yaml_write_value(out, value, indent, false);
        }
}

static void yaml_write_elements(struct buf *out, const json_t *json, int indent)
{
        json_t *value;
        size_t i;
        json_array_foreach((json_t *)json, i, value) {
                yaml_indent(out, indent);
                buf_putc(out, '-');
                yaml_write_value(out, value, indent, true);
        }
}

/* Writes a value after "key:" or "-", with the newline at its end. @indent is that of the key or dash. */
static void yaml_write_value(struct buf *out, const json_t *json, int indent, bool in_list)
{
        if (json_is_object(json) && json_object_size(json) > 0) {
                buf_puts(out, in_list ? " " : "\n");
                yaml_write_members(out, json, indent + INDENT, in_list);
                return;
        }
        if (json_is_array(json) && json_array_size(json) > 0) {
                buf_putc(out, '\n');
                yaml_write_elements(out, json, indent + (in_list ? INDENT : 0));
                return;
        }
        buf_putc(out, ' ');
        if (json_is_string(json)) {
                yaml_write_text(out, json_string_value(json), json_string_length(json), indent + INDENT);
                return;
        }
        _cleanup_free_ char *text = json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY);
        buf_printf(out, "%s\n", text ? text : "null");
}

void yaml_write(struct buf *out, const json_t *json)
{
        if (json_is_object(json) && json_object_size(json) > 0)
                yaml_write_members(out, json, 0, false);
        else if (json_is_array(json) && json_array_size(json) > 0)
                yaml_write_elements(out, json, 0);
        else
                yaml_write_value(out, json, 0, true);
}
