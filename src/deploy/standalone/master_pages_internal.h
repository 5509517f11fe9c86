/*
 * What the files of the master's pages share: master_pages.c is the site, its paths and the JSON; master_overview.c the
 * first page, master_app_page.c that of an application, master_deeds.c what changes something, master_metrics.c the
 * metrics.
 */
#pragma once

#include "base/text.h"
#include "conf/redact.h"
#include "deploy/standalone/master_pages.h"
#include "deploy/standalone/master_state.h"
#include "web/html.h"
#include "web/site.h"

#define MASTER_PAGES_LOG "MasterWebUI"

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

static inline const struct master *master_pages_state(const struct master_pages *p)
{
        return p->options.ops->state(p->options.owner);
}

/* Each answers @q. */
void master_serve_overview(struct master_pages *p, struct web_request *q);
void master_serve_app(struct master_pages *p, struct web_request *q);
void master_serve_app_kill(struct master_pages *p, struct web_request *q);
void master_serve_driver_kill(struct master_pages *p, struct web_request *q);
void master_serve_decommission(struct master_pages *p, struct web_request *q);
void master_serve_metrics(struct master_pages *p, struct web_request *q);
void master_serve_app_metrics(struct master_pages *p, struct web_request *q);

/* Whoever waits for a driver's end is told that this master ends. */
void master_deeds_end(struct master_pages *p);

/* Parts of a page: an address from elsewhere as a link, if it is one; "2 gpu"; "gpu: [0, 1]"; "<dt>…</dt><dd>". */
void master_put_link(struct buf *b, const char *url, const char *text);
void master_put_needs(struct buf *b, const struct owned_needs *needs);
void master_put_holds(struct buf *b, const struct master_worker *w, const struct resource_hold *holds, int n);
void master_put_fact(struct buf *b, const char *name);
