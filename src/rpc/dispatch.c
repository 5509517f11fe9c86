/*
 * Dispatches received frames: handshakes, messages to endpoints, replies to asks.
 *
 * A peer sends one HELLO first. Its messages are numbered. Any violation (a second HELLO, a repeated message, a reply
 * without an ask) ends the connection, because an honest peer never does it.
 */
#include "rpc/rpc_internal.h"

#include <stdio.h>

/* Returns a peer's message, escaped for a log. */
static const char *dispatch_sentence(const struct frame *f, char *text, size_t size)
{
        size_t len = MIN((size_t)f->header.body_len, size - 1);
        for (size_t i = 0; i < len; i++)
                text[i] = f->body[i] < ' ' || f->body[i] == 0x7f ? ' ' : (char)f->body[i];
        text[len] = '\0';
        return text;
}

/* ---------------------------------------------------------------------------------------------------- greeting */

static void dispatch_greeted(struct rpc_peer *peer)
{
        struct rpc_env *env = peer->env;
        peer->state = PEER_OPEN;
        peer->greeted = true;
        if (!link_empty(&peer->stranger)) {
                link_remove(&peer->stranger);
                env->stranger_count--;
                env_accept_again(env);
        }
        peer_mark_dirty(peer); /* our own HELLO, if the peer connected */
        for (size_t i = 0; i < env->endpoints.len && !peer->doomed && !env->closing; i++) {
                const struct endpoint e = env->endpoints.data[i];
                if (e.cls->connected)
                        e.cls->connected(e.owner, peer);
        }
}

static void dispatch_hello(struct rpc_peer *peer, const struct frame *f)
{
        struct rpc_env *env = peer->env;
        struct hello other;
        struct fst_error error = FST_ERROR_INIT;
        int r = hello_decode(f->body, f->header.body_len, &other, &error);
        if (r == 0) {
                peer->spoke = true;
                r = hello_check(&env->hello, &other, &error);
        }
        if (r < 0) {
                peer_doom(peer, LOG_WARN, r, "%s", error_message(&error));
        } else {
                memcpy(peer->address, other.address, sizeof(peer->address));
                peer->max_bytes = (size_t)MIN((uint64_t)peer->max_bytes, other.max_message_bytes);
                peer->reader.max_bytes = rpc_peer_is_unauthorized(peer) && env->o.max_guest_bytes
                                                 ? env->o.max_guest_bytes
                                                 : env->o.max_message_bytes;
                log_debug(RPC_LOG, "%s greeted %s%s%s, %s", env->name, peer->name, *other.address ? " of " : "",
                          other.address, other.software);
                dispatch_greeted(peer);
        }
        error_deinit(&error);
}

/* -------------------------------------------------------------------------------------------------- messages */

static void no_endpoint(struct rpc_peer *peer, const struct frame_header *h)
{
        static const char text[] = "unknown endpoint";
        log_debug("Dispatcher", "%s dropped a message of type %u from %s to an unknown endpoint", peer->env->name,
                  h->type, rpc_peer_name(peer));
        if (h->kind != FRAME_ASK)
                return;
        struct frame_header answer = {
                .kind = FRAME_FAIL, .type = FST_RPC_E_NO_ENDPOINT, .id = h->id, .body_len = sizeof(text) - 1};
        peer_put_message(peer, &answer, text, NULL, NULL);
}

/* Delivers a message to its endpoint. The caller owns the rest of *@attachment. */
static void dispatch_deliver(struct rpc_peer *peer, const struct frame_header *h, const uint8_t *body,
                             uint8_t **attachment)
{
        struct endpoint *e = env_endpoint(peer->env, h->endpoint);
        if (!e) {
                no_endpoint(peer, h);
                return;
        }
        struct rpc_message m = {
                .env = peer->env,
                .peer = peer,
                .type = h->type,
                .body = body,
                .len = h->body_len,
                .attachment = *attachment,
                .attachment_len = (size_t)h->attachment_len,
                .ask = h->kind == FRAME_ASK ? h->id : 0,
        };
        env_count(peer->env, h->type, false);
        e->cls->receive(e->owner, &m);
        *attachment = m.attachment;
        if (m.ask && !peer->env->closing)
                rpc_fail(&m, "the endpoint does not answer messages of type %u", h->type);
}

