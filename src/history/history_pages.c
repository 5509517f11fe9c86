/*
 * See history_pages.h. The list is sorted and paged here, so that browsers need no script for 10,000 applications:
 *
 *      /?showIncomplete=true&search=TEXT&app.sort=HEADING&app.desc=true&app.page=2&app.pageSize=100
 *
 * The names of the parameters are those of Spark's sorted tables.
 */
#include "history/history_pages.h"

#include "base/mem.h"
#include "base/string_prefix.h"
#include "history/history_server.h"
#include "ui/pages/pages.h"
#include "web/html.h"

#include <strings.h>

enum { DEFAULT_PAGE_SIZE = 100 };

/* An attempt in the list. */
struct history_row {
        const struct app_summary *app;
        const struct app_attempt *attempt;
        size_t at; /* in the order of the source */
};

typedef int history_row_compare(const struct history_row *a, const struct history_row *b);

static int history_row_compare_text(const char *a, const char *b)
{
        return !a || !b ? (a != NULL) - (b != NULL) : strcasecmp(a, b);
}

static int history_row_compare_number(int64_t a, int64_t b)
{
        return (a > b) - (a < b);
}

#define ROW_TEXT(name, value)                                                                                          \
        static int history_row_by_##name(const struct history_row *a, const struct history_row *b)                     \
        {                                                                                                              \
                return history_row_compare_text(a->value, b->value);                                                   \
        }
#define ROW_NUMBER(name, value)                                                                                        \
        static int history_row_by_##name(const struct history_row *a, const struct history_row *b)                     \
        {                                                                                                              \
                return history_row_compare_number(a->value, b->value);                                                 \
        }
ROW_TEXT(version, attempt->spark_version)
ROW_TEXT(app_id, app->id)
ROW_TEXT(app_name, app->name)
ROW_TEXT(attempt_id, attempt->id)
ROW_TEXT(user, attempt->user)
ROW_NUMBER(start, attempt->start_ms)
ROW_NUMBER(end, attempt->end_ms)
ROW_NUMBER(duration, attempt->duration_ms)
ROW_NUMBER(update, attempt->updated_ms)

/* NULL: not sorted by it. */
static const struct {
        const char *heading;
        history_row_compare *compare;
        bool of_ended, of_attempts; /* shown only with ended applications, or if one has several attempts */
} history_columns[] = {
        {"Version", history_row_by_version, false, false},     {"App ID", history_row_by_app_id, false, false},
        {"App Name", history_row_by_app_name, false, false},   {"Attempt ID", history_row_by_attempt_id, false, true},
        {"Started", history_row_by_start, false, false},       {"Completed", history_row_by_end, true, false},
        {"Duration", history_row_by_duration, true, false},    {"Spark User", history_row_by_user, false, false},
        {"Last Updated", history_row_by_update, false, false}, {"Event Log", NULL, false, false},
};

/* The parameters of a request for the list. */
struct history_list_page {
        const struct ui_request *q;
        bool incomplete, descending, has_attempts;
        const char *search; /* NULL: none */
        size_t column;      /* SIZE_MAX: the order of the source */
        size_t page, size;  /* from 1; size 0: all on one page */
        VEC(struct history_row) rows;
};

static _Thread_local const struct history_list_page *sorted_page; /* for qsort */

static int history_row_compare_sorted(const void *a, const void *b)
{
        const struct history_row *x = a, *y = b;
        int order = history_columns[sorted_page->column].compare(x, y);
        if (order)
                return sorted_page->descending ? -order : order;
        return history_row_compare_number((int64_t)x->at, (int64_t)y->at);
}

/* Returns false for a column that does not exist or is not sorted by. */
static bool history_list_page_read(struct history_list_page *p, const struct ui_request *q)
{
        const char *incomplete = form_get(q->query, "showIncomplete"), *sort = form_get(q->query, "app.sort");
        const char *descending = form_get(q->query, "app.desc");
        int64_t page = 1, size = DEFAULT_PAGE_SIZE;
        form_get_int(q->query, "app.page", &page);
        form_get_int(q->query, "app.pageSize", &size);
        *p = (struct history_list_page){.q = q,
                                        .incomplete = incomplete && strcasecmp(incomplete, "true") == 0,
                                        .descending = descending && strcasecmp(descending, "true") == 0,
                                        .search = form_get(q->query, "search"),
                                        .column = SIZE_MAX,
                                        .page = (size_t)MAX(page, (int64_t)1),
                                        .size = size > 0 ? (size_t)size : 0};
        if (p->search && !*p->search)
                p->search = NULL;
        for (size_t i = 0; sort && *sort && i < ARRAY_SIZE(history_columns); i++)
                if (history_columns[i].compare && strcasecmp(history_columns[i].heading, sort) == 0)
                        p->column = i;
        return !sort || !*sort || p->column != SIZE_MAX;
}

