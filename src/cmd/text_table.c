/* Prints aligned columns; see text_table.h. */
#include "cmd/text_table.h"

#include "base/buf.h"
#include "base/mem.h"
#include "status/diagnosis.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

void text_table_add(struct text_table *t, char *cell)
{
        /* A text from the log may hold line ends and controls of a terminal. */
        for (char *c = cell; *c; c++)
                if ((unsigned char)*c < ' ' || *c == 127)
                        *c = ' ';
        vec_push(&t->cells, cell);
}

void text_table_print(const struct text_table *t)
{
        size_t *widths = new_array(size_t, t->n_columns);
        for (size_t i = 0; i < t->cells.len; i++)
                widths[i % t->n_columns] = MAX(widths[i % t->n_columns], strlen(t->cells.data[i]));
        for (size_t i = 0; i < t->cells.len; i++)
                if ((i + 1) % t->n_columns == 0)
                        printf("%s\n", t->cells.data[i]);
                else
                        printf("%-*s  ", (int)widths[i % t->n_columns], t->cells.data[i]);
        free(widths);
}

void text_table_deinit(struct text_table *t)
{
        for (size_t i = 0; i < t->cells.len; i++)
                free(t->cells.data[i]);
        vec_deinit(&t->cells);
}

void text_table_add_number(struct text_table *t, int64_t number)
{
        text_table_add(t, mem_printf("%" PRId64, number));
}

void text_table_add_text(struct text_table *t, const char *text)
{
        text_table_add(t, mem_strdup(text && *text ? text : "-"));
}

/* Returns @text, or NULL if @ms is no time. */
static const char *text_table_format_time(int64_t ms, char text[32])
{
        time_t seconds = (time_t)(ms / 1000);
        struct tm parts;
        return ms > 0 && gmtime_r(&seconds, &parts) && strftime(text, 32, "%Y-%m-%d %H:%M:%S", &parts) ? text : NULL;
}

void text_table_add_time(struct text_table *t, int64_t ms)
{
        char text[32];
        text_table_add_text(t, text_table_format_time(ms, text));
}

void text_table_add_running(struct text_table *t, int64_t ms)
{
        char text[32];
        if (text_table_format_time(ms, text))
                text_table_add(t, mem_printf("RUNNING (last event at %s)", text));
        else
                text_table_add_text(t, "RUNNING");
}

void text_table_add_duration(struct text_table *t, int64_t ms)
{
        struct buf text = BUF_INIT;
        if (ms < 0)
                buf_puts(&text, "-");
        else
                diagnosis_put_duration(&text, ms);
        text_table_add(t, buf_steal(&text));
}

void text_table_add_error(struct text_table *t, const char *error)
{
        enum { MAX_ERROR = 160 };
        static const char cause[] = "most recent failure: ";
        struct buf text = BUF_INIT;
        const char *at = error ? strstr(error, cause) : NULL;
        diagnosis_put_error(&text, at ? at + strlen(cause) : error, MAX_ERROR);
        text_table_add_text(t, buf_text(&text));
        buf_deinit(&text);
}

void text_table_add_bytes(struct text_table *t, int64_t bytes)
{
        struct buf text = BUF_INIT;
        diagnosis_put_bytes(&text, bytes);
        text_table_add(t, buf_steal(&text));
}

void text_table_add_heading(struct text_table *t, const char *const *names, size_t n)
{
        t->n_columns = n;
        for (size_t i = 0; i < n; i++)
                text_table_add_text(t, names[i]);
}
