/* See dispatcher_pages.h. The tables are those of Spark's MesosClusterPage and DriverPage. */
#include "mesos/dispatcher/dispatcher_pages.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/redact.h"
#include "mesos/dispatcher/driver_description.h"
#include "mesos/dispatcher/status_text.h"
#include "metrics/metrics_daemon.h"
#include "metrics/metrics_servlets.h"
#include "net/socket.h"
#include "rest/rest_request.h"
#include "text/number_format.h"
#include "web/html.h"
#include "web/web_site.h"

#define INSTANCE "mesos_cluster"

struct dispatcher_pages {
        struct dispatcher_pages_options options;
        struct web_site *site;
        struct redactor redactor;
        struct metrics_servlets servlets;
        struct metrics_daemon *sinks;
        char *history_url; /* NULL: none */
        char *sandbox_url; /* spark.mesos.proxy.baseURL; NULL: the master's */
        char *url;
};

/* ------------------------------------------------------------------------------------------------- cells */

static void dispatcher_pages_put_resources(struct buf *b, const struct mesos_driver *driver)
{
        char cpus[NUMBER_F64_SIZE + 1];
        cpus[number_format_f64(cpus, mesos_amount(driver->cpus_milli))] = '\0';
        html_put(b, "<td>cpus: %s, mem: %D</td>", cpus, driver->memory);
}

static void dispatcher_pages_put_link(struct buf *b, const struct web_request *q, const struct mesos_driver *driver)
{
        html_put(b, "<tr><td><a href=\"%s/driver/?id=%q\">%s</a></td>", q->base, driver->id, driver->id);
}

/* "TASK_RUNNING", or nothing before the first update. */
static const char *dispatcher_pages_state(const struct mesos_driver *driver)
{
        return driver->has_status ? mesos_state_name(driver->task_state) : "";
}

static void dispatcher_pages_put_sandbox(const struct dispatcher_pages *p, struct buf *b,
                                         const struct mesos_driver *driver)
{
        const char *master = p->options.master ? p->options.master(p->options.owner) : NULL;
        _cleanup_free_ char *base = p->sandbox_url ? mem_strdup(p->sandbox_url)
                                    : master       ? mem_printf("http://%s", master)
                                                   : NULL;
        if (!html_is_link(base) || !driver->agent || !p->options.core->framework_id)
                return buf_puts(b, "<td></td>");
        html_put(b, "<td><a href=\"%s/#/agents/%q/frameworks/%q/executors/%q/browse\">Sandbox</a></td>", base,
                 driver->agent, p->options.core->framework_id, driver->task_id);
}

static void dispatcher_pages_put_history(const struct dispatcher_pages *p, struct buf *b,
                                         const struct mesos_driver *driver)
{
        if (p->history_url && html_is_link(p->history_url) && p->options.core->framework_id)
                html_put(b, "<td><a href=\"%s/history/%q-%q\">History</a></td>", p->history_url,
                         p->options.core->framework_id, driver->task_id);
        else if (p->history_url)
                buf_puts(b, "<td></td>");
}

/* ------------------------------------------------------------------------------------------------- tables */

static void dispatcher_pages_put_queued(const struct dispatcher_pages *p, const struct web_request *q, struct buf *b)
{
        const struct dispatcher *d = p->options.core;
        html_table_begin(b, "queued", "Queued Drivers", "Driver ID|Queue|Submit Date|Main Class|Driver Resources",
                         d->n_queued, "No driver waits.");
        for (const struct mesos_driver *driver = d->queued.first; driver; driver = driver->next) {
                dispatcher_pages_put_link(b, q, driver);
                html_put(b, "<td>%s</td><td>%t</td><td>%s</td>", driver->queue, driver->submitted, driver->main_class);
                dispatcher_pages_put_resources(b, driver);
                buf_puts(b, "</tr>\n");
        }
        html_table_end(b, d->n_queued);
}

static void dispatcher_pages_put_launched(const struct dispatcher_pages *p, const struct web_request *q, struct buf *b,
                                          const char *id, const char *heading, const mesos_driver_list *list, size_t n,
                                          const char *nothing)
{
        const bool history = p->history_url != NULL;
        html_table_begin(
                b, id, heading,
                history ? "Driver ID|History|Submit Date|Main Class|Driver Resources|Start Date|Mesos Agent ID|State|Sandbox"
                        : "Driver ID|Submit Date|Main Class|Driver Resources|Start Date|Mesos Agent ID|State|Sandbox",
                n, nothing);
        for (const struct mesos_driver *driver = list->first; driver; driver = driver->next) {
                dispatcher_pages_put_link(b, q, driver);
                dispatcher_pages_put_history(p, b, driver);
                html_put(b, "<td>%t</td><td>%s</td>", driver->submitted, driver->main_class);
                dispatcher_pages_put_resources(b, driver);
                html_put(b, "<td>%t</td><td>%s</td><td>%s</td>", driver->started, driver->agent,
                         dispatcher_pages_state(driver));
                dispatcher_pages_put_sandbox(p, b, driver);
                buf_puts(b, "</tr>\n");
        }
        html_table_end(b, n);
}