static bool history_row_matches(const struct history_row *row, const char *search)
{
        return !search || strcasestr(row->app->id, search) || strcasestr(row->app->name, search) ||
               strcasestr(row->attempt->user, search) || strcasestr(row->attempt->spark_version, search);
}

static void history_list_page_fill(struct history_list_page *p, const struct app_list *list)
{
        for (size_t i = 0; i < list->apps.len; i++) {
                const struct app_summary *app = &list->apps.data[i];
                for (size_t k = 0; k < app->n_attempts; k++) {
                        struct history_row row = {app, &app->attempts[k], p->rows.len};
                        if (row.attempt->completed == p->incomplete || !history_row_matches(&row, p->search))
                                continue;
                        p->has_attempts = p->has_attempts || row.attempt->id;
                        vec_push(&p->rows, row);
                }
        }
        sorted_page = p;
        if (p->column != SIZE_MAX && p->rows.len)
                qsort(p->rows.data, p->rows.len, sizeof(*p->rows.data), history_row_compare_sorted);
}

/* ------------------------------------------------------------------------------------------------- HTML */

/* Begins a link to the list with the present parameters but those given. */
static void history_list_put_link(struct buf *b, const struct history_list_page *p, bool incomplete, size_t column,
                                  bool descending, size_t page)
{
        html_put(b, "<a href=\"%s/?", p->q->site);
        if (incomplete)
                html_put(b, "showIncomplete=true&amp;");
        if (p->search)
                html_put(b, "search=%q&amp;", p->search);
        if (column != SIZE_MAX)
                html_put(b, "app.sort=%q&amp;app.desc=%s&amp;", history_columns[column].heading,
                         descending ? "true" : "false");
        html_put(b, "app.page=%D&amp;app.pageSize=%D\">", (int64_t)page, (int64_t)p->size);
}

static bool history_list_shows(const struct history_list_page *p, size_t column)
{
        return (!history_columns[column].of_ended || !p->incomplete) &&
               (!history_columns[column].of_attempts || p->has_attempts);
}

static void history_list_put_headings(struct buf *b, const struct history_list_page *p)
{
        html_put(b, "<thead><tr>");
        for (size_t i = 0; i < ARRAY_SIZE(history_columns); i++) {
                bool sorted = p->column == i;
                if (!history_list_shows(p, i))
                        continue;
                buf_puts(b, !sorted         ? "<th scope=\"col\">"
                            : p->descending ? "<th scope=\"col\" aria-sort=\"descending\">"
                                            : "<th scope=\"col\" aria-sort=\"ascending\">");
                if (history_columns[i].compare)
                        history_list_put_link(b, p, p->incomplete, i, sorted && !p->descending, 1);
                html_put(b, "%s", history_columns[i].heading);
                buf_puts(b, history_columns[i].compare ? "</a></th>" : "</th>");
        }
        html_put(b, "</tr></thead>\n");
}

static void history_list_put_time(struct buf *b, int64_t ms)
{
        if (ms > 0)
                html_put(b, "<td>%t</td>", ms);
        else
                html_put(b, "<td>-</td>");
}

static void history_list_put_row(struct buf *b, const struct history_list_page *p, const struct history_row *row)
{
        const struct app_attempt *t = row->attempt;
        const char *id = row->app->id, *slash = t->id ? "/" : "", *attempt = t->id ? t->id : "";
        html_put(b, "<tr><td>%s</td>", t->spark_version);
        html_put(b, "<td><a href=\"%s/history/%q%s%q/jobs/\">%s</a></td><td>%s</td>", p->q->site, id, slash, attempt,
                 id, row->app->name);
        if (p->has_attempts)
                html_put(b, "<td>%s</td>", t->id);
        history_list_put_time(b, t->start_ms);
        if (!p->incomplete) {
                history_list_put_time(b, t->end_ms);
                html_put(b, "<td>%u</td>", t->duration_ms);
        }
        html_put(b, "<td>%s</td>", t->user);
        history_list_put_time(b, t->updated_ms);
        html_put(b, "<td><a href=\"%s/api/v1/applications/%q%s%q/logs\" download>Download</a></td></tr>\n", p->q->site,
                 id, slash, attempt);
}

static void history_list_put_pages(struct buf *b, const struct history_list_page *p, size_t n_pages)
{
        if (n_pages < 2)
                return;
        html_put(b, "<nav aria-label=\"Pages\"><p>");
        for (size_t i = 1; i <= n_pages; i++) {
                bool near = i == 1 || i == n_pages || (i + 3 > p->page && i < p->page + 3);
                if (i == p->page) {
                        html_put(b, "<strong>%D</strong> ", (int64_t)i);
                } else if (near) {
                        history_list_put_link(b, p, p->incomplete, p->column, p->descending, i);
                        html_put(b, "%D</a> ", (int64_t)i);
                } else if (i + 3 == p->page || i == p->page + 3) {
                        html_put(b, "&hellip; ");
                }
        }
        html_put(b, "</p></nav>\n");
}

