/*
 * See worker_pages.h. Headings and columns are those of Spark's pages.
 *
 * A log request owns what it needs and outlives the pages: when they are freed first, its answer goes nowhere.
 */
#include "deploy/standalone/worker_pages.h"

#include "base/error.h"
#include "base/mem.h"
#include "base/text.h"
#include "deploy/standalone/log_view.h"
#include "deploy/standalone/worker_json.h"
#include "web/html.h"
#include "web/metrics.h"
#include "web/site.h"

#include <stdio.h>

#define DEFAULT_BYTES (100 * 1024)

struct worker_pages {
        struct worker_pages_options options;
        struct web_site *site;
        struct log_request *logs; /* being read */
};

static const struct worker_view *view_of(const struct worker_pages *p)
{
        return p->options.view(p->options.owner);
}

/* ------------------------------------------------------------------------------------------------ the first page */

static bool is_link(const char *url)
{
        return url && (text_starts_with(url, "http://") || text_starts_with(url, "https://"));
}

static void put_resources(struct buf *b, const struct resource_addresses *resources, int n)
{
        for (int i = 0; i < n; i++) {
                html_put(b, "%s%s: [", i ? ", " : "", resources[i].name);
                for (int k = 0; k < resources[i].n; k++)
                        html_put(b, "%s%s", k ? ", " : "", resources[i].addresses[k]);
                buf_putc(b, ']');
        }
}

static void put_executor_row(struct buf *b, const struct worker_executor_state *e)
{
        html_put(b, "<tr><td class=\"number\">%d</td><td>", e->id);
        html_state(b, executor_state_name(e->state));
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td>", e->cores, e->memory);
        put_resources(b, e->resources, e->n_resources);
        html_put(b,
                 "</td><td>ID: %s<br>Name: %s<br>User: %s</td><td>"
                 "<a href=\"/logPage/?appId=%q&amp;executorId=%d&amp;logType=stdout\">stdout</a> "
                 "<a href=\"/logPage/?appId=%q&amp;executorId=%d&amp;logType=stderr\">stderr</a></td></tr>\n",
                 e->app_id, e->app_name, e->app_user, e->app_id, e->id, e->app_id, e->id);
}

static void put_driver_row(struct buf *b, const struct worker_driver_state *d)
{
        html_put(b, "<tr><td>%s</td><td>%s</td><td>", d->id, d->main_class);
        html_state(b, driver_state_name(d->state));
        html_put(b, "</td><td class=\"number\">%d</td><td class=\"number\">%m</td><td>", d->cores, d->memory);
        put_resources(b, d->resources, d->n_resources);
        html_put(b,
                 "</td><td><a href=\"/logPage/?driverId=%q&amp;logType=stdout\">stdout</a> "
                 "<a href=\"/logPage/?driverId=%q&amp;logType=stderr\">stderr</a></td><td>%s</td></tr>\n",
                 d->id, d->id, d->exception);
}

static void put_facts(struct buf *b, const struct worker_view *v)
{
        html_put(b, "<dl class=\"facts\">\n<dt>ID</dt><dd>%s</dd>\n<dt>Master URL</dt><dd>%s", v->id,
                 *v->master_url ? v->master_url : "none has taken this worker yet");
        html_put(b, "%s%s</dd>\n", *v->master_url && !v->connected ? " (not connected)" : "",
                 v->decommissioned ? " (decommissioned: nothing new starts here)" : "");
        html_put(b, "<dt>Cores</dt><dd>%d (%d Used)</dd>\n<dt>Memory</dt><dd>%m (%m Used)</dd>\n<dt>Resources</dt><dd>",
                 v->cores, v->cores_used, v->memory, v->memory_used);
        put_resources(b, v->resources, v->n_resources);
        buf_puts(b, "</dd>\n</dl>\n");
}

#define EXECUTOR_COLUMNS "#ExecutorID|State|#Cores|#Memory|Resources|Job Details|Logs"
#define DRIVER_COLUMNS "DriverID|Main Class|State|#Cores|#Memory|Resources|Logs|Notes"

/* Finished ones newest first. */
static void put_tables(struct buf *b, const struct worker_view *v)
{
        html_table_begin(b, "executors", "Running Executors", EXECUTOR_COLUMNS, v->executors.len, "No executor runs.");
        for (size_t i = 0; i < v->executors.len; i++)
                put_executor_row(b, v->executors.data[i]);
        html_table_end(b, v->executors.len);
        if (v->drivers.len) {
                html_table_begin(b, "drivers", "Running Drivers", DRIVER_COLUMNS, v->drivers.len, "");
                for (size_t i = 0; i < v->drivers.len; i++)
                        put_driver_row(b, v->drivers.data[i]);
                html_table_end(b, v->drivers.len);
        }
        if (v->finished_executors.len) {
                size_t n = v->finished_executors.len;
                html_table_begin(b, "finished-executors", "Finished Executors", EXECUTOR_COLUMNS, n, "");
                for (size_t i = n; i-- > 0;)
                        put_executor_row(b, v->finished_executors.data[i]);
                html_table_end(b, n);
        }
        if (v->finished_drivers.len) {
                size_t n = v->finished_drivers.len;
                html_table_begin(b, "finished-drivers", "Finished Drivers", DRIVER_COLUMNS, n, "");
                for (size_t i = n; i-- > 0;)
                        put_driver_row(b, v->finished_drivers.data[i]);
                html_table_end(b, n);
        }
}