static void dispatcher_pages_put_retries(const struct dispatcher_pages *p, const struct web_request *q, struct buf *b)
{
        const struct dispatcher *d = p->options.core;
        html_table_begin(b, "retries", "Supervise drivers waiting for retry",
                         "Driver ID|Submit Date|Description|Last Failed Status|Next Retry Time|#Attempt Count",
                         d->n_retrying, "No driver waits for a retry.");
        for (const struct mesos_driver *driver = d->retrying.first; driver; driver = driver->next) {
                dispatcher_pages_put_link(b, q, driver);
                html_put(b, "<td>%t</td><td>%s</td><td>%s</td><td>%t</td><td class=\"number\">%d</td></tr>\n",
                         driver->submitted, driver->main_class, dispatcher_pages_state(driver),
                         dispatcher_wall(d, driver->next_retry), driver->retries);
        }
        html_table_end(b, d->n_retrying);
}

static void dispatcher_pages_serve_index(struct dispatcher_pages *p, struct web_request *q)
{
        const struct dispatcher *d = p->options.core;
        struct buf b = BUF_INIT;
        struct html_page page = {.base = q->base, .title = "Spark Drivers for Mesos cluster", .user = q->user};
        html_begin(&b, &page);
        buf_puts(&b, "<dl class=\"facts\">\n");
        html_put_fact(&b, "Mesos Framework ID:", "%s", d->framework_id ? d->framework_id : "none yet");
        buf_puts(&b, "</dl>\n");
        dispatcher_pages_put_queued(p, q, &b);
        dispatcher_pages_put_launched(p, q, &b, "launched", "Launched Drivers", &d->launched, d->n_launched,
                                      "No driver is launched.");
        dispatcher_pages_put_launched(p, q, &b, "finished", "Finished Drivers", &d->finished, d->n_finished,
                                      "No driver has ended yet.");
        dispatcher_pages_put_retries(p, q, &b);
        html_end(&b, &page);
        web_answer_html(q, 200, &b);
}

/* ------------------------------------------------------------------------------------------------- a driver */

static void dispatcher_pages_put_map(const struct dispatcher_pages *p, struct buf *b, const char *id,
                                     const char *heading, const struct strmap *map)
{
        struct strmap_entry **sorted = strmap_sorted(map);
        html_table_begin(b, id, heading, "Name|Value", map->count, "None.");
        for (size_t i = 0; i < map->count; i++)
                html_put(b, "<tr><td>%s</td><td>%s</td></tr>\n", sorted[i]->key,
                         redactor_value(&p->redactor, sorted[i]->key, sorted[i]->value));
        html_table_end(b, map->count);
        free(sorted);
}

static void dispatcher_pages_put_facts(const struct dispatcher_pages *p, struct buf *b,
                                       const struct mesos_driver *driver, const struct rest_request *request)
{
        const struct dispatcher *d = p->options.core;
        buf_puts(b, "<dl class=\"facts\">\n");
        html_put_fact(b, "ID", "%s", driver->id);
        html_put_fact(b, "State", "%s", mesos_driver_state_name(driver->state));
        html_put_fact(b, "Name", "%s", driver->name);
        html_put_fact(b, "Queue", "%s", driver->queue);
        html_put_fact(b, "Main Class", "%s", driver->main_class);
        html_put_fact(b, "Application", "%s", request->app_resource);
        html_put_fact(b, "Submitted", "%t", driver->submitted);
        html_put_fact(b, "Memory", "%m", driver->memory);
        html_put_fact(b, "Supervise", "%s", driver->supervise ? "true" : "false");
        if (driver->agent) {
                html_put_fact(b, "Started", "%t", driver->started);
                html_put_fact(b, "Mesos Agent ID", "%s", driver->agent);
                html_put_fact(b, "Host", "%s", driver->hostname);
                html_put_fact(b, "Mesos Task ID", "%s", driver->task_id);
        }
        if (driver->retries)
                html_put_fact(b, "Retries", "%d", driver->retries);
        if (driver->state == MESOS_DRIVER_RETRYING)
                html_put_fact(b, "Next Retry Time", "%t", dispatcher_wall(d, driver->next_retry));
        buf_puts(b, "</dl>\n");
        _cleanup_free_ char *status = driver->status ? status_text_of(driver->status, driver->status_size) : NULL;
        if (status)
                html_put(b, "<h3>Last Task Status</h3>\n<pre>%s</pre>\n", status);
}

