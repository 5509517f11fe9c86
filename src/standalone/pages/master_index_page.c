/* See master_pages_internal.h: the first page. Headings, columns and their order are those of Spark's. */
#include "base/mem.h"
#include "standalone/pages/master_json.h"
#include "standalone/pages/master_pages_internal.h"

char *master_app_href(const struct master_pages *p, const struct web_request *q, const struct master_app *app)
{
        if (!app->ended)
                return master_href(p, q, app->id, app->ui_url);
        return html_is_link(p->history_url) ? mem_printf("%s/history/%s", p->history_url, app->id) : NULL;
}

void master_put_link(struct buf *b, const char *url, const char *text)
{
        if (url)
                html_put(b, "<a href=\"%s\">%s</a>", url, text);
        else
                html_put(b, "%s", text);
}

char *master_href(const struct master_pages *p, const struct web_request *q, const char *id, const char *url)
{
        if (!html_is_link(url))
                return NULL;
        return p->proxy ? mem_printf("%s/proxy/%s", q->base, id) : mem_strdup(url);
}

void master_put_needs(struct buf *b, const struct owned_needs *needs)
{
        for (int i = 0; needs && i < needs->n; i++)
                html_put(b, "%s%d %s", i ? ", " : "", needs->data[i].amount, needs->data[i].name);
}

void master_put_holds(struct buf *b, const struct master_worker *w, const struct resource_hold *holds, int n)
{
        for (int i = 0; w && i < n; i++) {
                const struct worker_resource *r = &w->resources[holds[i].resource];
                html_put(b, "%s%s: [", i ? ", " : "", r->name);
                for (int k = 0; k < holds[i].n; k++)
                        html_put(b, "%s%s", k ? ", " : "", r->addresses[holds[i].addresses[k]]);
                buf_putc(b, ']');
        }
}

void master_put_app_kill_form(const struct master_pages *p, const struct web_request *q, struct buf *b,
                              const struct master_app *app)
{
        bool active = app->state == APP_RUNNING || app->state == APP_WAITING || app->state == APP_WAITING_FOR_DRIVER;
        if (active && p->kill_enabled && web_may_modify(q))
                html_kill_form(b, q->base, "/app/kill/", app->id, "application", web_form_token(q));
}

void master_put_fact(struct buf *b, const char *name)
{
        html_put(b, "<dt>%s</dt><dd>", name);
}

static void put_meter(struct buf *b, int64_t used, int64_t all)
{
        if (all > 0)
                html_put(b, " <meter min=\"0\" max=\"%D\" value=\"%D\">%D of %D</meter>", all, used, used, all);
}

static void put_summed_resources(struct buf *b, const struct master *m)
{
        struct sum {
                const char *name;
                int all, used;
        };
        VEC(struct sum) sums = {0};
        for (size_t i = 0; i < m->alive.len; i++)
                for (int k = 0; k < m->alive.data[i]->n_resources; k++) {
                        const struct worker_resource *r = &m->alive.data[i]->resources[k];
                        size_t at = 0;
                        while (at < sums.len && strcmp(sums.data[at].name, r->name) != 0)
                                at++;
                        if (at == sums.len)
                                vec_push(&sums, (struct sum){.name = r->name});
                        sums.data[at].all += r->n;
                        sums.data[at].used += r->n - r->free;
                }
        for (size_t i = 0; i < sums.len; i++)
                html_put(b, "%s%d / %d %s", i ? ", " : "", sums.data[i].used, sums.data[i].all, sums.data[i].name);
        vec_deinit(&sums);
}

