/*
 * Messages between processes: named endpoints that send to and ask each other.
 *
 *      an ENV          one process's place in this: its loop, its port if it listens, its endpoints, its connections
 *      an ENDPOINT     a name in an env ("CoarseGrainedScheduler") with a class: what is called when a message comes
 *      a REF           an endpoint somewhere, to send to; it can travel inside a message
 *      a PEER          the other end of a connection, whichever side made it
 *      a MESSAGE       a type number, a body (a packed protobuf message), and maybe an attachment: raw bytes beside it
 *
 * Threads. Everything here runs on the thread of the env's loop, calls and callbacks alike; nothing is locked. No
 * callback is ever run from within a call of this page: what a call causes is told from the loop.
 *
 * Sending. Messages are put into the connection's buffers at once and written with one writev(2) when the loop is
 * about to wait, or at rpc_env_flush. A body is packed right into those buffers; they are reused. Messages between
 * two endpoints arrive in the order in which they were sent, once or not at all; when a connection is lost, what was
 * not delivered is gone, every ask on it fails, and each endpoint's `disconnected` is called.
 *
 * Connections. A ref to "spark://Name@host:port" connects when it is first used and again after a loss. Whoever
 * connected, both ends use the one connection: a driver answers an executor, which listens to nobody, on the
 * connection that the executor made. Peers first exchange HELLO: versions, application, a number that is the
 * process's own. Other versions, other applications and a process that reaches itself are refused in one line.
 *
 * Limits. A message is at most spark.rpc.message.maxSize MiB with its attachment. More than
 * rpc_options.max_queued_bytes waiting for one peer ends that connection: it does not read. Connections that have
 * not said HELLO are few (max_strangers) and short-lived. A frame that cannot be ends its connection with one line
 * in the log and touches no other.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* as <uv.h> and <protobuf-c/protobuf-c.h> have them; the former brings half of the system's names along */
typedef struct uv_loop_s uv_loop_t;
typedef struct ProtobufCMessage ProtobufCMessage;

struct fst_conf;
struct rpc_call;
struct rpc_env;
struct rpc_message;
struct rpc_peer;
struct rpc_ref;
struct security;

/* ---------------------------------------------------------------------------------------------------- the env */

struct rpc_options {
        const char *name;                /* "sparkDriver", "sparkExecutor": in log lines */
        const char *app_id;              /* NULL or "": not said and not compared */
        const struct security *security; /* NULL: plain. Stays while the env does. */
        size_t max_message_bytes;        /* spark.rpc.message.maxSize */
        size_t max_queued_bytes;         /* written and not sent, to one peer; at least one message fits */
        int max_strangers;               /* connections without HELLO at a time */
        size_t max_guest_bytes;          /* of a message from a guest, and what may be queued for one; 0: as for all */
        int backlog;                     /* spark.rpc.io.backLog */
        int64_t ask_timeout_ms;          /* spark.rpc.askTimeout, spark.network.timeout */
        int64_t lookup_timeout_ms;       /* spark.rpc.lookupTimeout: to connect and be greeted */
        int64_t idle_timeout_ms;         /* spark.network.timeout: silence after which a peer is gone; pinged before */
        bool quiet;                      /* connections that cannot be made are told to who asked, and not logged */
        int64_t greeting_timeout_ms;     /* spark.network.auth.rpcTimeout: handshake and HELLO of who connects to us */
};

/* Spark's defaults. */
void rpc_options_init(struct rpc_options *options);

/* What @conf says. 0, or -EINVAL with @error set. name, app_id and security are left alone. */
int rpc_options_configure(struct rpc_options *options, const struct fst_conf *conf, struct fst_error *error);

/* An env on @loop. 0, or negative with @error set. */
int rpc_env_new(uv_loop_t *loop, const struct rpc_options *options, struct rpc_env **out, struct fst_error *error);

/*
 * Listen on @bind (NULL: all addresses) at @port (0: any) or one of the next @max_retries, and tell others that this
 * env is @host (NULL: @bind, or this host's name). 0, or negative with @error set. Once.
 */
int rpc_env_listen(struct rpc_env *env, const char *bind, const char *host, int port, int max_retries,
                   struct fst_error *error);

/*
 * A port for an env that is not made yet, because who it belongs to turns out only after others were told the port.
 * Connections wait in the system's queue until rpc_env_listen_at.
 *
 *      rpc_port_open(&port, &options, bind, host, 0, 16, error);     as rpc_env_listen; name and backlog of @options
 *      … port.address is told to others …
 *      rpc_env_new(loop, &options, &env, error);
 *      rpc_env_listen_at(env, &port, error);                         takes it: rpc_port_close need not be called
 */
