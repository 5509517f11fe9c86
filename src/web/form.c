/* See form.h. */
#include "web/form.h"

#include <ctype.h>
#include <errno.h>

void form_deinit(struct form *f)
{
        for (size_t i = 0; i < f->fields.len; i++) {
                free(f->fields.data[i].name);
                free(f->fields.data[i].value);
        }
        vec_deinit(&f->fields);
}

static int form_digit(char c)
{
        return c >= '0' && c <= '9'   ? c - '0'
               : c >= 'a' && c <= 'f' ? c - 'a' + 10
               : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                      : -1;
}

static bool put_decoded(struct buf *out, const char *text, size_t len, bool plus)
{
        for (size_t i = 0; i < len; i++) {
                char c = text[i];
                if (c == '%' && i + 2 < len && form_digit(text[i + 1]) >= 0 && form_digit(text[i + 2]) >= 0) {
                        c = (char)(form_digit(text[i + 1]) * 16 + form_digit(text[i + 2]));
                        i += 2;
                } else if (plus && c == '+') {
                        c = ' ';
                }
                if (c == '\0')
                        return false;
                buf_putc(out, c);
        }
        return true;
}

bool form_put_decoded(struct buf *out, const char *text, size_t len)
{
        return put_decoded(out, text, len, false);
}

static char *form_decoded(const char *text, size_t len)
{
        struct buf out = BUF_INIT;
        if (put_decoded(&out, text, len, true))
                return buf_steal(&out);
        buf_deinit(&out);
        return NULL;
}

static bool form_add_field(struct form *f, const char *text, size_t len)
{
        const char *equals = memchr(text, '=', len);
        size_t n = equals ? (size_t)(equals - text) : len;
        struct form_field field = {form_decoded(text, n),
                                   equals ? form_decoded(equals + 1, len - n - 1) : mem_strdup("")};
        if (!field.name || !field.value || f->fields.len == FORM_MOST_FIELDS) {
                free(field.name);
                free(field.value);
                return false;
        }
        vec_push(&f->fields, field);
        return true;
}

bool form_parse(struct form *f, const char *text, size_t len)
{
        size_t before = f->fields.len;
        for (const char *end = text + len; text < end;) {
                const char *and = memchr(text, '&', (size_t)(end - text));
                size_t n = (size_t)((and? and : end) - text);
                if (n > 0 && !form_add_field(f, text, n)) {
                        while (f->fields.len > before) {
                                f->fields.len--;
                                free(f->fields.data[f->fields.len].name);
                                free(f->fields.data[f->fields.len].value);
                        }
                        return false;
                }
                text += n + 1;
        }
        return true;
}

const char *form_get(const struct form *f, const char *name)
{
        for (size_t i = 0; i < f->fields.len; i++)
                if (strcmp(f->fields.data[i].name, name) == 0)
                        return f->fields.data[i].value;
        return NULL;
}

int form_get_int(const struct form *f, const char *name, int64_t *out)
{
        const char *text = form_get(f, name);
        char *end;
        if (!text)
                return 0;
        errno = 0;
        long long value = strtoll(text, &end, 10);
        if (end == text || *end || errno || isspace((unsigned char)*text))
                return -1;
        *out = value;
        return 1;
}

bool form_has_controls(const char *text)
{
        for (; *text; text++)
                if ((unsigned char)*text < ' ' || *text == 0x7f)
                        return true;
        return false;
}
