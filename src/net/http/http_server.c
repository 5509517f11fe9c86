/*
 * The HTTP server: listener, timeouts of connections, request bodies and replies. http_server_module.c speaks HTTP, and
 * calls `step`.
 *
 * A connection waits for a request, or its request is handled, or its reply is being sent. The first and the last state
 * have a timeout, which is checked every second. An expired connection is shut down. libmicrohttpd handles this like a
 * client that disconnects, and calls `closed`.
 *
 * A call is freed when the handler has replied and the connection has ended the exchange.
 */
#include "net/http/http_server.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/list.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/module_loader.h"
#include "base/vec.h"
#include "net/http/http_server_module.h"
#include "net/socket.h"

#include <fcntl.h>
#include <pthread.h>
#include <strings.h>
#include <unistd.h>

#define ACCEPTS_A_TURN 32
#define ACCEPT_RETRY_MS 100
#define LOOK_MS 1000
#define LEAST_WAIT_MS 1000 /* minimum age at which an idle connection may be replaced by another */
#define ANSWER_MS 60000
#define ANSWER_BYTES_A_MS 16 /* plus the time at this speed */

enum connection_state { WAITS, HANDLED, ANSWERED };

struct server_connection {
        struct http_server *server;
        struct server_connection *prev, *next;
        int fd;
        enum connection_state state;
        int64_t since, allowed_ms;
        bool shut;
        struct server_exchange *call; /* the current request, or NULL */
        char peer[64];
};

struct server_exchange {
        struct http_call call;
        struct server_connection *connection; /* NULL if it is closed, and the reply is discarded */
        void *handle;
        char method[16];
        char *target; /* path, NUL, query */
        struct buf body;
        VEC(struct http_header) headers;
        bool has_head;  /* the headers have been read */
        bool handled;   /* it has been passed to the handler */
        bool answered;  /* the reply is set below */
        bool suspended; /* the connection waits for the reply */
        int status;
        struct buf answer; /* or a piece of it */

        /* A streamed answer. */
        struct http_stream *stream; /* NULL: `answer` is all */
        size_t sent;                /* of the piece */
        enum http_piece kind;       /* of the piece */
        bool producing;             /* the stream owes a piece */
        bool starved;               /* the connection waits for it */
};

struct http_server {
        struct http_server_options options;
        struct http_server_tls tls;
        const struct http_server_ops *ops;
        struct http_daemon *daemon; /* NULL before the first connection */
        int listener, port;
        uv_poll_t listening, ready;
        uv_timer_t look, again, rest;
        int handles;
        bool module_failed, resumed;
        LIST(struct server_connection) connections;
        int n_connections;
        size_t bodies; /* bytes, of all calls */
};

static struct {
        pthread_mutex_t lock;
        const struct http_server_ops *ops;
} module = {PTHREAD_MUTEX_INITIALIZER, NULL};

static int http_server_load_module(const struct http_server_ops **out, struct fst_error *error)
{
        on_demand_fn get;
        int r = 0;
        pthread_mutex_lock(&module.lock);
        if (!module.ops)
                r = on_demand_load("http server", "libfiresteel-http-server.so", HTTP_SERVER_MODULE_SYMBOL, &get,
                                   error);
        if (!module.ops && r == 0) {
                const struct http_server_ops *ops = get();
                if (ops->abi == HTTP_SERVER_ABI)
                        module.ops = ops;
                else
                        r = error_set(error, -ELIBBAD,
                                      "libfiresteel-http-server.so is not of this version of firesteel; install it "
                                      "again");
        }
        *out = module.ops;
        pthread_mutex_unlock(&module.lock);
        return r;
}

/* ------------------------------------------------------------------------------------------------ connections */

static void connection_state_set(struct server_connection *c, enum connection_state state, int64_t allowed_ms)
{
        c->state = state;
        c->since = now_ms();
        c->allowed_ms = allowed_ms;
}

