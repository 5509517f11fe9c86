/*
 * See port_forward.h. A message of the protocol is a byte with the channel's number, and data. Channel 0 carries the
 * stream, channel 1 the kubelet's errors as text. The first message of each has the port, which is skipped.
 */
#include "kubernetes/api/port_forward.h"

#include "base/base64.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/mem.h"
#include "base/vec.h"
#include "kubernetes/api/exec_credential.h"
#include "kubernetes/api/kube_client.h"
#include "net/http/http_reader.h"
#include "net/http/http_tunnel.h"
#include "net/http/web_socket.h"
#include "text/json.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define PORT_FORWARD_PROTOCOL "v4.channel.k8s.io"

enum { CHANNEL_DATA, CHANNEL_ERROR, N_CHANNELS };
enum { PIECE = 32768, MAX_ANSWER = 1 << 20, MAX_MESSAGE = 16 << 20 };

#define ANSWER_NS (30 * NS_PER_SECOND)
#define PING_MS 30000       /* keeps proxies between from closing the connection */
#define LAST_BYTES_MS 60000 /* without data after the socket's end */

struct port_forward {
        struct http_tunnel *tunnel;
        struct web_socket_reader reader;
        struct buf early; /* what arrived behind the answer's head */
        struct buf out;   /* frames to send */
        int fd;           /* of port_forward_copy */
        bool has_port[N_CHANNELS], ended;
        struct buf refusal; /* of the error channel */
};

/* ------------------------------------------------------------------------------------------------------- connecting */

struct port_forward_identity {
        struct kube_credential credential;
        struct buf authorization; /* a header, or empty */
};

static void port_forward_identity_deinit(struct port_forward_identity *id)
{
        kube_credential_deinit(&id->credential);
        buf_deinit_secret(&id->authorization);
}

static int port_forward_identify(const struct kube_config *config, struct port_forward_identity *id,
                                 struct fst_error *error)
{
        _cleanup_(buf_deinit_secret) struct buf text = BUF_INIT;
        _cleanup_free_ char *token = NULL;
        int r = 0;
        if (config->exec && !config->token && !config->token_file)
                r = kube_exec_run(config, KUBE_EXEC_TIMEOUT_MS, &id->credential, error);
        if (r == 0)
                r = kube_credential_read_token(config, &id->credential, &token, error);
        if (r < 0)
                return r;
        if (token) {
                buf_printf(&id->authorization, "Authorization: Bearer %s", token);
                explicit_bzero(token, strlen(token));
        } else if (config->user) {
                buf_printf(&text, "%s:%s", config->user, config->password ? config->password : "");
                buf_puts(&id->authorization, "Authorization: Basic ");
                base64_put(&id->authorization, text.data, text.len);
        }
        return 0;
}

static int port_forward_connect(struct port_forward *f, const struct kube_config *config,
                                const struct port_forward_identity *id, struct fst_error *error)
{
        struct http_request q = {.url = config->server};
        kube_credential_set_connection(config, &id->credential, &q);
        return http_tunnel_open(&q, &f->tunnel, error);
}

/* The part of a URL between "://" and the path; the path goes to *@path, "" if there is none. */
static char *port_forward_host(const char *url, const char **path)
{
        const char *host = strstr(url, "://");
        host = host ? host + 3 : url;
        *path = host + strcspn(host, "/");
        return mem_strndup(host, (size_t)(*path - host));
}

/* Waits until the tunnel has bytes, and reads some. Returns their number, 0 at the end. */
static ssize_t port_forward_read_before(struct port_forward *f, int64_t until_ns, char *buffer, size_t n,
                                        struct fst_error *error)
{
        for (;;) {
                ssize_t got = http_tunnel_read(f->tunnel, buffer, n, error);
                if (got != -EAGAIN)
                        return got;
                int64_t left = until_ns - now_ns();
                struct pollfd p = {.fd = http_tunnel_fd(f->tunnel), .events = POLLIN};
                if (left <= 0 || poll(&p, 1, (int)(left / NS_PER_MS) + 1) == 0)
                        return error_set(error, -ETIMEDOUT, "no answer within %d s", (int)(ANSWER_NS / NS_PER_SECOND));
        }
}

