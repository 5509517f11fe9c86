/*
 * A site: the pages of a daemon on one port, or on two with TLS. It implements what all pages share: it identifies the
 * user (web/filters.h) and checks the ACLs (web/acls.h), sets security headers, serves the style sheet, and answers
 * unknown paths, wrong methods and forms of other sites.
 *
 *      static void serve(void *owner, struct web_request *q)
 *      {
 *              if (web_is(q, "/json"))
 *                      return web_answer_json(q, …);
 *              web_not_found(q);
 *      }
 *
 * Behind a proxy, links begin with the proxy's path: options.base, spark.ui.proxyBase, APPLICATION_WEB_PROXY_BASE of
 * the environment, or X-Forwarded-Context of the request. With spark.ui.reverseProxy, a site without its own base is
 * behind a master's proxy, and its header wins over the shared configuration.
 *
 * With spark.ssl.SPACE.enabled, the pages are at the TLS port, and the other port redirects there.
 */
#pragma once

#include "net/http/http_server.h"
#include "web/acls.h"
#include "web/form.h"

#include <uv.h>

struct metrics_snapshot;

struct fst_conf;
struct fst_error;
struct web_site;

struct web_request {
        struct web_site *site;
        const char *method;   /* "GET" or "POST" */
        const char *base;     /* prefix of this site's links: "", or its path in a proxy: "/proxy/worker-1" */
        const char *path;     /* decoded, without slashes at its end: "/app"; or "/" */
        const char *raw_path; /* the same as it was sent: encoded, with slashes at its end */
        struct form form;     /* the query; for a POST, the body's fields precede it */
        const char *user;     /* NULL: unknown */
        struct http_call *call;
        void *context; /* state of the page while it answers later */
};

struct web_site_options {
        uv_loop_t *loop;
        const struct fst_conf *conf; /* borrowed */
        const char *name;            /* "MasterUI" */
        const char *host;            /* address to listen on; NULL: SPARK_LOCAL_IP, or all addresses */
        int port;
        const char *base;      /* the pages' address in a proxy: "https://gate/spark"; NULL: unset */
        const char *tls_space; /* certificates from spark.ssl.SPACE.*; NULL: "standalone" */
        bool scripts;          /* pages have scripts and style attributes of their own */
        bool any_port;         /* if the port and its successors are taken, listen on a free one */
        /* Answers @q, now or later, with one of the functions below. */
        void (*serve)(void *owner, struct web_request *q);
        void *owner;
};

/* Listens. Returns 0, or negative with @error: the port is taken, a filter is unknown, a certificate is invalid, … */
int web_site_new(const struct web_site_options *options, struct web_site **out, struct fst_error *error);

/*
 * Reads the filters and the path in a proxy from the configuration again, before the loop serves the first request.
 * Returns 0, or negative with @error; the site must not serve then.
 */
int web_site_read_proxy(struct web_site *s, struct fst_error *error);

/* Unanswered requests stay with their pages, and their answers are dropped. NULL is allowed. */
void web_site_free(struct web_site *s);

/* The port of the pages: the TLS port if there is one. */
int web_site_port(const struct web_site *s);
int web_site_plain_port(const struct web_site *s); /* for tests */
bool web_site_is_secure(const struct web_site *s);

static inline bool web_is(const struct web_request *q, const char *path)
{
        return strcmp(q->path, path) == 0;
}

/* The header in which a trusted proxy names the user, or NULL without such a filter. */
const char *web_user_header(const struct web_request *q);

/* Whether the user may modify things. */
bool web_may_modify(const struct web_request *q);

/*
 * For requests that change something. Returns true if the request is a POST from a page of this site by a permitted
 * user. Otherwise it was answered (405, 403) and is gone.
 */
bool web_require_modify(struct web_request *q);

/*
 * The same for this site's forms: their field "csrfToken" holds a token that only pages of this site contain. For
 * scripts without a form, use web_require_modify.
 */
bool web_require_form(struct web_request *q);
const char *web_form_token(const struct web_request *q);

/* Each function answers @q, which is then gone. They take buffers over. */
void web_answer_html(struct web_request *q, int status, struct buf *html);
void web_answer_text(struct web_request *q, int status, struct buf *text);
void web_answer_json(struct web_request *q, struct buf *json);  /* text/json, as Spark's pages */
void web_redirect(struct web_request *q, const char *location); /* a path that starts with "/" belongs to this site */
/* Lets browsers keep the answer, if the request's URL has the tag of its content (html_content_tag). Before the answer.
 */
void web_let_keep(struct web_request *q);
void web_answer(struct web_request *q, int status, const char *type,
                struct buf *body); /* any content type; NULL: none */
/* The body is @first and what @stream produces. */
void web_answer_stream(struct web_request *q, int status, const char *type, struct buf *first,
                       struct http_stream *stream);
/* In Prometheus' form, or as JSON. Releases @metrics. */
void web_answer_metrics(struct web_request *q, struct metrics_snapshot *metrics, bool prometheus);
void web_not_found(struct web_request *q);
void web_wrong_method(struct web_request *q, const char *allow);
void web_refuse(struct web_request *q, int status, const char *sentence);
