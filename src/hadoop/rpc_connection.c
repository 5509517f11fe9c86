/* See rpc_connection.h. The object lives until libuv has closed its handle and its resolver has answered. */
#include "hadoop/rpc_connection.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "net/socket.h"

#define READ_SIZE 65536

struct hadoop_connection {
        uv_loop_t *loop;
        const struct hadoop_connection_class *class; /* NULL: closed by its owner */
        void *owner;
        const struct hadoop_rpc_options *options;
        struct host_port host;
        struct hadoop_rpc_session *session;
        uv_tcp_t tcp;
        uv_getaddrinfo_t resolving;
        uv_connect_t connecting;
        struct addrinfo *found, *next; /* addresses of the host */
        int64_t since_ms;
        bool resolves, has_tcp, connected, closing;
        bool moving; /* `tcp` closes so that the next address can be tried */
        char read[READ_SIZE];
};

struct write_request {
        uv_write_t request;
        struct hadoop_connection *connection; /* libuv ends its writes before it closes it */
        struct buf bytes;
};

static void connection_release(struct hadoop_connection *c)
{
        if (c->resolves || (c->has_tcp && !c->closing))
                return;
        if (c->found)
                uv_freeaddrinfo(c->found);
        hadoop_rpc_session_free(c->session);
        free(c);
}

static void on_connection_closed(uv_handle_t *handle)
{
        struct hadoop_connection *c = handle->data;
        c->has_tcp = false;
        connection_release(c);
}

void hadoop_connection_close(struct hadoop_connection *c)
{
        if (!c || c->closing)
                return;
        c->class = NULL;
        c->closing = true;
        if (c->resolves)
                uv_cancel((uv_req_t *)&c->resolving);
        if (c->has_tcp && !c->moving)
                uv_close((uv_handle_t *)&c->tcp, on_connection_closed);
        else if (!c->has_tcp && !c->resolves)
                connection_release(c);
}

/* --------------------------------------------------------------------------------------------------------- bytes */

static void on_connection_written(uv_write_t *request, int status)
{
        struct write_request *w = container_of(request, struct write_request, request);
        struct hadoop_connection *c = w->connection;
        buf_deinit_secret(&w->bytes);
        free(w);
        if (status < 0 && c->class)
                c->class->broken(c->owner, status, uv_strerror(status));
}

void hadoop_connection_flush(struct hadoop_connection *c)
{
        struct buf *out = hadoop_rpc_session_output(c->session);
        if (!c->connected || out->len == 0)
                return;
        struct write_request *w = new0(struct write_request);
        w->connection = c;
        w->bytes = *out;
        *out = BUF_INIT;
        const uv_buf_t piece = uv_buf_init(w->bytes.data, (unsigned)w->bytes.len);
        const int r = uv_write(&w->request, (uv_stream_t *)&c->tcp, &piece, 1, on_connection_written);
        if (r < 0)
                on_connection_written(&w->request, r);
}

/* A callback may close the connection; @c itself stays until the loop turns. */
static void connection_take_events(struct hadoop_connection *c)
{
        struct hadoop_rpc_event e;
        while (c->class && hadoop_rpc_session_next(c->session, &e))
                c->class->event(c->owner, &e);
        if (c->class)
                hadoop_connection_flush(c);
        if (c->class)
                c->class->changed(c->owner);
}

static void on_connection_alloc(uv_handle_t *handle, size_t suggested, uv_buf_t *out)
{
        struct hadoop_connection *c = handle->data;
        *out = uv_buf_init(c->read, sizeof(c->read));
}

static void on_connection_read(uv_stream_t *stream, ssize_t n, const uv_buf_t *bytes)
{
        struct hadoop_connection *c = stream->data;
        if (!c->class || n == 0)
                return;
        if (n < 0) {
                c->class->broken(c->owner, n == UV_EOF ? -ECONNRESET : (int)n,
                                 n == UV_EOF ? "it closed the connection" : uv_strerror((int)n));
                return;
        }
        hadoop_rpc_session_input(c->session, bytes->base, (size_t)n);
        connection_take_events(c);
}

/* ------------------------------------------------------------------------------------------------------ addresses */

static void connection_connect_to_next(struct hadoop_connection *c);

static void on_connection_moved(uv_handle_t *handle)
{
        struct hadoop_connection *c = handle->data;
        c->has_tcp = c->moving = false;
        if (c->class)
                connection_connect_to_next(c);
        else
                connection_release(c);
}