/* The answer is no upgrade: reads its body, and gives the API server's sentence. */
static int port_forward_refused(struct port_forward *f, const char *pod, int64_t until_ns, struct fst_error *error)
{
        _cleanup_(http_reader_deinit) struct http_reader reader = HTTP_READER_INIT;
        _cleanup_(error_deinit) struct fst_error ignored = FST_ERROR_INIT;
        char buffer[PIECE];
        http_reader_begin(&reader, MAX_ANSWER);
        ssize_t n = http_reader_take(&reader, f->early.data, f->early.len, &ignored);
        while (n >= 0 && !reader.done) {
                n = port_forward_read_before(f, until_ns, buffer, sizeof(buffer), &ignored);
                n = n > 0 ? http_reader_take(&reader, buffer, (size_t)n, &ignored) : -1;
        }
        json_t *status = json_loadb(buf_text(&reader.body), reader.body.len, 0, NULL);
        const char *message = json_text_at(status, "message");
        bool refused = reader.status == 401 || reader.status == 403;
        int code = reader.status == 404 ? -ENOENT : refused ? -EACCES : -EPROTO;
        if (message || reader.body.len)
                error_set(error, code, "cannot forward to pod \"%s\": %s", pod,
                          message ? message : buf_text(&reader.body));
        else
                error_set(error, code, "cannot forward to pod \"%s\": HTTP status %d", pod, reader.status);
        json_decref(status);
        return code;
}

static int port_forward_shake_hands(struct port_forward *f, const struct kube_config *config, const char *target,
                                    const char *pod, const struct port_forward_identity *id, struct fst_error *error)
{
        struct web_socket_key key;
        const char *path;
        _cleanup_free_ char *host = port_forward_host(config->server, &path);
        _cleanup_free_ char *whole = mem_printf("%s%s", path, target);
        _cleanup_(buf_deinit_secret) struct buf request = BUF_INIT;
        VEC(const char *) headers = {0};
        if (id->authorization.len)
                vec_push(&headers, buf_text(&id->authorization));
        for (char **i = config->impersonate; i && *i; i++)
                vec_push(&headers, *i);
        vec_push(&headers, "User-Agent: firesteel/" FIRESTEEL_VERSION);
        vec_push(&headers, NULL);
        int r = web_socket_key_make(&key, error);
        if (r == 0) {
                web_socket_put_request(&request, host, whole, PORT_FORWARD_PROTOCOL, headers.data, &key);
                r = http_tunnel_write(f->tunnel, request.data, request.len, error);
        }
        vec_deinit(&headers);
        const int64_t until = now_ns() + ANSWER_NS;
        const char *end = NULL;
        while (r == 0 && !end) {
                char buffer[4096];
                ssize_t n = port_forward_read_before(f, until, buffer, sizeof(buffer), error);
                if (n <= 0)
                        r = n < 0 ? (int)n : error_set(error, -ECONNRESET, "the API server closed the connection");
                else
                        buf_append(&f->early, buffer, (size_t)n);
                end = f->early.len ? memmem(f->early.data, f->early.len, "\r\n\r\n", 4) : NULL;
                if (r == 0 && !end && f->early.len > HTTP_MAX_HEADERS)
                        r = error_set(error, -EPROTO, "the answer's head is too long");
        }
        if (r < 0)
                return r;
        if (!memmem(f->early.data, MIN(f->early.len, (size_t)16), " 101", 4))
                return port_forward_refused(f, pod, until, error);
        size_t head = (size_t)(end + 4 - f->early.data);
        r = web_socket_verify_answer(f->early.data, head, PORT_FORWARD_PROTOCOL, &key, error);
        if (r == 0) {
                memmove(f->early.data, f->early.data + head, f->early.len - head);
                buf_truncate(&f->early, f->early.len - head);
        }
        return r;
}

static int port_forward_on_message(void *owner, enum web_socket_opcode opcode, const char *data, size_t n);

int port_forward_open(const struct kube_config *config, const char *namespace, const char *pod, int port,
                      struct port_forward **out, struct fst_error *error)
{
        struct port_forward *f = new0(struct port_forward);
        f->reader = (struct web_socket_reader){
                .on_message = port_forward_on_message, .owner = f, .max_message = MAX_MESSAGE};
        f->fd = -1;
        struct port_forward_identity id = {0};
        _cleanup_free_ char *name = mem_printf("%s/portforward", pod);
        _cleanup_free_ char *path = kube_path("v1", namespace, "pods", name);
        _cleanup_free_ char *target = mem_printf("%s?ports=%d", path, port);
        int r = port_forward_identify(config, &id, error);
        if (r == 0)
                r = port_forward_connect(f, config, &id, error);
        if (r == 0)
                r = port_forward_shake_hands(f, config, target, pod, &id, error);
        port_forward_identity_deinit(&id);
        if (r < 0)
                port_forward_close(f);
        else
                *out = f;
        return r;
}

void port_forward_close(struct port_forward *f)
{
        if (!f)
                return;
        http_tunnel_close(f->tunnel);
        web_socket_reader_deinit(&f->reader);
        buf_deinit(&f->early);
        buf_deinit(&f->out);
        buf_deinit(&f->refusal);
        free(f);
}