static void history_list_put_state(struct buf *b, const struct history_list_page *p,
                                   const struct history_server_state *state)
{
        html_put(b, "<dl class=\"facts\">\n");
        html_put_fact(b, "Event log directory", "%s", state->dirs);
        if (state->scanned_ms)
                html_put_fact(b, "Last updated", "%t", state->scanned_ms);
        if (state->n_pending)
                html_put_fact(b, "Logs still to be read", "%D", (int64_t)state->n_pending);
        html_put(b,
                 "</dl>\n<form method=\"get\" action=\"%s/\" role=\"search\"><p><label>Search <input type=\"search\" "
                 "name=\"search\" value=\"%s\"></label> ",
                 p->q->site, p->search);
        if (p->incomplete)
                html_put(b, "<input type=\"hidden\" name=\"showIncomplete\" value=\"true\">");
        html_put(b, "<button type=\"submit\">Search</button></p></form>\n");
}

static void history_list_put(struct buf *b, struct history_list_page *p, const struct history_server_state *state)
{
        size_t shown = p->rows.len;
        if (state->max_applications)
                shown = MIN(shown, state->max_applications);
        size_t all = MAX(shown, (size_t)1), size = p->size ? MIN(p->size, all) : all, n_pages = (all + size - 1) / size;
        p->page = MIN(p->page, n_pages);
        struct html_page page = {
                .base = p->q->site, .title = state->title ? state->title : "History Server", .user = p->q->user};
        html_begin(b, &page);
        history_list_put_state(b, p, state);
        html_put(b, "<h2 id=\"applications\">%s applications <span class=\"count\">(%D)</span></h2>\n",
                 p->incomplete ? "Incomplete" : "Completed", (int64_t)shown);
        if (!shown && !p->search && state->problem) {
                html_put(b, "<p class=\"nothing\">Event logs cannot be listed: %s</p>\n", state->problem);
        } else if (!shown) {
                html_put(b, "<p class=\"nothing\">%s</p>\n",
                         p->search          ? "No application matches the search."
                         : p->incomplete    ? "No incomplete applications found."
                         : state->n_pending ? "Logs are being read: load this page again."
                                            : "No completed applications found.");
        } else {
                html_put(b, "<div class=\"wide\"><table>\n");
                history_list_put_headings(b, p);
                html_put(b, "<tbody>\n");
                for (size_t i = (p->page - 1) * size; i < MIN(p->page * size, shown); i++)
                        history_list_put_row(b, p, &p->rows.data[i]);
                html_put(b, "</tbody>\n</table></div>\n");
                history_list_put_pages(b, p, n_pages);
        }
        html_put(b, "<p>");
        history_list_put_link(b, p, !p->incomplete, SIZE_MAX, false, 1);
        html_put(b, "Show %s applications</a> &middot; <a href=\"%s/compare/\">Compare two applications</a></p>\n",
                 p->incomplete ? "completed" : "incomplete", page.base);
        html_end(b, &page);
}

static void history_serve_list(const struct ui_request *q, struct ui_answer *a)
{
        struct history_list_page page;
        struct history_server_state state;
        struct app_list list = {0};
        a->type = "text/html;charset=utf-8";
        if (!history_list_page_read(&page, q)) {
                a->status = 400;
                struct html_page problem = {.base = q->site, .title = "Unknown column", .user = q->user};
                html_begin(&a->body, &problem);
                html_put(&a->body, "<p>The list cannot be sorted by &quot;%s&quot;.</p>\n",
                         form_get(q->query, "app.sort"));
                html_end(&a->body, &problem);
                return;
        }
        history_server_get_state(history_server_of(q->source), &state);
        q->source->class->list(q->source, NULL, &list);
        history_list_page_fill(&page, &list);
        a->status = 200;
        history_list_put(&a->body, &page, &state);
        vec_deinit(&page.rows);
        app_list_deinit(&list);
        free(state.problem);
}

static void history_serve_unknown(const struct ui_request *q, struct ui_answer *a)
{
        struct html_page page = {.base = q->site, .title = "Not found", .user = q->user};
        a->status = 404;
        a->type = "text/html;charset=utf-8";
        html_begin(&a->body, &page);
        html_put(&a->body, "<p>There is no page %s. <a href=\"%s/\">All applications</a></p>\n", q->path, q->site);
        html_end(&a->body, &page);
}

void history_serve_page(const struct ui_request *q, struct ui_answer *a)
{
        if (q->view || text_starts_with(q->path, "/static/"))
                pages_serve(q, a);
        else if (strcmp(q->path, "/compare") == 0)
                pages_serve_comparison(q, a);
        else if (strcmp(q->path, "/") == 0)
                history_serve_list(q, a);
        else
                history_serve_unknown(q, a);
}
