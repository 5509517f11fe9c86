/*
 * Connections: connecting, accepting, reading, writing, and ending.
 *
 * The states are RESOLVING → CONNECTING → GREETING → OPEN → ENDED. An accepted connection begins in GREETING. Every
 * failure calls peer_doom, which only stops polling and stores the reason. env_turn then calls peer_end, the only
 * function that closes the connection, fails its asks and notifies endpoints.
 *
 * An iteration of the loop reads at most READ_BUDGET from one connection, so that a busy one does not block the others.
 */
#include "rpc/rpc_internal.h"

#include "base/buf.h"

#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <unistd.h>

#define READ_BUDGET (1 << 20)
#define IOV_AT_ONCE 64

struct rpc_peer *peer_new(struct rpc_env *env)
{
        struct rpc_peer *peer = new0(struct rpc_peer);
        peer->refs = 1;
        peer->env = env_ref(env);
        peer->fd = -1;
        peer->max_bytes = env->o.max_message_bytes;
        peer->begun_ms = peer->received_ms = env_now_ms(env);
        link_init(&peer->all);
        link_init(&peer->todo);
        link_init(&peer->again);
        link_init(&peer->doom);
        link_init(&peer->stranger);
        frame_reader_init(&peer->reader, MAX_FRAME_HELLO);
        out_queue_init(&peer->out, &env->pool);
        return peer;
}

struct rpc_peer *rpc_peer_ref_new(struct rpc_peer *peer)
{
        peer->refs++;
        return peer;
}

void rpc_peer_unref(struct rpc_peer *peer)
{
        if (!peer || --peer->refs > 0)
                return;
        int saved = errno;
        struct rpc_env *env = peer->env;
        free(peer->name);
        free(peer->target_text);
        free(peer->why);
        free(peer);
        env_unref(env);
        errno = saved;
}

/* ---------------------------------------------------------------------------------------------------- polling */

static void peer_poll_closed(uv_handle_t *handle)
{
        struct peer_poll *poll = handle->data;
        env_handle_closed(poll->env);
        free(poll);
}

static void peer_unwatch(struct rpc_peer *peer)
{
        if (!peer->poll)
                return;
        struct peer_poll *poll = steal(peer->poll);
        poll->peer = NULL;
        uv_close((uv_handle_t *)&poll->handle, peer_poll_closed);
        peer->events = 0;
}

static void peer_on_poll(uv_poll_t *handle, int status, int events);

static void set_events(struct rpc_peer *peer, int events)
{
        if (!peer->poll || events == peer->events)
                return;
        peer->events = events;
        if (events)
                uv_poll_start(&peer->poll->handle, events, peer_on_poll);
        else
                uv_poll_stop(&peer->poll->handle);
}

static int peer_watch(struct rpc_peer *peer, int fd)
{
        struct peer_poll *poll = new0(struct peer_poll);
        int r = uv_poll_init(peer->env->loop, &poll->handle, fd);
        if (r < 0) {
                free(poll);
                return r;
        }
        poll->handle.data = poll;
        poll->peer = peer;
        poll->env = peer->env;
        peer->env->handles++;
        peer->poll = poll;
        peer->events = 0;
        return 0;
}

void peer_update_events(struct rpc_peer *peer)
{
        if (!peer->ch || peer->doomed)
                return;
        int handshake = channel_events(peer->ch), events = 0;
        if (handshake)
                events = (handshake & POLLIN ? UV_READABLE : 0) | (handshake & POLLOUT ? UV_WRITABLE : 0);
        else
                events = (peer->pauses || peer->env->closing ? 0 : UV_READABLE) |
                         (peer->blocked && peer->out.bytes ? UV_WRITABLE : 0);
        set_events(peer, events);
}

/* ----------------------------------------------------------------------------------------------------- ending */

void peer_doom(struct rpc_peer *peer, enum log_level level, int code, const char *format, ...)
{
        if (peer->doomed || peer->local || peer->state == PEER_ENDED)
                return;
        va_list args;
        struct buf why = BUF_INIT;
        va_start(args, format);
        buf_vprintf(&why, format, args);
        va_end(args);
        peer->doomed = true;
        peer->doom_level = level;
        peer->doom_code = code;
        free(peer->why);
        peer->why = buf_steal(&why);
        link_insert(&peer->env->doomed, &peer->doom);
        set_events(peer, 0);
        env_wake(peer->env);
        if (!link_empty(&peer->stranger)) {
                link_remove(&peer->stranger);
                peer->env->stranger_count--;
                env_accept_again(peer->env);
        }
}

