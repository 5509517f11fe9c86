/* See web_site.h. */
#include "web/web_site.h"

#include "base/error.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "conf/conf.h"
#include "net/secret.h"
#include "web/filters.h"
#include "web/html.h"
#include "metrics/metrics_snapshot.h"
#include "web/tls_conf.h"

#include <stdio.h>

#define STYLE_SHEET "/static/firesteel.css"
#define TLS_PORT_OFFSET 400 /* as Spark: 8080 → 8480 */

struct web_site {
        struct web_site_options options;
        struct access *access;
        struct filters *filters;
        struct http_server *http, *https;
        char *frame_options, *xss, *transport, *frame_ancestors;
        char *base; /* NULL: none configured */
        bool content_type_options, context_first;
        char token[33]; /* hexadecimal, random for each process */
};

/* A request and the data that it owns. */
struct site_request {
        struct web_request request;
        char *base, *path, *user;
};

/* ---------------------------------------------------------------------------------------------------------- answers */

static void web_site_request_free(struct site_request *r)
{
        form_deinit(&r->request.form);
        free(r->base);
        free(r->path);
        free(r->user);
        free(r);
}

void web_answer(struct web_request *q, int status, const char *type, struct buf *body)
{
        struct site_request *r = container_of(q, struct site_request, request);
        http_call_answer(q->call, status, type, body);
        web_site_request_free(r);
}

void web_answer_stream(struct web_request *q, int status, const char *type, struct buf *first,
                       struct http_stream *stream)
{
        struct site_request *r = container_of(q, struct site_request, request);
        http_call_answer_stream(q->call, status, type, first, stream);
        web_site_request_free(r);
}

void web_let_keep(struct web_request *q)
{
        if (text_starts_with(q->call->query, "v="))
                http_call_set_header(q->call, "Cache-Control", "private, max-age=31536000, immutable");
}

void web_answer_html(struct web_request *q, int status, struct buf *html)
{
        web_answer(q, status, "text/html;charset=utf-8", html);
}

void web_answer_text(struct web_request *q, int status, struct buf *text)
{
        web_answer(q, status, "text/plain;charset=utf-8", text);
}

void web_answer_json(struct web_request *q, struct buf *json)
{
        web_answer(q, 200, "text/json;charset=utf-8", json);
}

void web_answer_metrics(struct web_request *q, struct metrics_snapshot *metrics, bool prometheus)
{
        struct buf b = BUF_INIT;
        if (prometheus)
                metrics_put_prometheus(metrics, &b);
        else
                metrics_put_json(metrics, &b);
        metrics_snapshot_deinit(metrics);
        if (prometheus)
                web_answer_text(q, 200, &b);
        else
                web_answer_json(q, &b);
}

void web_redirect(struct web_request *q, const char *location)
{
        _cleanup_free_ char *whole = mem_printf("%s%s", *location == '/' ? q->base : "", location);
        http_call_set_header(q->call, "Location", whole);
        web_answer(q, 302, NULL, NULL);
}

void web_refuse(struct web_request *q, int status, const char *sentence)
{
        struct buf b = BUF_INIT;
        struct html_page page = {.base = q->base, .title = status == 404 ? "Not found" : "Refused", .user = q->user};
        html_begin(&b, &page);
        html_put(&b, "<p>%s</p>\n<p><a href=\"%s/\">Back to the first page</a></p>\n", sentence, q->base);
        html_end(&b, &page);
        web_answer_html(q, status, &b);
}

void web_not_found(struct web_request *q)
{
        _cleanup_free_ char *sentence = mem_printf("The page %.200s does not exist.", q->path);
        web_refuse(q, 404, sentence);
}

void web_wrong_method(struct web_request *q, const char *allow)
{
        http_call_set_header(q->call, "Allow", allow);
        web_refuse(q, 405, "This page does not support the method.");
}

/* ----------------------------------------------------------------------------------------------------------- rights */

const char *web_user_header(const struct web_request *q)
{
        return filters_user_header(q->site->filters);
}

bool web_may_modify(const struct web_request *q)
{
        return access_may_modify(q->site->access, q->user);
}

/* Whether the browser's headers say that another site's page sent this form. */
static bool web_site_is_cross_site(const struct web_request *q)
{
        const char *fetch = http_call_header(q->call, "Sec-Fetch-Site");
        const char *origin = http_call_header(q->call, "Origin");
        const char *host = http_call_header(q->call, "X-Forwarded-Host");
        if (!host)
                host = http_call_header(q->call, "Host");
        if (fetch)
                return strcmp(fetch, "same-origin") != 0 && strcmp(fetch, "none") != 0;
        if (!origin)
                return false; /* not a browser */
        const char *authority = strstr(origin, "://");
        return !authority || !host || strcmp(authority + 3, host) != 0;
}

