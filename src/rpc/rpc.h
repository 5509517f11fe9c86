/* Messages between processes: named endpoints that send messages to and ask each other.
 *
 *      an ENV          the messaging of one process: its loop, its port if it listens, its endpoints and connections
 *      an ENDPOINT     a name in an env ("CoarseGrainedScheduler") with a class, whose functions handle messages
 *      a REF           the address of an endpoint; it can be sent in a message
 *      a PEER          the other end of a connection, whichever side connected
 *      a MESSAGE       a type number, a body (a packed protobuf message), and optionally an attachment: raw bytes
 *
 * Threads. All calls and callbacks run on the thread of the env's loop, without locks. No callback runs from within a
 * call of this header: effects of a call are reported from the loop.
 *
 * Sending. Messages are put into the connection's buffers at once and written with one writev(2) before the loop
 * blocks, or at rpc_env_flush. A body is packed directly into those buffers, which are reused. Messages between two
 * endpoints arrive in the order in which they were sent, once or not at all. When a connection is lost, undelivered
 * messages are dropped, every ask on it fails, and each endpoint's `disconnected` is called.
 *
 * Connections. A ref to "spark://Name@host:port" connects when it is first used and again after a loss. Both ends use
 * the one connection, whichever side made it: a driver replies to an executor, which does not listen, over the
 * connection that the executor made. Peers first exchange HELLO: versions, application, and a number unique to the
 * process. A peer with another version or application is refused, and so is a connection of a process to itself.
 *
 * Limits. A message with its attachment has at most spark.rpc.message.maxSize MiB. A peer that does not read is
 * disconnected when more than rpc_options.max_queued_bytes wait for it. Connections without HELLO are limited in
 * number (max_strangers) and time. An invalid frame ends its connection with one log line and affects no other.
 */
#pragma once

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* as in <uv.h> and <protobuf-c/protobuf-c.h>, without including them: the former defines many names */
typedef struct uv_loop_s uv_loop_t;
typedef struct ProtobufCMessage ProtobufCMessage;

struct fst_conf;
struct metric_meter;
struct rpc_call;
struct rpc_env;
struct rpc_message;
struct rpc_peer;
struct rpc_ref;
struct security;

/* ---------------------------------------------------------------------------------------------------- the env */

struct rpc_options {
        const char *name;                /* "sparkDriver", "sparkExecutor": in log lines */
        const char *app_id;              /* NULL or "": neither sent nor compared */
        const struct security *security; /* NULL: plain. Must outlive the env. */
        size_t max_message_bytes;        /* spark.rpc.message.maxSize */
        size_t max_queued_bytes;         /* for one peer, not sent yet; at least one message fits */
        int max_strangers;               /* connections without HELLO */
        size_t max_guest_bytes; /* limit of an unauthorized peer's messages, and of its queue; 0: the general limits */
        int backlog;            /* spark.rpc.io.backLog */
        int64_t ask_timeout_ms; /* spark.rpc.askTimeout, spark.network.timeout */
        int64_t lookup_timeout_ms; /* spark.rpc.lookupTimeout: to connect and receive HELLO */
        int64_t idle_timeout_ms;   /* spark.network.timeout: a peer that is silent for so long is lost; it is pinged
                                      before */
        bool quiet;                /* failed connections are reported to the caller, but not logged */
        /*
         * Returns the meter of messages of a type, sent or received; called once for each. NULL: they are not counted.
         */
        struct metric_meter *(*meter)(void *owner, uint16_t type, bool sent);
        void *meter_owner;
        int64_t greeting_timeout_ms; /* spark.network.auth.rpcTimeout: for TLS and HELLO of an incoming connection */
};

/* Spark's defaults. */
void rpc_options_init(struct rpc_options *options);

/* Reads options from @conf. Returns 0, or -EINVAL with @error. Leaves name, app_id and security unchanged. */
int rpc_options_configure(struct rpc_options *options, const struct fst_conf *conf, struct fst_error *error);

/* Creates an env on @loop. Returns 0, or negative with @error. */
int rpc_env_new(uv_loop_t *loop, const struct rpc_options *options, struct rpc_env **out, struct fst_error *error);

/* Listens on @bind (NULL: all addresses) at @port (0: any) or one of the next @max_retries. Peers get @host (NULL:
 * @bind, or this host's name) as this env's address. Returns 0, or negative with @error. Call it once.
 */
int rpc_env_listen(struct rpc_env *env, const char *bind, const char *host, int port, int max_retries,
                   struct fst_error *error);

/* A port opened before its env exists, for a caller that must publish the port first. Connections wait in the
 * kernel's queue until rpc_env_listen_at.
 *
 *      rpc_port_open(&port, &options, bind, host, 0, 16, error);     as rpc_env_listen; name and backlog of @options
 *      … port.address is published …
 *      rpc_env_new(loop, &options, &env, error);
 *      rpc_env_listen_at(env, &port, error);                         takes it: rpc_port_close need not be called
 */
