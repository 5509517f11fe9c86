/*
 * show: prints the first rows as a table on standard output, in the layout of Spark's Dataset.show.
 *
 * Cells are aligned right and cut to 20 characters. FIXED rows are hexadecimal, like Spark's binary columns. Control
 * characters are escaped, so that no row can break the table or control the terminal.
 */
#include "driver/actions/actions.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "structs/struct_row.h"
#include "base/vec.h"
#include "text/number_format.h"

#include <stdio.h>

enum { MAX_CELL = 20, MIN_CELL = 3, MAX_COLUMNS = 2 };

struct show_table {
        int columns;
        size_t width[MAX_COLUMNS];
        VEC(char *) cells; /* row by row, after the names of the columns */
};

static void show_table_deinit(struct show_table *t)
{
        for (size_t i = 0; i < t->cells.len; i++)
                free(t->cells.data[i]);
        vec_deinit(&t->cells);
}

/* Counts the characters of UTF-8 text: all bytes but continuation bytes. */
static size_t show_count_characters(const char *text)
{
        size_t n = 0;
        for (; *text; text++)
                n += ((unsigned char)*text & 0xc0) != 0x80;
        return n;
}

/* Cuts @text after @n characters. */
static void show_cut(char *text, size_t n)
{
        for (; *text; text++)
                if (((unsigned char)*text & 0xc0) != 0x80 && n-- == 0)
                        break;
        *text = 0;
}

static void show_put_escaped(struct buf *b, fst_bytes text)
{
        static const char controls[] = "\n\r\t\f\b\v\a", letters[] = "nrtfbva";
        /* The rest would be cut off: a character has at most 4 bytes. */
        for (size_t i = 0; i < text.len && b->len <= 4 * (MAX_CELL + 1); i++) {
                unsigned char c = (unsigned char)text.data[i];
                const char *at = c ? strchr(controls, c) : NULL;
                if (at)
                        buf_printf(b, "\\%c", letters[at - controls]);
                else if (c < 0x20 || c == 0x7f)
                        buf_printf(b, "\\x%02X", c);
                else
                        buf_putc(b, (char)c);
        }
}

static void show_put_hex(struct buf *b, const char *data, size_t size)
{
        buf_putc(b, '[');
        for (size_t i = 0; i < size && b->len <= MAX_CELL; i++)
                buf_printf(b, "%s%02X", i ? " " : "", (unsigned char)data[i]);
        buf_putc(b, ']');
}

/* @size: as in the type of the column. */
static void show_put_bytes(struct buf *b, uint32_t size, fst_bytes bytes)
{
        const struct struct_type *s = struct_type_of_column(FST_KIND_BYTES, size);
        if (!s) {
                show_put_escaped(b, bytes);
                return;
        }
        _cleanup_free_ char *text = mem_alloc(struct_row_text_size(s, bytes));
        show_put_escaped(b, (fst_bytes){text, (size_t)(struct_row_print(s, bytes, text) - text)});
}

static void show_add_cell(struct show_table *t, struct buf *text)
{
        size_t column = t->cells.len % (size_t)t->columns;
        char *cell = mem_strdup(buf_text(text));
        if (show_count_characters(cell) > MAX_CELL) {
                show_cut(cell, MAX_CELL - 3);
                char *cut = mem_printf("%s...", cell);
                free(cell);
                cell = cut;
        }
        t->width[column] = MAX(t->width[column], show_count_characters(cell));
        vec_push(&t->cells, cell);
}

static void show_add_value(struct show_table *t, int kind, size_t size, const fst_column *column, uint32_t row)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        char number[NUMBER_F64_SIZE];
        switch (kind) {
        case FST_KIND_I64:
                buf_append(&text, number, number_format_i64(number, column->i64[row]));
                break;
        case FST_KIND_F64:
                buf_append(&text, number, number_format_f64(number, column->f64[row]));
                break;
        case FST_KIND_BYTES:
                show_put_bytes(&text, (uint32_t)size, column->bytes[row]);
                break;
        default:
                show_put_hex(&text, column->fixed + row * size, size);
        }
        show_add_cell(t, &text);
}

static void show_add_name(struct show_table *t, const char *name)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        buf_puts(&text, name);
        show_add_cell(t, &text);
}

/* Adds at most @n rows. Returns whether there are more. */
static bool show_add_rows(struct show_table *t, fst_iter *rows, fst_type type, int64_t n)
{
        for (const fst_batch *batch; fst_next_batch(rows, &batch);) {
                for (uint32_t i = 0; i < batch->rows; i++) {
                        if (n-- == 0)
                                return true;
                        show_add_value(t, type.key, type.key_size, &batch->key, i);
                        if (t->columns > 1)
                                show_add_value(t, type.value, type.value_size, &batch->value, i);
                }
        }
        return false;
}

static void show_put_rule(const struct show_table *t, struct buf *b)
{
        for (int c = 0; c < t->columns; c++) {
                buf_putc(b, '+');
                for (size_t i = 0; i < t->width[c]; i++)
                        buf_putc(b, '-');
        }
        buf_puts(b, "+\n");
}

static void show_put_table(const struct show_table *t, struct buf *b)
{
        show_put_rule(t, b);
        for (size_t at = 0; at < t->cells.len; at++) {
                size_t column = at % (size_t)t->columns, len = show_count_characters(t->cells.data[at]);
                buf_putc(b, '|');
                for (; len < t->width[column]; len++)
                        buf_putc(b, ' ');
                buf_puts(b, t->cells.data[at]);
                if ((int)column < t->columns - 1)
                        continue;
                buf_puts(b, "|\n");
                if (at + 1 == (size_t)t->columns)
                        show_put_rule(t, b);
        }
        show_put_rule(t, b);
}

FST_API int fst_show_at(fst_rdd *rdd, int64_t n, fst_site site)
{
        rdd = rdd_given(rdd, site);
        _cleanup_(show_table_deinit) struct show_table table = {.width = {MIN_CELL, MIN_CELL}};
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        fst_iter *rows;
        n = MAX(n, 0);
        int r = fst_take_at(rdd, n < INT64_MAX ? n + 1 : n, &rows, site);
        if (r)
                return r;
        fst_type type = fst_rdd_type(rdd);
        table.columns = type.value ? 2 : 1;
        if (type.value)
                show_add_name(&table, "key");
        show_add_name(&table, "value");
        bool more = show_add_rows(&table, rows, type, n);
        if ((r = fst_iter_status(rows)))
                return r;
        show_put_table(&table, &text);
        if (more)
                buf_printf(&text, "only showing top %lld row%s\n", (long long)n, n == 1 ? "" : "s");
        if (fwrite(text.data, 1, text.len, stdout) == text.len && fflush(stdout) == 0)
                return 0;
        struct fst_error error = FST_ERROR_INIT;
        r = error_errno(&error, "writing the table to standard output");
        return action_failed(rdd, site, r, &error);
}