struct rpc_port {
        int fd; /* -1: it is not open */
        int number;
        char address[300]; /* "host:port" */
};
#define RPC_PORT_NONE ((struct rpc_port){.fd = -1})
int rpc_port_open(struct rpc_port *port, const struct rpc_options *options, const char *bind, const char *host,
                  int number, int max_retries, struct fst_error *error);
void rpc_port_close(struct rpc_port *port);
int rpc_env_listen_at(struct rpc_env *env, struct rpc_port *port, struct fst_error *error);

/* "host:port" that others reach this env at; "" if it does not listen. Borrowed. */
const char *rpc_env_address(const struct rpc_env *env);
int rpc_env_port(const struct rpc_env *env);

/* Write what is queued now instead of at the end of the loop's turn. */
void rpc_env_flush(struct rpc_env *env);

/*
 * Close: what was sent is still written, for at most @drain_ms, then every connection and handle is closed. Nothing of
 * the endpoints is called any more, asks are forgotten. @closed, which may be NULL, is called when the last handle is
 * closed; the env is freed after it. The loop must go on running until then.
 */
void rpc_env_close(struct rpc_env *env, int64_t drain_ms, void (*closed)(void *owner), void *owner);

/* ---------------------------------------------------------------------------------------------- endpoints */

struct rpc_endpoint_class {
        /* A message; @m is valid during the call. An ask that is neither answered nor deferred when this returns
         * fails with a sentence that says so. Required. */
        void (*receive)(void *owner, struct rpc_message *m);
        /* Greeted by a peer, whichever side connected. Optional. */
        void (*connected)(void *owner, struct rpc_peer *peer);
        /* A peer that was greeted is gone; @why is a sentence. Called once for each `connected`. Optional. */
        void (*disconnected)(void *owner, struct rpc_peer *peer, const char *why);
};

/* Make an endpoint; it hears of peers that were greeted before only when they go. -EEXIST with @error if the name (or
 * its hash) is taken. @cls and @owner must stay. */
int rpc_env_register(struct rpc_env *env, const char *name, const struct rpc_endpoint_class *cls, void *owner,
                     struct fst_error *error);

/* Forget it: asks to it are answered "no endpoint". Unknown names are ignored. */
void rpc_env_unregister(struct rpc_env *env, const char *name);

/* ------------------------------------------------------------------------------------------------- messages */

/* Raw bytes beside a body. `release` NULL: copied at once; else called when they are sent or dropped. */
struct rpc_attachment {
        const void *data;
        size_t len;
        void (*release)(void *arg, const void *data);
        void *arg;
};

/* What came. Read the fields, write none. */
struct rpc_message {
        struct rpc_env *env;
        struct rpc_peer *peer; /* who sent it; one that stands for the env itself if that is an endpoint of its own */
        uint16_t type;
        const uint8_t *body; /* borrowed */
        size_t len;
        uint8_t *attachment; /* borrowed, unless taken; NULL if none */
        size_t attachment_len;
        uint64_t ask; /* 0: a send, nothing to answer */
};

/* The attachment becomes the caller's, who frees it. */
uint8_t *rpc_message_take_attachment(struct rpc_message *m);

/* Answer an ask, once. Ignored for a send. 0, or negative as rpc_send. */
int rpc_reply(struct rpc_message *m, uint16_t type, const void *body, size_t len,
              const struct rpc_attachment *attachment);
int rpc_reply_packed(struct rpc_message *m, uint16_t type, const ProtobufCMessage *body,
                     const struct rpc_attachment *attachment);
