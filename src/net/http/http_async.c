/*
 * Asynchronous HTTP requests. The module names the sockets and timeouts to watch, and this file makes loop handles of
 * them.
 *
 * A transfer is in one of three lists: waiting, active, or gone (cancelled by a callback of the module, which must
 * return before the module may learn of it). `busy` counts calls of the module that may call back, `held` the callbacks
 * that still need the client. A client freed meanwhile is released when both are 0.
 *
 * Many requests to a server without a recent reply would each open a connection. So one request, the probe, goes first.
 * When its reply begins, the protocol of the server and the number of parallel requests are known.
 */
#include "net/http/http_async.h"

#include "base/error.h"
#include "base/list.h"
#include "base/mem.h"
#include "net/http/http_internal.h"

#define DEFAULT_CONNECTIONS 4
#define DEFAULT_STREAMS 100
#define HEARD_MS 5000 /* a connection with a reply within this time counts as usable */

struct http_transfer {
        struct http_async *client;
        struct http_transfer *prev, *next;
        struct transfers *list;
        struct http_request request; /* all texts except certificates are copies */
        char **headers;
        struct http_answer answer;
        struct http_exchange exchange;
        struct http_easy *easy; /* NULL before the start */
        http_async_done *done;
        void *owner;
};

struct transfers {
        struct http_transfer *first, *last;
        size_t n;
};

struct http_async {
        uv_loop_t *loop;
        const struct http_ops *ops;
        struct http_multi *multi;
        struct http_async_options options;
        struct transfers waiting, waiting_streams, active, active_streams, gone;
        uv_timer_t timer; /* of libcurl */
        uv_idle_t kick;   /* starts new requests in the loop's next iteration */
        int handles;      /* open handles of the loop */
        int busy, held, connections;
        struct http_transfer *probe;
        uint64_t heard; /* begin of the last reply, on the loop's clock */
        bool known;     /* it began after the last failure */
        bool dead, http2;
};

/* ----------------------------------------------------------------------------------------------------------- lists */

static void http_async_leave(struct http_transfer *t)
{
        struct transfers *l = t->list;
        list_remove(l, t);
        l->n--;
        t->list = NULL;
}

static void http_async_join(struct transfers *l, struct http_transfer *t)
{
        if (t->list)
                http_async_leave(t);
        t->list = l;
        list_append(l, t);
        l->n++;
}

static void transfer_free(struct http_transfer *t)
{
        if (t->client->probe == t)
                t->client->probe = NULL;
        if (t->list)
                http_async_leave(t);
        struct http_request *q = &t->request;
        const char *const texts[] = {q->url,      q->method,    q->body,    q->user_password,
                                     q->bearer,   q->aws_sigv4, q->ca_file, q->cert_file,
                                     q->key_file, q->tls_name,  q->proxy,   q->unix_socket};
        for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
                free((void *)texts[i]);
        for (size_t i = 0; t->headers && t->headers[i]; i++)
                free(t->headers[i]);
        free(t->headers);
        http_answer_deinit(&t->answer);
        free(t);
}

static void copy_request(struct http_transfer *t, const struct http_request *q)
{
        t->request = *q;
        t->request.url = mem_strdup(q->url ? q->url : "");
        t->request.method = mem_strdup_if(q->method);
        t->request.user_password = mem_strdup_if(q->user_password);
        t->request.bearer = mem_strdup_if(q->bearer);
        t->request.aws_sigv4 = mem_strdup_if(q->aws_sigv4);
        t->request.ca_file = mem_strdup_if(q->ca_file);
        t->request.cert_file = mem_strdup_if(q->cert_file);
        t->request.key_file = mem_strdup_if(q->key_file);
        t->request.tls_name = mem_strdup_if(q->tls_name);
        t->request.proxy = mem_strdup_if(q->proxy);
        t->request.unix_socket = mem_strdup_if(q->unix_socket);
        t->request.body = NULL;
        if (q->body || q->body_len) {
                char *body = mem_alloc(q->body_len + 1);
                memcpy(body, q->body ? q->body : "", q->body_len);
                t->request.body = body;
        }
        size_t n = 0;
        while (q->headers && q->headers[n])
                n++;
        t->headers = new_array(char *, n + 1);
        for (size_t i = 0; i < n; i++)
                t->headers[i] = mem_strdup(q->headers[i]);
        t->request.headers = (const char *const *)t->headers;
}

/* --------------------------------------------------------------------------------------------- handles of the loop */

struct watched_socket {
        uv_poll_t poll;
        struct http_async *client;
        int fd;
};

static void http_async_on_closed(struct http_async *c)
{
        if (--c->handles == 0)
                free(c);
}

static void on_timer_closed(uv_handle_t *handle)
{
        http_async_on_closed(handle->data);
}

