/* Tables that the server sorts and divides into pages; see page.h. */
#include "ui/pages/page.h"

#include "base/mem.h"

#include <inttypes.h>
#include <stdio.h>

enum { PAGE_ROWS = 100, PAGE_MAX_ROWS = 10000 };

static const char *page_table_get(const struct ui_page *p, const char *tag, const char *name)
{
        char whole[64];
        snprintf(whole, sizeof(whole), "%s.%s", tag, name);
        return form_get(p->q->query, whole);
}

static bool page_table_get_number(const struct ui_page *p, const char *tag, const char *name, int64_t *out)
{
        char whole[64];
        snprintf(whole, sizeof(whole), "%s.%s", tag, name);
        return form_get_int(p->q->query, whole, out) == 1;
}

bool page_table_init(struct ui_page *p, struct page_table *t, const char *tag, const struct page_column *columns,
                     size_t n_columns, size_t default_sort, bool default_descending, size_t n)
{
        const char *sort = page_table_get(p, tag, "sort"), *descending = page_table_get(p, tag, "desc");
        int64_t size = PAGE_ROWS, page = 1;
        *t = (struct page_table){.tag = tag, .columns = columns, .n_columns = n_columns, .sort = default_sort, .n = n};
        if (sort) {
                for (t->sort = 0; t->sort < n_columns; t->sort++)
                        if (strcmp(columns[t->sort].heading, sort) == 0 && !columns[t->sort].is_unsorted)
                                break;
                if (t->sort == n_columns) {
                        page_fail(p, 400, "The table cannot be sorted by the column '%.100s'.", sort);
                        return false;
                }
        }
        t->descending = descending ? strcmp(descending, "true") == 0 : !sort && default_descending;
        page_table_get_number(p, tag, "pageSize", &size);
        page_table_get_number(p, tag, "page", &page);
        t->size = size > 0 ? (size_t)MIN(size, (int64_t)PAGE_MAX_ROWS) : MIN(MAX(n, (size_t)1), (size_t)PAGE_MAX_ROWS);
        size_t n_pages = n / t->size + (n % t->size > 0);
        t->page = page < 1 ? 0 : (size_t)page - 1;
        t->page = n_pages ? MIN(t->page, n_pages - 1) : 0;
        t->from = t->page * t->size;
        t->end = t->from + MIN(t->size, n - t->from);
        return true;
}

/* Appends the query with other parameters of this table. @column NULL: keeps the order. */
static void page_table_put_query(struct ui_page *p, const struct page_table *t, const char *column, bool descending,
                                 size_t page)
{
        const struct form *query = p->q->query;
        size_t n = strlen(t->tag);
        const char *separator = "?";
        for (size_t i = 0; i < query->fields.len; i++) {
                const struct form_field *f = &query->fields.data[i];
                if (strncmp(f->name, t->tag, n) == 0 && f->name[n] == '.' &&
                    (strcmp(f->name + n, ".page") == 0 ||
                     (column && (strcmp(f->name + n, ".sort") == 0 || strcmp(f->name + n, ".desc") == 0))))
                        continue;
                html_put(p->b, "%s%q=%q", separator, f->name, f->value);
                separator = "&"; /* %s escapes it */
        }
        if (column)
                html_put(p->b, "%s%q.sort=%q&amp;%q.desc=%s", separator, t->tag, column, t->tag,
                         descending ? "true" : "false");
        else
                html_put(p->b, "%s%q.page=%D", separator, t->tag, (int64_t)page + 1);
        html_put(p->b, "#%s", t->tag);
}

static void page_table_put_heading(struct ui_page *p, const struct page_table *t, size_t i)
{
        const struct page_column *c = &t->columns[i];
        bool is_sorted = i == t->sort;
        buf_puts(p->b, "<th scope=\"col\"");
        if (c->is_number)
                buf_puts(p->b, " class=\"number\"");
        if (is_sorted)
                html_put(p->b, " aria-sort=\"%s\"", t->descending ? "descending" : "ascending");
        buf_puts(p->b, ">");
        if (c->is_unsorted || t->n < 2) {
                html_put(p->b, "%s</th>", c->heading);
                return;
        }
        buf_puts(p->b, "<a href=\"");
        page_table_put_query(p, t, c->heading, is_sorted ? !t->descending : c->is_number, 0);
        html_put(p->b, "\">%s%s</a></th>", c->heading,
                 !is_sorted      ? ""
                 : t->descending ? "\xc2\xa0\xe2\x96\xbe"
                                 : "\xc2\xa0\xe2\x96\xb4");
}

static void page_table_put_pager(struct ui_page *p, const struct page_table *t)
{
        size_t n_pages = t->n / t->size + (t->n % t->size > 0), last = n_pages ? n_pages - 1 : 0;
        if (n_pages < 2)
                return;
        html_put(p->b, "<nav class=\"pager\" aria-label=\"Rows\">");
        const size_t targets[] = {0, t->page ? t->page - 1 : 0, MIN(t->page + 1, last), last};
        static const char *const names[] = {"First", "Previous", "Next", "Last"};
        for (size_t i = 0; i < ARRAY_SIZE(targets); i++) {
                if (i == 2)
                        html_put(p->b, "<span>rows %D to %D of %D</span>", (int64_t)t->from + 1, (int64_t)t->end,
                                 (int64_t)t->n);
                if (targets[i] == t->page) {
                        html_put(p->b, "<span class=\"off\">%s</span>", names[i]);
                        continue;
                }
                buf_puts(p->b, "<a href=\"");
                page_table_put_query(p, t, NULL, false, targets[i]);
                html_put(p->b, "\">%s</a>", names[i]);
        }
        buf_puts(p->b, "</nav>\n");
}

void page_table_begin(struct ui_page *p, const struct page_table *t)
{
        enum { HEAD_PX = 57, ROW_TENTH_PX = 347 };
        page_table_put_pager(p, t);
        buf_puts(p->b, "<div class=\"wide\" tabindex=\"0\"");
        if (t->is_last)
                html_put(p->b, " style=\"contain-intrinsic-height:auto %Dpx\"",
                         HEAD_PX + (int64_t)(t->end - t->from) * ROW_TENTH_PX / 10);
        html_put(p->b, "><table%s>\n<thead><tr>", p->right ? " class=right" : "");
        for (size_t i = 0; i < t->n_columns; i++)
                page_table_put_heading(p, t, i);
        buf_puts(p->b, "</tr></thead>\n<tbody>\n");
}

void page_table_end(struct ui_page *p)
{
        p->right = false;
        buf_puts(p->b, "</tbody>\n</table></div>\n");
}

static int page_key_compare(const void *a, const void *b)
{
        const struct page_key *x = a, *y = b;
        int order = x->text || y->text ? strcmp(x->text ? x->text : "", y->text ? y->text : "") : 0;
        return order ? order : (x->number > y->number) - (x->number < y->number);
}

void page_table_sort(const struct page_table *t, struct page_key *keys)
{
        if (t->n < 2)
                return;
        qsort(keys, t->n, sizeof(*keys), page_key_compare);
        for (size_t i = 0; t->descending && i < t->n / 2; i++) {
                struct page_key swap = keys[i];
                keys[i] = keys[t->n - 1 - i];
                keys[t->n - 1 - i] = swap;
        }
}