/* The asker is told that it failed, and this sentence. */
int rpc_fail(struct rpc_message *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/*
 * Answer later: take the ask out of its message. Each call is ended by exactly one rpc_call_… below, also when its
 * peer or the env is gone meanwhile (the answer is dropped then).
 */
struct rpc_call *rpc_message_defer(struct rpc_message *m);
int rpc_call_reply(struct rpc_call *call, uint16_t type, const void *body, size_t len,
                   const struct rpc_attachment *attachment);
int rpc_call_fail(struct rpc_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------------------------------------------ refs */

/*
 * "spark://Name@host:port" as a ref. Nothing is connected yet. 0, or -EINVAL with @error naming the text. A ref of this
 * env's own address is delivered without a socket.
 */
int rpc_env_ref(struct rpc_env *env, const char *url, struct rpc_ref **out, struct fst_error *error);

/* The endpoint @name at the other end of a connection. Fails for good once the connection is lost. */
struct rpc_ref *rpc_peer_ref(struct rpc_peer *peer, const char *name);

/* The endpoint @name of this env. */
struct rpc_ref *rpc_env_own_ref(struct rpc_env *env, const char *name);

struct rpc_ref *rpc_ref_ref(struct rpc_ref *ref);
void rpc_ref_unref(struct rpc_ref *ref); /* NULL is allowed */

/* "spark://Name@host:port", "spark-client://Name" for an endpoint of a peer that listens to nobody. Borrowed. */
const char *rpc_ref_url(const struct rpc_ref *ref);

/*
 * A ref inside a message: write its text into the body's field (`string endpoint`), and read it with the message
 * that carried it, because "spark-client://Name" is an endpoint of whoever sent it.
 * rpc_ref_read: 0, or -EINVAL with @error set.
 */
int rpc_ref_read(const struct rpc_message *m, const char *url, struct rpc_ref **out, struct fst_error *error);

/*
 * Send, without an answer. The body is copied (or packed) into the connection's buffers. 0: it is on its way, and lost
 * only if the connection is. Negative: -EMSGSIZE larger than the limit; -ENOBUFS too much is queued for this
 * peer, whose connection ends; -ENOTCONN the peer of this ref is gone; -ESHUTDOWN the env closes. The
 * attachment is released in every case.
 */
int rpc_send(struct rpc_ref *ref, uint16_t type, const void *body, size_t len, const struct rpc_attachment *attachment);
int rpc_send_packed(struct rpc_ref *ref, uint16_t type, const ProtobufCMessage *body,
                    const struct rpc_attachment *attachment);

/* The answer to an ask. */
struct rpc_answer {
        int status;          /* 0; FST_RPC_E_…; -ETIMEDOUT; -ENOTCONN: not reached, or the connection was lost */
        const char *message; /* what failed, a sentence; NULL if status is 0 */
        uint16_t type;
        const uint8_t *body; /* borrowed during the call */
        size_t len;
        uint8_t *attachment; /* set to NULL to take it, and free it */
        size_t attachment_len;
        struct rpc_peer *peer; /* who answered; NULL if nobody did */
        bool stranger;         /* -ENOTCONN: somebody took the connection and ended it without a greeting of ours */
        bool http;             /* … and it was an HTTP server */
};

enum {
        FST_RPC_E_FAILED = 1,      /* the endpoint answered with rpc_fail */
        FST_RPC_E_NO_ENDPOINT = 2, /* there is no such endpoint */
};

typedef void (*rpc_answer_fn)(void *owner, struct rpc_answer *answer);

/*
 * Ask: @answered is called exactly once, from the loop, with the answer or with what failed, within @timeout_ms (0:
 * rpc_options.ask_timeout_ms). Also when the result is negative it was not and will not be called. Otherwise as
 * rpc_send. Not called when the env is closed first.
 */
int rpc_ask(struct rpc_ref *ref, uint16_t type, const void *body, size_t len, const struct rpc_attachment *attachment,
            int64_t timeout_ms, rpc_answer_fn answered, void *owner);
int rpc_ask_packed(struct rpc_ref *ref, uint16_t type, const ProtobufCMessage *body,
                   const struct rpc_attachment *attachment, int64_t timeout_ms, rpc_answer_fn answered, void *owner);

/* ----------------------------------------------------------------------------------------------------- peers */

struct rpc_peer *rpc_peer_ref_new(struct rpc_peer *peer);
void rpc_peer_unref(struct rpc_peer *peer);

/* The peer that a ref talks to now; NULL while it is not connected. Borrowed. */
struct rpc_peer *rpc_ref_peer(const struct rpc_ref *ref);

/* "192.0.2.7:40112": the socket's other end. Borrowed, as long as the peer. */
const char *rpc_peer_name(const struct rpc_peer *peer);

/* "host:port" at which the peer's env listens; "" if it does not. Borrowed. */
const char *rpc_peer_address(const struct rpc_peer *peer);

bool rpc_peer_connected(const struct rpc_peer *peer);

/* What the owner of an endpoint notes about a peer (the executor it is), for its own lookups. One pointer. */
void rpc_peer_set_data(struct rpc_peer *peer, void *data);
void *rpc_peer_data(const struct rpc_peer *peer);

/*
 * Who connected to us and said HELLO is a guest (rpc_options.max_guest_bytes), of whom lines in the log are few, until
 * an endpoint knows who it is and says so with rpc_peer_authorize.
 */
void rpc_peer_authorize(struct rpc_peer *peer);
bool rpc_peer_is_unauthorized(const struct rpc_peer *peer);

/* Whether a line about this peer may be written: for guests, a few in ten seconds for all of them. */
bool rpc_peer_may_log(struct rpc_peer *peer);

/* Bytes written and not sent yet. */
size_t rpc_peer_queued(const struct rpc_peer *peer);

/* Back-pressure: do not read from this peer until it is resumed. Pauses are counted. Its silence is no reason to
 * give it up meanwhile. */
void rpc_peer_pause(struct rpc_peer *peer);
void rpc_peer_resume(struct rpc_peer *peer);

/* End the connection: what is queued is written first if the socket takes it at once. @why is told to `disconnected`
 * of both ends. */
void rpc_peer_close(struct rpc_peer *peer, const char *why);