static void connection_shut(struct server_connection *c)
{
        shutdown(c->fd, SHUT_RDWR);
        c->shut = true;
}

static void on_deadline_check(uv_timer_t *timer)
{
        struct http_server *s = timer->data;
        int64_t now = now_ms();
        for (struct server_connection *c = s->connections.first; c; c = c->next)
                if (c->state != HANDLED && !c->shut && now - c->since > c->allowed_ms)
                        connection_shut(c);
}

static void *on_opened(void *owner, int fd)
{
        struct http_server *s = owner;
        struct server_connection *c = new0(struct server_connection);
        c->server = s;
        c->fd = fd;
        socket_name(fd, true, c->peer, sizeof(c->peer));
        connection_state_set(c, WAITS, s->options.request_ms);
        list_prepend(&s->connections, c);
        if (s->n_connections++ == 0)
                uv_timer_start(&s->look, on_deadline_check, LOOK_MS, LOOK_MS);
        return c;
}

static void http_server_on_closed(void *owner, void *connection)
{
        struct http_server *s = owner;
        struct server_connection *c = connection;
        list_remove(&s->connections, c);
        if (--s->n_connections == 0)
                uv_timer_stop(&s->look);
        free(c);
}

/* Makes room for one more by closing the connection that is idle for longest. Returns false if none is idle. */
static bool http_server_make_room(struct http_server *s)
{
        struct server_connection *oldest = NULL;
        int n = 0;
        for (struct server_connection *c = s->connections.first; c; c = c->next) {
                n += !c->shut;
                if (c->state == WAITS && !c->shut && (!oldest || c->since < oldest->since))
                        oldest = c;
        }
        if (n < s->options.max_connections)
                return true;
        if (!oldest || now_ms() - oldest->since < LEAST_WAIT_MS)
                return false;
        connection_shut(oldest);
        return true;
}

/* ------------------------------------------------------------------------------------------------------ calls */

static void http_server_call_free(struct server_exchange *call)
{
        if (call->stream)
                call->stream->end(call->stream);
        for (size_t i = 0; i < call->headers.len; i++) {
                free(call->headers.data[i].name);
                free(call->headers.data[i].value);
        }
        vec_deinit(&call->headers);
        buf_deinit(&call->body);
        buf_deinit(&call->answer);
        free(call->target);
        free(call);
}

static void *on_began(void *owner, void *connection, void *handle, const char *target)
{
        struct server_connection *c = connection;
        struct server_exchange *call = new0(struct server_exchange);
        call->connection = c;
        call->handle = handle;
        call->target = mem_strdup(target);
        char *query = strchr(call->target, '?');
        if (query)
                *query++ = '\0';
        call->call = (struct http_call){.method = call->method,
                                        .path = call->target,
                                        .query = query ? query : "",
                                        .peer = c->peer,
                                        .server = owner};
        c->call = call;
        return call;
}

static void http_server_on_ended(void *owner, void *data)
{
        struct http_server *s = owner;
        struct server_exchange *call = data;
        s->bodies -= call->body.len;
        connection_state_set(call->connection, WAITS, s->options.request_ms);
        call->connection->call = NULL;
        call->connection = NULL;
        call->handle = NULL;
        if (call->handled && !call->answered)
                call->call.server = NULL; /* the handler still has it */
        else if (!call->producing)        /* else http_stream_put frees it */
                http_server_call_free(call);
}

static void set_answer(struct server_exchange *call, int status, const char *type, struct buf *body)
{
        if (type)
                http_call_set_header(&call->call, "Content-Type", type);
        call->status = status;
        if (body) {
                call->answer = *body;
                *body = BUF_INIT;
        }
        call->answered = true;
}