bool web_require_modify(struct web_request *q)
{
        if (strcmp(q->method, "POST") != 0)
                web_wrong_method(q, "POST");
        else if (web_site_is_cross_site(q))
                web_refuse(q, 403, "This form was not sent by a page of this site.");
        else if (!web_may_modify(q)) {
                _cleanup_free_ char *sentence = mem_printf("User %s is not authorized to change anything here.",
                                                           q->user ? q->user : "(unknown)");
                web_refuse(q, 403, sentence);
        } else
                return true;
        return false;
}

const char *web_form_token(const struct web_request *q)
{
        return q->site->token;
}

bool web_require_form(struct web_request *q)
{
        if (!web_require_modify(q))
                return false;
        const char *given = form_get(&q->form, "csrfToken"), *token = q->site->token;
        unsigned differ = !given || strlen(given) != strlen(token);
        for (size_t i = 0; !differ && token[i]; i++)
                differ |= (unsigned char)(given[i] ^ token[i]);
        if (differ)
                web_refuse(q, 403, "Missing or invalid CSRF token on a state-changing endpoint.");
        return !differ;
}

/*
 * Checks the view ACL for the user, or for the user that an administrator names (doAs). Returns false after it answered
 * the request.
 */
static bool web_site_may_view(struct web_request *q)
{
        struct site_request *r = container_of(q, struct site_request, request);
        const char *as = form_get(&q->form, "doAs");
        _cleanup_free_ char *sentence = NULL;
        if (as && q->user && strcmp(as, q->user) != 0) {
                if (!access_is_admin(q->site->access, q->user)) {
                        sentence = mem_printf("User %s is not allowed to impersonate others.", q->user);
                        web_refuse(q, 403, sentence);
                        return false;
                }
                free(r->user);
                r->user = mem_strdup(as);
                q->user = r->user;
        }
        if (access_may_view(q->site->access, q->user))
                return true;
        sentence = q->user ? mem_printf("User %s is not authorized to access this page.", q->user)
                           : mem_strdup("You are not logged in, and spark.acls.enable is on. A filter "
                                        "(spark.ui.filters) must identify the user.");
        web_refuse(q, 403, sentence);
        return false;
}

/* --------------------------------------------------------------------------------------------------------- requests */

static void web_site_set_headers(const struct web_site *s, struct http_call *call)
{
        _cleanup_free_ char *policy = mem_printf(
                "default-src 'none'; %s; img-src 'self' data:; form-action 'self'; base-uri 'none'; "
                "frame-ancestors %s",
                s->options.scripts ? "script-src 'self'; connect-src 'self'; style-src 'self' 'unsafe-inline'"
                                   : "style-src 'self'",
                s->frame_ancestors);
        http_call_set_header(call, "Cache-Control", "no-cache, no-store, must-revalidate");
        http_call_set_header(call, "Content-Security-Policy", policy);
        http_call_set_header(call, "X-Frame-Options", s->frame_options);
        http_call_set_header(call, "X-XSS-Protection", s->xss);
        http_call_set_header(call, "Referrer-Policy", "same-origin");
        if (s->content_type_options)
                http_call_set_header(call, "X-Content-Type-Options", "nosniff");
        if (s->https && s->transport)
                http_call_set_header(call, "Strict-Transport-Security", s->transport);
}

/*
 * The part of @path after @base, if that is a path. A proxy that follows redirects itself, as YARN's does, asks for
 * links as browsers see them.
 */
static const char *web_site_local_path(const char *path, const char *base)
{
        const size_t n = base[0] == '/' ? strlen(base) : 0;
        if (n == 0 || strncmp(path, base, n) != 0 || (path[n] != '/' && path[n] != '\0'))
                return path;
        return path[n] ? path + n : "/";
}

/* Decodes path, query and form. Returns false after it answered the request. */
static bool web_site_read_request(struct site_request *r)
{
        struct web_request *q = &r->request;
        struct buf path = BUF_INIT;
        bool good = form_put_decoded(&path, q->call->path, strlen(q->call->path));
        while (path.len > 1 && path.data[path.len - 1] == '/')
                buf_truncate(&path, path.len - 1);
        r->path = buf_steal(&path);
        q->raw_path = web_site_local_path(q->call->path, q->base);
        q->path = good ? web_site_local_path(r->path, q->base) : "";
        if (good && strcmp(q->method, "POST") == 0)
                good = form_parse(&q->form, q->call->body, q->call->body_len);
        if (good)
                good = form_parse(&q->form, q->call->query, strlen(q->call->query));
        if (!good)
                web_refuse(q, 400, "This request is malformed.");
        return good;
}

