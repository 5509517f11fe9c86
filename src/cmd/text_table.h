/*
 * A table of texts that a command prints with aligned columns.
 *
 *      struct text_table t = {0};
 *      text_table_add_heading(&t, names, ARRAY_SIZE(names));
 *      text_table_add_number(&t, 7);      // cells, row by row
 *      text_table_print(&t);
 *      text_table_deinit(&t);
 */
#pragma once

#include "base/vec.h"

#include <stddef.h>
#include <stdint.h>

/* Cells of a table, row by row. The first row is the heading. */
struct text_table {
        VEC(char *) cells;
        size_t n_columns;
};

void text_table_deinit(struct text_table *t);

/* Adds the first row and sets the number of columns. */
void text_table_add_heading(struct text_table *t, const char *const *names, size_t n);

/* Each adds a cell. */
void text_table_add(struct text_table *t,
                    char *cell); /* steals @cell and replaces controls of a terminal in it by blanks */
void text_table_add_text(struct text_table *t, const char *text); /* NULL and "": "-" */
void text_table_add_number(struct text_table *t, int64_t number);
void text_table_add_time(struct text_table *t, int64_t ms);     /* since 1970, as UTC; 0 and less: "-" */
void text_table_add_duration(struct text_table *t, int64_t ms); /* negative: "-" */
/* The first line of the error, shortened, from the "most recent failure" on if it has one; NULL and "": "-". */
void text_table_add_error(struct text_table *t, const char *error);
void text_table_add_bytes(struct text_table *t, int64_t bytes);

/* The state of an application that has not ended, with its last event, UTC: a killed one stays so. @ms 0: unknown. */
void text_table_add_running(struct text_table *t, int64_t ms);

/* Writes to standard output. */
void text_table_print(const struct text_table *t);
