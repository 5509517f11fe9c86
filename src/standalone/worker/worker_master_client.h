/* A worker's connections to its masters: it registers with each, and one of them leads. master_registration.h decides
 * which master to connect to when; this file holds the connections and the clock.
 *
 * Commands are accepted only over the connection that the worker made to the leader. Other peers can only announce
 * that a master has changed. The worker then connects to that master and asks it.
 */
#pragma once

#include "standalone/wire/standalone_wire.h"
#include "standalone/worker/worker_conf.h"
#include "rpc/rpc.h"

#include <uv.h>

struct worker_masters;

struct worker_masters_ops {
        /* A master accepted the registration or announced that it leads: send it the state. @again: it led already.
         */
        void (*taken)(void *owner);
        /* The registration was refused, or no master could be reached for too long: exit. */
        void (*refused)(void *owner);
};

/* @env, @conf, @ops and @owner are borrowed. */
struct worker_masters *worker_masters_new(uv_loop_t *loop, struct rpc_env *env, const struct worker_conf *conf,
                                          const struct worker_masters_ops *ops, void *owner);

/* Connects to all masters; @introduction is a packed RegisterWorker, copied. */
void worker_masters_start(struct worker_masters *m, const void *introduction, size_t len);

/* Stops all connections and messages. Frees itself once its timer is closed. The env may be closed then. */
void worker_masters_close(struct worker_masters *m);

/* Handles a message about masters. Returns false for any other. */
bool worker_masters_receive(struct worker_masters *m, struct rpc_message *message);
void worker_masters_disconnected(struct worker_masters *m, struct rpc_peer *peer, const char *why);

/* Returns true if @peer is the connection to the leader. */
bool worker_masters_leads(const struct worker_masters *m, const struct rpc_peer *peer);
bool worker_masters_connected(const struct worker_masters *m);

/* URL of the current or last leader; "" before the first. Borrowed until the next. */
const char *worker_masters_url(const struct worker_masters *m);
const char *worker_masters_web_ui(const struct worker_masters *m);

/* Sends to the leader. Dropped if there is none. */
void worker_masters_send(struct worker_masters *m, uint16_t type, const ProtobufCMessage *body);

/* Sends to the leader, now or when there is one again, until a leader has acknowledged it. It may arrive twice. Order
 * is kept, and these messages precede the state that `taken` sends.
 */
void worker_masters_send_reliable(struct worker_masters *m, uint16_t type, const ProtobufCMessage *body);