static enum http_step http_server_send_answer(struct http_server *s, struct server_exchange *call)
{
        size_t size = call->answer.len;
        connection_state_set(call->connection, ANSWERED, ANSWER_MS + (int64_t)(size / ANSWER_BYTES_A_MS));
        if (call->stream)
                return s->ops->answer_stream(s->daemon, call->handle, call, call->status, call->headers.data,
                                             call->headers.len) < 0
                               ? HTTP_STEP_CLOSE
                               : HTTP_STEP_ANSWERED;
        char *body = size ? steal(call->answer.data) : NULL;
        int r = s->ops->answer(call->handle, call->status, call->headers.data, call->headers.len, body, size);
        return r < 0 ? HTTP_STEP_CLOSE : HTTP_STEP_ANSWERED;
}

/* Returns whether a body of this size is allowed. */
static bool body_fits(const struct http_server *s, size_t size)
{
        return size <= s->options.max_body &&
               size <= s->options.max_all_bodies - MIN(s->bodies, s->options.max_all_bodies);
}

static enum http_step http_server_handle_head(struct http_server *s, struct server_exchange *call, const char *method)
{
        call->has_head = true;
        snprintf(call->method, sizeof(call->method), "%s", strcmp(method, "HEAD") == 0 ? "GET" : method);
        if (!s->ops->has_clear_framing(call->handle)) {
                /* The next bytes may be the body of this request or another request: do not read them. */
                struct buf text = BUF_INIT;
                buf_puts(&text, "The length of this request's body is ambiguous.\n");
                http_call_set_header(&call->call, "Connection", "close");
                set_answer(call, 400, "text/plain;charset=utf-8", &text);
                return http_server_send_answer(s, call);
        }
        const char *length = s->ops->header(call->handle, "Content-Length");
        if (!length || body_fits(s, strtoull(length, NULL, 10)))
                return HTTP_STEP_ON;
        struct buf text = BUF_INIT;
        buf_puts(&text, s->options.too_large ? s->options.too_large : "The body of this request is too large.\n");
        set_answer(call, 413, s->options.too_large ? s->options.too_large_type : "text/plain;charset=utf-8", &text);
        return http_server_send_answer(s, call);
}

static enum http_step http_server_handle_body(struct http_server *s, struct server_exchange *call, const char *data,
                                              size_t size)
{
        if (!body_fits(s, call->body.len + size) || !body_fits(s, size))
                return HTTP_STEP_CLOSE; /* its length was unknown at first */
        buf_append(&call->body, data, size);
        s->bodies += size;
        return HTTP_STEP_ON;
}

static enum http_step http_server_handle(struct http_server *s, struct server_exchange *call)
{
        call->handled = true;
        call->call.body = buf_text(&call->body);
        call->call.body_len = call->body.len;
        connection_state_set(call->connection, HANDLED, 0);
        s->options.handle(s->options.owner, &call->call);
        if (call->answered)
                return http_server_send_answer(s, call);
        call->suspended = true;
        return HTTP_STEP_SUSPEND;
}

static enum http_step http_server_on_step(void *owner, void *data, const char *method, const char *piece, size_t size)
{
        struct http_server *s = owner;
        struct server_exchange *call = data;
        if (!call)
                return HTTP_STEP_CLOSE;
        if (!call->has_head)
                return http_server_handle_head(s, call, method);
        if (size)
                return http_server_handle_body(s, call, piece, size);
        return call->answered ? http_server_send_answer(s, call) : http_server_handle(s, call);
}

/* Copies what the connection can take of the piece. Asks the stream for the next one when there is nothing left. */
static ssize_t http_server_on_fill(void *owner, void *data, char *out, size_t size)
{
        struct server_exchange *call = data;
        while (call->sent == call->answer.len) {
                if (call->kind == HTTP_PIECE_LAST)
                        return HTTP_FILL_END;
                if (call->kind == HTTP_PIECE_BROKEN)
                        return HTTP_FILL_BROKEN;
                connection_state_set(call->connection, HANDLED, 0);
                call->producing = true;
                call->stream->next(call->stream);
                if (call->producing) {
                        call->starved = true;
                        return 0;
                }
        }
        size_t n = MIN(size, call->answer.len - call->sent);
        memcpy(out, call->answer.data + call->sent, n);
        call->sent += n;
        return (ssize_t)n;
}

