/* See master_pages.h. Headings, columns and their order are those of Spark's pages; what they look like is not. */
#include "deploy/standalone/master_pages.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "conf/conf.h"
#include "conf/redact.h"
#include "deploy/standalone/master_json.h"
#include "deploy/standalone/master_state.h"
#include "web/html.h"
#include "web/metrics.h"
#include "web/site.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>

#define LOG_NAME "MasterWebUI"
#define MOST_HOSTS 1000

/* A driver that is being killed: who pressed the button is answered when the master has. */
struct waiting {
        struct master_pages *pages;
        struct waiting *prev, *next;
        struct web_request *request;
};

struct master_pages {
        struct master_pages_options options;
        struct web_site *site;
        struct redactor redactor;
        bool kill_enabled, decommission_enabled;
        char *decommission_mode;
        struct waiting *waiting;
};

static const struct master *state_of(const struct master_pages *p)
{
        return p->options.ops->state(p->options.owner);
}

/* ------------------------------------------------------------------------------------------------ the first page */

/* An address from elsewhere as a link, if it is one. */
static void put_link(struct buf *b, const char *url, const char *text)
{
        if (url && (text_starts_with(url, "http://") || text_starts_with(url, "https://")))
                html_put(b, "<a href=\"%s\">%s</a>", url, text);
        else
                html_put(b, "%s", text);
}

static void put_needs(struct buf *b, const struct owned_needs *needs)
{
        for (int i = 0; needs && i < needs->n; i++)
                html_put(b, "%s%d %s", i ? ", " : "", needs->data[i].amount, needs->data[i].name);
}

static void put_holds(struct buf *b, const struct master_worker *w, const struct resource_hold *holds, int n)
{
        for (int i = 0; w && i < n; i++) {
                const struct worker_resource *r = &w->resources[holds[i].resource];
                html_put(b, "%s%s: [", i ? ", " : "", r->name);
                for (int k = 0; k < holds[i].n; k++)
                        html_put(b, "%s%s", k ? ", " : "", r->addresses[holds[i].addresses[k]]);
                buf_putc(b, ']');
        }
}

static void put_fact(struct buf *b, const char *name)
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

static void put_summary(const struct master_pages *p, struct buf *b)
{
        const struct master *m = state_of(p);
        struct master_sums s = master_sums(m);
        int decommissioned = 0, unknown = 0, completed[DRIVER_ERROR + 1] = {0};
        for (const struct master_worker *w = m->workers; w; w = w->next) {
                decommissioned += w->state == WORKER_DECOMMISSIONED;
                unknown += w->state == WORKER_UNKNOWN;
        }
        for (size_t i = 0; i < m->completed_drivers.len; i++)
                completed[m->completed_drivers.data[i]->state]++;
        buf_puts(b, "<dl class=\"facts\">\n");
        put_fact(b, "URL");
        html_put(b, "%s</dd>\n", p->options.master_url);
        if (p->options.rest_url) {
                put_fact(b, "REST URL");
                html_put(b, "%s (cluster mode)</dd>\n", p->options.rest_url);
        }
        put_fact(b, "Status");
        html_state(b, master_status_name(m->status));
        buf_puts(b, " (<a href=\"/environment/\">Environment</a>, <a href=\"/json/\">JSON</a>)</dd>\n");
        put_fact(b, "Workers");
        html_put(b, "%d Alive, %d Dead, %d Decommissioned, %d Unknown</dd>\n", s.workers, m->n_dead, decommissioned,
                 unknown);
        put_fact(b, "Cores in use");
        html_put(b, "%d Total, %d Used", s.cores, s.cores_used);
        put_meter(b, s.cores_used, s.cores);
        buf_puts(b, "</dd>\n");
        put_fact(b, "Memory in use");
        html_put(b, "%m Total, %m Used", s.memory, s.memory_used);
        put_meter(b, s.memory_used, s.memory);
        buf_puts(b, "</dd>\n");
        put_fact(b, "Resources in use");
        put_summed_resources(b, m);
        buf_puts(b, "</dd>\n");
        put_fact(b, "Applications");
        html_put(b, "%d <a href=\"#running-app\">Running</a>, %D <a href=\"#completed-app\">Completed</a></dd>\n",
                 m->n_apps, (int64_t)m->completed_apps.len);
        put_fact(b, "Drivers");
        html_put(b, "%d Running (%d Waiting), %D Completed (%d Killed, %d Failed, %d Error, %d Relaunching)</dd>\n",
                 m->n_drivers, m->n_waiting_drivers, (int64_t)m->completed_drivers.len, completed[DRIVER_KILLED],
                 completed[DRIVER_FAILED], completed[DRIVER_ERROR], completed[DRIVER_RELAUNCHING]);
        buf_puts(b, "</dl>\n");
}

