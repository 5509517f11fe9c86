/*
 * See proxy.h. The proxy forwards only the headers that pages need: those of `passed` in the request, and in the
 * response its type, its Location (rewritten to this site's address) and its cookies. As with Spark, anyone who can
 * register at a master can make its proxy request any address that the master reaches. A cluster with untrusted users
 * needs spark.authenticate.
 */
#include "web/proxy.h"

#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "base/string_prefix.h"
#include "base/string_list.h"
#include "conf/conf.h"
#include "net/http/http.h"

#include <stdio.h>
#include <strings.h>

#define PREFIX "/proxy/"
#define MOST_AT_A_TIME 64
#define MOST_ANSWER (32u << 20)
#define CONNECT_MS 5000
#define ANSWER_MS 60000

/* A request in progress. It owns all data that its thread reads. */
struct passage {
        uv_work_t work;
        struct web_proxy *proxy; /* NULL: the client disconnected */
        struct passage *prev, *next;
        struct web_request *q;
        char *method, *url, *origin, *context, *body, *ca_file; /* origin: "http://host:port" of the backend */
        size_t body_len;
        struct string_list headers;
        struct http_client *client; /* NULL: @error has the reason */
        struct http_answer answer;
        int result;
        struct fst_error error;
};

struct web_proxy {
        struct web_proxy_options options;
        char *ca_file; /* NULL: check certificates against the system's */
        LIST(struct passage) passages;
        int n;
};

static void web_proxy_free_passage(struct passage *x)
{
        if (x->proxy) {
                list_remove(&x->proxy->passages, x);
                x->proxy->n--;
        }
        free(x->method);
        free(x->url);
        free(x->origin);
        free(x->context);
        free(x->body);
        free(x->ca_file);
        string_list_deinit(&x->headers);
        http_client_free(x->client);
        http_answer_deinit(&x->answer);
        error_deinit(&x->error);
        free(x);
}

/* -------------------------------------------------------------------------------------------------------- responses */

static void web_proxy_forward(uv_work_t *work)
{
        struct passage *x = work->data;
        const struct http_request request = {.url = x->url,
                                             .method = x->method,
                                             .headers = (const char *const *)string_list_argv(&x->headers),
                                             .body = x->body,
                                             .body_len = x->body_len,
                                             .connect_timeout_ms = CONNECT_MS,
                                             .timeout_ms = ANSWER_MS,
                                             .max_answer = MOST_ANSWER,
                                             .direct = true,
                                             .ca_file = x->ca_file};
        if (x->result == 0)
                x->result = http_perform(x->client, &request, &x->answer, &x->error);
}

/* Paths from the backend that begin with @context already belong to this site. */
char *web_proxy_location(const char *origin, const char *context, const char *location)
{
        size_t n = strlen(origin);
        if (strncmp(location, origin, n) == 0 && (location[n] == '/' || !location[n]))
                return mem_printf("%s%s", context, location + n);
        if (location[0] == '/' && location[1] != '/' && !text_starts_with(location, context))
                return mem_printf("%s%s", context, location);
        return mem_strdup(location);
}

static void proxy_answer(struct passage *x)
{
        struct web_request *q = x->q;
        if (x->result < 0) {
                _cleanup_free_ char *sentence = mem_printf("The proxy got no response: %s.", error_message(&x->error));
                web_refuse(q, x->result == -ETIMEDOUT ? 504 : 502, sentence);
                return;
        }
        static const char *const copied[] = {"Set-Cookie", "Allow", "Content-Disposition"};
        _cleanup_free_ char *type = http_answer_header(&x->answer, "Content-Type");
        _cleanup_free_ char *location = http_answer_header(&x->answer, "Location");
        _cleanup_free_ char *here = location ? web_proxy_location(x->origin, x->context, location) : NULL;
        if (here)
                http_call_set_header(q->call, "Location", here);
        for (size_t i = 0; i < ARRAY_SIZE(copied); i++) {
                _cleanup_free_ char *value = http_answer_header(&x->answer, copied[i]);
                if (value)
                        http_call_set_header(q->call, copied[i], value);
        }
        web_answer(q, x->answer.status, type, &x->answer.body);
        x->answer.body = BUF_INIT;
}

static void on_passed(uv_work_t *work, int status)
{
        struct passage *x = work->data;
        (void)status;
        if (x->proxy)
                proxy_answer(x);
        web_proxy_free_passage(x);
}

/* --------------------------------------------------------------------------------------------------------- requests */

