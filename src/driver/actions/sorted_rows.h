/* Rows at the driver that are read out of order: two columns of all of them. */
#pragma once

#include "rdd/pipeline/op.h"

struct page;

struct row_table {
        fst_type type;
        size_t n;
        fst_column key, value; /* BYTES are views into the pages */
        struct page *pages;    /* NULL where nothing points into them */
};

/* Take the rows of @pages, which it takes, into @table. */
void row_table_init(struct row_table *table, fst_type type, struct page *pages);

/* Empty is allowed. */
void row_table_deinit(struct row_table *table);

/* Rows @at … @at + @n - 1, valid as long as the table. */
fst_batch row_table_rows(const struct row_table *table, size_t at, uint32_t n);

/* Row @to becomes a copy of row @from, or its value alone does. */
void row_table_copy(struct row_table *table, size_t to, size_t from);
void row_table_copy_value(struct row_table *table, size_t to, size_t from);