static int by_worker_id(const void *a, const void *b)
{
        return strcmp((*(const struct master_worker *const *)a)->id, (*(const struct master_worker *const *)b)->id);
}

static void put_worker_row(struct buf *b, const struct master_worker *w, bool resources)
{
        buf_puts(b, "<tr><td>");
        put_link(b, w->state == WORKER_ALIVE ? w->web_ui : NULL, w->id);
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

static void put_workers(struct buf *b, const struct master *m)
{
        VEC(const struct master_worker *) list = {0};
        bool resources = false;
        for (const struct master_worker *w = m->workers; w; w = w->next)
                vec_push(&list, w);
        for (const struct master_worker *w = m->dead; w; w = w->next)
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
                put_worker_row(b, list.data[i], resources);
        html_table_end(b, list.len);
        vec_deinit(&list);
}

static void put_app_row(const struct master_pages *p, const struct web_request *q, struct buf *b,
                        const struct master_app *app)
{
        const struct app_profile *profile = app->profiles.len ? app->profiles.data[0] : NULL;
        bool active = app->state == APP_RUNNING || app->state == APP_WAITING;
        html_put(b, "<tr><td><a href=\"/app/?appId=%q\">%s</a>", app->id, app->id);
        if (active && p->kill_enabled && web_may_modify(q))
                html_kill_form(b, "/app/kill/", app->id, "application", web_form_token(q));
        buf_puts(b, "</td><td>");
        put_link(b, app->ended ? NULL : app->ui_url, app->name);
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td>", app->cores_granted,
                 profile ? profile->memory : (int64_t)0);
        put_needs(b, profile ? &profile->needs : NULL);
        html_put(b, "</td><td>%t</td><td>%s</td><td>", app->submitted, app->user);
        html_state(b, app_state_name(app->state));
        html_put(b, "</td><td class=\"number\">%u</td></tr>\n",
                 master_app_duration(state_of(p), app, p->options.ops->now()));
}

#define APP_COLUMNS                                                                                                    \
        "Application ID|Name|#Cores|#Memory per Executor|Resources Per Executor|Submitted Time|User|State|#Duration"

/* Newest first. */
static void put_apps(const struct master_pages *p, const struct web_request *q, struct buf *b)
{
        const struct master *m = state_of(p);
        html_table_begin(b, "running-app", "Running Applications", APP_COLUMNS, (size_t)m->n_apps,
                         "No application runs.");
        for (const struct master_app *app = m->last_app; app; app = app->prev)
                put_app_row(p, q, b, app);
        html_table_end(b, (size_t)m->n_apps);
}

static void put_completed_apps(const struct master_pages *p, const struct web_request *q, struct buf *b)
{
        const struct master *m = state_of(p);
        size_t n = m->completed_apps.len;
        html_table_begin(b, "completed-app", "Completed Applications", APP_COLUMNS, n, "No application has ended yet.");
        for (size_t i = n; i-- > 0;)
                put_app_row(p, q, b, m->completed_apps.data[i]);
        html_table_end(b, n);
}

