/* See worker_pages.h. Headings and columns are those of Spark's pages. */
#include "standalone/pages/worker_pages.h"

#include "base/mem.h"
#include "standalone/pages/log_pages.h"
#include "standalone/pages/worker_json.h"
#include "web/html.h"
#include "metrics/metrics_daemon.h"
#include "metrics/metrics_servlets.h"
#include "web/web_site.h"

struct worker_pages {
        struct worker_pages_options options;
        struct web_site *site;
        struct log_pages *logs;
        struct metrics_daemon *sinks; /* NULL: none */
        struct metrics_servlets servlets;
};

static const struct worker_view *view_of(const struct worker_pages *p)
{
        return p->options.view(p->options.owner);
}

/* ------------------------------------------------------------------------------------------------ the first page */

static void worker_pages_put_resources(struct buf *b, const struct resource_addresses *resources, int n)
{
        for (int i = 0; i < n; i++) {
                html_put(b, "%s%s: [", i ? ", " : "", resources[i].name);
                for (int k = 0; k < resources[i].n; k++)
                        html_put(b, "%s%s", k ? ", " : "", resources[i].addresses[k]);
                buf_putc(b, ']');
        }
}

static void worker_pages_put_executor_row(struct buf *b, const char *base, const struct worker_executor_state *e)
{
        html_put(b, "<tr><td class=\"number\">%d</td><td>", e->id);
        html_state(b, executor_state_name(e->state));
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td>", e->cores, e->memory);
        worker_pages_put_resources(b, e->resources, e->n_resources);
        html_put(b,
                 "</td><td>ID: %s<br>Name: %s<br>User: %s</td><td>"
                 "<a href=\"%s/logPage/?appId=%q&amp;executorId=%d&amp;logType=stdout\">stdout</a> "
                 "<a href=\"%s/logPage/?appId=%q&amp;executorId=%d&amp;logType=stderr\">stderr</a></td></tr>\n",
                 e->app_id, e->app_name, e->app_user, base, e->app_id, e->id, base, e->app_id, e->id);
}

static void worker_pages_put_driver_row(struct buf *b, const char *base, const struct worker_driver_state *d)
{
        html_put(b, "<tr><td>%s</td><td>%s</td><td>", d->id, d->main_class);
        html_state(b, driver_state_name(d->state));
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td>", d->cores, d->memory);
        worker_pages_put_resources(b, d->resources, d->n_resources);
        html_put(b,
                 "</td><td><a href=\"%s/logPage/?driverId=%q&amp;logType=stdout\">stdout</a> "
                 "<a href=\"%s/logPage/?driverId=%q&amp;logType=stderr\">stderr</a></td><td>%s</td></tr>\n",
                 base, d->id, base, d->id, d->exception);
}

static void put_facts(struct buf *b, const char *base, const struct worker_view *v)
{
        html_put(b,
                 "<dl class=\"facts\">\n<dt>ID</dt><dd>%s (<a href=\"%s/logPage/?self&amp;logType=out\">Log</a>)</dd>\n"
                 "<dt>Master URL</dt><dd>%s",
                 v->id, base, *v->master_url ? v->master_url : "not registered with a master yet");
        html_put(b, "%s%s</dd>\n", *v->master_url && !v->connected ? " (not connected)" : "",
                 v->decommissioned ? " (decommissioned: nothing new starts here)" : "");
        html_put(b, "<dt>Cores</dt><dd>%d (%d Used)</dd>\n<dt>Memory</dt><dd>%m (%m Used)</dd>\n<dt>Resources</dt><dd>",
                 v->cores, v->cores_used, v->memory, v->memory_used);
        worker_pages_put_resources(b, v->resources, v->n_resources);
        buf_puts(b, "</dd>\n</dl>\n");
}

#define EXECUTOR_COLUMNS "#ExecutorID|State|#Cores|#Memory|Resources|Job Details|Logs"
#define DRIVER_COLUMNS "DriverID|Main Class|State|#Cores|#Memory|Resources|Logs|Notes"

/* Newest finished ones first. */
static void put_tables(struct buf *b, const char *base, const struct worker_view *v)
{
        size_t n = v->executors.len;
        html_table_begin(b, "executors", "Running Executors", EXECUTOR_COLUMNS, n, "No executor runs.");
        for (size_t i = 0; i < n; i++)
                worker_pages_put_executor_row(b, base, v->executors.data[i]);
        html_table_end(b, n);
        if ((n = v->drivers.len) > 0)
                html_table_begin(b, "drivers", "Running Drivers", DRIVER_COLUMNS, n, "");
        for (size_t i = 0; i < n; i++)
                worker_pages_put_driver_row(b, base, v->drivers.data[i]);
        html_table_end(b, n);
        if ((n = v->finished_executors.len) > 0)
                html_table_begin(b, "finished-executors", "Finished Executors", EXECUTOR_COLUMNS, n, "");
        for (size_t i = n; i-- > 0;)
                worker_pages_put_executor_row(b, base, v->finished_executors.data[i]);
        html_table_end(b, n);
        if ((n = v->finished_drivers.len) > 0)
                html_table_begin(b, "finished-drivers", "Finished Drivers", DRIVER_COLUMNS, n, "");
        for (size_t i = n; i-- > 0;)
                worker_pages_put_driver_row(b, base, v->finished_drivers.data[i]);
        html_table_end(b, n);
}

