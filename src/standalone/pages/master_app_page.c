/* See master_pages_internal.h: an application, its executors and links to their logs. */
#include "base/mem.h"
#include "standalone/pages/master_json.h"
#include "standalone/pages/master_pages_internal.h"

/* @href: its worker's pages, or NULL. */
static void put_log_links(struct buf *b, const char *href, const char *app_id, int executor)
{
        static const char *const types[] = {"stdout", "stderr"};
        for (size_t i = 0; href && i < ARRAY_SIZE(types); i++)
                html_put(b, "%s<a href=\"%s/logPage/?appId=%q&amp;executorId=%d&amp;logType=%s\">%s</a>", i ? " " : "",
                         href, app_id, executor, types[i], types[i]);
}

static void master_app_page_put_executor_row(const struct master_pages *p, const struct web_request *q, struct buf *b,
                                             const struct master_executor *e, const char *app_id)
{
        const struct master *m = master_pages_state(p);
        const struct master_worker *w = e->worker ? e->worker : e->worker_id ? master_worker(m, e->worker_id) : NULL;
        _cleanup_free_ char *href = w ? master_href(p, q, w->id, w->web_ui) : NULL;
        html_put(b, "<tr><td class=\"number\">%d</td><td>", e->id);
        master_put_link(b, href, e->worker_id);
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td class=\"number\">%d</td><td>",
                 e->cores, e->memory, e->profile ? e->profile->id : 0);
        master_put_holds(b, e->worker, e->holds, e->n_holds);
        buf_puts(b, "</td><td>");
        html_state(b, executor_state_name(e->state));
        buf_puts(b, "</td><td>");
        put_log_links(b, href, app_id, e->id);
        buf_puts(b, "</td></tr>\n");
}

#define EXECUTOR_COLUMNS "#ExecutorID|Worker|#Cores|#Memory|#Resource Profile Id|Resources|State|Logs"

static void put_executors(const struct master_pages *p, const struct web_request *q, struct buf *b,
                          const struct master_app *app)
{
        size_t n = 0;
        for (const struct master_executor *e = app->executors; e; e = e->next_in_app)
                n++;
        html_table_begin(b, "executors", "Executor Summary", EXECUTOR_COLUMNS, n, "It has no executor.");
        for (const struct master_executor *e = app->executors; e; e = e->next_in_app)
                master_app_page_put_executor_row(p, q, b, e, app->id);
        html_table_end(b, n);
        n = app->removed.len;
        if (n == 0)
                return;
        html_table_begin(b, "removed-executors", "Removed Executors", EXECUTOR_COLUMNS, n, "");
        for (size_t i = n; i-- > 0;)
                master_app_page_put_executor_row(p, q, b, app->removed.data[i], app->id);
        html_table_end(b, n);
}

static void put_app_cores(struct buf *b, const struct master_app *app)
{
        master_put_fact(b, "Cores");
        if (app->max_cores == 0)
                html_put(b, "Unlimited (%d granted)</dd>\n", app->cores_granted);
        else
                html_put(b, "%d (%d granted, %d left)</dd>\n", app->max_cores, app->cores_granted,
                         app->max_cores - app->cores_granted);
        int target = 0;
        bool limited = app->profiles.len > 0;
        for (size_t i = 0; i < app->profiles.len; i++) {
                limited = limited && app->profiles.data[i]->target < INT32_MAX;
                target += limited ? app->profiles.data[i]->target : 0;
        }
        master_put_fact(b, "Executor Limit");
        if (limited)
                html_put(b, "%d (%d granted)</dd>\n", target, app->n_executors);
        else
                html_put(b, "Unlimited (%d granted)</dd>\n", app->n_executors);
}

static void put_app_facts(const struct master_pages *p, const struct web_request *q, struct buf *b,
                          const struct master_app *app)
{
        const struct app_profile *profile = app->profiles.len ? app->profiles.data[0] : NULL;
        buf_puts(b, "<dl class=\"facts\">\n");
        html_put_fact(b, "ID", "%s", app->id);
        html_put_fact(b, "Name", "%s", app->name);
        html_put_fact(b, "User", "%s", app->user);
        put_app_cores(b, app);
        html_put_fact(b, "Executor Memory - Default Resource Profile", "%m", profile ? profile->memory : (int64_t)0);
        master_put_fact(b, "Executor Resources - Default Resource Profile");
        master_put_needs(b, profile ? &profile->needs : NULL);
        buf_puts(b, "</dd>\n");
        html_put_fact(b, "Submit Date", "%t", app->submitted);
        html_put_fact(b, "Duration", "%u", master_app_duration(master_pages_state(p), app, p->options.ops->now()));
        master_put_fact(b, "State");
        html_state(b, app_state_name(app->state));
        master_put_app_kill_form(p, q, b, app);
        buf_puts(b, "</dd>\n");
        _cleanup_free_ char *href = master_app_href(p, q, app);
        master_put_fact(b, "Application UI");
        master_put_link(b, href,
                        app->ended && href            ? "Application History UI"
                        : app->ui_url && *app->ui_url ? "Application Detail UI"
                                                      : "Disabled");
        buf_puts(b, "</dd>\n</dl>\n");
}

void master_serve_app(struct master_pages *p, struct web_request *q)
{
        const char *id = form_get(&q->form, "appId");
        const struct master_app *app = id ? master_any_app(master_pages_state(p), id) : NULL;
        if (!app) {
                _cleanup_free_ char *sentence = mem_printf("No running application with ID %.200s", id ? id : "");
                return web_refuse(q, 404, sentence);
        }
        struct buf b = BUF_INIT;
        _cleanup_free_ char *title = mem_printf("Application: %s", app->name);
        struct html_page page = {
                .base = q->base, .title = title, .back_url = "/", .back_text = "Back to Master", .user = q->user};
        html_begin(&b, &page);
        put_app_facts(p, q, &b, app);
        put_executors(p, q, &b, app);
        html_end(&b, &page);
        web_answer_html(q, 200, &b);
}
