/*
 * The wide side of an executor: everything that is bytes rather than messages. Its transfer server gives others map
 * outputs, cached partitions, pieces of broadcast variables and large results; through its client, tasks fetch the same
 * from others, and from the driver slices of parallelize, files and modules.
 *
 * Made when the configuration is there, before the first slot. Functions say which thread may call them.
 */
#pragma once

#include "exec/exec_env.h"

#include <stddef.h>
#include <stdint.h>

struct Firesteel__Files;
struct Firesteel__Remove;
struct buf;
struct driver_asks;
struct migration;
struct executor_data;
struct security;
struct shuffle_output;
struct stage_module;

struct executor_data_options {
        const struct fst_conf *conf;
        const struct security *security; /* NULL: connections are plain */
        const char *bind;                /* where to listen */
        const char *hostname;            /* of this executor, and of its shuffle service */
        const char *driver_host;         /* the driver's transfer server */
        int driver_port;                 /* 0: it has none */
        int cores;
        struct driver_asks *asks;
        struct lost_executors *lost; /* who is not tried again */
        /* There are block updates to be sent: executor_data_take_updates. Any thread. */
        void (*updated)(void *owner);
        void *owner;
};

/* Completes @env, which is borrowed with all that @options points to. Negative with @error. */
int executor_data_new(struct exec_env *env, const struct executor_data_options *options, struct executor_data **data,
                      struct fst_error *error);

/* Close the server and what is being served. Tasks that fetch find others' servers closed, not this one's client. */
/* BlockNames: partitions of which a copy was lost are to be copied to another executor each. */
void executor_data_replicate(struct executor_data *data, const uint8_t *body, size_t len);

/* No copies are made any more. While the driver still answers. */
void executor_data_stop_copying(struct executor_data *data);

void executor_data_close(struct executor_data *data);

/* Leave no files behind: the process is about to end, though tasks are running. */
void executor_data_leave_files(struct executor_data *data);

/* After the last slot, before the env. NULL is allowed. */
void executor_data_free(struct executor_data *data);

int executor_data_port(const struct executor_data *data);

/* Append BlockUpdates to @out: what changed since the last call. Any thread. */
void executor_data_take_updates(struct executor_data *data, struct buf *out);

/* Have the module loaded, from the driver's file if need be. Blocks; any thread but the loop's. */
int executor_data_load_module(struct executor_data *data, const struct stage_module *module, struct fst_error *error);

/* The executor ends: threads that wait for a module give up with -ECANCELED. Any thread. */
void executor_data_stop_loading(struct executor_data *data);

/* Know of files of the application. The loop's thread. */
void executor_data_add_files(struct executor_data *data, const struct Firesteel__Files *files);

/* Keep a large result for the driver to fetch: 0, or negative with @error. Any thread. */
int executor_data_keep_result(struct executor_data *data, int64_t task_id, const void *bytes, size_t len,
                              struct fst_error *error);

/* Whether results wait for the driver. */
bool executor_data_keeps_results(struct executor_data *data);

/*
 * Start to move partitions and map outputs to others: *@migration is the caller's, and goes before @data; NULL if
 * nothing is to be moved. @round_over is called on its thread. Negative with @error.
 */
int executor_data_migrate(struct executor_data *data, void (*round_over)(void *owner), void *owner,
                          struct migration **migration, struct fst_error *error);

/* The port of the shuffle service that serves this executor's map outputs; 0: it does so itself. */
int executor_data_service_port(const struct executor_data *data);

/*
 * A map output that others may read from now on. With a shuffle service it is written to files first, and fails with
 * @error when there is no room for them. Steals @output. Any thread.
 */
int executor_data_put_output(struct executor_data *data, int shuffle, int map_partition, int64_t task_id,
                             struct shuffle_output *output, struct fst_error *error);

/* Forget what the driver does not need any more: all that Remove names, but stages. The loop's thread. */
void executor_data_remove(struct executor_data *data, const struct Firesteel__Remove *remove);