static void serve_first(struct worker_pages *p, struct web_request *q)
{
        const struct worker_view *v = view_of(p);
        struct buf b = BUF_INIT;
        _cleanup_free_ char *title = mem_printf("Spark Worker at %s:%d", v->host, v->port);
        struct html_page page = {.base = q->base,
                                 .title = title,
                                 .user = q->user,
                                 .back_url = html_is_link(v->master_web_ui) ? v->master_web_ui : NULL,
                                 .back_text = "Back to Master"};
        html_begin(&b, &page);
        put_facts(&b, q->base, v);
        put_tables(&b, q->base, v);
        html_end(&b, &page);
        web_answer_html(q, 200, &b);
}

/* --------------------------------------------------------------------------------------------- JSON and metrics */

static void worker_pages_serve_json(struct worker_pages *p, struct web_request *q)
{
        struct buf b = BUF_INIT;
        worker_json_put(view_of(p), &b);
        web_answer_json(q, &b);
}

static void worker_measure(void *owner, struct metrics_snapshot *out)
{
        const struct worker_view *v = view_of(owner);
        metrics_gauge(out, "worker.executors", (int64_t)v->executors.len);
        metrics_gauge(out, "worker.coresUsed", v->cores_used);
        metrics_gauge(out, "worker.memUsed_MB", v->memory_used);
        metrics_gauge(out, "worker.coresFree", v->cores - v->cores_used);
        metrics_gauge(out, "worker.memFree_MB", v->memory - v->memory_used);
}

static void serve_metrics(struct worker_pages *p, struct web_request *q, bool prometheus)
{
        struct metrics_snapshot m = METRICS_SNAPSHOT_INIT;
        worker_measure(p, &m);
        web_answer_metrics(q, &m, prometheus);
}

/* ---------------------------------------------------------------------------------------------------- the site */

static void worker_pages_serve_log(struct worker_pages *p, struct web_request *q)
{
        log_pages_serve(p->logs, q);
}

static const struct {
        const char *path;
        void (*serve)(struct worker_pages *p, struct web_request *q);
} routes[] = {
        {"/", serve_first},
        {"/json", worker_pages_serve_json},
        {"/log", worker_pages_serve_log},
        {"/logPage", worker_pages_serve_log},
};

static void worker_pages_serve(void *owner, struct web_request *q)
{
        struct worker_pages *p = owner;
        const enum metrics_servlet servlet = metrics_servlets_find(&p->servlets, q->path);
        if (strcmp(q->method, "GET") != 0)
                return web_wrong_method(q, "GET, HEAD");
        if (servlet)
                return serve_metrics(p, q, servlet == METRICS_SERVLET_PROMETHEUS);
        for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
                if (web_is(q, routes[i].path))
                        return routes[i].serve(p, q);
        web_not_found(q);
}

int worker_pages_new(const struct worker_pages_options *options, struct worker_pages **out, struct fst_error *error)
{
        struct worker_pages *p = new0(struct worker_pages);
        p->options = *options;
        struct web_site_options site = {.loop = options->loop,
                                        .conf = options->conf,
                                        .name = "WorkerUI",
                                        .host = options->host,
                                        .port = options->port,
                                        .serve = worker_pages_serve,
                                        .owner = p};
        struct metrics_daemon_options sinks = {.loop = options->loop,
                                               .instance = "worker",
                                               .conf = options->conf,
                                               .measure = worker_measure,
                                               .owner = p};
        metrics_servlets_read(&p->servlets, "worker", options->conf, getenv("SPARK_CONF_DIR"));
        int r = web_site_new(&site, &p->site, error);
        if (r == 0)
                r = metrics_daemon_start(&sinks, &p->sinks, error);
        if (r < 0) {
                worker_pages_free(p);
                return r;
        }
        p->logs = log_pages_new(&(struct log_pages_options){.loop = options->loop,
                                                            .daemon = "worker",
                                                            .work_dir = options->work_dir,
                                                            .log_dir = options->work_dir});
        *out = p;
        return 0;
}

void worker_pages_free(struct worker_pages *p)
{
        if (!p)
                return;
        metrics_daemon_stop(p->sinks);
        metrics_servlets_deinit(&p->servlets);
        log_pages_free(p->logs);
        web_site_free(p->site);
        free(p);
}

int worker_pages_port(const struct worker_pages *p)
{
        return web_site_port(p->site);
}

bool worker_pages_are_secure(const struct worker_pages *p)
{
        return web_site_is_secure(p->site);
}
