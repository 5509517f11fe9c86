/* HTTP of a master: the REST server and the pages, on the functions of master_server.h; see master_server_internal.h.
 */
#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "standalone/pages/master_pages.h"
#include "standalone/master/master_server_internal.h"
#include "standalone/rest/master_rest.h"
#include "net/socket.h"

static const struct rest_master_ops rest_ops = {
        .state = master_server_state,
        .submit = master_server_submit,
        .kill = master_server_kill,
        .kill_all = master_server_kill_all,
        .clear = master_server_clear,
};

static int start_rest(struct master_server *s, struct fst_error *error)
{
        const struct fst_conf *conf = &s->conf->conf;
        bool enabled = false;
        char text[300];
        int r = conf_get_bool(conf, "spark.master.rest.enabled", &enabled, error);
        if (r < 0 || !enabled)
                return r;
        r = master_rest_new(conf, s->url, &rest_ops, s, &s->rest, error);
        if (r == 0)
                r = rest_server_listen(master_rest_server(s->rest), s->loop, s->conf->host, error);
        if (r == 0)
                s->rest_url = mem_printf("spark://%s",
                                         host_port_text(s->conf->host, rest_server_port(master_rest_server(s->rest)),
                                                        text, sizeof(text)));
        return r;
}

/* ------------------------------------------------------------------------------------------------------- pages */

static const struct master_pages_ops pages_ops = {
        .state = master_server_state,
        .now = master_server_now,
        .kill_app = master_server_kill_app,
        .kill_driver = master_server_kill,
        .decommission = master_server_decommission,
};

/* The URL of the pages for users: the proxy in front of them, if there is one. */
static char *web_ui_of(const struct master_server *s)
{
        const struct fst_conf *conf = &s->conf->conf;
        const char *proxy = conf_get_raw(conf, "spark.ui.reverseProxyUrl");
        bool behind = false;
        char text[300];
        if (conf_get_bool(conf, "spark.ui.reverseProxy", &behind, NULL) == 0 && behind && proxy)
                return mem_printf("%s%s", proxy, text_ends_with(proxy, "/") ? "" : "/");
        return mem_printf("%s://%s", master_pages_are_secure(s->pages) ? "https" : "http",
                          host_port_text(s->conf->public_host, master_pages_port(s->pages), text, sizeof(text)));
}

static int start_pages(struct master_server *s, struct fst_error *error)
{
        const char *host = getenv("SPARK_LOCAL_IP");
        struct master_pages_options options = {
                .loop = s->loop,
                .conf = &s->conf->conf,
                .host = host && *host ? host : NULL,
                .port = s->conf->web_ui_port,
                .master_url = s->url,
                .rest_url = s->rest_url,
                .ops = &pages_ops,
                .master = s,
        };
        int r = master_pages_new(&options, &s->pages, error);
        if (r < 0)
                return r;
        s->web_ui = web_ui_of(s);
        log_info("MasterWebUI", "Bound MasterWebUI to %s, and started at %s", options.host ? options.host : "0.0.0.0",
                 s->web_ui);
        bool proxied = false;
        if (conf_get_bool(&s->conf->conf, "spark.ui.reverseProxy", &proxied, NULL) == 0 && proxied)
                log_info(
                        MASTER_LOG,
                        "Spark Master is acting as a reverse proxy. Master, Workers and Applications UIs are available "
                        "at %s",
                        s->web_ui);
        return 0;
}

int master_web_start(struct master_server *s, struct fst_error *error)
{
        int r = start_rest(s, error);
        return r < 0 ? r : start_pages(s, error);
}

void master_web_stop(struct master_server *s)
{
        master_pages_free(steal(s->pages));
        master_rest_free(steal(s->rest));
        free(steal(s->rest_url));
}