static void web_proxy_add_header(struct passage *x, const char *name, const char *value)
{
        if (value && !strpbrk(value, "\r\n"))
                string_list_take(&x->headers, mem_printf("%s: %s", name, value));
}

static void web_proxy_add_headers(struct passage *x)
{
        static const char *const passed_on[] = {"Accept", "Accept-Language", "Authorization", "Content-Type",
                                                "Cookie", "Origin",          "Referer",       "Sec-Fetch-Site"};
        const struct http_call *call = x->q->call;
        const char *user_header = web_user_header(x->q), *forwarded = http_call_header(call, "X-Forwarded-Host");
        char from[128];
        snprintf(from, sizeof(from), "%s", call->peer);
        char *port = strrchr(from, ':');
        if (port)
                *port = '\0';
        for (size_t i = 0; i < ARRAY_SIZE(passed_on); i++)
                if (!user_header || strcasecmp(passed_on[i], user_header) != 0)
                        web_proxy_add_header(x, passed_on[i], http_call_header(call, passed_on[i]));
        web_proxy_add_header(x, "X-Forwarded-Context", x->context);
        web_proxy_add_header(x, "X-Forwarded-Host", forwarded ? forwarded : http_call_header(call, "Host"));
        web_proxy_add_header(x, "X-Forwarded-For", from);
        if (user_header && x->q->user)
                web_proxy_add_header(x, user_header, x->q->user);
}

bool web_proxy_is(const struct web_request *q)
{
        return text_starts_with(q->call->path, PREFIX);
}

char *web_proxy_origin(const char *url)
{
        const char *authority = strstr(url, "://");
        if (!text_starts_with(url, "http://") && !text_starts_with(url, "https://"))
                return NULL;
        authority += 3;
        return mem_strndup(url, (size_t)(authority - url) + strcspn(authority, "/?#"));
}

void web_proxy_serve(struct web_proxy *p, struct web_request *q)
{
        const char *name = q->call->path + strlen(PREFIX), *rest = name + strcspn(name, "/");
        struct buf id = BUF_INIT;
        bool good = form_put_decoded(&id, name, (size_t)(rest - name)) && id.len > 0;
        _cleanup_free_ char *at = good ? p->options.find(p->options.owner, buf_text(&id)) : NULL;
        _cleanup_free_ char *origin = at ? web_proxy_origin(at) : NULL;
        buf_deinit(&id);
        if (!origin)
                return web_not_found(q);
        if (p->n >= MOST_AT_A_TIME)
                return web_refuse(q, 503, "The proxy is busy. Try again later.");
        size_t end = strlen(at);
        while (end > 0 && at[end - 1] == '/')
                end--;
        struct passage *x = new0(struct passage);
        x->proxy = p;
        list_prepend(&p->passages, x);
        p->n++;
        x->q = q;
        x->origin = steal(origin);
        x->method = mem_strdup(q->method);
        x->context = mem_printf("%s" PREFIX "%.*s", q->base, (int)(rest - name), name);
        x->url = mem_printf("%.*s%s%s%s", (int)end, at, *rest ? rest : "/", *q->call->query ? "?" : "", q->call->query);
        x->ca_file = p->ca_file ? mem_strdup(p->ca_file) : NULL;
        if (strcmp(q->method, "POST") == 0) {
                x->body = mem_strndup(q->call->body ? q->call->body : "", q->call->body_len);
                x->body_len = q->call->body_len;
        }
        web_proxy_add_headers(x);
        x->work.data = x;
        /* Not on the worker thread: OpenSSL would leak the state of the thread that loads it. */
        x->result = http_client_new(&x->client, &x->error);
        if (uv_queue_work(p->options.loop, &x->work, web_proxy_forward, on_passed) < 0) {
                web_refuse(q, 503, "The proxy cannot send this request now.");
                web_proxy_free_passage(x);
        }
}

/* --------------------------------------------------------------------------------------------------------- lifetime */

struct web_proxy *web_proxy_new(const struct web_proxy_options *options)
{
        struct web_proxy *p = new0(struct web_proxy);
        const char *ca = conf_get_raw(options->conf, "spark.ssl.standalone.trustStore");
        p->options = *options;
        if (!ca)
                ca = conf_get_raw(options->conf, "spark.ssl.trustStore");
        p->ca_file = ca ? mem_strdup(ca) : NULL;
        return p;
}

void web_proxy_free(struct web_proxy *p)
{
        if (!p)
                return;
        for (struct passage *x; (x = list_pop(&p->passages));) {
                x->proxy = NULL;
                web_refuse(x->q, 503, "This process is stopping.");
        }
        free(p->ca_file);
        free(p);
}
