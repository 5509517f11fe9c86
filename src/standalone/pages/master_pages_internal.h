/* Shared by the files of the master's pages: master_pages.c holds the site, its paths and the JSON;
 * master_index_page.c the first page; master_app_page.c that of an application; master_admin_pages.c kill and
 * decommission requests; master_metrics.c the metrics.
 */
#pragma once

#include "base/list.h"
#include "base/string_prefix.h"
#include "conf/redact.h"
#include "metrics/metrics_servlets.h"
#include "standalone/pages/log_pages.h"
#include "standalone/pages/master_pages.h"
#include "standalone/core/master_state.h"
#include "web/html.h"
#include "web/proxy.h"
#include "web/web_site.h"

#define MASTER_PAGES_LOG "MasterWebUI"

struct metrics_daemon;

/* A request to kill a driver, answered when the master has replied. */
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
        char *title, *history_url,
                *shown_variables; /* spark.master.ui.title, .historyServerUrl (NULL), .visibleEnvVarPrefixes */
        LIST(struct waiting) waiting;
        struct log_pages *logs;
        struct web_proxy *proxy;                  /* NULL: spark.ui.reverseProxy is off */
        struct metrics_servlets servlets, app_servlets;
        struct metrics_daemon *sinks, *app_sinks; /* of the instances master and applications; NULL: none */
};

static inline const struct master *master_pages_state(const struct master_pages *p)
{
        return p->options.ops->state(p->options.master);
}

/* Each answers @q. */
void master_serve_overview(struct master_pages *p, struct web_request *q);
void master_serve_app(struct master_pages *p, struct web_request *q);
void master_serve_app_kill(struct master_pages *p, struct web_request *q);
void master_serve_driver_kill(struct master_pages *p, struct web_request *q);
void master_serve_decommission(struct master_pages *p, struct web_request *q);

/* Answers @q with the metrics of the master or of its applications. Returns false if its path is of neither. */
bool master_serve_metrics(struct master_pages *p, struct web_request *q);

/* The sinks of metrics.properties. The start returns negative with @error for an invalid sink. */
int master_start_sinks(struct master_pages *p, struct fst_error *error);
void master_stop_sinks(struct master_pages *p);

/* Answers all pending kill requests: this master ends. */
void master_deeds_end(struct master_pages *p);

/* The link to the pages of worker or application @id that registered @url: that URL or, with spark.ui.reverseProxy, a
 * path under /proxy/. NULL if @url is not a valid link. The caller owns it.
 */
char *master_href(const struct master_pages *p, const struct web_request *q, const char *id, const char *url);

/* The link to an application's pages: its own or, after its end, the history server's. As master_href. */
char *master_app_href(const struct master_pages *p, const struct web_request *q, const struct master_app *app);

/* Parts of a page: a link, or the text if @href is NULL; "2 gpu"; "gpu: [0, 1]"; "<dt>…</dt><dd>". */
void master_put_link(struct buf *b, const char *href, const char *text);
void master_put_needs(struct buf *b, const struct owned_needs *needs);
void master_put_holds(struct buf *b, const struct master_worker *w, const struct resource_hold *holds, int n);
void master_put_fact(struct buf *b, const char *name);

/* A button that kills @app, if it is active and the user may kill it. */
void master_put_app_kill_form(const struct master_pages *p, const struct web_request *q, struct buf *b,
                              const struct master_app *app);