struct rpc_port {
        int fd; /* -1: not open */
        int number;
        char address[300]; /* "host:port" */
};
#define RPC_PORT_NONE ((struct rpc_port){.fd = -1})
int rpc_port_open(struct rpc_port *port, const struct rpc_options *options, const char *bind, const char *host,
                  int number, int max_retries, struct fst_error *error);
void rpc_port_close(struct rpc_port *port);
int rpc_env_listen_at(struct rpc_env *env, struct rpc_port *port, struct fst_error *error);

/* The address of this env for peers, "host:port"; "" if it does not listen. Borrowed. */
const char *rpc_env_address(const struct rpc_env *env);
int rpc_env_port(const struct rpc_env *env);

/* Writes queued messages now instead of at the end of the loop iteration. */
void rpc_env_flush(struct rpc_env *env);

/* Closes: writes sent messages for at most @drain_ms, then closes every connection and handle. No endpoint is called
 * any more, and asks are dropped. @closed, which may be NULL, is called when the last handle is closed. The env is
 * freed after it. The loop must run until then.
 */
void rpc_env_close(struct rpc_env *env, int64_t drain_ms, void (*closed)(void *owner), void *owner);

/* ---------------------------------------------------------------------------------------------- endpoints */

struct rpc_endpoint_class {
        /* Handles a message; @m is valid during the call. An ask that is neither answered nor deferred in the call
         * fails with a message that says so. Required.
         */
        void (*receive)(void *owner, struct rpc_message *m);
        /* A peer has sent HELLO, whichever side connected. Optional. */
        void (*connected)(void *owner, struct rpc_peer *peer);
        /* A connected peer is lost; @why is a sentence. Called once for each `connected`. Optional. */
        void (*disconnected)(void *owner, struct rpc_peer *peer, const char *why);
};

/* Registers an endpoint. It is not told about peers that are connected already, only when they are lost. Returns
 * -EEXIST with @error if the name (or its hash) is in use. @cls and @owner must outlive it.
 */
int rpc_env_register(struct rpc_env *env, const char *name, const struct rpc_endpoint_class *cls, void *owner,
                     struct fst_error *error);

/* ------------------------------------------------------------------------------------------------- messages */

/* Raw bytes beside a body. `release` NULL: copied at once; otherwise called when they are sent or dropped. */
struct rpc_attachment {
        const void *data;
        size_t len;
        void (*release)(void *arg, const void *data);
        void *arg;
};

/* A received message. Read-only. */
struct rpc_message {
        struct rpc_env *env;
        struct rpc_peer *peer; /* the sender; a placeholder for the env itself if the sender is a local endpoint */
        uint16_t type;
        const uint8_t *body; /* borrowed */
        size_t len;
        uint8_t *attachment; /* borrowed, unless taken; NULL if none */
        size_t attachment_len;
        uint64_t ask; /* 0: a send, which needs no reply */
};

/* Passes the attachment to the caller, which frees it. */
uint8_t *rpc_message_take_attachment(struct rpc_message *m);

/* Replies to an ask, once. Ignored for a send. Returns 0, or negative as rpc_send. */
int rpc_reply(struct rpc_message *m, uint16_t type, const void *body, size_t len,
              const struct rpc_attachment *attachment);
int rpc_reply_packed(struct rpc_message *m, uint16_t type, const ProtobufCMessage *body,
                     const struct rpc_attachment *attachment);