static void put_driver_row(const struct master_pages *p, const struct web_request *q, struct buf *b,
                           const struct master_driver *d, bool duration)
{
        const struct master *m = state_of(p);
        const struct master_worker *w = d->worker_id ? master_worker(m, d->worker_id) : NULL;
        html_put(b, "<tr><td>%s", d->id);
        if (duration && p->kill_enabled && (d->state == DRIVER_RUNNING || d->state == DRIVER_SUBMITTED) &&
            web_may_modify(q))
                html_kill_form(b, "/driver/kill/", d->id, "driver", web_form_token(q));
        html_put(b, "</td><td>%t</td><td>", d->submitted);
        put_link(b, w && w->state == WORKER_ALIVE ? w->web_ui : NULL, d->worker_id ? d->worker_id : "None");
        buf_puts(b, "</td><td>");
        html_state(b, driver_state_name(d->state));
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td>", d->cores, d->memory);
        put_holds(b, d->worker, d->holds, d->n_holds);
        html_put(b, "</td><td>%s</td>", d->main_class);
        if (duration)
                html_put(b, "<td class=\"number\">%u</td>",
                         p->options.ops->now() + m->config.wall_offset - d->submitted);
        else
                html_put(b, "<td>%s</td>", d->exception);
        buf_puts(b, "</tr>\n");
}

#define DRIVER_COLUMNS "Submission ID|Submitted Time|Worker|State|#Cores|#Memory|Resources|Main Class|"

static void put_drivers(const struct master_pages *p, const struct web_request *q, struct buf *b)
{
        const struct master *m = state_of(p);
        if (m->n_drivers == 0 && m->completed_drivers.len == 0)
                return;
        html_table_begin(b, "running-driver", "Running Drivers", DRIVER_COLUMNS "#Duration", (size_t)m->n_drivers,
                         "No driver runs.");
        for (const struct master_driver *d = m->last_driver; d; d = d->prev)
                put_driver_row(p, q, b, d, true);
        html_table_end(b, (size_t)m->n_drivers);
}

static void put_completed_drivers(const struct master_pages *p, const struct web_request *q, struct buf *b)
{
        const struct master *m = state_of(p);
        size_t n = m->completed_drivers.len;
        if (m->n_drivers == 0 && n == 0)
                return;
        html_table_begin(b, "completed-driver", "Completed Drivers", DRIVER_COLUMNS "Notes", n,
                         "No driver has ended yet.");
        for (size_t i = n; i-- > 0;)
                put_driver_row(p, q, b, m->completed_drivers.data[i], false);
        html_table_end(b, n);
}

static void serve_first(struct master_pages *p, struct web_request *q)
{
        struct buf b = BUF_INIT;
        _cleanup_free_ char *title = mem_printf("Spark Master at %s", p->options.master_url);
        struct html_page page = {.title = title, .user = q->user};
        html_begin(&b, &page);
        put_summary(p, &b);
        put_workers(&b, state_of(p));
        put_apps(p, q, &b);
        put_drivers(p, q, &b);
        put_completed_apps(p, q, &b);
        put_completed_drivers(p, q, &b);
        html_end(&b, &page);
        web_answer_html(q, 200, &b);
}

/* ------------------------------------------------------------------------------------------------ an application */

static void put_log_links(struct buf *b, const struct master_worker *w, const char *app_id, int executor)
{
        static const char *const types[] = {"stdout", "stderr"};
        if (!w || !(text_starts_with(w->web_ui, "http://") || text_starts_with(w->web_ui, "https://")))
                return;
        for (size_t i = 0; i < ARRAY_SIZE(types); i++)
                html_put(b, "%s<a href=\"%s/logPage/?appId=%q&amp;executorId=%d&amp;logType=%s\">%s</a>", i ? " " : "",
                         w->web_ui, app_id, executor, types[i], types[i]);
}

