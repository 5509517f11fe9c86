/*
 * The site of a driver (Spark: SparkUI) or of a history server: mounts the pages of applications and /api/v1 on
 * web/web_site.h. Requests are answered in threads of libuv's pool.
 *
 *      /                       driver: redirects to /jobs/; history server: the list
 *      /jobs/, /stages/, …     driver: pages of its application
 *      /history/ID[/ATTEMPT]/  history server: pages of an application
 *      /api/v1/…               ui/api/api.h
 *      /metrics/…              what the owner measures, at the paths of metrics.properties
 *      …/kill/                 POST with the site's token: cancels a job or a stage
 *
 * All functions run on the loop's thread.
 */
#pragma once

#include "ui/ui_request.h"
#include "web/web_site.h"

struct ui_site;

struct ui_site_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* borrowed */
        const char *name;            /* "SparkUI", "HistoryServerUI" */
        const char *tls_space;       /* "ui": certificates from spark.ssl.ui.* */
        const char *base;            /* prefix of links behind a proxy; NULL: as web_site decides */
        int port;
        bool any_port; /* if the port and its successors are taken, listen on any port */
        struct app_source *source;
        /*
         * Answers a page: of an application (q->view), or of the site (NULL). Leaves the status 0 for an unknown path.
         * Runs in threads of the pool. NULL: no pages.
         */
        void (*serve_page)(const struct ui_request *q, struct ui_answer *a);
        /* Takes a snapshot of the metrics for /metrics/json. Any thread. NULL: none. */
        void (*measure)(void *owner, struct metrics_snapshot *out);
        void *owner;
};

/* Listens. Returns 0, or negative with @error. */
int ui_site_new(const struct ui_site_options *options, struct ui_site **out, struct fst_error *error);

/* As web_site_read_proxy. */
int ui_site_read_proxy(struct ui_site *s, struct fst_error *error);

/* Waits for requests in the pool: runs the loop meanwhile. NULL is allowed. */
void ui_site_free(struct ui_site *s);

int ui_site_port(const struct ui_site *s);
bool ui_site_is_secure(const struct ui_site *s);
