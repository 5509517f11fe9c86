/*
 * See json_cursor.h. Every loop stops at the NUL behind the end, because strings and values may not contain it. So the
 * loops need not compare each position with the end.
 */
#include "text/json_cursor.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool json_fail(struct json_cursor *c, const char *problem)
{
        if (!c->problem)
                c->problem = problem;
        return false;
}

static void json_skip_blanks(struct json_cursor *c)
{
        while (*c->at == ' ' || *c->at == '\t' || *c->at == '\r' || *c->at == '\n')
                c->at++;
}

bool json_at_end(struct json_cursor *c)
{
        json_skip_blanks(c);
        return c->at >= c->end;
}

/* ----------------------------------------------------------------------------------------------- strings */

#define JSON_BYTES(byte) (UINT64_MAX / 255 * (byte))

/* Returns the first quote, backslash or control character at or after @p. */
static char *json_find_special(char *p)
{
        for (;; p += 8) {
                uint64_t v;
                memcpy(&v, p, 8);
                uint64_t quote = v ^ JSON_BYTES('"'), backslash = v ^ JSON_BYTES('\\');
                uint64_t found = ((quote - JSON_BYTES(1)) & ~quote) | ((backslash - JSON_BYTES(1)) & ~backslash) |
                                 ((v - JSON_BYTES(0x20)) & ~v);
                found &= JSON_BYTES(0x80);
                if (found) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
                        return p + __builtin_ctzll(found) / 8;
#else
                        while (*p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
                                p++;
                        return p;
#endif
                }
        }
}

static int json_hex_digit(char ch)
{
        if (ch >= '0' && ch <= '9')
                return ch - '0';
        if (ch >= 'a' && ch <= 'f')
                return ch - 'a' + 10;
        if (ch >= 'A' && ch <= 'F')
                return ch - 'A' + 10;
        return -1;
}

/* Reads the four digits of a \u. Returns -1 if they are not hexadecimal. */
static int json_hex_unit(const char *p)
{
        int unit = 0;
        for (int i = 0; i < 4; i++) {
                int digit = json_hex_digit(p[i]);
                if (digit < 0)
                        return -1;
                unit = unit * 16 + digit;
        }
        return unit;
}

static char *json_put_utf8(char *to, int code)
{
        if (code < 0x80) {
                *to++ = (char)code;
                return to;
        }
        if (code < 0x800) {
                *to++ = (char)(0xc0 | code >> 6);
        } else {
                if (code < 0x10000) {
                        *to++ = (char)(0xe0 | code >> 12);
                } else {
                        *to++ = (char)(0xf0 | code >> 18);
                        *to++ = (char)(0x80 | (code >> 12 & 0x3f));
                }
                *to++ = (char)(0x80 | (code >> 6 & 0x3f));
        }
        *to++ = (char)(0x80 | (code & 0x3f));
        return to;
}

/* Unescapes the \uXXXX at @*from, with its second half if it has one. NUL and lone halves become U+FFFD. */
static char *json_unescape_unit(char **from, char *to)
{
        int code = json_hex_unit(*from + 2);
        if (code < 0)
                return NULL;
        *from += 6;
        if (code >= 0xd800 && code < 0xdc00 && (*from)[0] == '\\' && (*from)[1] == 'u') {
                int low = json_hex_unit(*from + 2);
                if (low >= 0xdc00 && low < 0xe000) {
                        *from += 6;
                        return json_put_utf8(to, 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00));
                }
        }
        if (code == 0 || (code >= 0xd800 && code < 0xe000))
                code = 0xfffd;
        return json_put_utf8(to, code);
}

/* Unescapes from the backslash at @from up to the closing quote. Returns the end of the text, or NULL. */
static char *json_unescape(char **from, char *to)
{
        static const char letters[] = "\"\\/bfnrt", meanings[] = "\"\\/\b\f\n\r\t";
        char *p = *from;
        while (*p != '"') {
                if (*p == '\\' && p[1] == 'u') {
                        to = json_unescape_unit(&p, to);
                        if (!to)
                                return NULL;
                } else if (*p == '\\') {
                        const char *letter = p[1] ? strchr(letters, p[1]) : NULL;
                        if (!letter)
                                return NULL;
                        *to++ = meanings[letter - letters];
                        p += 2;
                } else {
                        char *next = json_find_special(p);
                        if ((unsigned char)*next < 0x20)
                                return NULL;
                        memmove(to, p, (size_t)(next - p));
                        to += next - p;
                        p = next;
                }
        }
        *from = p;
        return to;
}