static void put_executor_row(struct buf *b, const struct master *m, const struct master_executor *e, const char *app_id)
{
        const struct master_worker *w = e->worker ? e->worker : e->worker_id ? master_worker(m, e->worker_id) : NULL;
        html_put(b, "<tr><td class=\"number\">%d</td><td>", e->id);
        put_link(b, w ? w->web_ui : NULL, e->worker_id);
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td class=\"number\">%d</td><td>",
                 e->cores, e->memory, e->profile ? e->profile->id : 0);
        put_holds(b, e->worker, e->holds, e->n_holds);
        buf_puts(b, "</td><td>");
        html_state(b, executor_state_name(e->state));
        buf_puts(b, "</td><td>");
        put_log_links(b, w, app_id, e->id);
        buf_puts(b, "</td></tr>\n");
}

#define EXECUTOR_COLUMNS "#ExecutorID|Worker|#Cores|#Memory|#Resource Profile Id|Resources|State|Logs"

static void put_executors(struct buf *b, const struct master *m, const struct master_app *app)
{
        size_t n = 0;
        for (const struct master_executor *e = app->executors; e; e = e->next_in_app)
                n++;
        html_table_begin(b, "executors", "Executor Summary", EXECUTOR_COLUMNS, n, "It has no executor.");
        for (const struct master_executor *e = app->executors; e; e = e->next_in_app)
                put_executor_row(b, m, e, app->id);
        html_table_end(b, n);
        n = app->removed.len;
        if (n == 0)
                return;
        html_table_begin(b, "removed-executors", "Removed Executors", EXECUTOR_COLUMNS, n, "");
        for (size_t i = n; i-- > 0;)
                put_executor_row(b, m, app->removed.data[i], app->id);
        html_table_end(b, n);
}

static void put_app_cores(struct buf *b, const struct master_app *app)
{
        put_fact(b, "Cores");
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
        put_fact(b, "Executor Limit");
        if (limited)
                html_put(b, "%d (%d granted)</dd>\n", target, app->n_executors);
        else
                html_put(b, "Unlimited (%d granted)</dd>\n", app->n_executors);
}

static void put_app_facts(const struct master_pages *p, const struct web_request *q, struct buf *b,
                          const struct master_app *app)
{
        const struct app_profile *profile = app->profiles.len ? app->profiles.data[0] : NULL;
        bool active = app->state == APP_RUNNING || app->state == APP_WAITING;
        buf_puts(b, "<dl class=\"facts\">\n");
        put_fact(b, "ID");
        html_put(b, "%s</dd>\n", app->id);
        put_fact(b, "Name");
        html_put(b, "%s</dd>\n", app->name);
        put_fact(b, "User");
        html_put(b, "%s</dd>\n", app->user);
        put_app_cores(b, app);
        put_fact(b, "Executor Memory - Default Resource Profile");
        html_put(b, "%m</dd>\n", profile ? profile->memory : (int64_t)0);
        put_fact(b, "Executor Resources - Default Resource Profile");
        put_needs(b, profile ? &profile->needs : NULL);
        buf_puts(b, "</dd>\n");
        put_fact(b, "Submit Date");
        html_put(b, "%t</dd>\n", app->submitted);
        put_fact(b, "Duration");
        html_put(b, "%u</dd>\n", master_app_duration(state_of(p), app, p->options.ops->now()));
        put_fact(b, "State");
        html_state(b, app_state_name(app->state));
        if (active && p->kill_enabled && web_may_modify(q))
                html_kill_form(b, "/app/kill/", app->id, "application", web_form_token(q));
        buf_puts(b, "</dd>\n");
        put_fact(b, "Application UI");
        put_link(b, app->ended ? NULL : app->ui_url,
                 app->ui_url && *app->ui_url ? "Application Detail UI" : "Disabled");
        buf_puts(b, "</dd>\n</dl>\n");
}

