/*
 * Sends messages: refs, sends, asks, replies. A message is packed directly into the send queue of its connection. Once
 * blocks and tables exist, the hot path allocates no memory.
 */
#include "rpc/rpc_internal.h"

#include <stdio.h>

#define URL "spark://"
#define CLIENT_URL "spark-client://"

/* ------------------------------------------------------------------------------------------------------ refs */

static struct rpc_ref *ref_new(struct rpc_env *env, int kind, const char *name, size_t name_len)
{
        struct rpc_ref *ref = new0(struct rpc_ref);
        ref->refs = 1;
        ref->env = env_ref(env);
        ref->kind = kind;
        ref->name = mem_strndup(name, name_len);
        ref->number = frame_endpoint(ref->name);
        return ref;
}

int rpc_env_ref(struct rpc_env *env, const char *url, struct rpc_ref **out, struct fst_error *error)
{
        struct host_port target;
        const char *name = url + strlen(URL), *at = strrchr(url, '@');
        if (strncmp(url, URL, strlen(URL)) != 0 || !at || at <= name)
                return error_set(error, -EINVAL, "\"%s\" is not an endpoint (write spark://Name@host:port)", url);
        int r = host_port_parse(at + 1, &target, error);
        if (r < 0)
                return error_wrap(error, r, "\"%s\" is not an endpoint", url);
        if (target.port == 0)
                return error_set(error, -EINVAL, "\"%s\" is not an endpoint: port 0 is invalid", url);
        struct rpc_ref *ref = ref_new(env, REF_ADDRESS, name, (size_t)(at - name));
        char text[300];
        ref->target = target;
        ref->target_text = mem_strdup(host_port_text(target.host, target.port, text, sizeof(text)));
        ref->url = mem_strdup(url);
        *out = ref;
        return 0;
}

struct rpc_ref *rpc_peer_ref(struct rpc_peer *peer, const char *name)
{
        if (peer->local)
                return rpc_env_own_ref(peer->env, name);
        struct rpc_ref *ref = ref_new(peer->env, REF_PEER, name, strlen(name));
        ref->peer = rpc_peer_ref_new(peer);
        ref->url = *peer->address ? mem_printf(URL "%s@%s", name, peer->address) : mem_printf(CLIENT_URL "%s", name);
        return ref;
}

struct rpc_ref *rpc_env_own_ref(struct rpc_env *env, const char *name)
{
        struct rpc_ref *ref = ref_new(env, REF_SELF, name, strlen(name));
        ref->url = env->address ? mem_printf(URL "%s@%s", name, env->address) : mem_printf(CLIENT_URL "%s", name);
        return ref;
}

struct rpc_ref *rpc_ref_ref(struct rpc_ref *ref)
{
        ref->refs++;
        return ref;
}

void rpc_ref_unref(struct rpc_ref *ref)
{
        if (!ref || --ref->refs > 0)
                return;
        int saved = errno;
        struct rpc_env *env = ref->env;
        rpc_peer_unref(ref->peer);
        free(ref->name);
        free(ref->url);
        free(ref->target_text);
        free(ref);
        env_unref(env);
        errno = saved;
}

const char *rpc_ref_url(const struct rpc_ref *ref)
{
        return ref->url;
}

int rpc_ref_read(const struct rpc_message *m, const char *url, struct rpc_ref **out, struct fst_error *error)
{
        size_t scheme = strlen(CLIENT_URL);
        if (strncmp(url, CLIENT_URL, scheme) != 0)
                return rpc_env_ref(m->env, url, out, error);
        if (url[scheme] == '\0')
                return error_set(error, -EINVAL, "\"%s\" names no endpoint", url);
        *out = rpc_peer_ref(m->peer, url + scheme);
        return 0;
}

/* Returns the current connection to this address: our own, or that of a peer that listens there. */
static struct rpc_peer *peer_at(struct rpc_env *env, const char *address)
{
        for (struct link *l = env->peers.next; l != &env->peers; l = l->next) {
                struct rpc_peer *p = container_of(l, struct rpc_peer, all);
                if (!p->doomed && (p->outgoing ? strcmp(p->target_text, address) == 0
                                               : p->state == PEER_OPEN && strcmp(p->address, address) == 0))
                        return p;
        }
        return NULL;
}

/* Returns the destination of a message to @ref, or NULL with *@code. */
static struct rpc_peer *ref_peer(struct rpc_ref *ref, int *code)
{
        struct rpc_env *env = ref->env;
        if (env->closing) {
                *code = -ESHUTDOWN;
                return NULL;
        }
        if (ref->kind == REF_SELF)
                return env->self;
        if (likely(ref->peer && !ref->peer->doomed && ref->peer->state != PEER_ENDED))
                return ref->peer;
        if (ref->kind == REF_PEER) {
                *code = -ENOTCONN;
                return NULL;
        }
        if (env->address && strcmp(env->address, ref->target_text) == 0)
                return env->self;
        struct rpc_peer *peer = peer_at(env, ref->target_text);
        if (!peer)
                peer = peer_connect(env, &ref->target, ref->target_text);
        rpc_peer_unref(ref->peer);
        ref->peer = rpc_peer_ref_new(peer);
        return peer;
}