static void serve_first(struct worker_pages *p, struct web_request *q)
{
        const struct worker_view *v = view_of(p);
        struct buf b = BUF_INIT;
        _cleanup_free_ char *title = mem_printf("Spark Worker at %s:%d", v->host, v->port);
        struct html_page page = {.title = title,
                                 .user = q->user,
                                 .back_url = is_link(v->master_web_ui) ? v->master_web_ui : NULL,
                                 .back_text = "Back to Master"};
        html_begin(&b, &page);
        put_facts(&b, v);
        put_tables(&b, v);
        html_end(&b, &page);
        web_answer_html(q, 200, &b);
}

/* ----------------------------------------------------------------------------------------------------------- logs */

struct log_request {
        uv_work_t work;
        struct worker_pages *pages; /* NULL: they are gone */
        struct log_request *prev, *next;
        struct web_request *q;
        char *work_dir, *parts[2], *type, *directory;
        int n_parts;
        bool has_offset, page;
        int64_t offset, bytes;
        struct log_range range;
        int result;
        struct fst_error error;
};

static void log_request_free(struct log_request *r)
{
        if (r->pages) {
                if (r->prev)
                        r->prev->next = r->next;
                else
                        r->pages->logs = r->next;
                if (r->next)
                        r->next->prev = r->prev;
        }
        free(r->work_dir);
        free(r->parts[0]);
        free(r->parts[1]);
        free(r->type);
        free(r->directory);
        log_range_deinit(&r->range);
        error_deinit(&r->error);
        free(r);
}

static void read_log(uv_work_t *work)
{
        struct log_request *r = work->data;
        r->result = log_view_read(r->work_dir, (const char *const *)r->parts, r->n_parts, r->type,
                                  r->has_offset ? &r->offset : NULL, r->bytes, &r->range, &r->error);
}

/* "appId=…&executorId=…" or "driverId=…", with the type: what all links of a log page begin with. */
static void put_target(struct buf *b, const struct log_request *r)
{
        if (r->n_parts == 2)
                html_put(b, "/logPage/?appId=%q&amp;executorId=%q&amp;logType=%q", r->parts[0], r->parts[1], r->type);
        else
                html_put(b, "/logPage/?driverId=%q&amp;logType=%q", r->parts[0], r->type);
}

static void put_piece_link(struct buf *b, const struct log_request *r, int64_t offset, const char *text)
{
        buf_puts(b, "<a href=\"");
        put_target(b, r);
        html_put(b, "&amp;offset=%D&amp;byteLength=%D\">%s</a> ", offset, r->bytes, text);
}

static void answer_page(struct log_request *r, const char *text, size_t len)
{
        struct web_request *q = r->q;
        const struct log_range *g = &r->range;
        struct buf b = BUF_INIT;
        _cleanup_free_ char *title = mem_printf("%s log page for %s%s%s", r->type, r->parts[0],
                                                r->n_parts == 2 ? "/" : "", r->n_parts == 2 ? r->parts[1] : "");
        struct html_page page = {.title = title, .back_url = "/", .back_text = "Back to Worker", .user = q->user};
        html_begin(&b, &page);
        html_put(&b, "<p id=\"log-data\">Showing %D Bytes: %D - %D of %D</p>\n<nav>", g->end - g->start, g->start,
                 g->end, g->total);
        if (g->start > 0) {
                put_piece_link(&b, r, 0, "First");
                put_piece_link(&b, r, MAX(g->start - r->bytes, (int64_t)0), "Older");
        }
        if (g->end < g->total)
                put_piece_link(&b, r, g->end, "Newer");
        buf_puts(&b, "<a href=\"");
        put_target(&b, r);
        html_put(&b, "&amp;byteLength=%D\">End of Log</a></nav>\n<pre>", r->bytes);
        html_text(&b, text, len);
        buf_puts(&b, "</pre>\n");
        html_end(&b, &page);
        web_answer_html(q, 200, &b);
}

static void answer_log(struct log_request *r)
{
        struct buf text = BUF_INIT;
        if (r->result == -ENOENT)
                buf_printf(&text, "Error: invalid log directory %s", r->directory);
        else if (r->result < 0)
                buf_printf(&text, "Error getting logs due to exception: %s", error_message(&r->error));
        else {
                text = r->range.text;
                r->range.text = BUF_INIT;
        }
        if (r->page) {
                answer_page(r, buf_text(&text), text.len);
                buf_deinit(&text);
                return;
        }
        struct buf whole = BUF_INIT;
        buf_printf(&whole, "==== Bytes %lld-%lld of %lld of %s%s ====\n", (long long)r->range.start,
                   (long long)r->range.end, (long long)r->range.total, r->directory, r->type);
        buf_append(&whole, buf_text(&text), text.len);
        buf_deinit(&text);
        web_answer_text(r->q, 200, &whole);
}