/*
 * Whether @text is "/gate" or "https://host/gate", without characters that end an attribute or a header, or that start
 * a host name.
 */
static bool web_site_is_base(const char *text)
{
        static const char odd[] = "\"'<>\\^`{|}?# ";
        if (text[0] != '/' && !text_starts_with(text, "http://") && !text_starts_with(text, "https://"))
                return false;
        if (text[0] == '/' && text[1] == '/')
                return false;
        for (const char *c = text; *c; c++)
                if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f || strchr(odd, *c))
                        return false;
        return true;
}

/* Without slashes at its end. */
static char *web_site_base_copy(const char *text)
{
        size_t n = strlen(text);
        while (n > 0 && text[n - 1] == '/')
                n--;
        return mem_strndup(text, n);
}

static char *web_site_base_of(const struct web_site *s, const struct http_call *call)
{
        const char *context = http_call_header(call, "X-Forwarded-Context");
        if (context && !web_site_is_base(context))
                context = NULL;
        return context && (s->context_first || !s->base) ? web_site_base_copy(context)
                                                         : mem_strdup(s->base ? s->base : "");
}

static int web_site_read_base(struct web_site *s, struct fst_error *error)
{
        const char *key = "spark.ui.reverseProxyUrl", *text = s->options.base;
        bool proxied = false;
        int r = conf_get_bool(s->options.conf, "spark.ui.reverseProxy", &proxied, error);
        if (r < 0)
                return r;
        s->context_first = proxied && !text;
        if (!text) {
                key = "spark.ui.proxyBase";
                text = conf_get_raw(s->options.conf, key);
        }
        if (!text) {
                key = "APPLICATION_WEB_PROXY_BASE";
                text = getenv(key);
        }
        if (text && *text && !web_site_is_base(text))
                return error_set(error, -EINVAL, "%s is \"%s\": write a path (/gate) or a URL (https://host/gate)", key,
                                 text);
        s->base = text && *text ? web_site_base_copy(text) : NULL;
        return 0;
}

static void web_site_on_call(void *owner, struct http_call *call)
{
        struct web_site *s = owner;
        const char *refusal = NULL;
        _cleanup_free_ char *elsewhere = filters_redirect(s->filters, call);
        if (elsewhere) {
                http_call_set_header(call, "Location", elsewhere);
                http_call_answer(call, 302, NULL, NULL);
                return;
        }
        struct site_request *r = new0(struct site_request);
        struct web_request *q = &r->request;
        *q = (struct web_request){.site = s, .call = call, .method = call->method, .path = ""};
        q->base = r->base = web_site_base_of(s, call);
        web_site_set_headers(s, call);
        int status = filters_pass_call(s->filters, call, &r->user, &refusal);
        if (status)
                return web_refuse(q, status, refusal);
        q->user = r->user;
        if (strcmp(q->method, "GET") != 0 && strcmp(q->method, "POST") != 0)
                return web_wrong_method(q, "GET, HEAD, POST");
        if (!web_site_read_request(r) || !web_site_may_view(q))
                return;
        if (web_is(q, STYLE_SHEET)) {
                struct buf css = BUF_INIT;
                web_let_keep(q);
                buf_puts(&css, html_style_sheet);
                return web_answer(q, 200, "text/css;charset=utf-8", &css);
        }
        s->options.serve(s->options.owner, q);
}

/* At the port without TLS: redirects to the TLS port. */
static void web_site_on_plain_call(void *owner, struct http_call *call)
{
        struct web_site *s = owner;
        const char *host = http_call_header(call, "Host");
        const char *end = host ? (host[0] == '[' ? strchr(host, ']') : NULL) : NULL;
        size_t n = end ? (size_t)(end - host) + 1 : host ? strcspn(host, ":") : 0;
        _cleanup_free_ char *location =
                mem_printf("https://%.*s:%d%s%s%s", (int)n, host ? host : "", http_server_port(s->https), call->path,
                           *call->query ? "?" : "", call->query);
        if (n == 0)
                return http_call_answer_text(call, 400, "text/plain", "This request has no Host header.\n");
        http_call_set_header(call, "Location", location);
        http_call_answer(call, 302, NULL, NULL);
}

/* --------------------------------------------------------------------------------------------------------- lifetime */