struct rpc_peer *rpc_ref_peer(const struct rpc_ref *ref)
{
        if (ref->kind == REF_SELF)
                return ref->env->self;
        return ref->peer && rpc_peer_connected(ref->peer) ? ref->peer : NULL;
}

/* -------------------------------------------------------------------------------------------------- messages */

static void ref_release(const struct rpc_attachment *a)
{
        if (a && a->release)
                a->release(a->arg, a->data);
}

static void put_local(struct rpc_peer *self, const struct frame_header *h, const void *body,
                      const ProtobufCMessage *packed, const struct rpc_attachment *attachment)
{
        struct rpc_env *env = self->env;
        struct local_frame *f = mem_alloc(sizeof(*f) + h->body_len);
        *f = (struct local_frame){.header = *h};
        if (packed)
                protobuf_c_message_pack(packed, f->body);
        else if (h->body_len > 0)
                memcpy(f->body, body, h->body_len);
        if (h->attachment_len > 0) {
                f->attachment = mem_alloc(h->attachment_len);
                memcpy(f->attachment, attachment->data, h->attachment_len);
        }
        ref_release(attachment);
        *env->local_last = f;
        env->local_last = &f->next;
        env_wake(env);
}

int peer_put_message(struct rpc_peer *peer, struct frame_header *h, const void *body, const ProtobufCMessage *packed,
                     const struct rpc_attachment *attachment)
{
        if (attachment && attachment->len == 0) {
                ref_release(attachment);
                attachment = NULL;
        }
        size_t attached = attachment ? attachment->len : 0;
        if (h->body_len > peer->max_bytes || attached > peer->max_bytes - h->body_len) {
                ref_release(attachment);
                return -EMSGSIZE;
        }
        h->attachment_len = attached;
        env_count(peer->env, h->type, true);
        if (peer->local) {
                put_local(peer, h, body, packed, attachment);
                return 0;
        }
        if (unlikely(peer->out.bytes > 0 && peer->out.bytes + h->body_len + attached > peer_queue_limit(peer))) {
                peer_doom(peer, LOG_WARN, -ENOBUFS, "it does not read: %zu bytes are waiting", peer->out.bytes);
                ref_release(attachment);
                return -ENOBUFS;
        }
        out_queue_put_message(&peer->out, h, body, packed, attachment);
        peer_mark_dirty(peer);
        return 0;
}

/* Sends or asks. A message gets its number on the connection only if it is sent. */
static int send_message(struct rpc_ref *ref, struct frame_header *h, const void *body, const ProtobufCMessage *packed,
                        const struct rpc_attachment *attachment, struct rpc_peer **out)
{
        int code = 0;
        struct rpc_peer *peer = ref_peer(ref, &code);
        if (!peer) {
                ref_release(attachment);
                return code;
        }
        h->endpoint = ref->number;
        h->id = peer->sent_id + 1;
        int r = peer_put_message(peer, h, body, packed, attachment);
        if (r < 0)
                return r;
        peer->sent_id++;
        *out = peer;
        return 0;
}

static bool ref_fits(size_t len, const struct rpc_attachment *attachment)
{
        if (len <= UINT32_MAX)
                return true;
        ref_release(attachment);
        return false;
}

int rpc_send(struct rpc_ref *ref, uint16_t type, const void *body, size_t len, const struct rpc_attachment *attachment)
{
        struct rpc_peer *peer;
        if (!ref_fits(len, attachment))
                return -EMSGSIZE;
        struct frame_header h = {.kind = FRAME_SEND, .type = type, .body_len = (uint32_t)len};
        return send_message(ref, &h, body, NULL, attachment, &peer);
}

int rpc_send_packed(struct rpc_ref *ref, uint16_t type, const ProtobufCMessage *body,
                    const struct rpc_attachment *attachment)
{
        struct rpc_peer *peer;
        size_t len = protobuf_c_message_get_packed_size(body);
        if (!ref_fits(len, attachment))
                return -EMSGSIZE;
        struct frame_header h = {.kind = FRAME_SEND, .type = type, .body_len = (uint32_t)len};
        return send_message(ref, &h, NULL, body, attachment, &peer);
}

static int ref_ask(struct rpc_ref *ref, struct frame_header *h, const void *body, const ProtobufCMessage *packed,
                   const struct rpc_attachment *attachment, int64_t timeout_ms, rpc_answer_fn answered, void *owner)
{
        struct rpc_peer *peer;
        int r = send_message(ref, h, body, packed, attachment, &peer);
        if (r == 0)
                asks_add(peer, h->id, timeout_ms > 0 ? timeout_ms : ref->env->o.ask_timeout_ms, answered, owner);
        return r;
}

