/*
 * Shared by the files of the dispatcher's process: dispatcher_server.c (lifetime, records, what waits for them),
 * dispatcher_mesos.c (the connection to Mesos: events to the core, its actions to calls), dispatcher_rest.c (requests).
 */
#pragma once

#include "base/queue.h"
#include "mesos/conf/mesos_credentials.h"
#include "mesos/conf/mesos_master.h"
#include "mesos/dispatcher/dispatcher_server.h"
#include "mesos/offers/agent_offers.h"
#include "rest/rest_messages.h"

#define DISPATCHER_LOG_NAME "MesosClusterScheduler"

struct dispatcher_pages;
struct mesos_scheduler;
struct persistence;
struct rest_server;

/* What leaves the process when the records before it are durable: a call to Mesos or a reply. */
struct dispatcher_message {
        struct rest_exchange *exchange; /* of a reply; NULL: a call */
        struct rest_answer answer;
        void *call; /* packed */
        size_t call_size;
        char *task_ids; /* of ACCEPT: the tasks that it launches, separated by blanks; NULL: another call */
};

struct dispatcher_server {
        uv_loop_t *loop;
        const struct dispatcher_conf *conf;
        void (*ended)(void *owner, int status);
        void *owner;
        struct dispatcher_config config;
        struct dispatcher core;
        struct agent_offers offers; /* why drivers are queued */
        struct mesos_master master;
        struct mesos_credentials credentials;
        struct mesos_scheduler *scheduler; /* NULL before this dispatcher leads */
        struct persistence *persistence;
        struct rest_server *rest;
        struct dispatcher_pages *pages;
        VEC(char *) failed; /* ids of tasks that could not be made */
        char *home;         /* of the installation, for drivers that name none */
        QUEUE(struct dispatcher_message) messages;
        QUEUE(size_t) batches; /* numbers of messages that wait for one commit each */
        size_t n_unsealed;     /* messages behind the last batch */
        uv_timer_t timer;      /* dispatcher_deadline */
        int parts;             /* that are still to be closed */
        bool closing, has_ended;
        int64_t wall_offset;
};

int64_t dispatcher_server_now(void);

/* Carries out the core's actions, in order. Call it after each event of the core, before its reply. */
void dispatcher_server_run(struct dispatcher_server *s);

/* Sends what the events so far have caused, when it may leave. Call it at the end of a callback. */
void dispatcher_server_flush(struct dispatcher_server *s);

/* Appends a reply, whose @answer it takes. */
void dispatcher_server_reply(struct dispatcher_server *s, struct rest_exchange *x, struct rest_answer *answer);

/* Appends a call, whose bytes it takes. */
void dispatcher_server_call(struct dispatcher_server *s, void *call, size_t size, char *task_ids);

/* The process cannot go on. @message is for the log. */
void dispatcher_server_fail(struct dispatcher_server *s, const char *message);

/* dispatcher_mesos.c. */
int dispatcher_mesos_start(struct dispatcher_server *s, struct fst_error *error);
void dispatcher_mesos_stop(struct dispatcher_server *s);

/* The call of an action of the core that concerns Mesos. */
void dispatcher_mesos_act(struct dispatcher_server *s, const struct dispatcher_action *action);

/* Makes the call of a message. */
void dispatcher_mesos_send(struct dispatcher_server *s, const struct dispatcher_message *m);

/* dispatcher_rest.c: starts the REST server unless it runs. */
int dispatcher_rest_start(struct dispatcher_server *s, struct fst_error *error);

/* The command of @request for the task @task_id. Borrows all. */
struct driver_command;
void dispatcher_server_command(const struct dispatcher_server *s, const struct rest_request *request,
                               const char *task_id, int64_t cpus_milli, struct driver_command *out);
