/* Values; see value.h. */
#include "py4j/value.h"

#include "base/base64.h"
#include "base/error.h"
#include "base/mem.h"
#include "py4j/object.h"
#include "text/number_format.h"

#include <math.h>

void py4j_value_deinit(struct py4j_value *value)
{
        if (value->type == PY4J_OBJECT)
                py4j_object_unref(value->object);
        free(value->text);
        *value = PY4J_VALUE_INIT;
}

struct py4j_value py4j_value_copy(const struct py4j_value *value)
{
        struct py4j_value copy = *value;
        if (value->text) {
                copy.text = mem_alloc(value->len + 1);
                memcpy(copy.text, value->text, value->len + 1);
        }
        if (value->type == PY4J_OBJECT)
                py4j_object_ref(value->object);
        return copy;
}

struct py4j_value py4j_bool(bool yes)
{
        return (struct py4j_value){.type = PY4J_BOOL, .yes = yes};
}

struct py4j_value py4j_int(int64_t number)
{
        return (struct py4j_value){.type = PY4J_INT, .number = number};
}

struct py4j_value py4j_long(int64_t number)
{
        return (struct py4j_value){.type = PY4J_LONG, .number = number};
}

struct py4j_value py4j_double(double real)
{
        return (struct py4j_value){.type = PY4J_DOUBLE, .real = real};
}

struct py4j_value py4j_string_n(const char *text, size_t len)
{
        return (struct py4j_value){.type = PY4J_STRING, .text = mem_strndup(text, len), .len = len};
}

struct py4j_value py4j_string(const char *text)
{
        return text ? py4j_string_n(text, strlen(text)) : (struct py4j_value){.type = PY4J_NULL};
}

struct py4j_value py4j_bytes(const void *data, size_t len)
{
        struct py4j_value value = {.type = PY4J_BYTES, .text = mem_alloc(len + 1), .len = len};
        memcpy(value.text, data, len);
        value.text[len] = 0;
        return value;
}

struct py4j_value py4j_object_value(struct py4j_object *object)
{
        return object ? (struct py4j_value){.type = PY4J_OBJECT, .object = object}
                      : (struct py4j_value){.type = PY4J_NULL};
}

bool py4j_value_equals(const struct py4j_value *a, const struct py4j_value *b)
{
        if (a->type != b->type)
                return false;
        switch (a->type) {
        case PY4J_BOOL:
                return a->yes == b->yes;
        case PY4J_INT:
        case PY4J_LONG:
                return a->number == b->number;
        case PY4J_DOUBLE:
                return a->real == b->real || (isnan(a->real) && isnan(b->real));
        case PY4J_OBJECT:
                return a->object == b->object;
        case PY4J_NULL:
        case PY4J_VOID:
                return true;
        default:
                return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
        }
}

void py4j_value_print(const struct py4j_value *value, struct buf *out)
{
        char number[NUMBER_F64_SIZE];
        switch (value->type) {
        case PY4J_NULL:
        case PY4J_VOID:
                buf_puts(out, "null");
                break;
        case PY4J_BOOL:
                buf_puts(out, value->yes ? "true" : "false");
                break;
        case PY4J_INT:
        case PY4J_LONG:
                buf_printf(out, "%" PRId64, value->number);
                break;
        case PY4J_DOUBLE:
                buf_append(out, number, number_format_f64(number, value->real));
                break;
        case PY4J_OBJECT:
                py4j_object_print(value->object, out);
                break;
        default:
                buf_append(out, value->text, value->len);
        }
}

/* Replaces the escapes of @text in place. Returns the new length. */
static size_t value_unescape(char *text, size_t len)
{
        size_t n = 0;
        for (size_t i = 0; i < len; i++) {
                char c = text[i];
                if (c == '\\' && i + 1 < len) {
                        c = text[++i];
                        c = c == 'n' ? '\n' : c == 'r' ? '\r' : c;
                }
                text[n++] = c;
        }
        text[n] = 0;
        return n;
}

static int value_parse_number(const char *text, struct py4j_value *out, struct fst_error *error)
{
        char *end;
        errno = 0;
        out->number = strtoll(text, &end, 10);
        if (end == text || *end || errno)
                return error_set(error, -EINVAL, "'%.40s' is not an integer", text);
        if (out->type == PY4J_INT && (out->number < INT32_MIN || out->number > INT32_MAX))
                return error_set(error, -EINVAL, "'%.40s' does not fit 32 bits", text);
        return 0;
}