static void on_poll_closed(uv_handle_t *handle)
{
        struct watched_socket *w = container_of((uv_poll_t *)handle, struct watched_socket, poll);
        http_async_on_closed(w->client);
        free(w);
}

static void http_async_settle(struct http_async *c);

static void http_async_act(struct http_async *c, int fd, int events)
{
        c->held++;
        c->busy++;
        c->ops->multi_act(c->multi, fd, events);
        c->busy--;
        c->held--;
        http_async_settle(c);
}

static void http_async_on_poll(uv_poll_t *poll, int status, int events)
{
        struct watched_socket *w = container_of(poll, struct watched_socket, poll);
        http_async_act(w->client, w->fd,
                       status < 0 ? HTTP_FAILED
                                  : (events & UV_READABLE ? HTTP_READ : 0) | (events & UV_WRITABLE ? HTTP_WRITE : 0));
}

static void *http_async_watch(void *context, int fd, int events, void *slot)
{
        struct http_async *c = context;
        struct watched_socket *w = slot;
        if (events == 0) {
                if (w)
                        uv_close((uv_handle_t *)&w->poll, on_poll_closed);
                return NULL;
        }
        if (!w) {
                w = new0(struct watched_socket);
                w->client = c;
                w->fd = fd;
                if (uv_poll_init_socket(c->loop, &w->poll, fd) < 0) {
                        free(w); /* libcurl's own time-outs end the request */
                        return NULL;
                }
                c->handles++;
        }
        uv_poll_start(&w->poll, (events & HTTP_READ ? UV_READABLE : 0) | (events & HTTP_WRITE ? UV_WRITABLE : 0),
                      http_async_on_poll);
        return w;
}

static void http_async_on_timer(uv_timer_t *timer)
{
        http_async_act(timer->data, -1, 0);
}

static void http_async_set_timer(void *context, int64_t ms)
{
        struct http_async *c = context;
        if (c->dead)
                return;
        if (ms < 0)
                uv_timer_stop(&c->timer);
        else
                uv_timer_start(&c->timer, http_async_on_timer, (uint64_t)ms, 0);
}

/* ----------------------------------------------------------------------------------------------------------- turns */

/* The exchange's own callback, which does not use the client, runs after this. */
static int http_async_on_header(void *context, const char *line, size_t n)
{
        struct http_transfer *t = container_of((struct http_exchange *)context, struct http_transfer, exchange);
        struct http_async *c = t->client;
        if (n >= 6 && memcmp(line, "HTTP/", 5) == 0) {
                c->http2 = line[5] == '2';
                c->known = true;
                c->heard = uv_now(c->loop);
                c->probe = c->probe == t ? NULL : c->probe;
        }
        return http_exchange_header(context, line, n);
}

/* Also for requests that could not start. The module has removed it. */
static void http_async_deliver(struct http_async *c, struct http_transfer *t, int r, const char *message)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        http_async_leave(t);
        t->easy = NULL;
        c->connections += t->exchange.receiver.connections;
        c->known = c->known && r == 0;
        c->probe = c->probe == t ? NULL : c->probe;
        r = http_exchange_finish(&t->exchange, r, message, &error);
        t->done(t->owner, t, r, r == 0 ? &t->answer : NULL, r == 0 ? NULL : &error);
        transfer_free(t);
}

static bool has_recent_reply(const struct http_async *c)
{
        return c->known && uv_now(c->loop) - c->heard <= HEARD_MS;
}

static void http_async_begin(struct http_async *c, struct http_transfer *t, struct transfers *to)
{
        char message[512] = "";
        if (!has_recent_reply(c))
                c->probe = t;
        c->busy++;
        int r = c->ops->multi_begin(c->multi, &t->request, &t->exchange.receiver,
                                    (c->options.http1 ? HTTP_ONLY_1 : 0) | (c->options.pipeline ? HTTP_PIPELINE : 0), t,
                                    &t->easy, message, sizeof(message));
        c->busy--;
        if (r < 0)
                http_async_deliver(c, t, r, message);
        else
                http_async_join(to, t);
}

static bool may_begin(const struct http_async *c, bool stream)
{
        if (c->options.pipeline)
                return stream || c->active.n < (size_t)c->options.pipeline;
        if (!has_recent_reply(c))
                return !c->probe;
        if (stream)
                return true;
        if (!c->http2)
                return c->active.n < (size_t)c->options.max_connections;
        return c->active.n + c->active_streams.n < (size_t)c->options.max_streams || c->active.n == 0;
}

static void close_handles(struct http_async *c)
{
        c->ops->multi_free(c->multi); /* closes the handles of sockets */
        uv_close((uv_handle_t *)&c->timer, on_timer_closed);
        uv_close((uv_handle_t *)&c->kick, on_timer_closed);
}