static const struct http_server_events events = {
        .opened = on_opened,
        .closed = http_server_on_closed,
        .began = on_began,
        .step = http_server_on_step,
        .ended = http_server_on_ended,
        .fill = http_server_on_fill,
};

/* --------------------------------------------------------------------------------------------------- the loop */

static void http_server_run(struct http_server *s);

static void on_again(uv_timer_t *timer)
{
        http_server_run(timer->data);
}

static void http_server_run(struct http_server *s)
{
        s->resumed = false;
        int64_t ms = s->ops->run(s->daemon);
        if (s->resumed)
                ms = 0;
        if (ms < 0)
                uv_timer_stop(&s->again);
        else
                uv_timer_start(&s->again, on_again, (uint64_t)ms, 0);
}

static void on_ready(uv_poll_t *poll, int status, int happened)
{
        http_server_run(poll->data);
}

/* Starts what answers requests. A failure is final. */
static int start_daemon(struct http_server *s, struct fst_error *error)
{
        char message[512] = "";
        if (s->daemon)
                return 0;
        if (s->module_failed)
                return error_set(error, -ENOENT, "the reason was reported before");
        int r = http_server_load_module(&s->ops, error);
        if (r == 0) {
                struct http_daemon_options o = {
                        /* Shut down connections are removed later. */
                        .max_connections = 2 * s->options.max_connections + ACCEPTS_A_TURN,
                        .tls = s->options.tls,
                        .events = &events,
                        .owner = s,
                };
                r = s->ops->start(&o, &s->daemon, message, sizeof(message));
                if (r < 0)
                        error_set(error, r, "%s", message);
        }
        if (r == 0) {
                r = uv_poll_init(s->options.loop, &s->ready, s->ops->descriptor(s->daemon));
                s->handles += r == 0;
                if (r < 0)
                        error_set(error, r, "cannot watch its connections: %s", strerror(-r));
        }
        if (r < 0) {
                s->module_failed = true;
                return r;
        }
        s->ready.data = s;
        uv_poll_start(&s->ready, UV_READABLE, on_ready);
        return 0;
}

/* The first connection without TLS loads the module. Returns whether requests can be answered. */
static bool http_server_is_ready(struct http_server *s)
{
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        bool was_known = s->module_failed;
        int r = start_daemon(s, &error);
        if (r < 0 && !was_known)
                log_error(s->options.service, "requests cannot be answered: %s", error_message(&error));
        return r == 0;
}