uint8_t *rpc_message_take_attachment(struct rpc_message *m)
{
        return steal(m->attachment);
}

static void dispatch_reply(struct rpc_peer *peer, const struct frame_header *h, const struct frame *f,
                           uint8_t **attachment)
{
        struct ask_wait *w = NULL;
        int r = asks_take(peer, h->id, &w);
        if (r < 0)
                peer_doom(peer, LOG_WARN, -EPROTO, "a reply without a request");
        if (r <= 0)
                return;
        if (h->kind == FRAME_REPLY)
                env_count(peer->env, h->type, false);
        char text[2048];
        struct rpc_answer answer = {
                .peer = peer,
                .type = h->type,
                .body = f->body,
                .len = h->body_len,
                .attachment = *attachment,
                .attachment_len = (size_t)h->attachment_len,
        };
        if (h->kind == FRAME_FAIL) {
                answer.status = h->type == FST_RPC_E_NO_ENDPOINT ? FST_RPC_E_NO_ENDPOINT : FST_RPC_E_FAILED;
                answer.message = dispatch_sentence(f, text, sizeof(text));
                answer.type = 0;
                answer.len = 0;
        }
        w->answered(w->owner, &answer);
        *attachment = answer.attachment;
        asks_release(peer->env, w);
}

static void dispatch_message(struct rpc_peer *peer, const struct frame *f, uint8_t **attachment)
{
        if (f->header.id != peer->received_id + 1) {
                peer_doom(peer, LOG_WARN, -EPROTO, "message %llu instead of %llu: one was lost or repeated",
                          (unsigned long long)f->header.id, (unsigned long long)peer->received_id + 1);
                return;
        }
        peer->received_id++;
        dispatch_deliver(peer, &f->header, f->body, attachment);
}

static void dispatch_frame(struct rpc_peer *peer, const struct frame *f, uint8_t **attachment)
{
        const struct frame_header *h = &f->header;
        char text[512];
        if (h->kind == FRAME_REFUSED) {
                peer_doom(peer, peer->outgoing && !peer->greeted ? LOG_WARN : LOG_DEBUG, -ECONNREFUSED,
                          "the other side reported: %s", dispatch_sentence(f, text, sizeof(text)));
        } else if ((h->kind == FRAME_HELLO) != (peer->state == PEER_GREETING)) {
                peer_doom(peer, LOG_WARN, -EPROTO,
                          peer->state == PEER_GREETING ? "a message before the handshake" : "a second handshake");
        } else if (h->kind == FRAME_HELLO) {
                dispatch_hello(peer, f);
        } else if (h->kind == FRAME_SEND || h->kind == FRAME_ASK) {
                dispatch_message(peer, f, attachment);
        } else if (h->kind == FRAME_REPLY || h->kind == FRAME_FAIL) {
                dispatch_reply(peer, h, f, attachment);
        } else if (h->kind == FRAME_PING) {
                struct frame_header pong = {.kind = FRAME_PONG};
                if (peer->out.bytes > peer_queue_limit(peer))
                        peer_doom(peer, LOG_WARN, -ENOBUFS, "it sends requests without reading replies");
                else
                        peer_put_frame(peer, &pong, NULL);
        }
}

void peer_take_frames(struct rpc_peer *peer)
{
        struct fst_error error = FST_ERROR_INIT;
        struct frame f;
        int r = 0;
        while (!peer->doomed && !peer->env->closing && (!peer->pauses || peer->state == PEER_GREETING) &&
               (r = frame_reader_next(&peer->reader, &f, &error)) > 0) {
                uint8_t *attachment = f.attachment;
                dispatch_frame(peer, &f, &attachment);
                if (f.attachment && !attachment)
                        frame_reader_take_attachment(&peer->reader);
        }
        if (r < 0)
                peer_doom(peer, LOG_WARN, r, "%s", error_message(&error));
        error_deinit(&error);
}

void peer_take_local(struct rpc_peer *self, struct local_frame *l)
{
        struct frame f = {.header = l->header, .body = l->body};
        if (l->header.kind == FRAME_SEND || l->header.kind == FRAME_ASK)
                dispatch_deliver(self, &f.header, f.body, &l->attachment);
        else
                dispatch_reply(self, &f.header, &f, &l->attachment);
        free(l->attachment);
        free(l);
}