static void on_read(uv_work_t *work, int status)
{
        struct log_request *r = work->data;
        if (r->pages)
                answer_log(r);
        log_request_free(r);
}

static char *copy(const char *text)
{
        return text ? mem_strdup(text) : NULL;
}

/* Read what is asked for; false: answered. */
static bool read_parameters(struct web_request *q, struct log_request *r)
{
        const char *app = form_get(&q->form, "appId"), *executor = form_get(&q->form, "executorId");
        const char *driver = form_get(&q->form, "driverId"), *type = form_get(&q->form, "logType");
        int has_offset = form_get_int(&q->form, "offset", &r->offset);
        int has_bytes = form_get_int(&q->form, "byteLength", &r->bytes);
        r->has_offset = has_offset > 0;
        if (has_bytes == 0)
                r->bytes = DEFAULT_BYTES;
        if (has_offset < 0 || has_bytes < 0 || r->bytes < 0) {
                web_refuse(q, 400, "offset and byteLength are numbers.");
                return false;
        }
        r->bytes = MIN(r->bytes, (int64_t)LOG_VIEW_MOST);
        if ((app && executor && !driver) || (!app && !executor && driver)) {
                r->parts[0] = copy(app ? app : driver);
                r->parts[1] = copy(executor);
                r->n_parts = app ? 2 : 1;
                r->type = mem_strdup(type ? type : "");
                return true;
        }
        web_refuse(q, 400, "Request must specify either application or driver identifiers");
        return false;
}

static void serve_log(struct worker_pages *p, struct web_request *q)
{
        struct log_request *r = new0(struct log_request);
        if (!read_parameters(q, r)) {
                log_request_free(r);
                return;
        }
        r->q = q;
        r->page = web_is(q, "/logPage");
        r->work_dir = mem_strdup(view_of(p)->work_dir);
        r->directory = mem_printf("%s/%s/%s%s", r->work_dir, r->parts[0], r->n_parts == 2 ? r->parts[1] : "",
                                  r->n_parts == 2 ? "/" : "");
        r->pages = p;
        r->next = p->logs;
        if (r->next)
                r->next->prev = r;
        p->logs = r;
        if (!log_view_is_type(r->type)) {
                buf_puts(&r->range.text, "Error: Log type must be one of stderr, stdout");
                answer_log(r);
                return log_request_free(r);
        }
        r->work.data = r;
        if (uv_queue_work(p->options.loop, &r->work, read_log, on_read) < 0) {
                web_refuse(q, 503, "This log cannot be read now.");
                log_request_free(r);
        }
}

/* --------------------------------------------------------------------------------------------- JSON and metrics */

static void serve_json(struct worker_pages *p, struct web_request *q)
{
        struct buf b = BUF_INIT;
        worker_json_put(view_of(p), &b);
        web_answer_json(q, &b);
}

static void serve_metrics(struct worker_pages *p, struct web_request *q)
{
        const struct worker_view *v = view_of(p);
        struct metrics m = METRICS_INIT;
        struct buf b = BUF_INIT;
        metrics_gauge(&m, "worker.executors", (int64_t)v->executors.len);
        metrics_gauge(&m, "worker.coresUsed", v->cores_used);
        metrics_gauge(&m, "worker.memUsed_MB", v->memory_used);
        metrics_gauge(&m, "worker.coresFree", v->cores - v->cores_used);
        metrics_gauge(&m, "worker.memFree_MB", v->memory - v->memory_used);
        bool prometheus = web_is(q, "/metrics/prometheus");
        if (prometheus)
                metrics_put_prometheus(&m, &b);
        else
                metrics_put_json(&m, &b);
        metrics_deinit(&m);
        if (prometheus)
                web_answer_metrics(q, &b);
        else
                web_answer_json(q, &b);
}

/* ---------------------------------------------------------------------------------------------------- the site */

static const struct {
        const char *path;
        void (*serve)(struct worker_pages *p, struct web_request *q);
} routes[] = {
        {"/", serve_first},
        {"/json", serve_json},
        {"/log", serve_log},
        {"/logPage", serve_log},
        {"/metrics/json", serve_metrics},
        {"/metrics/prometheus", serve_metrics},
};

static void serve(void *owner, struct web_request *q)
{
        if (strcmp(q->method, "GET") != 0)
                return web_wrong_method(q, "GET, HEAD");
        for (size_t i = 0; i < ARRAY_SIZE(routes); i++)
                if (web_is(q, routes[i].path))
                        return routes[i].serve(owner, q);
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
                                        .serve = serve,
                                        .owner = p};
        int r = web_site_new(&site, &p->site, error);
        if (r < 0) {
                free(p);
                return r;
        }
        *out = p;
        return 0;
}

void worker_pages_free(struct worker_pages *p)
{
        if (!p)
                return;
        while (p->logs) {
                struct log_request *r = p->logs;
                p->logs = r->next;
                if (r->next)
                        r->next->prev = NULL;
                r->prev = r->next = NULL;
                r->pages = NULL;
                web_refuse(r->q, 503, "This worker ends.");
        }
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