static void serve_app(struct master_pages *p, struct web_request *q)
{
        const char *id = form_get(&q->form, "appId");
        const struct master_app *app = id ? master_any_app(state_of(p), id) : NULL;
        if (!app) {
                _cleanup_free_ char *sentence = mem_printf("No running application with ID %.200s", id ? id : "");
                return web_refuse(q, 404, sentence);
        }
        struct buf b = BUF_INIT;
        _cleanup_free_ char *title = mem_printf("Application: %s", app->name);
        struct html_page page = {.title = title, .back_url = "/", .back_text = "Back to Master", .user = q->user};
        html_begin(&b, &page);
        put_app_facts(p, q, &b, app);
        put_executors(&b, state_of(p), app);
        html_end(&b, &page);
        web_answer_html(q, 200, &b);
}

static void serve_environment(struct master_pages *p, struct web_request *q)
{
        struct buf b = BUF_INIT;
        const struct strmap *set = &p->options.conf->set;
        struct strmap_entry **sorted = strmap_sorted(set);
        struct html_page page = {
                .title = "Environment", .back_url = "/", .back_text = "Back to Master", .user = q->user};
        html_begin(&b, &page);
        html_table_begin(&b, "properties", "Spark Properties", "Name|Value", set->count, "Nothing was set.");
        for (size_t i = 0; i < set->count; i++)
                html_put(&b, "<tr><td>%s</td><td>%s</td></tr>\n", sorted[i]->key,
                         redactor_value(&p->redactor, sorted[i]->key, sorted[i]->value));
        html_table_end(&b, set->count);
        html_end(&b, &page);
        free(sorted);
        web_answer_html(q, 200, &b);
}

/* --------------------------------------------------------------------------------------------- JSON and metrics */

static struct master_info info_of(const struct master_pages *p)
{
        return (struct master_info){.url = p->options.master_url, .now = p->options.ops->now()};
}