/*
 * Returns whether a connection to the same address, or from the same host, has ended for the same reason before the handshake. Notes the
 * reason.
 */
static bool peer_was_refused_before(struct rpc_peer *peer)
{
        struct rpc_env *env = peer->env;
        const char *who = peer->outgoing ? peer->target_text : peer->name, *port = peer->outgoing ? NULL : strrchr(who, ':');
        const int len = (int)(port ? (size_t)(port - who) : strlen(who));
        _cleanup_free_ char *text = mem_printf("%.*s %s", len, who, peer->why);
        const uint32_t hash = frame_endpoint(text);
        for (unsigned i = 0; i < MIN(env->n_refusals, (unsigned)ARRAY_SIZE(env->refusals)); i++)
                if (env->refusals[i] == hash)
                        return true;
        env->refusals[env->n_refusals++ % ARRAY_SIZE(env->refusals)] = hash;
        return false;
}

/*
 * Logs the end of a connection, with a rate limit for unregistered peers. That a Firesteel process is of another application or version is
 * a warning only the first time, because an executor without a driver tries again and again.
 */
static void log_end(struct rpc_peer *peer)
{
        struct rpc_env *env = peer->env;
        const char *who = peer->name ? peer->name : peer->target_text;
        if (rpc_peer_is_unauthorized(peer) && peer->greeted && !env_may_log(env, &env->guest_log))
                return;
        if (!peer->outgoing && !peer->greeted) {
                if (peer->spoke && peer_was_refused_before(peer))
                        log_debug(RPC_LOG, "%s refused the connection from %s: %s", env->name, who, peer->why);
                else if (log_enabled(LOG_WARN, RPC_LOG) && env_may_log(env, &env->stranger_log))
                        log_warn(RPC_LOG, "%s refused the connection from %s: %s", env->name, who, peer->why);
                return;
        }
        const bool before = peer->outgoing && !peer->greeted && peer->state >= PEER_GREETING;
        const bool repeated = before && peer_was_refused_before(peer);
        if (before)
                log_at(repeated ? LOG_DEBUG : peer->doom_level, RPC_LOG,
                       "%s ended the connection to %s before the handshake: %s", env->name, who, peer->why);
        else if (peer->outgoing && !peer->greeted)
                log_at(env->o.quiet ? LOG_DEBUG : peer->doom_level, RPC_LOG, "%s cannot reach %s: %s", env->name, who,
                       peer->why);
        else
                log_at(peer->doom_level, RPC_LOG, "%s: the connection with %s is over: %s", env->name, who, peer->why);
}

/* Sends the reason to a peer that speaks this protocol, if it can be sent at once. Discards queued messages. */
static void send_refusal(struct rpc_peer *peer)
{
        bool ours = peer->doom_code == -EPROTO || peer->doom_code == -EBADMSG ||
                    peer->doom_code == -EMSGSIZE || peer->doom_code == -ECANCELED;
        if (!peer->ch || !peer->spoke || !ours || !channel_ready(peer->ch))
                return;
        uint8_t head[FRAME_HELLO_HEADER_SIZE];
        size_t len = MIN(strlen(peer->why), (size_t)MAX_FRAME_HELLO);
        struct frame_header h = {.kind = FRAME_REFUSED, .body_len = (uint32_t)len};
        frame_header_put(head, &h);
        if (peer->doom_code == -ECANCELED) /* we close: write earlier messages first */
                while (peer->out.bytes > 0) {
                        struct iovec iov[IOV_AT_ONCE];
                        ssize_t r = channel_writev(peer->ch, iov, out_queue_iov(&peer->out, iov, IOV_AT_ONCE));
                        if (r <= 0)
                                return;
                        out_queue_sent(&peer->out, (size_t)r);
                }
        struct iovec iov[] = {{head, sizeof(head)}, {peer->why, len}};
        if (!peer->blocked)
                (void)!channel_writev(peer->ch, iov, 2);
}

