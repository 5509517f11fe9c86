/* For app_client.c and app_requests.c: an application's side of a standalone cluster. */
#pragma once

#include "base/buf.h"
#include "base/vec.h"
#include "standalone/client/app_client.h"
#include "standalone/wire/master_registration.h"

struct rpc_env;
struct rpc_peer;
struct rpc_ref;
struct security;

#define APP_CLIENT_LOG "StandaloneAppClient$ClientEndpoint"

struct master_link {
        struct app_client *client;
        char *url; /* "spark://host:port" */
        struct rpc_ref *ref;
        struct rpc_peer *peer; /* while it is greeted */
        int strangers;         /* connections in a row that were ended without a nonce */
        bool http;             /* it is an HTTP server */
        bool said;             /* that it cannot be reached: the log knows */
};

/* An executor that is to end. Kept to the end, because more than one master may have been asked for it. */
struct kill {
        struct app_client *client;
        int executor;
        bool done;
};

struct app_client {
        uv_loop_t *loop;
        const struct app_client_ops *ops;
        void *owner;
        struct security *security;
        struct rpc_env *rpc;
        struct master_link *links;
        size_t n_links;
        struct registration *registration;
        uv_timer_t timeout, tick;
        void *introduction; /* RegisterApplication, without the id */
        size_t introduction_size;
        char *app_id; /* "": not registered yet */
        int next_executor;
        struct buf targets; /* fields of RequestExecutors and of ApplicationState: what was asked for last */
        VEC(struct kill *) kills;
        bool disconnected, dead, stopping;
        int open_handles;
        void (*stopped)(void *owner);
        void *stopped_owner;
};

/* ---------------------------------------------------------------------------------------------- app_requests.c */

/* Tell this master who we are; also registration_ops.introduce, with the client as its owner. */
void app_requests_introduce(void *client, int master);

/* Ask the master that leads, of which there is one, for the executors that are wanted, or to end one. */
void app_requests_executors(struct app_client *c);
void app_requests_kill(struct app_client *c, struct kill *k);

/* This executor has ended: nobody need be asked to end it any more. */
void app_requests_forget_kill(struct app_client *c, int executor);

/* Tell the master that leads all that was said while none was there. */
void app_requests_tell_state(struct app_client *c);
