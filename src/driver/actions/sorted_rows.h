/* Rows in the driver with random access: two columns of all rows. */
#pragma once

#include "rdd/pipeline/op.h"

struct page;

struct sorted_rows {
        fst_type type;
        size_t n;
        fst_column key, value; /* BYTES are views into the pages */
        struct page *pages;    /* NULL if no value points into them */
};

/* Fills @table with the rows of @pages, which it owns, also on failure. Returns 0, or -ENOMEM with @error. */
int sorted_rows_init(struct sorted_rows *table, fst_type type, struct page *pages, struct fst_error *error);

/* An empty table is allowed. */
void sorted_rows_deinit(struct sorted_rows *table);

/* Returns rows @at … @at + @n - 1, valid as long as the table. */
fst_batch sorted_rows_rows(const struct sorted_rows *table, size_t at, uint32_t n);

/* Copy row @from, or only its value, over row @to. */
void sorted_rows_copy(struct sorted_rows *table, size_t to, size_t from);
void sorted_rows_copy_value(struct sorted_rows *table, size_t to, size_t from);