/* Fails an ask with this sentence. */
int rpc_fail(struct rpc_message *m, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Takes the ask out of its message to reply later. Each call must end with exactly one rpc_call_… below, even when
 * its peer or env is gone (the reply is dropped then).
 */
struct rpc_call *rpc_message_defer(struct rpc_message *m);
int rpc_call_reply(struct rpc_call *call, uint16_t type, const void *body, size_t len,
                   const struct rpc_attachment *attachment);
int rpc_call_fail(struct rpc_call *call, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* ------------------------------------------------------------------------------------------------------ refs */

/* Makes a ref of "spark://Name@host:port" without connecting. Returns 0, or -EINVAL with @error naming @url. A ref to
 * this env's own address is delivered without a socket.
 */
int rpc_env_ref(struct rpc_env *env, const char *url, struct rpc_ref **out, struct fst_error *error);

/* The endpoint @name at the other end of a connection. Fails permanently once the connection is lost. */
struct rpc_ref *rpc_peer_ref(struct rpc_peer *peer, const char *name);

/* The endpoint @name of this env. */
struct rpc_ref *rpc_env_own_ref(struct rpc_env *env, const char *name);

struct rpc_ref *rpc_ref_ref(struct rpc_ref *ref);
void rpc_ref_unref(struct rpc_ref *ref); /* NULL is allowed */

/* For tests: "spark://Name@host:port", or "spark-client://Name" for an endpoint of a peer that does not listen.
 * Borrowed. */
const char *rpc_ref_url(const struct rpc_ref *ref);

/* For tests: reads a ref from a message. A sender writes the ref's text into a field (`string endpoint`). It is read
 * with the message that carried it, because "spark-client://Name" is an endpoint of the sender. rpc_ref_read returns 0,
 * or -EINVAL with @error.
 */
int rpc_ref_read(const struct rpc_message *m, const char *url, struct rpc_ref **out, struct fst_error *error);

/* Sends without a reply. The body is copied (or packed) into the connection's buffers. Returns 0 if the message is
 * queued: it is lost only with the connection. Negative: -EMSGSIZE above the limit; -ENOBUFS too much is queued for
 * this peer, which is disconnected; -ENOTCONN the peer of this ref is gone; -ESHUTDOWN the env is closing. The
 * attachment is released in every case.
 */
int rpc_send(struct rpc_ref *ref, uint16_t type, const void *body, size_t len, const struct rpc_attachment *attachment);
int rpc_send_packed(struct rpc_ref *ref, uint16_t type, const ProtobufCMessage *body,
                    const struct rpc_attachment *attachment);

/* The reply to an ask. */
struct rpc_answer {
        int status;          /* 0; FST_RPC_E_…; -ETIMEDOUT; -ENOTCONN: not reached, or the connection was lost */
        const char *message; /* the error, a sentence; NULL if status is 0 */
        uint16_t type;
        const uint8_t *body; /* borrowed during the call */
        size_t len;
        uint8_t *attachment; /* set to NULL to take it, and free it */
        size_t attachment_len;
        struct rpc_peer *peer; /* the sender; NULL without a reply */
        bool stranger;         /* -ENOTCONN: the peer accepted the connection and ended it without a valid HELLO */
        bool http;             /* … and it was an HTTP server */
};

enum {
        FST_RPC_E_FAILED = 1,      /* the endpoint called rpc_fail */
        FST_RPC_E_NO_ENDPOINT = 2, /* unknown endpoint */
};

typedef void (*rpc_answer_fn)(void *owner, struct rpc_answer *answer);

/* Asks: @answered is called exactly once, from the loop, with the reply or an error, within @timeout_ms (0:
 * rpc_options.ask_timeout_ms). It is not called if the result is negative, or if the env is closed first. Otherwise
 * as rpc_send.
 */
int rpc_ask(struct rpc_ref *ref, uint16_t type, const void *body, size_t len, const struct rpc_attachment *attachment,
            int64_t timeout_ms, rpc_answer_fn answered, void *owner);
int rpc_ask_packed(struct rpc_ref *ref, uint16_t type, const ProtobufCMessage *body,
                   const struct rpc_attachment *attachment, int64_t timeout_ms, rpc_answer_fn answered, void *owner);

/* ----------------------------------------------------------------------------------------------------- peers */

struct rpc_peer *rpc_peer_ref_new(struct rpc_peer *peer);
void rpc_peer_unref(struct rpc_peer *peer);

/* The current peer of a ref; NULL while it is not connected. Borrowed. */
struct rpc_peer *rpc_ref_peer(const struct rpc_ref *ref);

/* "192.0.2.7:40112": the socket's other end. Borrowed while the peer exists. */
const char *rpc_peer_name(const struct rpc_peer *peer);

/* For tests: the address at which the peer's env listens, "host:port"; "" if it does not. Borrowed. */
const char *rpc_peer_address(const struct rpc_peer *peer);

bool rpc_peer_connected(const struct rpc_peer *peer);

/* A pointer that the owner of an endpoint attaches to a peer (such as its executor). */
void rpc_peer_set_data(struct rpc_peer *peer, void *data);
void *rpc_peer_data(const struct rpc_peer *peer);

/* An incoming peer with HELLO is unauthorized (rpc_options.max_guest_bytes), with rate-limited log lines, until an
 * endpoint recognises it and calls rpc_peer_authorize.
 */
void rpc_peer_authorize(struct rpc_peer *peer);
bool rpc_peer_is_unauthorized(const struct rpc_peer *peer);

/* Returns true if a line about this peer may be logged: unauthorized peers share a few lines in ten seconds. */
bool rpc_peer_may_log(struct rpc_peer *peer);

/* For tests: bytes queued and not sent yet. */
size_t rpc_peer_queued(const struct rpc_peer *peer);

/* For tests: stops reading from this peer until it is resumed. Calls are counted. A paused peer does not
 * time out.
 */
void rpc_peer_pause(struct rpc_peer *peer);
void rpc_peer_resume(struct rpc_peer *peer);

/* Closes the connection after writing queued bytes if the socket takes them at once. Both ends' `disconnected` get
 * @why.
 */
void rpc_peer_close(struct rpc_peer *peer, const char *why);
