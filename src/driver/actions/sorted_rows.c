/* See sorted_rows.h. */
#include "driver/actions/sorted_rows.h"

#include "base/error.h"
#include "base/mem.h"
#include "exec/actions/row_sink.h"
#include "rdd/pipeline/columns.h"
#include "store/page.h"

static size_t sorted_rows_key_size(const struct sorted_rows *table)
{
        return columns_cell(table->type.key, table->type.key_size);
}

static size_t sorted_rows_value_size(const struct sorted_rows *table)
{
        return columns_cell(table->type.value, table->type.value_size);
}

static void sorted_rows_add(struct sorted_rows *table, const fst_batch *batch)
{
        size_t key = sorted_rows_key_size(table), value = sorted_rows_value_size(table);
        memcpy(table->key.fixed + table->n * key, batch->key.fixed, batch->rows * key);
        if (value)
                memcpy(table->value.fixed + table->n * value, batch->value.fixed, batch->rows * value);
        table->n += batch->rows;
}

int sorted_rows_init(struct sorted_rows *table, fst_type type, struct page *pages, struct fst_error *error)
{
        struct page_cursor cursor;
        size_t rows = 0;
        for (const struct page *page = pages; page; page = page->next)
                rows += page->rows;
        *table = (struct sorted_rows){.type = type, .pages = pages};
        table->key.fixed = mem_try(rows * sorted_rows_key_size(table) + 1);
        table->value.fixed = mem_try(rows * sorted_rows_value_size(table) + 1);
        if (!table->key.fixed || !table->value.fixed) {
                sorted_rows_deinit(table);
                return error_set(error, -ENOMEM,
                                 "no memory in the driver for a table of %zu rows: " NO_DRIVER_MEMORY_REMEDY, rows);
        }
        page_cursor_init(&cursor, type);
        for (const struct page *page = pages; page; page = page->next) {
                fst_batch batch;
                page_cursor_start(&cursor, page);
                while (page_cursor_next(&cursor, &batch))
                        sorted_rows_add(table, &batch);
        }
        page_cursor_deinit(&cursor);
        if (!fst_type_has_bytes(type))
                page_list_free(NULL, steal(table->pages));
        return 0;
}

void sorted_rows_deinit(struct sorted_rows *table)
{
        free(table->key.fixed);
        free(table->value.fixed);
        page_list_free(NULL, table->pages);
        *table = (struct sorted_rows){0};
}

fst_batch sorted_rows_rows(const struct sorted_rows *table, size_t at, uint32_t n)
{
        return (fst_batch){.type = table->type,
                           .rows = n,
                           .key = {.fixed = table->key.fixed + at * sorted_rows_key_size(table)},
                           .value = {.fixed = table->value.fixed + at * sorted_rows_value_size(table)}};
}

void sorted_rows_copy_value(struct sorted_rows *table, size_t to, size_t from)
{
        size_t value = sorted_rows_value_size(table);
        if (to != from && value)
                memcpy(table->value.fixed + to * value, table->value.fixed + from * value, value);
}

void sorted_rows_copy(struct sorted_rows *table, size_t to, size_t from)
{
        size_t key = sorted_rows_key_size(table);
        if (to != from)
                memcpy(table->key.fixed + to * key, table->key.fixed + from * key, key);
        sorted_rows_copy_value(table, to, from);
}