static void put_summary(const struct master_pages *p, const struct web_request *q, struct buf *b)
{
        const struct master *m = master_pages_state(p);
        struct master_sums s = master_sums(m);
        int decommissioned = 0, unknown = 0, completed[DRIVER_ERROR + 1] = {0};
        for (const struct master_worker *w = m->workers.first; w; w = w->next) {
                decommissioned += w->state == WORKER_DECOMMISSIONED;
                unknown += w->state == WORKER_UNKNOWN;
        }
        for (size_t i = 0; i < m->completed_drivers.len; i++)
                completed[m->completed_drivers.data[i]->state]++;
        buf_puts(b, "<dl class=\"facts\">\n");
        html_put_fact(b, "URL", "%s", p->options.master_url);
        if (p->options.rest_url)
                html_put_fact(b, "REST URL", "%s (cluster mode)", p->options.rest_url);
        master_put_fact(b, "Status");
        html_state(b, master_status_name(m->status));
        html_put(b,
                 " (<a href=\"%s/environment/\">Environment</a>, <a href=\"%s/logPage/?self&amp;logType=out\">Log</a>, "
                 "<a href=\"%s/json/\">JSON</a>)</dd>\n",
                 q->base, q->base, q->base);
        html_put_fact(b, "Workers", "%d Alive, %d Dead, %d Decommissioned, %d Unknown", s.workers, m->n_dead,
                      decommissioned, unknown);
        master_put_fact(b, "Cores in use");
        html_put(b, "%d Total, %d Used", s.cores, s.cores_used);
        put_meter(b, s.cores_used, s.cores);
        buf_puts(b, "</dd>\n");
        master_put_fact(b, "Memory in use");
        html_put(b, "%m Total, %m Used", s.memory, s.memory_used);
        put_meter(b, s.memory_used, s.memory);
        buf_puts(b, "</dd>\n");
        master_put_fact(b, "Resources in use");
        put_summed_resources(b, m);
        buf_puts(b, "</dd>\n");
        html_put_fact(b, "Applications",
                      "%d <a href=\"#running-app\">Running</a>, %D <a href=\"#completed-app\">Completed</a>", m->n_apps,
                      (int64_t)m->completed_apps.len);
        html_put_fact(b, "Drivers",
                      "%d Running (%d Waiting), %D Completed (%d Killed, %d Failed, %d Error, %d Relaunching)",
                      m->n_drivers, m->n_waiting_drivers, (int64_t)m->completed_drivers.len, completed[DRIVER_KILLED],
                      completed[DRIVER_FAILED], completed[DRIVER_ERROR], completed[DRIVER_RELAUNCHING]);
        buf_puts(b, "</dl>\n");
}

static int by_worker_id(const void *a, const void *b)
{
        return strcmp((*(const struct master_worker *const *)a)->id, (*(const struct master_worker *const *)b)->id);
}

static void put_worker_row(const struct master_pages *p, const struct web_request *q, struct buf *b,
                           const struct master_worker *w, bool resources)
{
        _cleanup_free_ char *href = w->state == WORKER_ALIVE ? master_href(p, q, w->id, w->web_ui) : NULL;
        buf_puts(b, "<tr><td>");
        master_put_link(b, href, w->id);
        html_put(b, "</td><td>%s:%d</td><td>", w->host, w->port);
        html_state(b, worker_state_name(w->state));
        html_put(b, "</td><td class=\"number\">%d (%d Used)</td><td class=\"number\">%m (%m Used)</td>", w->cores,
                 w->cores_used, w->memory, w->memory_used);
        if (resources)
                buf_puts(b, "<td>");
        for (int i = 0; resources && i < w->n_resources; i++)
                html_put(b, "%s%s: %d / %d used", i ? ", " : "", w->resources[i].name,
                         w->resources[i].n - w->resources[i].free, w->resources[i].n);
        buf_puts(b, resources ? "</td></tr>\n" : "</tr>\n");
}

static void master_index_page_put_workers(const struct master_pages *p, const struct web_request *q, struct buf *b)
{
        const struct master *m = master_pages_state(p);
        VEC(const struct master_worker *) list = {0};
        bool resources = false;
        for (const struct master_worker *w = m->workers.first; w; w = w->next)
                vec_push(&list, w);
        for (const struct master_worker *w = m->dead.first; w; w = w->next)
                vec_push(&list, w);
        for (size_t i = 0; i < list.len; i++)
                resources |= list.data[i]->n_resources > 0;
        if (list.len > 1)
                qsort(list.data, list.len, sizeof(*list.data), by_worker_id);
        html_table_begin(b, "workers", "Workers",
                         resources ? "Worker Id|Address|State|#Cores|#Memory|Resources"
                                   : "Worker Id|Address|State|#Cores|#Memory",
                         list.len, "No worker has registered yet.");
        for (size_t i = 0; i < list.len; i++)
                put_worker_row(p, q, b, list.data[i], resources);
        html_table_end(b, list.len);
        vec_deinit(&list);
}

static void put_app_row(const struct master_pages *p, const struct web_request *q, struct buf *b,
                        const struct master_app *app)
{
        const struct app_profile *profile = app->profiles.len ? app->profiles.data[0] : NULL;
        html_put(b, "<tr><td><a href=\"%s/app/?appId=%q\">%s</a>", q->base, app->id, app->id);
        master_put_app_kill_form(p, q, b, app);
        buf_puts(b, "</td><td>");
        _cleanup_free_ char *href = master_app_href(p, q, app);
        master_put_link(b, href, app->name);
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td>", app->cores_granted,
                 profile ? profile->memory : (int64_t)0);
        master_put_needs(b, profile ? &profile->needs : NULL);
        html_put(b, "</td><td>%t</td><td>%s</td><td>", app->submitted, app->user);
        html_state(b, app_state_name(app->state));
        html_put(b, "</td><td class=\"number\">%u</td></tr>\n",
                 master_app_duration(master_pages_state(p), app, p->options.ops->now()));
}