/* "/json", "/json/workers", "/json/workers/whatever" */
static void serve_json(struct master_pages *p, struct web_request *q)
{
        const char *name = q->path + strlen("/json");
        struct buf b = BUF_INIT;
        struct master_info info = info_of(p);
        name += *name == '/';
        _cleanup_free_ char *field =
                mem_strndup(name, strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"));
        if (strcmp(field, "clusterutilization") == 0)
                master_json_put_utilization(state_of(p), &b);
        else
                master_json_put(state_of(p), &info, *field ? field : NULL, &b);
        web_answer_json(q, &b);
}

static void serve_app_json(struct master_pages *p, struct web_request *q)
{
        const char *id = form_get(&q->form, "appId");
        struct buf b = BUF_INIT;
        struct master_info info = info_of(p);
        master_json_put_app(state_of(p), &info, id ? id : "", &b);
        web_answer_json(q, &b);
}

static void answer_metrics(struct web_request *q, struct metrics *metrics)
{
        struct buf b = BUF_INIT;
        if (text_ends_with(q->path, "/prometheus"))
                metrics_put_prometheus(metrics, &b);
        else
                metrics_put_json(metrics, &b);
        metrics_deinit(metrics);
        if (text_ends_with(q->path, "/prometheus"))
                web_answer_metrics(q, &b);
        else
                web_answer_json(q, &b);
}

static void serve_master_metrics(struct master_pages *p, struct web_request *q)
{
        const struct master *m = state_of(p);
        struct metrics metrics = METRICS_INIT;
        int waiting = 0;
        for (const struct master_app *app = m->apps; app; app = app->next)
                waiting += app->state == APP_WAITING;
        metrics_gauge(&metrics, "master.workers", m->n_workers + m->n_dead);
        metrics_gauge(&metrics, "master.aliveWorkers", (int64_t)m->alive.len);
        metrics_gauge(&metrics, "master.apps", m->n_apps);
        metrics_gauge(&metrics, "master.waitingApps", waiting);
        answer_metrics(q, &metrics);
}

static void put_app_metrics(const struct master_pages *p, const struct master_app *app, struct metrics *metrics)
{
        _cleanup_free_ char *status = mem_printf("application.%s.%lld.status", app->name, (long long)app->submitted);
        _cleanup_free_ char *runtime =
                mem_printf("application.%s.%lld.runtime_ms", app->name, (long long)app->submitted);
        _cleanup_free_ char *cores = mem_printf("application.%s.%lld.cores", app->name, (long long)app->submitted);
        metrics_text(metrics, status, app_state_name(app->state));
        metrics_gauge(metrics, runtime, master_app_duration(state_of(p), app, p->options.ops->now()));
        metrics_gauge(metrics, cores, app->cores_granted);
}

static void serve_app_metrics(struct master_pages *p, struct web_request *q)
{
        struct metrics metrics = METRICS_INIT;
        for (const struct master_app *app = state_of(p)->apps; app; app = app->next)
                put_app_metrics(p, app, &metrics);
        answer_metrics(q, &metrics);
}

/* ------------------------------------------------------------------------------------------------------ changes */

/* For a kill form: the id to kill, or NULL when the request was answered. */
static const char *id_to_kill(struct master_pages *p, struct web_request *q)
{
        if (!p->kill_enabled) {
                web_refuse(q, 403, "Nothing can be ended here: spark.ui.killEnabled is false.");
                return NULL;
        }
        if (!web_require_form(q))
                return NULL;
        const char *id = form_get(&q->form, "id"), *terminate = form_get(&q->form, "terminate");
        if (id && !form_has_controls(id) && terminate && strcasecmp(terminate, "true") == 0)
                return id;
        web_redirect(q, "/");
        return NULL;
}

static void serve_app_kill(struct master_pages *p, struct web_request *q)
{
        const char *id = id_to_kill(p, q);
        if (!id)
                return;
        if (p->options.ops->kill_app(p->options.owner, id))
                log_info(LOG_NAME, "%s ended application %s", q->user ? q->user : q->call->peer, id);
        web_redirect(q, "/");
}

static void waiting_free(struct waiting *w)
{
        if (w->prev)
                w->prev->next = w->next;
        else
                w->pages->waiting = w->next;
        if (w->next)
                w->next->prev = w->prev;
        free(w);
}

static void on_killed(void *context, const struct master_reply *reply)
{
        struct waiting *w = context;
        log_info(LOG_NAME, "%s", reply->message ? reply->message : "a driver was to be killed");
        web_redirect(w->request, "/");
        waiting_free(w);
}

static void serve_driver_kill(struct master_pages *p, struct web_request *q)
{
        const char *id = id_to_kill(p, q);
        if (!id)
                return;
        struct waiting *w = new0(struct waiting);
        w->pages = p;
        w->request = q;
        w->next = p->waiting;
        if (w->next)
                w->next->prev = w;
        p->waiting = w;
        p->options.ops->kill_driver(p->options.owner, id, on_killed, w);
}

/* Whether @peer ("10.0.0.1:4000") is an address of this host. */
static bool is_of_this_host(const char *peer)
{
        char text[INET6_ADDRSTRLEN + 2] = "";
        struct ifaddrs *all = NULL;
        bool found = text_starts_with(peer, "127.") || text_starts_with(peer, "[::1]");
        if (found || getifaddrs(&all) < 0)
                return found;
        for (const struct ifaddrs *i = all; i && !found; i = i->ifa_next) {
                int family = i->ifa_addr ? i->ifa_addr->sa_family : AF_UNSPEC;
                if (family == AF_INET)
                        uv_ip4_name((struct sockaddr_in *)i->ifa_addr, text, sizeof(text));
                else if (family == AF_INET6)
                        uv_ip6_name((struct sockaddr_in6 *)i->ifa_addr, text, sizeof(text));
                else
                        continue;
                _cleanup_free_ char *with_port = mem_printf(family == AF_INET ? "%s:" : "[%s]:", text);
                found = text_starts_with(peer, with_port);
        }
        freeifaddrs(all);
        return found;
}

static void serve_decommission(struct master_pages *p, struct web_request *q)
{
        const char *hosts[MOST_HOSTS];
        int n = 0;
        if (!p->decommission_enabled)
                return web_not_found(q);
        if (!web_require_modify(q))
                return;
        if (strcasecmp(p->decommission_mode, "ALLOW") != 0 &&
            (strcasecmp(p->decommission_mode, "LOCAL") != 0 || !is_of_this_host(q->call->peer)))
                return web_refuse(q, 403,
                                  "Workers cannot be decommissioned from where you are "
                                  "(spark.master.ui.decommission.allow.mode).");
        for (size_t i = 0; i < q->form.fields.len && n < MOST_HOSTS; i++)
                if (strcmp(q->form.fields.data[i].name, "host") == 0)
                        hosts[n++] = q->form.fields.data[i].value;
        int workers = n ? p->options.ops->decommission(p->options.owner, hosts, n) : 0;
        log_info(LOG_NAME, "Decommissioning of %d hosts decommissioned %d workers", n, workers);
        if (workers == 0)
                return web_refuse(q, 404, "There is no worker on these hosts.");
        struct buf text = BUF_INIT;
        buf_printf(&text, "%d workers are decommissioned.\n", workers);
        web_answer_text(q, 200, &text);
}

/* ---------------------------------------------------------------------------------------------------- the site */

static const struct {
        const char *path;
        bool below; /* whatever comes behind a slash, too */
        void (*serve)(struct master_pages *p, struct web_request *q);
} routes[] = {
        {"/", false, serve_first},
        {"/json", true, serve_json},
        {"/app", false, serve_app},
        {"/app/json", false, serve_app_json},
        {"/app/kill", false, serve_app_kill},
        {"/driver/kill", false, serve_driver_kill},
        {"/workers/kill", false, serve_decommission},
        {"/environment", false, serve_environment},
        {"/metrics/master/json", false, serve_master_metrics},
        {"/metrics/master/prometheus", false, serve_master_metrics},
        {"/metrics/applications/json", false, serve_app_metrics},
        {"/metrics/applications/prometheus", false, serve_app_metrics},
};

static void serve(void *owner, struct web_request *q)
{
        for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
                size_t n = strlen(routes[i].path);
                if (web_is(q, routes[i].path) ||
                    (routes[i].below && strncmp(q->path, routes[i].path, n) == 0 && q->path[n] == '/'))
                        return routes[i].serve(owner, q);
        }
        web_not_found(q);
}

