/*
 * A site: the pages of a daemon under one port, or two with TLS. What all pages have in common is here, once: who asks
 * (web/filters.h) and whether they may look (web/acls.h), the headers that browsers are told to be careful by, the
 * style sheet, what becomes of a path that there is not, of a method that is not taken, of a form that came from
 * somebody else's page.
 *
 *      static void serve(void *owner, struct web_request *q)
 *      {
 *              if (web_is(q, "/json"))
 *                      return web_answer_json(q, …);
 *              web_not_found(q);
 *      }
 *
 * Behind a proxy, links begin with where it has us: options.base, spark.ui.proxyBase, APPLICATION_WEB_PROXY_BASE of the
 * environment, or what the proxy says itself in X-Forwarded-Context; with spark.ui.reverseProxy, a site without a base
 * of its own is behind a master's proxy, which knows better than the configuration that both share.
 *
 * With spark.ssl.standalone.enabled, pages are at the TLS port, and the other one redirects there.
 */
#pragma once

#include "net/http/http_server.h"
#include "web/acls.h"
#include "web/form.h"

#include <uv.h>

struct fst_conf;
struct fst_error;
struct web_site;

struct web_request {
        struct web_site *site;
        const char *method; /* "GET" or "POST" */
        const char *base;   /* before every link of ours: "", or where a proxy has this site: "/proxy/worker-1" */
        const char *path;   /* decoded, without slashes at its end: "/app"; "/" */
        struct form form;   /* the query; of a POST, its body as well, which comes first */
        const char *user;   /* NULL: nobody is known */
        struct http_call *call;
        void *context; /* the page's own, while it answers later */
};

struct web_site_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* borrowed */
        const char *name;            /* "MasterUI" */
        const char *host;            /* to listen on; NULL: SPARK_LOCAL_IP, or all addresses */
        int port;
        const char *base; /* where a proxy in front of us has the pages: "https://gate/spark"; NULL: not said */
        /* Answer @q, now or later, by one of the functions below. */
        void (*serve)(void *owner, struct web_request *q);
        void *owner;
};

/* Listen. 0, or negative with @error: the port, a filter that there is not, a certificate, … */
int web_site_new(const struct web_site_options *options, struct web_site **out, struct fst_error *error);

/* Requests that are not answered stay with their pages; their answers are dropped. NULL is allowed. */
void web_site_free(struct web_site *s);

/* Where pages are: the TLS port if there is one. */
int web_site_port(const struct web_site *s);
int web_site_plain_port(const struct web_site *s);
bool web_site_is_secure(const struct web_site *s);

static inline bool web_is(const struct web_request *q, const char *path)
{
        return strcmp(q->path, path) == 0;
}

/* The header in which a proxy that is believed says who asks; NULL: there is no such filter. */
const char *web_user_header(const struct web_request *q);

/* Whether who asks may change things. */
bool web_may_modify(const struct web_request *q);

/*
 * For what changes something: true if the request is a POST, of a page of our own, by somebody who may. Else it was
 * answered (405, 403) and is gone.
 */
bool web_require_modify(struct web_request *q);

/*
 * The same for forms of our own: they carry, as "csrfToken", what only a page of this site can know. For scripts that
 * send no form, web_require_modify.
 */
bool web_require_form(struct web_request *q);
const char *web_form_token(const struct web_request *q);

/* Each answers, and @q is gone. What is in a buf is taken. */
void web_answer_html(struct web_request *q, int status, struct buf *html);
void web_answer_text(struct web_request *q, int status, struct buf *text);
void web_answer_json(struct web_request *q, struct buf *json);    /* text/json, as Spark's pages */
void web_answer_metrics(struct web_request *q, struct buf *text); /* Prometheus */
void web_redirect(struct web_request *q, const char *location);   /* "/" and what is behind it is of this site */
void web_answer(struct web_request *q, int status, const char *type, struct buf *body); /* any type; NULL: none */
void web_not_found(struct web_request *q);
void web_wrong_method(struct web_request *q, const char *allow);
void web_refuse(struct web_request *q, int status, const char *sentence);
