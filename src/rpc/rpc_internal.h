/* Shared by the files of the message layer: env.c (loop hooks, listening, closing), peer.c (connections), dispatch.c
 * (received frames), ref.c (sent messages), pending_asks.c (asks without a reply). Users include rpc/rpc.h.
 *
 * Lifetimes. Env, peers, refs and calls are counted. Peers, refs and calls hold their env, so that an owner may
 * release them after the env was closed. A peer in the env's list holds itself once until its connection has ended.
 *
 * No callback runs inside a call. An error while sending is noted (peer_doom) and reported from the loop, in
 * env_turn.
 */
#pragma once

#include "rpc/frame_reader.h"
#include "rpc/handshake.h"
#include "rpc/send_queue.h"
#include "rpc/rpc.h"

#include "base/log.h"
#include "base/vec.h"
#include "net/channel.h"
#include "net/socket.h"

#include <protobuf-c/protobuf-c.h>
#include <uv.h>

#define RPC_LOG "TransportChannelHandler"

/* A doubly linked list with embedded nodes. */
struct link {
        struct link *prev, *next;
};

static inline void link_init(struct link *l)
{
        l->prev = l->next = l;
}

static inline bool link_empty(const struct link *l)
{
        return l->next == l;
}

/* Inserts @l before @at; with a list's head as @at, at the end. */
static inline void link_insert(struct link *at, struct link *l)
{
        l->prev = at->prev;
        l->next = at;
        at->prev->next = l;
        at->prev = l;
}

/* Removes @l; harmless if it is in no list. */
static inline void link_remove(struct link *l)
{
        l->prev->next = l->next;
        l->next->prev = l->prev;
        link_init(l);
}

struct endpoint {
        uint32_t number; /* frame_endpoint(name) */
        char *name;
        const struct rpc_endpoint_class *cls;
        void *owner;
};

enum peer_state {
        PEER_RESOLVING,  /* resolving the host name */
        PEER_CONNECTING, /* connecting the socket; no channel yet */
        PEER_GREETING,   /* a channel without the peer's HELLO */
        PEER_OPEN,
        PEER_ENDED, /* in no list any more */
};

/* A pending ask, or one that has timed out and whose reply may still come (`answered` NULL). */
struct ask {
        uint64_t id; /* 0: a free slot of the table */
        struct ask_wait *wait;
};

struct ask_wait {
        struct link link; /* env->waits, by deadline */
        struct rpc_peer *peer;
        uint64_t id;
        int64_t deadline_ms, timeout_ms;
        rpc_answer_fn answered;
        void *owner;
};

struct ask_table {
        struct ask *places; /* open addressing; the size is a power of two */
        size_t size, used;
        size_t forgotten; /* of used */
};

struct peer_poll {
        uv_poll_t handle;
        struct rpc_peer *peer; /* NULL while it closes */
        struct rpc_env *env;
};

struct peer_lookup {
        uv_getaddrinfo_t request;
        struct rpc_peer *peer; /* NULL: not waiting any more */
        struct rpc_env *env;
};

/* A message between endpoints of one env. */
struct local_frame {
        struct local_frame *next;
        struct frame_header header;
        uint8_t *attachment;
        uint8_t body[];
};

struct rpc_peer {
        int refs;
        struct rpc_env *env;
        enum peer_state state;
        bool outgoing, local;
        bool greeted; /* `connected` was called */
        bool welcome; /* authorized by an endpoint */
        bool doomed;
        bool blocked; /* the socket is full */
        bool spoke;   /* one of our frames was understood: the peer can read REFUSED */
        bool pinged;
        enum log_level doom_level;
        int doom_code;
        char *why;
        struct link all;      /* env->peers */
        struct link todo;     /* env->dirty */
        struct link again;    /* env->again */
        struct link doom;     /* env->doomed */
        struct link stranger; /* env->strangers, oldest first */

        struct host_port target; /* outgoing */
        char *target_text;
        struct peer_lookup *lookup;
        struct addrinfo *addresses, *next_address;
        int fd; /* while connecting */
        struct channel *ch;
        struct peer_poll *poll;
        int events;
        char *name;
        char address[300]; /* the address in its HELLO */
        size_t max_bytes;  /* largest message that it accepts */

        struct frame_reader reader;
        struct out_queue out;
        uint64_t sent_id, received_id;
        struct ask_table asks;
        int pauses;
        int64_t begun_ms, received_ms;
        void *data;
};

struct rpc_ref {
        int refs;
        struct rpc_env *env;
        enum { REF_ADDRESS, REF_PEER, REF_SELF } kind;
        char *name, *url;
        uint32_t number;
        struct host_port target; /* REF_ADDRESS */
        char *target_text;
        struct rpc_peer *peer; /* counted; REF_ADDRESS: the last one used, or NULL */
};