static void dispatcher_pages_serve_driver(struct dispatcher_pages *p, struct web_request *q)
{
        const char *id = form_get(&q->form, "id");
        const struct mesos_driver *driver = id ? dispatcher_driver(p->options.core, id) : NULL;
        struct rest_request request;
        struct buf b = BUF_INIT;
        if (!driver || driver_description_unpack(&request, driver->body, driver->body_size, NULL) < 0)
                return web_refuse(q, 404, "This dispatcher has no such driver.");
        _cleanup_free_ char *title = mem_printf("Details for Job %s", driver->id);
        struct html_page page = {
                .base = q->base, .title = title, .back_url = "/", .back_text = "Back to Drivers", .user = q->user};
        html_begin(&b, &page);
        dispatcher_pages_put_facts(p, &b, driver, &request);
        dispatcher_pages_put_map(p, &b, "properties", "Spark Properties", &request.properties);
        dispatcher_pages_put_map(p, &b, "environment", "Environment Variables", &request.environment);
        html_table_begin(&b, "arguments", "Arguments", "Argument", request.app_args.len, "None.");
        for (size_t i = 0; i < request.app_args.len; i++)
                html_put(&b, "<tr><td>%s</td></tr>\n", request.app_args.data[i]);
        html_table_end(&b, request.app_args.len);
        html_end(&b, &page);
        rest_request_deinit(&request);
        web_answer_html(q, 200, &b);
}

/* ------------------------------------------------------------------------------------------------- the site */

static void dispatcher_pages_measure(void *owner, struct metrics_snapshot *out)
{
        const struct dispatcher_pages *p = owner;
        metrics_gauge(out, INSTANCE ".waitingDrivers", (int64_t)p->options.core->n_queued);
        metrics_gauge(out, INSTANCE ".launchedDrivers", (int64_t)p->options.core->n_launched);
        metrics_gauge(out, INSTANCE ".retryDrivers", (int64_t)p->options.core->n_retrying);
}

static bool dispatcher_pages_serve_metrics(struct dispatcher_pages *p, struct web_request *q)
{
        struct metrics_snapshot metrics = METRICS_SNAPSHOT_INIT;
        enum metrics_servlet servlet = metrics_servlets_find(&p->servlets, q->path);
        if (!servlet)
                return false;
        dispatcher_pages_measure(p, &metrics);
        web_answer_metrics(q, &metrics, servlet == METRICS_SERVLET_PROMETHEUS);
        return true;
}

static void dispatcher_pages_serve(void *owner, struct web_request *q)
{
        if (web_is(q, "/"))
                return dispatcher_pages_serve_index(owner, q);
        if (web_is(q, "/driver"))
                return dispatcher_pages_serve_driver(owner, q);
        if (!dispatcher_pages_serve_metrics(owner, q))
                web_not_found(q);
}

static int dispatcher_pages_start(struct dispatcher_pages *p, struct fst_error *error)
{
        const struct fst_conf *conf = &p->options.conf->conf;
        struct web_site_options site = {.loop = p->options.loop,
                                        .conf = conf,
                                        .name = "MesosClusterUI",
                                        .port = p->options.conf->web_ui_port,
                                        .tls_space = "mesos",
                                        .serve = dispatcher_pages_serve,
                                        .owner = p};
        struct metrics_daemon_options sinks = {.loop = p->options.loop,
                                               .instance = INSTANCE,
                                               .conf = conf,
                                               .measure = dispatcher_pages_measure,
                                               .owner = p};
        char address[300];
        int r = redactor_init(&p->redactor, conf, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.mesos.dispatcher.historyServer.url", &p->history_url, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.mesos.proxy.baseURL", &p->sandbox_url, error);
        if (r == 0)
                r = web_site_new(&site, &p->site, error);
        if (r < 0)
                return r;
        p->url = mem_printf(
                "%s://%s", web_site_is_secure(p->site) ? "https" : "http",
                host_port_text(p->options.conf->public_host, web_site_port(p->site), address, sizeof(address)));
        log_info("MesosClusterUI", "Bound MesosClusterUI to %s, and started at %s", "0.0.0.0", p->url);
        metrics_servlets_read(&p->servlets, INSTANCE, conf, getenv("SPARK_CONF_DIR"));
        return metrics_daemon_start(&sinks, &p->sinks, error);
}

int dispatcher_pages_new(const struct dispatcher_pages_options *options, struct dispatcher_pages **out,
                         struct fst_error *error)
{
        struct dispatcher_pages *p = new0(struct dispatcher_pages);
        p->options = *options;
        int r = dispatcher_pages_start(p, error);
        if (r < 0)
                dispatcher_pages_free(p);
        else
                *out = p;
        return r;
}

void dispatcher_pages_free(struct dispatcher_pages *p)
{
        if (!p)
                return;
        metrics_daemon_stop(p->sinks);
        metrics_servlets_deinit(&p->servlets);
        web_site_free(p->site);
        redactor_deinit(&p->redactor);
        free(p->history_url);
        free(p->sandbox_url);
        free(p->url);
        free(p);
}

const char *dispatcher_pages_url(const struct dispatcher_pages *p)
{
        return p->url;
}