int rpc_ask(struct rpc_ref *ref, uint16_t type, const void *body, size_t len, const struct rpc_attachment *attachment,
            int64_t timeout_ms, rpc_answer_fn answered, void *owner)
{
        if (!ref_fits(len, attachment))
                return -EMSGSIZE;
        struct frame_header h = {.kind = FRAME_ASK, .type = type, .body_len = (uint32_t)len};
        return ref_ask(ref, &h, body, NULL, attachment, timeout_ms, answered, owner);
}

int rpc_ask_packed(struct rpc_ref *ref, uint16_t type, const ProtobufCMessage *body,
                   const struct rpc_attachment *attachment, int64_t timeout_ms, rpc_answer_fn answered, void *owner)
{
        size_t len = protobuf_c_message_get_packed_size(body);
        if (!ref_fits(len, attachment))
                return -EMSGSIZE;
        struct frame_header h = {.kind = FRAME_ASK, .type = type, .body_len = (uint32_t)len};
        return ref_ask(ref, &h, NULL, body, attachment, timeout_ms, answered, owner);
}

/* --------------------------------------------------------------------------------------------------- answers */

/* Sends the reply to @id. If it cannot be sent, sends an error instead. */
static int ref_answer(struct rpc_peer *peer, uint64_t id, uint8_t kind, uint16_t type, const void *body, size_t len,
                      const ProtobufCMessage *packed, const struct rpc_attachment *attachment)
{
        if (peer->doomed || peer->state == PEER_ENDED || peer->env->closing) {
                ref_release(attachment);
                return peer->env->closing ? -ESHUTDOWN : -ENOTCONN;
        }
        if (packed)
                len = protobuf_c_message_get_packed_size(packed);
        int r = -EMSGSIZE;
        if (ref_fits(len, attachment)) {
                struct frame_header h = {.kind = kind, .type = type, .id = id, .body_len = (uint32_t)len};
                r = peer_put_message(peer, &h, body, packed, attachment);
        }
        if (r == -EMSGSIZE) {
                static const char sentence[] = "the answer is larger than spark.rpc.message.maxSize allows";
                struct frame_header h = {
                        .kind = FRAME_FAIL, .type = FST_RPC_E_FAILED, .id = id, .body_len = sizeof(sentence) - 1};
                peer_put_message(peer, &h, sentence, NULL, NULL);
        }
        return r;
}

static int answer_failure(struct rpc_peer *peer, uint64_t id, const char *format, va_list args)
{
        char text[2048];
        int len = vsnprintf(text, sizeof(text), format, args);
        size_t n = len < 0 ? 0 : MIN((size_t)len, sizeof(text) - 1);
        return ref_answer(peer, id, FRAME_FAIL, FST_RPC_E_FAILED, text, n, NULL, NULL);
}

/* Takes the ask of a message, once. */
static uint64_t ref_take_ask(struct rpc_message *m)
{
        uint64_t id = m->ask;
        m->ask = 0;
        return id;
}

int rpc_reply(struct rpc_message *m, uint16_t type, const void *body, size_t len,
              const struct rpc_attachment *attachment)
{
        uint64_t id = ref_take_ask(m);
        if (id)
                return ref_answer(m->peer, id, FRAME_REPLY, type, body, len, NULL, attachment);
        ref_release(attachment);
        return 0;
}

int rpc_reply_packed(struct rpc_message *m, uint16_t type, const ProtobufCMessage *body,
                     const struct rpc_attachment *attachment)
{
        uint64_t id = ref_take_ask(m);
        if (id)
                return ref_answer(m->peer, id, FRAME_REPLY, type, NULL, 0, body, attachment);
        ref_release(attachment);
        return 0;
}

int rpc_fail(struct rpc_message *m, const char *format, ...)
{
        uint64_t id = ref_take_ask(m);
        if (!id)
                return 0;
        va_list args;
        va_start(args, format);
        int r = answer_failure(m->peer, id, format, args);
        va_end(args);
        return r;
}

struct rpc_call *rpc_message_defer(struct rpc_message *m)
{
        struct rpc_call *call = new0(struct rpc_call);
        call->env = env_ref(m->env);
        call->peer = rpc_peer_ref_new(m->peer);
        call->id = ref_take_ask(m);
        return call;
}

static int call_end(struct rpc_call *call, int r)
{
        struct rpc_env *env = call->env;
        rpc_peer_unref(call->peer);
        free(call);
        env_unref(env);
        return r;
}

int rpc_call_reply(struct rpc_call *call, uint16_t type, const void *body, size_t len,
                   const struct rpc_attachment *attachment)
{
        if (call->id)
                return call_end(call, ref_answer(call->peer, call->id, FRAME_REPLY, type, body, len, NULL, attachment));
        ref_release(attachment);
        return call_end(call, 0);
}

int rpc_call_fail(struct rpc_call *call, const char *format, ...)
{
        int r = 0;
        if (call->id) {
                va_list args;
                va_start(args, format);
                r = answer_failure(call->peer, call->id, format, args);
                va_end(args);
        }
        return call_end(call, r);
}
