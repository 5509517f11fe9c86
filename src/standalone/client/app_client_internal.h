/* Shared by app_client.c and app_client_requests.c. */
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
        struct rpc_peer *peer; /* while the client awaits its registration */
        int strangers;         /* consecutive connections that ended without a nonce */
        bool http;             /* it is an HTTP server */
        bool said;             /* the log has the line that it cannot be reached */
};

/* A request to end an executor. Kept until it has ended, because several masters may have got it. */
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
        int asked; /* requests for numbers of executors without an answer */
        struct master_link *links;
        size_t n_links;
        struct registration *registration;
        uv_timer_t timeout, tick;
        void *introduction; /* RegisterApplication, without the id */
        size_t introduction_size;
        char *app_id; /* "": not registered yet */
        int next_executor;
        char *resume_id;      /* the id that the application had; "": none */
        VEC(int32_t) earlier; /* executors of earlier drivers that the master keeps */
        bool has_others;      /* it may keep others */
        struct buf targets; /* fields of RequestExecutors and of ApplicationState: the latest targets */
        VEC(struct kill *) kills;
        bool disconnected, dead, stopping;
        int open_handles;
        void (*stopped)(void *owner);
        void *stopped_owner;
};

/* ---------------------------------------------------------------------------------------- app_client_requests.c */

/* Sends the registration to this master. */
void app_requests_introduce(struct app_client *c, int master);

/* Sends the leader, which must exist, the targets, or a request to end an executor. */
void app_requests_executors(struct app_client *c);
void app_requests_kill(struct app_client *c, struct kill *k);

/* The executor has ended: drops the request to end it. */
void app_requests_forget_kill(struct app_client *c, int executor);

/* Sends the leader all requests made while there was none. */
void app_requests_tell_state(struct app_client *c);