static int value_parse_double(const char *text, struct py4j_value *out, struct fst_error *error)
{
        char *end;
        if (strcmp(text, "Infinity") == 0)
                out->real = INFINITY;
        else if (strcmp(text, "-Infinity") == 0)
                out->real = -INFINITY;
        else if (strcmp(text, "NaN") == 0)
                out->real = NAN;
        else {
                out->real = strtod(text, &end);
                if (end == text || *end)
                        return error_set(error, -EINVAL, "'%.40s' is not a number", text);
        }
        return 0;
}

/* Bytes become their text at once, because a large function should not exist three times. */
static int value_parse_bytes(const char *text, size_t len, struct py4j_value *out, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf bytes = BUF_INIT;
        if (!buf_try_reserve(&bytes, len / 4 * 3 + 3))
                return error_set(error, -ENOMEM, "no memory for %zu bytes", len);
        if (!base64_decode(text, len, &bytes))
                return error_set(error, -EINVAL, "bytes are not in base64");
        out->len = bytes.len;
        out->text = buf_steal(&bytes);
        return 0;
}

static int value_parse_text(const char *text, size_t len, struct py4j_value *out, struct fst_error *error)
{
        out->text = mem_try(len + 1);
        if (!out->text)
                return error_set(error, -ENOMEM, "no memory for %zu bytes", len);
        memcpy(out->text, text, len);
        out->text[len] = 0;
        out->len = out->type == PY4J_STRING ? value_unescape(out->text, len) : len;
        return 0;
}

int py4j_value_parse(const char *line, size_t len, struct py4j_value *out, struct fst_error *error)
{
        struct py4j_value value = PY4J_VALUE_INIT;
        int r = 0;
        if (len == 0)
                return error_set(error, -EINVAL, "a value has no type");
        value.type = (enum py4j_type)(unsigned char)line[0];
        switch (value.type) {
        case PY4J_NULL:
                break;
        case PY4J_BOOL:
                value.yes = len == 5 && strncasecmp(line + 1, "true", 4) == 0;
                break;
        case PY4J_BYTES:
                r = value_parse_bytes(line + 1, len - 1, &value, error);
                break;
        case PY4J_INT:
        case PY4J_LONG:
        case PY4J_DOUBLE:
        case PY4J_DECIMAL:
        case PY4J_STRING:
        case PY4J_OBJECT:
        case PY4J_PROXY:
                r = value_parse_text(line + 1, len - 1, &value, error);
                break;
        default:
                return error_set(error, -EINVAL, "'%c' is not a type of Py4J",
                                 line[0] >= ' ' && line[0] < 127 ? line[0] : '?');
        }
        if (r == 0 && (value.type == PY4J_INT || value.type == PY4J_LONG || value.type == PY4J_DOUBLE)) {
                _cleanup_free_ char *text = steal(value.text);
                value.len = 0;
                r = value.type == PY4J_DOUBLE ? value_parse_double(text, &value, error)
                                              : value_parse_number(text, &value, error);
        }
        if (r < 0) {
                free(value.text);
                return r;
        }
        *out = value;
        return 0;
}

void py4j_escape(struct buf *out, const char *text, size_t len)
{
        buf_reserve(out, len);
        for (size_t i = 0; i < len; i++) {
                if (text[i] == '\\')
                        buf_puts(out, "\\\\");
                else if (text[i] == '\n')
                        buf_puts(out, "\\n");
                else if (text[i] == '\r')
                        buf_puts(out, "\\r");
                else
                        buf_putc(out, text[i]);
        }
}

void py4j_value_write(const struct py4j_value *value, struct buf *out)
{
        buf_putc(out, (char)value->type);
        switch (value->type) {
        case PY4J_BOOL:
        case PY4J_INT:
        case PY4J_LONG:
        case PY4J_DOUBLE:
                py4j_value_print(value, out);
                break;
        case PY4J_STRING:
                py4j_escape(out, value->text, value->len);
                break;
        case PY4J_BYTES:
                base64_put(out, value->text, value->len);
                break;
        case PY4J_CLASS:
        case PY4J_DECIMAL:
                buf_append(out, value->text, value->len);
                break;
        default:
                break;
        }
}
