/*
 * What the files of the message layer share: env.c (the loop's hooks, listening, closing), peer.c (connections),
 * dispatch.c (frames in), ref.c (messages out), asks.c (questions under way). Users include rpc/rpc.h.
 *
 * Lifetimes. Env, peers, refs and calls are counted; each of the latter three holds its env, so that an owner may let
 * go of them after the env was closed. A peer in the env's list holds itself once until its connection has ended.
 *
 * No callback runs inside a call. What fails while something is sent is noted (peer_doom) and told from the loop, in
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

/* A doubly linked list whose nodes lie in what they link. */
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

/* Put @l before @at; with a list's head as @at: at its end. */
static inline void link_insert(struct link *at, struct link *l)
{
        l->prev = at->prev;
        l->next = at;
        at->prev->next = l;
        at->prev = l;
}

/* Take out; harmless for what is in no list. */
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
        PEER_RESOLVING,  /* the name of its host */
        PEER_CONNECTING, /* there is a socket, and no channel yet */
        PEER_GREETING,   /* a channel, on which its HELLO has not come */
        PEER_OPEN,
        PEER_ENDED, /* out of all lists */
};

/* An ask under way, or one that nobody waits for any more whose answer may still come (`answered` NULL). */
struct ask {
        uint64_t id; /* 0: a free place of the table */
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
        struct ask *places; /* open addressing; a power of two */
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
        struct rpc_peer *peer; /* NULL: nobody waits for it */
        struct rpc_env *env;
};

/* A message between endpoints of the same env. */
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
        bool greeted; /* `connected` was told */
        bool welcome; /* an endpoint knows it */
        bool doomed;
        bool dirty;   /* there is something to write */
        bool blocked; /* the socket takes no more */
        bool spoke;   /* at least one frame of ours was understood: it can read REFUSED */
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
        char address[300]; /* where it says it listens */
        size_t max_bytes;  /* of a message that it takes */

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
        struct rpc_peer *peer; /* counted; REF_ADDRESS: the one last used, or NULL */
};

struct rpc_call {
        struct rpc_env *env;
        struct rpc_peer *peer;
        uint64_t id;
};

/* Lines about who is not known: few in ten seconds. */
struct log_quota {
        int64_t window_ms;
        int lines, left_out;
};

struct rpc_env {
        int refs;
        uv_loop_t *loop;
        struct rpc_options o; /* with its own security */
        struct security *own_security;
        char *name;
        struct hello hello;
        bool closing, closed;
        int handles; /* of libuv, with requests */
        void (*on_closed)(void *owner);
        void *on_closed_owner;
        int64_t close_deadline_ms;

        uv_prepare_t prepare;
        uv_idle_t idle;
        uv_timer_t wait_timer;  /* for the first of `waits` */
        uv_timer_t sweep_timer; /* strangers, silence */
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
};

#define SCRATCH_SIZE (256 << 10)

/* ---- env.c */
void env_unref(struct rpc_env *env);
struct rpc_env *env_ref(struct rpc_env *env);
int64_t env_now_ms(const struct rpc_env *env);
struct endpoint *env_endpoint(struct rpc_env *env, uint32_t number);
/* A libuv handle or request has ended. */
void env_handle_closed(struct rpc_env *env);
/* Whether a line about a stranger may be written; counts those that may not. */
bool env_may_log(struct rpc_env *env, struct log_quota *quota);
void env_accept_again(struct rpc_env *env);
/* Make the loop come back at once. */
void env_wake(struct rpc_env *env);

/* ---- peer.c */
struct rpc_peer *peer_new(struct rpc_env *env);
struct rpc_peer *peer_connect(struct rpc_env *env, const struct host_port *target, const char *target_text);
/* Take over an accepted socket. */
void peer_accept(struct rpc_env *env, int fd);
/* The connection is over: noted, and told by the loop. The first reason counts. */
void peer_doom(struct rpc_peer *peer, enum log_level level, int code, const char *format, ...)
        __attribute__((format(printf, 4, 5)));
/* End what was doomed: asks, endpoints, socket. */
void peer_end(struct rpc_peer *peer);
void peer_flush(struct rpc_peer *peer);
void peer_mark_dirty(struct rpc_peer *peer);
void peer_read(struct rpc_peer *peer);
void peer_update_events(struct rpc_peer *peer);
void peer_sweep(struct rpc_peer *peer, int64_t now);
/* Queue a frame that is no message. */
/* Bytes that may wait for it. */
static inline size_t peer_queue_limit(const struct rpc_peer *peer)
{
        const struct rpc_options *o = &peer->env->o;
        return rpc_peer_is_unauthorized(peer) && o->max_guest_bytes ? o->max_guest_bytes : o->max_queued_bytes;
}

void peer_put_frame(struct rpc_peer *peer, const struct frame_header *h, const void *body);

/* ---- dispatch.c */
/* Take the frames that are there; stops when the peer is paused or doomed. */
void peer_take_frames(struct rpc_peer *peer);
void peer_take_local(struct rpc_peer *self, struct local_frame *f);

/* ---- asks.c */
void asks_deinit(struct rpc_peer *peer);
void asks_add(struct rpc_peer *peer, uint64_t id, int64_t timeout_ms, rpc_answer_fn answered, void *owner);
/* Take the ask out: 1 and what waits for it, which the caller tells and gives to asks_release; 0 it is one whose
 * time was over; -ENOENT there is none. */
int asks_take(struct rpc_peer *peer, uint64_t id, struct ask_wait **out);
void asks_release(struct rpc_env *env, struct ask_wait *w);
/* Every ask of the peer fails with -ENOTCONN. */
void asks_fail_all(struct rpc_peer *peer, const char *why);
void asks_timer(uv_timer_t *timer);

/* ---- ref.c */
int peer_put_message(struct rpc_peer *peer, struct frame_header *h, const void *body, const ProtobufCMessage *packed,
                     const struct rpc_attachment *attachment);