/* Completes finished requests, and starts waiting ones. */
static void http_async_settle(struct http_async *c)
{
        char message[512];
        void *owner;
        int r;
        if (c->busy > 0)
                return;
        c->held++;
        while (c->gone.first) {
                c->ops->multi_end(c->gone.first->easy);
                transfer_free(c->gone.first);
        }
        while (!c->dead && (message[0] = 0, c->ops->multi_next(c->multi, &owner, &r, message, sizeof(message))))
                http_async_deliver(c, owner, r, message);
        while (!c->dead && c->waiting_streams.first && may_begin(c, true))
                http_async_begin(c, c->waiting_streams.first, &c->active_streams);
        while (!c->dead && c->waiting.first && may_begin(c, false))
                http_async_begin(c, c->waiting.first, &c->active);
        if (--c->held == 0 && c->dead)
                close_handles(c);
}

static void on_kick(uv_idle_t *kick)
{
        uv_idle_stop(kick);
        http_async_settle(kick->data);
}

/* ------------------------------------------------------------------------------------------------------- interface */

int http_async_new(uv_loop_t *loop, const struct http_async_options *options, struct http_async **out,
                   struct fst_error *error)
{
        const struct http_ops *ops;
        int r = options->plain ? http_ops_plain(&ops) : http_ops_load(&ops, error);
        if (r < 0)
                return r;
        const struct http_hooks hooks = {.watch = http_async_watch, .timer = http_async_set_timer, .loop = loop};
        struct http_async *c = new0(struct http_async);
        *c = (struct http_async){.loop = loop, .ops = ops, .options = *options, .handles = 2};
        if (c->options.max_connections <= 0)
                c->options.max_connections = DEFAULT_CONNECTIONS;
        if (c->options.max_streams <= 0)
                c->options.max_streams = DEFAULT_STREAMS;
        uv_timer_init(loop, &c->timer);
        uv_idle_init(loop, &c->kick);
        c->timer.data = c->kick.data = c;
        c->multi = ops->multi_new(&hooks, c);
        if (!c->multi) {
                uv_close((uv_handle_t *)&c->timer, on_timer_closed);
                uv_close((uv_handle_t *)&c->kick, on_timer_closed);
                return error_set(error, -ENOMEM, "no memory for an http client");
        }
        *out = c;
        return 0;
}

void http_async_free(struct http_async *c)
{
        if (!c)
                return;
        struct transfers *const all[] = {&c->waiting, &c->waiting_streams, &c->active, &c->active_streams};
        for (size_t i = 0; i < ARRAY_SIZE(all); i++)
                while (all[i]->first)
                        http_async_cancel(all[i]->first);
        c->dead = true;
        if (c->held == 0 && c->busy == 0)
                close_handles(c);
}

struct http_transfer *http_async_send(struct http_async *c, const struct http_request *request, http_async_done *done,
                                      void *owner)
{
        struct http_transfer *t = new0(struct http_transfer);
        t->client = c;
        t->done = done;
        t->owner = owner;
        copy_request(t, request);
        http_exchange_init(&t->exchange, &t->request, &t->answer);
        t->exchange.receiver.header = http_async_on_header;
        http_async_join(request->sink ? &c->waiting_streams : &c->waiting, t);
        if (!c->dead && !uv_is_active((uv_handle_t *)&c->kick))
                uv_idle_start(&c->kick, on_kick);
        return t;
}

static int http_async_ended(void *context, int64_t done, int64_t total)
{
        return -ECANCELED;
}

void http_async_cancel(struct http_transfer *t)
{
        struct http_async *c = t->client;
        if (!t->list)
                return; /* its `done` is running */
        if (t->easy && c->busy > 0) {
                t->exchange.result = -ECANCELED; /* no more requests are accepted */
                t->request.progress = t->request.progress ? http_async_ended : NULL;
                c->probe = c->probe == t ? NULL : c->probe;
                http_async_join(&c->gone, t);
                return;
        }
        if (t->easy)
                c->ops->multi_end(t->easy);
        transfer_free(t);
        if (!c->dead && (c->waiting.first || c->waiting_streams.first) && !uv_is_active((uv_handle_t *)&c->kick))
                uv_idle_start(&c->kick, on_kick);
}

bool http_async_was_sent(const struct http_transfer *t)
{
        return t->exchange.receiver.sent;
}

const struct http_answer *http_async_answer(const struct http_transfer *t)
{
        return &t->answer;
}

bool http_async_is_http2(const struct http_async *c)
{
        return c->http2;
}

int http_async_connections(const struct http_async *c)
{
        return c->connections;
}

size_t http_async_pending(const struct http_async *c)
{
        return c->waiting.n + c->waiting_streams.n + c->active.n + c->active_streams.n;
}