/* Reads the string whose opening quote is at the cursor. */
static bool json_take_string(struct json_cursor *c, char **text, size_t *length)
{
        char *start = c->at + 1, *p = json_find_special(start), *end = p;
        if (*p == '\\') {
                end = json_unescape(&p, p);
                if (!end)
                        return json_fail(c, "a string has an invalid escape or does not end");
        } else if (*p != '"') {
                return json_fail(c, "a string does not end");
        }
        *end = 0;
        c->at = p + 1;
        *text = start;
        if (length)
                *length = (size_t)(end - start);
        return true;
}

static bool json_take_null(struct json_cursor *c)
{
        if (memcmp(c->at, "null", 4) != 0)
                return false;
        c->at += 4;
        return true;
}

bool json_read_text(struct json_cursor *c, char **text, size_t *length)
{
        json_skip_blanks(c);
        if (*c->at == '"')
                return json_take_string(c, text, length);
        if (!json_take_null(c))
                return json_fail(c, "a string was expected");
        *text = NULL;
        if (length)
                *length = 0;
        return true;
}

/* ----------------------------------------------------------------------------------------------- numbers */

/* Moves behind the number at the cursor. As in JSON, it has no leading zeros. */
static bool json_skip_number(struct json_cursor *c)
{
        char *p = c->at;
        p += *p == '-';
        char *digits = p;
        while (*p >= '0' && *p <= '9')
                p++;
        if (p == digits)
                return json_fail(c, "a value was expected");
        if (*digits == '0' && p > digits + 1)
                return json_fail(c, "a number has a leading zero");
        if (*p == '.')
                for (p++; *p >= '0' && *p <= '9';)
                        p++;
        if (*p == 'e' || *p == 'E') {
                p++;
                p += *p == '-' || *p == '+';
                while (*p >= '0' && *p <= '9')
                        p++;
        }
        c->at = p;
        return true;
}

bool json_read_double(struct json_cursor *c, double *value)
{
        json_skip_blanks(c);
        char *start = c->at;
        if (json_take_null(c))
                return true;
        if (!json_skip_number(c))
                return false;
        *value = strtod(start, NULL);
        return true;
}

/* Reads a number that the quick way cannot: with a fraction, an exponent or many digits. */
static bool json_read_odd_int(struct json_cursor *c, int64_t *value)
{
        double number = 0;
        if (!json_read_double(c, &number))
                return false;
        if (!(fabs(number) < 9.2e18))
                return json_fail(c, "a number is out of range");
        *value = (int64_t)number;
        return true;
}

bool json_read_int(struct json_cursor *c, int64_t *value)
{
        json_skip_blanks(c);
        char *p = c->at;
        bool negative = *p == '-';
        p += negative;
        char *digits = p;
        uint64_t number = 0;
        for (; (unsigned char)(*p - '0') < 10; p++)
                number = number * 10 + (uint64_t)(*p - '0');
        if (p == digits) {
                if (json_take_null(c))
                        return true;
                return json_fail(c, "a number was expected");
        }
        if (*digits == '0' && p > digits + 1)
                return json_fail(c, "a number has a leading zero");
        if (*p == '.' || *p == 'e' || *p == 'E')
                return json_read_odd_int(c, value);
        if (p - digits > 19 || number > INT64_MAX) {
                /* Only the least number is one more than the greatest. */
                if (!(negative && p - digits == 19 && number == (uint64_t)INT64_MAX + 1))
                        return json_fail(c, "a number is out of range");
        }
        *value = (int64_t)(negative ? -number : number);
        c->at = p;
        return true;
}

static bool json_read_bool(struct json_cursor *c, bool *value)
{
        if (memcmp(c->at, "false", 5) == 0) {
                *value = false;
                c->at += 5;
                return true;
        }
        if (memcmp(c->at, "true", 4) == 0) {
                *value = true;
                c->at += 4;
                return true;
        }
        return json_take_null(c) || json_fail(c, "true or false was expected");
}

/* -------------------------------------------------------------------------------- arrays, objects, values */

/* Skips a value in brackets, and does not check what is between its brackets. */
static bool json_skip_nested(struct json_cursor *c)
{
        size_t depth = 0;
        for (char *p = c->at;; p++) {
                switch (*p) {
                case '"':
                        for (p = json_find_special(p + 1); *p == '\\'; p = json_find_special(p))
                                p += p[1] ? 2 : 1;
                        if (*p != '"')
                                return json_fail(c, "a string does not end");
                        break;
                case '{':
                case '[':
                        depth++;
                        break;
                case '}':
                case ']':
                        if (--depth == 0) {
                                c->at = p + 1;
                                return true;
                        }
                        break;
                case 0:
                        return json_fail(c, "the line ends within a value");
                default:
                        break;
                }
        }
}

