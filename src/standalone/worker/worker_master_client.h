/*
 * A worker's connections to its masters: it is connected to each and has registering_role itself to each; one of them
 * leads. registration.h decides whom to reach when; here are the connections and the clock.
 *
 * What a master wants done is taken only from the connection that we made to the one that leads: whoever connects to a
 * worker can tell it nothing but that a master has changed, and then the worker goes and asks that master.
 */
#pragma once

#include "standalone/wire/standalone_wire.h"
#include "standalone/worker/worker_conf.h"
#include "rpc/rpc.h"

#include <uv.h>

struct worker_masters;

struct worker_masters_ops {
        /* A master has taken us, or says that it leads now: tell it our state. @again: it was so already. */
        void (*taken)(void *owner);
        /* We are not wanted, or nobody can be reached for too long: this process is to end. */
        void (*refused)(void *owner);
};

/* @env, @conf, @ops and @owner are borrowed. */
struct worker_masters *worker_masters_new(uv_loop_t *loop, struct rpc_env *env, const struct worker_conf *conf,
                                          const struct worker_masters_ops *ops, void *owner);

/* Reach all; @introduction is a packed RegisterWorker, copied. */
void worker_masters_start(struct worker_masters *m, const void *introduction, size_t len);

/* No more connections and messages; frees it once its timer is closed. Its env may be closed then. */
void worker_masters_close(struct worker_masters *m);

/* A message that came: whether it was one about masters. */
bool worker_masters_receive(struct worker_masters *m, struct rpc_message *message);
void worker_masters_disconnected(struct worker_masters *m, struct rpc_peer *peer, const char *why);

/* Whether @peer is the connection to the master that leads. */
bool worker_masters_leads(const struct worker_masters *m, const struct rpc_peer *peer);
bool worker_masters_connected(const struct worker_masters *m);

/* Of the one that leads, or led last; "" before the first. Borrowed until the next. */
const char *worker_masters_url(const struct worker_masters *m);
const char *worker_masters_web_ui(const struct worker_masters *m);

/* To the one that leads; dropped if there is none. */
void worker_masters_send(struct worker_masters *m, uint16_t type, const ProtobufCMessage *body);

/*
 * To the one that leads, now or when there is one again, until one has it: it may come twice. In the order in which
 * they were given, and before the state that `taken` asks for.
 */
void worker_masters_send_reliable(struct worker_masters *m, uint16_t type, const ProtobufCMessage *body);