#define APP_COLUMNS                                                                                                    \
        "Application ID|Name|#Cores|#Memory per Executor|Resources Per Executor|Submitted Time|User|State|#Duration"

/* Newest first. */
static void put_apps(const struct master_pages *p, const struct web_request *q, struct buf *b)
{
        const struct master *m = master_pages_state(p);
        html_table_begin(b, "running-app", "Running Applications", APP_COLUMNS, (size_t)m->n_apps,
                         "No application runs.");
        for (const struct master_app *app = m->apps.last; app; app = app->prev)
                put_app_row(p, q, b, app);
        html_table_end(b, (size_t)m->n_apps);
}

static void master_index_page_put_completed_apps(const struct master_pages *p, const struct web_request *q,
                                                 struct buf *b)
{
        const struct master *m = master_pages_state(p);
        size_t n = m->completed_apps.len;
        html_table_begin(b, "completed-app", "Completed Applications", APP_COLUMNS, n, "No application has ended yet.");
        for (size_t i = n; i-- > 0;)
                put_app_row(p, q, b, m->completed_apps.data[i]);
        html_table_end(b, n);
}

static void master_index_page_put_driver_row(const struct master_pages *p, const struct web_request *q, struct buf *b,
                                             const struct master_driver *d, bool duration)
{
        const struct master *m = master_pages_state(p);
        const struct master_worker *w = d->worker_id ? master_worker(m, d->worker_id) : NULL;
        html_put(b, "<tr><td>%s", d->id);
        if (duration && p->kill_enabled && (d->state == DRIVER_RUNNING || d->state == DRIVER_SUBMITTED) &&
            web_may_modify(q))
                html_kill_form(b, q->base, "/driver/kill/", d->id, "driver", web_form_token(q));
        html_put(b, "</td><td>%t</td><td>", d->submitted);
        _cleanup_free_ char *href = w && w->state == WORKER_ALIVE ? master_href(p, q, w->id, w->web_ui) : NULL;
        master_put_link(b, href, d->worker_id ? d->worker_id : "None");
        buf_puts(b, "</td><td>");
        html_state(b, driver_state_name(d->state));
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td>", d->cores, d->memory);
        master_put_holds(b, d->worker, d->holds, d->n_holds);
        html_put(b, "</td><td>%s</td>", d->main_class);
        if (duration)
                html_put(b, "<td class=\"number\">%u</td>", master_wall(m, p->options.ops->now()) - d->submitted);
        else
                html_put(b, "<td>%s</td>", d->exception);
        buf_puts(b, "</tr>\n");
}

#define DRIVER_COLUMNS "Submission ID|Submitted Time|Worker|State|#Cores|#Memory|Resources|Main Class|"

static void put_drivers(const struct master_pages *p, const struct web_request *q, struct buf *b)
{
        const struct master *m = master_pages_state(p);
        if (m->n_drivers == 0 && m->completed_drivers.len == 0)
                return;
        html_table_begin(b, "running-driver", "Running Drivers", DRIVER_COLUMNS "#Duration", (size_t)m->n_drivers,
                         "No driver runs.");
        for (const struct master_driver *d = m->drivers.last; d; d = d->prev)
                master_index_page_put_driver_row(p, q, b, d, true);
        html_table_end(b, (size_t)m->n_drivers);
}

static void master_index_page_put_completed_drivers(const struct master_pages *p, const struct web_request *q,
                                                    struct buf *b)
{
        const struct master *m = master_pages_state(p);
        size_t n = m->completed_drivers.len;
        if (m->n_drivers == 0 && n == 0)
                return;
        html_table_begin(b, "completed-driver", "Completed Drivers", DRIVER_COLUMNS "Notes", n,
                         "No driver has ended yet.");
        for (size_t i = n; i-- > 0;)
                master_index_page_put_driver_row(p, q, b, m->completed_drivers.data[i], false);
        html_table_end(b, n);
}

void master_serve_overview(struct master_pages *p, struct web_request *q)
{
        struct buf b = BUF_INIT;
        _cleanup_free_ char *title =
                p->title ? mem_strdup(p->title) : mem_printf("Spark Master at %s", p->options.master_url);
        struct html_page page = {.base = q->base, .title = title, .user = q->user};
        html_begin(&b, &page);
        put_summary(p, q, &b);
        master_index_page_put_workers(p, q, &b);
        put_apps(p, q, &b);
        put_drivers(p, q, &b);
        master_index_page_put_completed_apps(p, q, &b);
        master_index_page_put_completed_drivers(p, q, &b);
        html_end(&b, &page);
        web_answer_html(q, 200, &b);
}
