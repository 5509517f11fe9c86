/* Writes JSON in the layout of Spark's pages. */
#include "text/json_writer.h"

#include "text/json_string.h"
#include "text/number_format.h"

#include <math.h>
#include <stdlib.h>

static void new_line(struct json_out *j)
{
        buf_putc(j->out, '\n');
        for (int i = 0; i < j->depth; i++)
                if (!j->level[i].list)
                        buf_puts(j->out, "  ");
}

/* Writes the separator, indent and name that precede a value. */
static void json_writer_next(struct json_out *j, const char *name)
{
        if (j->depth == 0)
                return;
        bool list = j->level[j->depth - 1].list, first = j->level[j->depth - 1].n++ == 0;
        buf_puts(j->out, first ? "" : ",");
        if (list)
                buf_putc(j->out, ' ');
        else
                new_line(j);
        if (name) {
                json_put_string(j->out, name);
                buf_puts(j->out, " : ");
        }
}

static void json_writer_open(struct json_out *j, const char *name, bool list)
{
        json_writer_next(j, name);
        if (j->depth == JSON_OUT_DEEPEST)
                abort();
        buf_putc(j->out, list ? '[' : '{');
        j->level[j->depth].list = list;
        j->level[j->depth++].n = 0;
}

void json_begin_in(struct json_out *j, const char *name)
{
        json_writer_open(j, name, false);
}

void json_begin(struct json_out *j)
{
        json_writer_open(j, NULL, false);
}

void json_end(struct json_out *j)
{
        if (j->level[--j->depth].n)
                new_line(j);
        else
                buf_putc(j->out, ' ');
        buf_putc(j->out, '}');
}

void json_list(struct json_out *j, const char *name)
{
        json_writer_open(j, name, true);
}

void json_list_end(struct json_out *j)
{
        j->depth--;
        buf_puts(j->out, " ]");
}

void json_text(struct json_out *j, const char *name, const char *value)
{
        json_writer_next(j, name);
        if (value)
                json_put_string(j->out, value);
        else
                buf_puts(j->out, "null");
}

void json_int(struct json_out *j, const char *name, int64_t value)
{
        char digits[NUMBER_I64_SIZE];
        json_writer_next(j, name);
        buf_append(j->out, digits, number_format_i64(digits, value));
}

void json_double(struct json_out *j, const char *name, double value)
{
        char digits[NUMBER_F64_SIZE];
        const char *quote = isfinite(value) ? "" : "\"";
        json_writer_next(j, name);
        buf_puts(j->out, quote);
        buf_append(j->out, digits, number_format_f64(digits, value));
        buf_puts(j->out, quote);
}

void json_bool(struct json_out *j, const char *name, bool value)
{
        json_writer_next(j, name);
        buf_puts(j->out, value ? "true" : "false");
}