int web_site_read_proxy(struct web_site *s, struct fst_error *error)
{
        filters_free(steal(s->filters));
        free(steal(s->base));
        const int r = filters_new(s->options.conf, "spark.ui.filters", &s->filters, error);
        return r < 0 ? r : web_site_read_base(s, error);
}

static int web_site_read_conf(struct web_site *s, struct fst_error *error)
{
        const struct fst_conf *conf = s->options.conf;
        _cleanup_free_ char *framing = NULL;
        int r = access_new(conf, &s->access, error);
        if (r == 0)
                r = web_site_read_proxy(s, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.ui.allowFramingFrom", &framing, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.ui.xXssProtection", &s->xss, error);
        if (r == 0)
                r = conf_get_string(conf, "spark.ui.strictTransportSecurity", &s->transport, error);
        if (r == 0)
                r = conf_get_bool(conf, "spark.ui.xContentTypeOptions.enabled", &s->content_type_options, error);
        if (r < 0)
                return r;
        bool usual = !framing || !*framing || strpbrk(framing, ";,\"'\r\n");
        s->frame_options = usual ? mem_strdup("SAMEORIGIN") : mem_printf("ALLOW-FROM %s", framing);
        s->frame_ancestors = usual ? mem_strdup("'self'") : mem_printf("'self' %s", framing);
        return 0;
}

static int web_site_listen_plain(struct web_site *s, int retries, struct fst_error *error)
{
        struct http_server_options o = {.loop = s->options.loop,
                                        .service = s->options.name,
                                        .host = s->options.host,
                                        .port = s->options.port,
                                        .max_retries = retries,
                                        .any_port = s->options.any_port,
                                        .handle = s->https ? web_site_on_plain_call : web_site_on_call,
                                        .owner = s};
        return http_server_new(&o, &s->http, error);
}

static int web_site_make_token(struct web_site *s, struct fst_error *error)
{
        int r = secret_draw(s->token, sizeof(s->token));
        return r ? error_set(error, r, "%s: the system has no random numbers: %s", s->options.name, strerror(-r)) : 0;
}

/* The TLS port is opened first, because the other one redirects to it. */
static int web_site_listen_all(struct web_site *s, struct fst_error *error)
{
        int64_t retries = 0;
        struct tls_conf tls;
        int r = conf_get_int(s->options.conf, "spark.port.maxRetries", &retries, error);
        if (r < 0)
                return r;
        const char *space = s->options.tls_space ? s->options.tls_space : "standalone";
        r = tls_conf_read(&tls, s->options.conf, space, error);
        if (r == 0 && tls.enabled) {
                int port = s->options.port + TLS_PORT_OFFSET;
                struct http_server_options o = {
                        .loop = s->options.loop,
                        .service = s->options.name,
                        .host = s->options.host,
                        .port = tls.port               ? tls.port
                                : s->options.port == 0 ? 0
                                : port > 65535         ? port - 65536 + 1024
                                                       : port,
                        .max_retries = (int)retries,
                        .any_port = s->options.any_port,
                        .tls = &tls.tls,
                        .handle = web_site_on_call,
                        .owner = s,
                };
                r = http_server_new(&o, &s->https, error);
                if (r == -EINVAL)
                        error_wrap(error, r, "spark.ssl.%s", space);
        }
        tls_conf_deinit(&tls);
        return r < 0 ? r : web_site_listen_plain(s, (int)retries, error);
}

int web_site_new(const struct web_site_options *options, struct web_site **out, struct fst_error *error)
{
        struct web_site *s = new0(struct web_site);
        const char *local = getenv("SPARK_LOCAL_IP");
        s->options = *options;
        if (!options->host && local && *local)
                s->options.host = local; /* as Spark's pages */
        int r = web_site_read_conf(s, error);
        if (r == 0)
                r = web_site_make_token(s, error);
        if (r == 0)
                r = web_site_listen_all(s, error);
        if (r < 0) {
                web_site_free(s);
                return r;
        }
        log_info("Utils", "Successfully started service '%s' on port %d.", options->name, web_site_port(s));
        *out = s;
        return 0;
}

void web_site_free(struct web_site *s)
{
        if (!s)
                return;
        http_server_free(s->http);
        http_server_free(s->https);
        access_free(s->access);
        filters_free(s->filters);
        free(s->frame_options);
        free(s->frame_ancestors);
        free(s->xss);
        free(s->base);
        free(s->transport);
        free(s);
}

int web_site_port(const struct web_site *s)
{
        return http_server_port(s->https ? s->https : s->http);
}

int web_site_plain_port(const struct web_site *s)
{
        return http_server_port(s->http);
}

bool web_site_is_secure(const struct web_site *s)
{
        return s->https != NULL;
}