bool hadoop_connection_try_next(struct hadoop_connection *c)
{
        if (c->moving)
                return true;
        if (!c->next || !c->has_tcp)
                return false;
        c->moving = true;
        c->since_ms = now_ms();
        uv_close((uv_handle_t *)&c->tcp, on_connection_moved);
        c->class->changed(c->owner);
        return true;
}

/* Java takes the canonical name of the server's address for _HOST. */
static void connection_name_server(struct hadoop_connection *c)
{
        const struct hadoop_rpc_options *o = c->options;
        struct sockaddr_storage address;
        int len = sizeof(address);
        char host[NI_MAXHOST];
        if (o->auth != HADOOP_RPC_KERBEROS || !o->server_principal || !strstr(o->server_principal, "_HOST"))
                return;
        if (uv_tcp_getpeername(&c->tcp, (struct sockaddr *)&address, &len) < 0 ||
            getnameinfo((struct sockaddr *)&address, (socklen_t)len, host, sizeof(host), NULL, 0, NI_NAMEREQD) != 0)
                snprintf(host, sizeof(host), "%s", c->host.host);
        hadoop_rpc_session_set_host(c->session, host);
}

static void on_connected(uv_connect_t *request, int status)
{
        struct hadoop_connection *c = request->data;
        if (!c->class || c->moving)
                return;
        if (status < 0) {
                if (!hadoop_connection_try_next(c))
                        c->class->unreachable(c->owner, status, uv_strerror(status));
                return;
        }
        c->connected = true;
        connection_name_server(c);
        uv_tcp_nodelay(&c->tcp, 1);
        uv_read_start((uv_stream_t *)&c->tcp, on_connection_alloc, on_connection_read);
        connection_take_events(c);
}

static void connection_connect_to_next(struct hadoop_connection *c)
{
        const struct addrinfo *address = c->next;
        c->next = address->ai_next;
        uv_tcp_init(c->loop, &c->tcp);
        c->tcp.data = c;
        c->has_tcp = true;
        c->connecting.data = c;
        const int r = uv_tcp_connect(&c->connecting, &c->tcp, address->ai_addr, on_connected);
        if (r < 0 && !hadoop_connection_try_next(c))
                c->class->unreachable(c->owner, r, uv_strerror(r));
}

static void on_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *found)
{
        struct hadoop_connection *c = request->data;
        c->resolves = false;
        c->found = c->next = found;
        if (!c->class)
                connection_release(c);
        else if (status < 0 || !found)
                c->class->unreachable(c->owner, -ENOENT, status < 0 ? uv_strerror(status) : "no address");
        else
                connection_connect_to_next(c);
}

/* An address that is a number needs no thread that resolves it. Returns false for a name. */
static bool connection_connect_to_number(struct hadoop_connection *c, const char *port)
{
        const struct addrinfo hints = {
                .ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICHOST | AI_NUMERICSERV};
        struct addrinfo *found = NULL;
        if (getaddrinfo(c->host.host, port, &hints, &found) != 0)
                return false;
        on_resolved(&c->resolving, 0, found);
        return true;
}

void hadoop_connection_start(struct hadoop_connection *c)
{
        const struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
        char port[16];
        snprintf(port, sizeof(port), "%d", c->host.port);
        c->since_ms = now_ms();
        c->resolving.data = c;
        c->resolves = true;
        if (connection_connect_to_number(c, port))
                return;
        const int r = uv_getaddrinfo(c->loop, &c->resolving, on_resolved, c->host.host, port, &hints);
        if (r < 0) {
                c->resolves = false;
                c->class->unreachable(c->owner, r, uv_strerror(r));
        }
}

/* ----------------------------------------------------------------------------------------------------- life, state */

int hadoop_connection_new(uv_loop_t *loop, const char *address, const struct hadoop_rpc_options *options,
                          const struct hadoop_connection_class *class, void *owner, struct hadoop_connection **out,
                          struct fst_error *error)
{
        struct hadoop_connection *c = new0(struct hadoop_connection);
        c->loop = loop;
        c->class = class;
        c->owner = owner;
        c->options = options;
        int r = hadoop_rpc_session_new(options, &c->session, error);
        if (r == 0)
                r = host_port_parse(address, &c->host, error);
        if (r < 0) {
                connection_release(c);
                return r;
        }
        *out = c;
        return 0;
}

struct hadoop_rpc_session *hadoop_connection_session(const struct hadoop_connection *c)
{
        return c->session;
}

bool hadoop_connection_is_connected(const struct hadoop_connection *c)
{
        return c->connected;
}

int64_t hadoop_connection_since_ms(const struct hadoop_connection *c)
{
        return c->since_ms;
}