void peer_end(struct rpc_peer *peer)
{
        struct rpc_env *env = peer->env;
        if (!env->closing || log_enabled(LOG_DEBUG, RPC_LOG))
                log_end(peer);
        send_refusal(peer);
        link_remove(&peer->all);
        link_remove(&peer->todo);
        link_remove(&peer->again);
        link_remove(&peer->doom);
        if (!link_empty(&peer->stranger)) {
                link_remove(&peer->stranger);
                env->stranger_count--;
        }
        peer_unwatch(peer);
        channel_free(steal(peer->ch));
        if (peer->fd >= 0)
                close(peer->fd);
        peer->fd = -1;
        if (peer->lookup) {
                peer->lookup->peer = NULL;
                uv_cancel((uv_req_t *)&steal(peer->lookup)->request);
        }
        if (peer->addresses)
                freeaddrinfo(steal(peer->addresses));
        peer->state = PEER_ENDED;
        out_queue_deinit(&peer->out);
        frame_reader_deinit(&peer->reader);
        _cleanup_free_ char *why = mem_printf("%s: %s", peer->name ? peer->name : peer->target_text, peer->why);
        if (env->closing)
                asks_deinit(peer);
        else
                asks_fail_all(peer, why);
        for (size_t i = 0; peer->greeted && i < env->endpoints.len && !env->closing; i++) {
                const struct endpoint e = env->endpoints.data[i];
                if (e.cls->disconnected)
                        e.cls->disconnected(e.owner, peer, peer->why);
        }
        rpc_peer_unref(peer);
}

/* -------------------------------------------------------------------------------------------------- connecting */

static void begin_channel(struct rpc_peer *peer, int fd, enum channel_side side)
{
        struct fst_error error = FST_ERROR_INIT;
        int r = channel_new(fd, peer->env->o.security, side, &peer->ch, &error);
        peer->state = PEER_GREETING;
        if (r < 0) {
                peer_doom(peer, LOG_WARN, r, "%s", error_message(&error));
        } else {
                peer->name = mem_strdup(channel_peer(peer->ch));
                if (!peer->poll && (r = peer_watch(peer, fd)) < 0)
                        peer_doom(peer, LOG_WARN, r, "it cannot be polled: %s", uv_strerror(r));
        }
        error_deinit(&error);
}

static void try_next_address(struct rpc_peer *peer, int code)
{
        while (peer->next_address) {
                const struct addrinfo *a = peer->next_address;
                peer->next_address = a->ai_next;
                int fd = socket_connect_start(a->ai_addr, a->ai_addrlen, NULL);
                if (fd < 0) {
                        code = fd;
                        continue;
                }
                code = peer_watch(peer, fd);
                if (code < 0) {
                        close(fd);
                        continue;
                }
                peer->fd = fd;
                peer->state = PEER_CONNECTING;
                set_events(peer, UV_WRITABLE);
                return;
        }
        peer_doom(peer, LOG_WARN, code, "%s", strerror(-code));
}

static void connect_event(struct rpc_peer *peer)
{
        int r = socket_connected(peer->fd);
        if (r < 0) {
                peer_unwatch(peer);
                close(peer->fd);
                peer->fd = -1;
                try_next_address(peer, r);
                return;
        }
        int fd = peer->fd;
        peer->fd = -1;
        peer->received_ms = env_now_ms(peer->env);
        begin_channel(peer, fd, CHANNEL_CLIENT);
        peer_flush(peer);
}

static void peer_resolved(uv_getaddrinfo_t *request, int status, struct addrinfo *addresses)
{
        struct peer_lookup *lookup = request->data;
        struct rpc_peer *peer = lookup->peer;
        if (peer && !peer->doomed) {
                peer->lookup = NULL;
                if (status < 0) {
                        peer_doom(peer, LOG_WARN, -ENOENT, "the host \"%s\" is not known: %s", peer->target.host,
                                  uv_strerror(status));
                } else {
                        peer->addresses = peer->next_address = steal(addresses);
                        try_next_address(peer, -EADDRNOTAVAIL);
                }
        } else if (peer) {
                peer->lookup = NULL;
        }
        if (addresses)
                freeaddrinfo(addresses);
        env_handle_closed(lookup->env);
        free(lookup);
}

/* Resolves the target, at once if it is a numeric address, else on the resolver's threads. */
static void peer_resolve(struct rpc_peer *peer)
{
        struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV};
        char port[8];
        snprintf(port, sizeof(port), "%d", peer->target.port);
        hints.ai_flags |= AI_NUMERICHOST;
        if (getaddrinfo(peer->target.host, port, &hints, &peer->addresses) == 0) {
                peer->next_address = peer->addresses;
                try_next_address(peer, -EADDRNOTAVAIL);
                return;
        }
        peer->addresses = NULL;
        hints.ai_flags &= ~AI_NUMERICHOST;
        struct peer_lookup *lookup = new0(struct peer_lookup);
        lookup->request.data = lookup;
        lookup->peer = peer;
        lookup->env = peer->env;
        int r = uv_getaddrinfo(peer->env->loop, &lookup->request, peer_resolved, peer->target.host, port, &hints);
        if (r < 0) {
                free(lookup);
                peer_doom(peer, LOG_WARN, -ENOENT, "the host \"%s\" cannot be looked up: %s", peer->target.host,
                          uv_strerror(r));
                return;
        }
        peer->env->handles++;
        peer->lookup = lookup;
}