bool json_skip_value(struct json_cursor *c)
{
        json_skip_blanks(c);
        if (*c->at == '"') {
                char *text;
                return json_take_string(c, &text, NULL);
        }
        if (*c->at == '{' || *c->at == '[')
                return json_skip_nested(c);
        bool word;
        if (*c->at == 't' || *c->at == 'f')
                return json_read_bool(c, &word);
        return json_take_null(c) || json_skip_number(c);
}

bool json_begin_array(struct json_cursor *c)
{
        json_skip_blanks(c);
        if (json_take_null(c))
                return false;
        if (*c->at != '[')
                return json_fail(c, "an array was expected");
        c->at++;
        json_skip_blanks(c);
        if (*c->at != ']')
                return true;
        c->at++;
        return false;
}

bool json_next_element(struct json_cursor *c)
{
        if (c->problem)
                return false;
        json_skip_blanks(c);
        if (*c->at++ == ',')
                return true;
        return c->at[-1] != ']' && json_fail(c, "a comma or ] was expected");
}

static bool json_read_name(struct json_cursor *c, char **name, size_t *length)
{
        json_skip_blanks(c);
        if (*c->at != '"')
                return json_fail(c, "a name was expected");
        if (!json_take_string(c, name, length))
                return false;
        json_skip_blanks(c);
        return *c->at++ == ':' || json_fail(c, "a colon was expected");
}

bool json_begin_members(struct json_cursor *c, char **name)
{
        json_skip_blanks(c);
        if (json_take_null(c))
                return false;
        if (*c->at != '{')
                return json_fail(c, "an object was expected");
        c->at++;
        json_skip_blanks(c);
        if (*c->at != '}')
                return json_read_name(c, name, NULL);
        c->at++;
        return false;
}

bool json_next_member(struct json_cursor *c, char **name)
{
        if (c->problem)
                return false;
        json_skip_blanks(c);
        if (*c->at++ == ',')
                return json_read_name(c, name, NULL);
        return c->at[-1] != '}' && json_fail(c, "a comma or } was expected");
}

static bool json_read_int32(struct json_cursor *c, int32_t *value)
{
        int64_t number = *value;
        if (!json_read_int(c, &number))
                return false;
        if (number < INT32_MIN || number > INT32_MAX)
                return json_fail(c, "a number is out of range");
        *value = (int32_t)number;
        return true;
}

static bool json_read_field(struct json_cursor *c, const struct json_field *f, char *base, void *context)
{
        base += f->offset;
        switch ((enum json_kind)f->kind) {
        case JSON_KIND_INT64:
                return json_read_int(c, (int64_t *)base);
        case JSON_KIND_INT32:
                return json_read_int32(c, (int32_t *)base);
        case JSON_KIND_BOOL:
                json_skip_blanks(c);
                return json_read_bool(c, (bool *)base);
        case JSON_KIND_DOUBLE:
                return json_read_double(c, (double *)base);
        case JSON_KIND_TEXT:
                return json_read_text(c, (char **)base, NULL);
        case JSON_KIND_OBJECT:
                return json_read_object(c, f->object, base, context);
        case JSON_KIND_CALL:
                return f->call ? f->call(c, base, context) : json_skip_value(c);
        }
        return false;
}

/* Finds the field whose name is the next string. Sets *@known to NULL for an unknown field. */
static bool json_find_field(struct json_cursor *c, const struct json_fields *fields, const struct json_field **known)
{
        char *name;
        size_t length;
        *known = NULL;
        if (!json_read_name(c, &name, &length))
                return false;
        for (size_t i = 0; i < fields->n; i++)
                if (fields->fields[i].length == length + 3 && memcmp(fields->fields[i].quoted + 1, name, length) == 0)
                        *known = &fields->fields[i];
        return true;
}

bool json_read_object(struct json_cursor *c, const struct json_fields *fields, void *base, void *context)
{
        json_skip_blanks(c);
        if (*c->at != '{')
                return json_take_null(c) || json_fail(c, "an object was expected");
        c->at++;
        json_skip_blanks(c);
        if (*c->at == '}') {
                c->at++;
                return true;
        }
        const struct json_field *next = fields->fields, *last = next + fields->n;
        for (;;) {
                const struct json_field *field = next;
                if (next < last && memcmp(c->at, next->quoted, next->length) == 0)
                        c->at += next->length;
                else if (!json_find_field(c, fields, &field))
                        return false;
                if (!(field ? json_read_field(c, field, base, context) : json_skip_value(c)))
                        return false;
                if (field)
                        next = field + 1;
                json_skip_blanks(c);
                if (*c->at == ',') {
                        c->at++;
                        json_skip_blanks(c);
                        continue;
                }
                return *c->at++ == '}' || json_fail(c, "a comma or } was expected");
        }
}
