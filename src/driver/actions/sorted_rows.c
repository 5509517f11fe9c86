/* See row_table.h. */
#include "driver/actions/sorted_rows.h"

#include "base/mem.h"
#include "rdd/pipeline/columns.h"
#include "store/page.h"

static size_t key_cell(const struct row_table *table)
{
        return columns_cell(table->type.key, table->type.key_size);
}

static size_t value_cell(const struct row_table *table)
{
        return columns_cell(table->type.value, table->type.value_size);
}

static void sorted_rows_add(struct row_table *table, const fst_batch *batch)
{
        size_t key = key_cell(table), value = value_cell(table);
        memcpy(table->key.fixed + table->n * key, batch->key.fixed, batch->rows * key);
        if (value)
                memcpy(table->value.fixed + table->n * value, batch->value.fixed, batch->rows * value);
        table->n += batch->rows;
}

void row_table_init(struct row_table *table, fst_type type, struct page *pages)
{
        struct page_cursor cursor;
        size_t rows = 0;
        for (const struct page *page = pages; page; page = page->next)
                rows += page->rows;
        *table = (struct row_table){.type = type, .pages = pages};
        table->key.fixed = mem_alloc(rows * key_cell(table) + 1);
        table->value.fixed = mem_alloc(rows * value_cell(table) + 1);
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
}

void row_table_deinit(struct row_table *table)
{
        free(table->key.fixed);
        free(table->value.fixed);
        page_list_free(NULL, table->pages);
        *table = (struct row_table){0};
}

fst_batch row_table_rows(const struct row_table *table, size_t at, uint32_t n)
{
        return (fst_batch){.type = table->type,
                           .rows = n,
                           .key = {.fixed = table->key.fixed + at * key_cell(table)},
                           .value = {.fixed = table->value.fixed + at * value_cell(table)}};
}

void row_table_copy_value(struct row_table *table, size_t to, size_t from)
{
        size_t value = value_cell(table);
        if (to != from && value)
                memcpy(table->value.fixed + to * value, table->value.fixed + from * value, value);
}

void row_table_copy(struct row_table *table, size_t to, size_t from)
{
        size_t key = key_cell(table);
        if (to != from)
                memcpy(table->key.fixed + to * key, table->key.fixed + from * key, key);
        row_table_copy_value(table, to, from);
}