static void put_hello(struct rpc_peer *peer)
{
        _cleanup_(buf_deinit) struct buf body = BUF_INIT;
        hello_encode(&peer->env->hello, &body);
        struct frame_header h = {.kind = FRAME_HELLO, .body_len = (uint32_t)body.len};
        peer_put_frame(peer, &h, body.data);
}

struct rpc_peer *peer_connect(struct rpc_env *env, const struct host_port *target, const char *target_text)
{
        struct rpc_peer *peer = peer_new(env);
        peer->outgoing = true;
        peer->target = *target;
        peer->target_text = mem_strdup(target_text);
        link_insert(&env->peers, &peer->all);
        put_hello(peer);
        peer_resolve(peer);
        return peer;
}

void peer_accept(struct rpc_env *env, int fd)
{
        struct rpc_peer *peer = peer_new(env);
        link_insert(&env->peers, &peer->all);
        link_insert(&env->strangers, &peer->stranger);
        env->stranger_count++;
        begin_channel(peer, fd, CHANNEL_SERVER);
        if (!peer->name)
                peer->name = mem_strdup("socket");
        put_hello(peer); /* written only after the reply to the peer's own HELLO, see peer_flush */
        peer_update_events(peer);
}

/* ------------------------------------------------------------------------------------------- reading and writing */

void peer_put_frame(struct rpc_peer *peer, const struct frame_header *h, const void *body)
{
        const size_t header = frame_header_size(h->kind);
        uint8_t *at = out_queue_reserve(&peer->out, header + (size_t)h->body_len);
        frame_header_put(at, h); /* HELLO, PING or PONG: the latter two have no body, whose checksum is 0 */
        if (h->body_len)
                memcpy(at + header, body, h->body_len);
        out_queue_commit(&peer->out, header + (size_t)h->body_len);
        peer_mark_dirty(peer);
}

void peer_mark_dirty(struct rpc_peer *peer)
{
        if (link_empty(&peer->todo) && !peer->doomed)
                link_insert(&peer->env->dirty, &peer->todo);
}

void peer_flush(struct rpc_peer *peer)
{
        link_remove(&peer->todo);
        if (!peer->ch || peer->doomed)
                return;
        /* a connecting peer gets no bytes, not even a HELLO, before it has sent its own HELLO */
        bool may_write = peer->outgoing || peer->state == PEER_OPEN;
        while (may_write && !peer->blocked && peer->out.bytes > 0) {
                struct iovec iov[IOV_AT_ONCE];
                ssize_t r = channel_writev(peer->ch, iov, out_queue_iov(&peer->out, iov, IOV_AT_ONCE));
                if (r > 0)
                        out_queue_sent(&peer->out, (size_t)r);
                else if (r == -EAGAIN)
                        peer->blocked = true;
                else
                        peer_doom(peer, r == -EPROTO ? LOG_WARN : LOG_DEBUG, (int)r, "%s", channel_error(peer->ch));
                if (peer->doomed)
                        return;
        }
        peer_update_events(peer);
}

static void read_failed(struct rpc_peer *peer, ssize_t r)
{
        bool partial = frame_reader_partial(&peer->reader);
        if (partial && (r == 0 || r == -ECONNRESET))
                peer_doom(peer, LOG_WARN, -ECONNRESET, "it ended in the middle of a message");
        else if (r == 0)
                peer_doom(peer, LOG_DEBUG, -ECONNRESET, "the other side ended it");
        else
                peer_doom(peer, peer->greeted && r != -EPROTO ? LOG_DEBUG : LOG_WARN, (int)r, "%s",
                          channel_error(peer->ch));
}

