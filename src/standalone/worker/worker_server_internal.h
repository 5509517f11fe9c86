/* Shared by worker_server.c and worker_commands.c. */
#pragma once

#include "base/vec.h"
#include "standalone/wire/standalone_wire.h"
#include "standalone/worker/worker_context.h"
#include "standalone/worker/worker_server.h"
#include "exec/resource_discovery.h"

#include <uv.h>

struct disk_dirs;
struct rpc_env;
struct rpc_message;
struct security;
struct shuffle_service;
struct worker_masters;

#define WORKER_TYPE(name) FIRESTEEL__STANDALONE__STANDALONE_TYPE__##name

/* An application that has or had executors here. */
struct worker_app {
        char *id;
        struct disk_dirs *dirs; /* directories for blocks */
        char *list;             /* the same, separated by colons */
        bool finished;
};

struct worker_server {
        const struct worker_conf *conf;
        struct worker_context context;
        struct worker_view view;
        struct executor_resources resources;
        struct resource_addresses *addresses;
        char *id, *url, *web_ui, *log_ui, *program, *secret;
        struct security *security;
        struct shuffle_service *shuffle; /* NULL: spark.shuffle.service.enabled is false */
        struct rpc_env *rpc;
        struct worker_masters *masters;
        uv_timer_t heartbeat, cleanup;
        VEC(struct worker_app) apps;
        int handles; /* open ones */
        bool stopping, ended;
        int status;
        void (*on_ended)(void *owner, int status);
        void *owner;
};

/* Finishes a stop once nothing runs any more. */
void worker_server_check_stopped(struct worker_server *s);

/* ---------------------------------------------------------------------------------------------- worker_commands.c */

/* Carries out a command of the leading master. Ignores unknown ones. */
void worker_orders_take(struct worker_server *s, const struct rpc_message *m);

/* Removes the files of all applications' executors. None may be running. */
void worker_orders_forget_apps(struct worker_server *s);