struct rpc_call {
        struct rpc_env *env;
        struct rpc_peer *peer;
        uint64_t id;
};

/* Rate limit of log lines about unknown peers: a few in ten seconds. */
struct log_quota {
        int64_t window_ms;
        int lines, left_out;
};

struct rpc_env {
        int refs;
        uv_loop_t *loop;
        struct rpc_options o; /* with a security of its own */
        struct security *own_security;
        char *name;
        struct hello hello;
        struct env_meter {
                struct metric_meter *meter;
                bool is_known;
        } meters[2][64]; /* of received and of sent messages, by type */
        bool closing, closed;
        int handles; /* number of open libuv handles and requests */
        void (*on_closed)(void *owner);
        void *on_closed_owner;
        int64_t close_deadline_ms;

        uv_prepare_t prepare;
        uv_idle_t idle;
        uv_timer_t wait_timer;  /* for the first of `waits` */
        uv_timer_t sweep_timer; /* for unregistered connections and silent peers */
        int64_t wait_timer_ms, last_sweep_ms, sweep_every_ms;

        int listener; /* -1 */
        uv_poll_t listen_poll;
        bool accepting;
        char *address;
        int port;

        VEC(struct endpoint) endpoints;
        struct link peers, dirty, again, doomed, strangers, waits;
        int stranger_count;
        struct rpc_peer *self;
        struct local_frame *local_first, **local_last;
        struct out_pool pool;
        struct ask_wait *free_waits;
        uint8_t *scratch;

        struct log_quota stranger_log, guest_log;
        uint32_t refusals[16]; /* hashes of the latest different reasons for which peers were refused */
        unsigned n_refusals;
};

#define SCRATCH_SIZE (256 << 10)

/* ---- env.c */
void env_unref(struct rpc_env *env);
struct rpc_env *env_ref(struct rpc_env *env);
int64_t env_now_ms(const struct rpc_env *env);
struct endpoint *env_endpoint(struct rpc_env *env, uint32_t number);
/* A libuv handle or request has ended. */
void env_handle_closed(struct rpc_env *env);
/* Returns true if a line about an unknown peer may be logged. Counts the suppressed ones. */
bool env_may_log(struct rpc_env *env, struct log_quota *quota);
void env_accept_again(struct rpc_env *env);
/* Makes the loop return at once. */
void env_wake(struct rpc_env *env);

/* ---- peer.c */
struct rpc_peer *peer_new(struct rpc_env *env);
struct rpc_peer *peer_connect(struct rpc_env *env, const struct host_port *target, const char *target_text);
/* Takes an accepted socket. */
void peer_accept(struct rpc_env *env, int fd);
/* The connection has failed: notes the first reason, which the loop reports. */
void peer_doom(struct rpc_peer *peer, enum log_level level, int code, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
/* Ends a failed connection: asks, endpoints, socket. */
void peer_end(struct rpc_peer *peer);
void peer_flush(struct rpc_peer *peer);
void peer_mark_dirty(struct rpc_peer *peer);
void peer_read(struct rpc_peer *peer);
void peer_update_events(struct rpc_peer *peer);
void peer_sweep(struct rpc_peer *peer, int64_t now);
/* Limit of queued bytes. */
/* Counts a message of a type. */
void env_count(struct rpc_env *env, uint16_t type, bool sent);

static inline size_t peer_queue_limit(const struct rpc_peer *peer)
{
        const struct rpc_options *o = &peer->env->o;
        return rpc_peer_is_unauthorized(peer) && o->max_guest_bytes ? o->max_guest_bytes : o->max_queued_bytes;
}

/* Queues a frame that is not a message. */
void peer_put_frame(struct rpc_peer *peer, const struct frame_header *h, const void *body);

/* ---- dispatch.c */
/* Handles received frames. Stops when the peer is paused or has failed. */
void peer_take_frames(struct rpc_peer *peer);
void peer_take_local(struct rpc_peer *self, struct local_frame *f);

/* ---- pending_asks.c */
void asks_deinit(struct rpc_peer *peer);
void asks_add(struct rpc_peer *peer, uint64_t id, int64_t timeout_ms, rpc_answer_fn answered, void *owner);
/* Takes the ask out. Returns 1 and its waiter, which the caller notifies and passes to asks_release; 0 if it has
 * timed out; -ENOENT for an unknown id.
 */
int asks_take(struct rpc_peer *peer, uint64_t id, struct ask_wait **out);
void asks_release(struct rpc_env *env, struct ask_wait *w);
/* Fails every ask of the peer with -ENOTCONN. */
void asks_fail_all(struct rpc_peer *peer, const char *why);
void asks_timer(uv_timer_t *timer);

/* ---- ref.c */
int peer_put_message(struct rpc_peer *peer, struct frame_header *h, const void *body, const ProtobufCMessage *packed,
                     const struct rpc_attachment *attachment);