void peer_read(struct rpc_peer *peer)
{
        struct rpc_env *env = peer->env;
        size_t budget = READ_BUDGET;
        link_remove(&peer->again);
        if (!peer->ch)
                return;
        peer_take_frames(peer); /* received while it was paused */
        while (!peer->doomed && !peer->pauses && !env->closing) {
                uint8_t *where;
                size_t room;
                frame_reader_room(&peer->reader, env->scratch, SCRATCH_SIZE, &where, &room);
                ssize_t n = channel_read(peer->ch, where, room);
                frame_reader_filled(&peer->reader, n > 0 ? (size_t)n : 0);
                if (n == -EAGAIN)
                        break;
                if (n <= 0) {
                        read_failed(peer, n);
                        break;
                }
                peer->received_ms = env_now_ms(env);
                peer->pinged = false;
                peer_take_frames(peer);
                bool more = channel_pending(peer->ch);
                if ((size_t)n < room && !more)
                        break; /* the socket is empty */
                budget -= MIN(budget, (size_t)n);
                if (budget == 0) {
                        if (more && !peer->doomed)
                                link_insert(&env->again, &peer->again); /* polling would not report it */
                        break;
                }
        }
        if (!peer->doomed)
                frame_reader_keep(&peer->reader);
}

static void peer_on_poll(uv_poll_t *handle, int status, int events)
{
        struct rpc_peer *peer = ((struct peer_poll *)handle->data)->peer;
        if (!peer || peer->doomed)
                return;
        if (peer->state == PEER_CONNECTING) {
                connect_event(peer);
                return;
        }
        bool handshake = !channel_ready(peer->ch);
        if (status < 0 || (events & UV_READABLE) || handshake)
                peer_read(peer);
        if (!peer->doomed && ((events & UV_WRITABLE) || handshake)) {
                peer->blocked = false;
                peer_flush(peer);
        }
}

void peer_sweep(struct rpc_peer *peer, int64_t now)
{
        struct rpc_env *env = peer->env;
        if (peer->doomed)
                return;
        if (peer->state != PEER_OPEN) {
                int64_t most = peer->outgoing ? env->o.lookup_timeout_ms : env->o.greeting_timeout_ms;
                if (now - peer->begun_ms >= most)
                        peer_doom(peer, LOG_WARN, -ETIMEDOUT,
                                  peer->outgoing ? "it was not reached within %lld ms (spark.rpc.lookupTimeout, "
                                                   "spark.network.timeout)"
                                                 : "it sent no handshake within %lld ms "
                                                   "(spark.network.auth.rpcTimeout)",
                                  (long long)most);
                return;
        }
        if (peer->pauses)
                peer->received_ms = now;
        int64_t silent = now - peer->received_ms;
        if (silent >= env->o.idle_timeout_ms) {
                peer_doom(peer, LOG_WARN, -ETIMEDOUT, "it was silent for %lld ms (spark.network.timeout)",
                          (long long)silent);
        } else if (silent >= env->o.idle_timeout_ms / 3 && !peer->pinged) {
                struct frame_header h = {.kind = FRAME_PING};
                peer->pinged = true;
                peer_put_frame(peer, &h, NULL);
        }
}

/* -------------------------------------------------------------------------------------------------- public */

const char *rpc_peer_name(const struct rpc_peer *peer)
{
        return peer->name ? peer->name : peer->target_text ? peer->target_text : "";
}

const char *rpc_peer_address(const struct rpc_peer *peer)
{
        return peer->local && peer->env->address ? peer->env->address : peer->address;
}

bool rpc_peer_connected(const struct rpc_peer *peer)
{
        return peer->local || (peer->state == PEER_OPEN && !peer->doomed);
}

void rpc_peer_set_data(struct rpc_peer *peer, void *data)
{
        peer->data = data;
}

void *rpc_peer_data(const struct rpc_peer *peer)
{
        return peer->data;
}

void rpc_peer_authorize(struct rpc_peer *peer)
{
        peer->welcome = true;
        peer->reader.max_bytes = peer->env->o.max_message_bytes;
}

bool rpc_peer_is_unauthorized(const struct rpc_peer *peer)
{
        return !peer->outgoing && !peer->local && !peer->welcome;
}

bool rpc_peer_may_log(struct rpc_peer *peer)
{
        return !rpc_peer_is_unauthorized(peer) || env_may_log(peer->env, &peer->env->guest_log);
}

size_t rpc_peer_queued(const struct rpc_peer *peer)
{
        return peer->out.bytes;
}

void rpc_peer_pause(struct rpc_peer *peer)
{
        peer->pauses++;
        peer_update_events(peer);
}

void rpc_peer_resume(struct rpc_peer *peer)
{
        if (peer->pauses == 0 || --peer->pauses > 0 || peer->local || peer->doomed || peer->state == PEER_ENDED)
                return;
        if (link_empty(&peer->again))
                link_insert(&peer->env->again, &peer->again);
        env_wake(peer->env);
        peer_update_events(peer);
}

void rpc_peer_close(struct rpc_peer *peer, const char *why)
{
        peer_doom(peer, LOG_DEBUG, -ECANCELED, "%s", why);
}