static void http_server_add_connection(struct http_server *s, int fd)
{
        static const char sorry[] =
                "HTTP/1.1 503 Service Unavailable\r\nConnection: close\r\nContent-Length: 34\r\n\r\n"
                "The server's log says what failed\n";
        struct sockaddr_storage address;
        socklen_t length = sizeof(address);
        if (!http_server_is_ready(s)) {
                if (!s->options.tls && send(fd, sorry, sizeof(sorry) - 1, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
                        log_debug(s->options.service, "a client went at once");
                close(fd);
                return;
        }
        if (getpeername(fd, (struct sockaddr *)&address, &length) < 0 || !http_server_make_room(s)) {
                close(fd);
                return;
        }
        s->ops->add(s->daemon, fd, (struct sockaddr *)&address, length);
}

static void on_listening(uv_poll_t *poll, int status, int happened);

static void on_rest(uv_timer_t *timer)
{
        struct http_server *s = timer->data;
        uv_poll_start(&s->listening, UV_READABLE, on_listening);
}

static void on_listening(uv_poll_t *poll, int status, int happened)
{
        struct http_server *s = poll->data;
        int fd = 0, n = 0;
        while (n < ACCEPTS_A_TURN && (fd = socket_accept(s->listener)) >= 0) {
                http_server_add_connection(s, fd);
                n++;
        }
        if (fd < 0 && fd != -EAGAIN) { /* no descriptors: it stays readable */
                uv_poll_stop(&s->listening);
                uv_timer_start(&s->rest, on_rest, ACCEPT_RETRY_MS, 0);
        }
        if (n > 0 && s->daemon)
                http_server_run(s);
}

/* ----------------------------------------------------------------------------------------------------- answers */

/* Not immediately, because this may be inside `run` of this server. */
static void http_server_resume(struct http_server *s, struct server_exchange *call)
{
        s->ops->resume(call->handle);
        s->resumed = true;
        uv_timer_start(&s->again, on_again, 0, 0);
}

const char *http_call_header(const struct http_call *call, const char *name)
{
        struct server_exchange *c = container_of(call, struct server_exchange, call);
        return c->handle ? c->call.server->ops->header(c->handle, name) : NULL;
}

void http_call_set_header(struct http_call *call, const char *name, const char *value)
{
        struct server_exchange *c = container_of(call, struct server_exchange, call);
        if (strpbrk(value, "\r\n"))
                return;
        for (size_t i = 0; i < c->headers.len; i++)
                if (strcmp(c->headers.data[i].name, name) == 0) {
                        free(c->headers.data[i].value);
                        c->headers.data[i].value = mem_strdup(value);
                        return;
                }
        vec_push(&c->headers, (struct http_header){mem_strdup(name), mem_strdup(value)});
}

void http_call_answer(struct http_call *call, int status, const char *type, struct buf *body)
{
        struct server_exchange *c = container_of(call, struct server_exchange, call);
        set_answer(c, status, type, body);
        if (!c->connection)
                http_server_call_free(c);
        else if (c->suspended)
                http_server_resume(c->call.server, c);
}

void http_call_answer_stream(struct http_call *call, int status, const char *type, struct buf *first,
                             struct http_stream *stream)
{
        struct server_exchange *c = container_of(call, struct server_exchange, call);
        c->stream = stream;
        stream->exchange = c;
        http_call_answer(call, status, type, first);
}

void http_stream_put(struct http_stream *stream, struct buf *piece, enum http_piece kind)
{
        struct server_exchange *c = stream->exchange;
        buf_deinit(&c->answer);
        c->answer = *piece;
        *piece = BUF_INIT;
        c->sent = 0;
        c->kind = kind;
        c->producing = false;
        if (!c->connection) {
                http_server_call_free(c);
                return;
        }
        connection_state_set(c->connection, ANSWERED, ANSWER_MS + (int64_t)(c->answer.len / ANSWER_BYTES_A_MS));
        if (c->starved)
                http_server_resume(c->call.server, c);
        c->starved = false;
}

void http_call_answer_text(struct http_call *call, int status, const char *type, const char *text)
{
        struct buf body = BUF_INIT;
        buf_puts(&body, text);
        http_call_answer(call, status, type, &body);
}

/* ---------------------------------------------------------------------------------------------------- lifetime */

static void wipe_text(const char *text)
{
        if (text)
                explicit_bzero((char *)text, strlen(text));
        free((char *)text);
}

static void copy_tls(struct http_server *s, const struct http_server_tls *tls)
{
        void *store = tls->store ? mem_alloc(tls->store_size) : NULL;
        if (store)
                memcpy(store, tls->store, tls->store_size);
        s->tls = *tls;
        s->tls.key = mem_strdup_if(tls->key);
        s->tls.key_password = mem_strdup_if(tls->key_password);
        s->tls.chain = mem_strdup_if(tls->chain);
        s->tls.store = store;
        s->tls.store_password = mem_strdup_if(tls->store_password);
        s->tls.store_key_password = mem_strdup_if(tls->store_key_password);
        s->tls.trust = mem_strdup_if(tls->trust);
        s->tls.priorities = mem_strdup_if(tls->priorities);
        s->options.tls = &s->tls;
}

static void server_free(struct http_server *s)
{
        close(s->listener);
        wipe_text(s->tls.key);
        wipe_text(s->tls.key_password);
        wipe_text(s->tls.store_password);
        wipe_text(s->tls.store_key_password);
        free((char *)s->tls.chain);
        free((void *)s->tls.store);
        free((char *)s->tls.trust);
        free((char *)s->tls.priorities);
        free((char *)s->options.service);
        free((char *)s->options.too_large);
        free(s);
}

static void on_handle_closed(uv_handle_t *handle)
{
        struct http_server *s = handle->data;
        if (--s->handles == 0)
                server_free(s);
}

/* Returns a listening socket and its @port, or negative with @error. */
static int http_server_listen(const struct http_server_options *options, int *port, struct fst_error *error)
{
        if (options->previous) {
                int listener = fcntl(options->previous->listener, F_DUPFD_CLOEXEC, 0);
                *port = options->previous->port;
                return listener < 0 ? error_errno(error, "%s: cannot share its socket", options->service) : listener;
        }
        return socket_listen(&(struct listen_options){.service = options->service,
                                                      .host = options->host,
                                                      .port = options->port,
                                                      .max_retries = options->max_retries,
                                                      .any_port = options->any_port},
                             port, error);
}

int http_server_new(const struct http_server_options *options, struct http_server **out, struct fst_error *error)
{
        int port = 0;
        int listener = http_server_listen(options, &port, error);
        if (listener < 0)
                return listener;
        struct http_server *s = new0(struct http_server);
        s->options = *options;
        s->options.service = mem_strdup(options->service);
        s->options.host = NULL; /* no longer needed */
        s->options.previous = NULL;
        s->options.too_large = options->too_large ? mem_strdup(options->too_large) : NULL;
        s->options.max_connections = options->max_connections > 0 ? options->max_connections : 512;
        s->options.request_ms = options->request_ms > 0 ? options->request_ms : 30000;
        s->options.max_body = options->max_body ? options->max_body : 1u << 20;
        s->options.max_all_bodies = options->max_all_bodies ? options->max_all_bodies : 64u << 20;
        if (options->tls)
                copy_tls(s, options->tls);
        s->listener = listener;
        s->port = port;
        int r = uv_poll_init(options->loop, &s->listening, listener);
        if (r < 0) {
                server_free(s);
                return error_set(error, r, "%s: cannot watch its socket: %s", options->service, strerror(-r));
        }
        uv_timer_init(options->loop, &s->look);
        uv_timer_init(options->loop, &s->again);
        uv_timer_init(options->loop, &s->rest);
        s->listening.data = s->look.data = s->again.data = s->rest.data = s;
        s->handles = 4;
        uv_poll_start(&s->listening, UV_READABLE, on_listening);
        if (options->tls && (r = start_daemon(s, error)) < 0) {
                error_wrap(error, r, "%s has no TLS", options->service);
                http_server_free(s);
                return r;
        }
        *out = s;
        return 0;
}

void http_server_free(struct http_server *s)
{
        if (!s)
                return;
        if (s->daemon) {
                for (struct server_connection *c = s->connections.first; c; c = c->next)
                        if (c->call && (c->call->starved || (c->call->suspended && !c->call->answered)))
                                s->ops->resume(c->call->handle);
                uv_poll_stop(&s->ready);
                s->ops->stop(s->daemon);
                uv_close((uv_handle_t *)&s->ready, on_handle_closed);
        }
        uv_poll_stop(&s->listening);
        uv_close((uv_handle_t *)&s->listening, on_handle_closed);
        uv_close((uv_handle_t *)&s->look, on_handle_closed);
        uv_close((uv_handle_t *)&s->again, on_handle_closed);
        uv_close((uv_handle_t *)&s->rest, on_handle_closed);
}

int http_server_port(const struct http_server *s)
{
        return s->port;
}

int http_server_connections(const struct http_server *s)
{
        return s->n_connections;
}