/* ---------------------------------------------------------------------------------------------------------- copying */

/* Writes all to the socket, which may block for as long as the reader at its end does. */
static int port_forward_deliver(struct port_forward *f, const char *data, size_t n)
{
        while (n > 0) {
                ssize_t r = send(f->fd, data, n, MSG_NOSIGNAL);
                if (r < 0 && errno == EAGAIN) {
                        struct pollfd p = {.fd = f->fd, .events = POLLOUT};
                        poll(&p, 1, -1);
                } else if (r < 0 && errno != EINTR) {
                        return -errno;
                } else if (r > 0) {
                        data += r;
                        n -= (size_t)r;
                }
        }
        return 0;
}

static int port_forward_on_message(void *owner, enum web_socket_opcode opcode, const char *data, size_t n)
{
        struct port_forward *f = owner;
        _cleanup_(error_deinit) struct fst_error error = FST_ERROR_INIT;
        if (opcode == WEB_SOCKET_CLOSE)
                f->ended = true;
        if (opcode == WEB_SOCKET_PING)
                return web_socket_put_message(&f->out, WEB_SOCKET_PONG, data, n, &error);
        if (opcode >= WEB_SOCKET_CLOSE || n == 0 || (unsigned char)data[0] >= N_CHANNELS)
                return 0;
        const unsigned char channel = (unsigned char)data[0];
        data++;
        n--;
        if (!f->has_port[channel]) {
                size_t skip = MIN(n, sizeof(uint16_t));
                f->has_port[channel] = true;
                data += skip;
                n -= skip;
        }
        if (channel == CHANNEL_DATA)
                return port_forward_deliver(f, data, n);
        if (f->refusal.len + n <= MAX_ANSWER)
                buf_append(&f->refusal, data, n);
        return 0;
}

static int port_forward_flush(struct port_forward *f, struct fst_error *error)
{
        int r = f->out.len ? http_tunnel_write(f->tunnel, f->out.data, f->out.len, error) : 0;
        buf_reset(&f->out);
        return r;
}

/* Takes all that has arrived from the pod. */
static int port_forward_take(struct port_forward *f, char *buffer, size_t size, struct fst_error *error)
{
        ssize_t n = 0;
        int r = 0;
        while (r == 0 && !f->ended && (n = http_tunnel_read(f->tunnel, buffer, size, error)) > 0)
                r = web_socket_reader_take(&f->reader, buffer, (size_t)n, error);
        if (r == 0 && n == 0)
                f->ended = true;
        return r < 0 ? r : n < 0 && n != -EAGAIN ? (int)n : 0;
}

/* Sends what has arrived at the socket. *@open: it may send more. */
static int port_forward_send(struct port_forward *f, char *buffer, size_t size, bool *open, struct fst_error *error)
{
        buffer[0] = CHANNEL_DATA;
        ssize_t n = read(f->fd, buffer + 1, size - 1);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
                return 0;
        *open = n > 0;
        return n > 0 ? web_socket_put_message(&f->out, WEB_SOCKET_BINARY, buffer, (size_t)n + 1, error) : 0;
}

int port_forward_copy(struct port_forward *f, int fd, struct fst_error *error)
{
        char buffer[PIECE];
        bool open = true;
        f->fd = fd;
        int r = web_socket_reader_take(&f->reader, f->early.data, f->early.len, error);
        buf_reset(&f->early);
        while (r == 0) {
                if ((r = port_forward_take(f, buffer, sizeof(buffer), error)) == 0)
                        r = port_forward_flush(f, error);
                if (r < 0 || f->ended)
                        break;
                struct pollfd p[] = {{.fd = http_tunnel_fd(f->tunnel), .events = POLLIN},
                                     {.fd = open ? fd : -1, .events = POLLIN}};
                int ready = poll(p, ARRAY_SIZE(p), open ? PING_MS : LAST_BYTES_MS);
                if (ready == 0 && !open)
                        break;
                if (ready == 0)
                        r = web_socket_put_message(&f->out, WEB_SOCKET_PING, "", 0, error);
                else if (ready > 0 && p[1].revents)
                        r = port_forward_send(f, buffer, sizeof(buffer), &open, error);
        }
        while (f->refusal.len && f->refusal.data[f->refusal.len - 1] == '\n')
                buf_truncate(&f->refusal, f->refusal.len - 1);
        if (f->refusal.len)
                return error_set(error, -ECONNREFUSED, "%s", buf_text(&f->refusal));
        return r == -EPIPE || r == -ECONNRESET ? 0 : r; /* the socket's end, or the API server's */
}
