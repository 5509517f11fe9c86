/* See master_pages.h. */
#include "base/mem.h"
#include "conf/conf.h"
#include "standalone/pages/master_json.h"
#include "standalone/pages/master_pages_internal.h"

extern char **environ;

static bool begins_with_one_of(const char *name, const char *prefixes)
{
        for (const char *at = prefixes; at && *at; at += strspn(at, ", ")) {
                size_t n = strcspn(at, ", ");
                if (n > 0 && strncmp(name, at, n) == 0)
                        return true;
                at += n;
        }
        return false;
}

static void master_pages_put_variables(const struct master_pages *p, struct buf *b)
{
        size_t n = 0;
        for (char **v = environ; v && *v; v++)
                n += begins_with_one_of(*v, p->shown_variables);
        if (n == 0)
                return;
        html_table_begin(b, "variables", "Environment Variables", "Name|Value", n, "");
        for (char **v = environ; *v; v++) {
                const char *equals = strchr(*v, '=');
                if (!equals || !begins_with_one_of(*v, p->shown_variables))
                        continue;
                _cleanup_free_ char *name = mem_strndup(*v, (size_t)(equals - *v));
                html_put(b, "<tr><td>%s</td><td>%s</td></tr>\n", name, redactor_value(&p->redactor, name, equals + 1));
        }
        html_table_end(b, n);
}

static void serve_environment(struct master_pages *p, struct web_request *q)
{
        struct buf b = BUF_INIT;
        const struct strmap *set = &p->options.conf->set;
        struct strmap_entry **sorted = strmap_sorted(set);
        struct html_page page = {.base = q->base,
                                 .title = "Environment",
                                 .back_url = "/",
                                 .back_text = "Back to Master",
                                 .user = q->user};
        html_begin(&b, &page);
        html_table_begin(&b, "properties", "Spark Properties", "Name|Value", set->count, "Nothing was set.");
        for (size_t i = 0; i < set->count; i++)
                html_put(&b, "<tr><td>%s</td><td>%s</td></tr>\n", sorted[i]->key,
                         redactor_value(&p->redactor, sorted[i]->key, sorted[i]->value));
        html_table_end(&b, set->count);
        master_pages_put_variables(p, &b);
        html_end(&b, &page);
        free(sorted);
        web_answer_html(q, 200, &b);
}

/* --------------------------------------------------------------------------------------------- JSON and metrics */

static struct master_info master_pages_info_of(const struct master_pages *p)
{
        return (struct master_info){.url = p->options.master_url, .now = p->options.ops->now()};
}

/* "/json", "/json/workers", "/json/workers/whatever" */
static void master_pages_serve_json(struct master_pages *p, struct web_request *q)
{
        const char *name = q->path + strlen("/json");
        struct buf b = BUF_INIT;
        struct master_info info = master_pages_info_of(p);
        name += *name == '/';
        _cleanup_free_ char *field =
                mem_strndup(name, strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"));
        if (strcmp(field, "clusterutilization") == 0)
                master_json_put_utilization(master_pages_state(p), &b);
        else
                master_json_put(master_pages_state(p), &info, *field ? field : NULL, &b);
        web_answer_json(q, &b);
}

static void serve_app_json(struct master_pages *p, struct web_request *q)
{
        const char *id = form_get(&q->form, "appId");
        struct buf b = BUF_INIT;
        struct master_info info = master_pages_info_of(p);
        master_json_put_app(master_pages_state(p), &info, id ? id : "", &b);
        web_answer_json(q, &b);
}

static void master_pages_serve_log(struct master_pages *p, struct web_request *q)
{
        log_pages_serve(p->logs, q);
}

/* Finds the pages of a worker or a running application for the proxy. */
static char *find_pages(void *owner, const char *id)
{
        const struct master *m = master_pages_state(owner);
        const struct master_worker *w = master_worker(m, id);
        const struct master_app *app = w ? NULL : master_app(m, id);
        const char *url = w ? w->web_ui : app ? app->ui_url : NULL;
        return html_is_link(url) ? mem_strdup(url) : NULL;
}

/* ---------------------------------------------------------------------------------------------------- the site */

static const struct {
        const char *path;
        bool below; /* also serves paths below */
        void (*serve)(struct master_pages *p, struct web_request *q);
} routes[] = {
        {"/", false, master_serve_overview},
        {"/json", true, master_pages_serve_json},
        {"/app", false, master_serve_app},
        {"/app/json", false, serve_app_json},
        {"/app/kill", false, master_serve_app_kill},
        {"/driver/kill", false, master_serve_driver_kill},
        {"/workers/kill", false, master_serve_decommission},
        {"/environment", false, serve_environment},
        {"/log", false, master_pages_serve_log},
        {"/logPage", false, master_pages_serve_log},
};

static void master_pages_serve(void *owner, struct web_request *q)
{
        struct master_pages *p = owner;
        if (p->proxy && web_proxy_is(q))
                return web_proxy_serve(p->proxy, q);
        if (master_serve_metrics(p, q))
                return;
        for (size_t i = 0; i < ARRAY_SIZE(routes); i++) {
                size_t n = strlen(routes[i].path);
                if (web_is(q, routes[i].path) ||
                    (routes[i].below && strncmp(q->path, routes[i].path, n) == 0 && q->path[n] == '/'))
                        return routes[i].serve(owner, q);
        }
        web_not_found(q);
}

static int master_pages_read_conf(struct master_pages *p, struct fst_error *error)
{
        const struct fst_conf *conf = p->options.conf;
        bool proxied = false;
        int r = conf_get_bool(conf, "spark.ui.killEnabled", &p->kill_enabled, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.ui.reverseProxy", &proxied, error);
        if (r == 0 && proxied)
                p->proxy = web_proxy_new(&(struct web_proxy_options){
                        .loop = p->options.loop, .conf = conf, .find = find_pages, .owner = p});
        if (r == 0)
                r = conf_get_bool(conf, "spark.decommission.enabled", &p->decommission_enabled, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.master.ui.decommission.allow.mode", &p->decommission_mode, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.master.ui.title", &p->title, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.master.ui.historyServerUrl", &p->history_url, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.master.ui.visibleEnvVarPrefixes", &p->shown_variables, error);
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
                                        .serve = master_pages_serve,
                                        .owner = p};
        int r = master_pages_read_conf(p, error);
        p->logs = log_pages_new(
                &(struct log_pages_options){.loop = options->loop, .daemon = "master", .log_dir = "logs"});
        if (p->proxy)
                site.base = conf_get_raw(options->conf, "spark.ui.reverseProxyUrl");
        if (r == 0)
                r = web_site_new(&site, &p->site, error);
        if (r == 0)
                r = master_start_sinks(p, error);
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
        master_stop_sinks(p);
        master_deeds_end(p);
        log_pages_free(p->logs);
        web_proxy_free(p->proxy);
        web_site_free(p->site);
        redactor_deinit(&p->redactor);
        free(p->decommission_mode);
        free(p->title);
        free(p->history_url);
        free(p->shown_variables);
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