static int read_conf(struct master_pages *p, struct fst_error *error)
{
        const struct fst_conf *conf = p->options.conf;
        int r = conf_get_bool(conf, "spark.ui.killEnabled", &p->kill_enabled, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.decommission.enabled", &p->decommission_enabled, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.master.ui.decommission.allow.mode", &p->decommission_mode, error);
        if (r == 0)
                r = redactor_init(&p->redactor, conf, error);
        return r;
}

int master_pages_new(const struct master_pages_options *options, struct master_pages **out, struct fst_error *error)
{
        struct master_pages *p = new0(struct master_pages);
        p->options = *options;
        struct web_site_options site = {.loop = options->loop,
                                        .conf = options->conf,
                                        .name = "MasterUI",
                                        .host = options->host,
                                        .port = options->port,
                                        .serve = serve,
                                        .owner = p};
        int r = read_conf(p, error);
        if (r == 0)
                r = web_site_new(&site, &p->site, error);
        if (r < 0) {
                master_pages_free(p);
                return r;
        }
        *out = p;
        return 0;
}

void master_pages_free(struct master_pages *p)
{
        if (!p)
                return;
        while (p->waiting) {
                struct web_request *q = p->waiting->request;
                waiting_free(p->waiting);
                web_refuse(q, 503, "This master ends.");
        }
        web_site_free(p->site);
        redactor_deinit(&p->redactor);
        free(p->decommission_mode);
        free(p);
}

int master_pages_port(const struct master_pages *p)
{
        return web_site_port(p->site);
}

bool master_pages_are_secure(const struct master_pages *p)
{
        return web_site_is_secure(p->site);
}
