/*
 * An executor's bulk data. Its transfer server sends map outputs, cached partitions, pieces of broadcast variables and
 * large results to other processes. Through its client, tasks fetch the same from other executors, and slices of
 * parallelize, files and modules from the driver.
 *
 * It is created after the configuration arrives and before the first slot. Each function states its threads.
 */
#pragma once

#include "exec/exec_env.h"

#include <stddef.h>
#include <stdint.h>

struct Firesteel__Files;
struct Firesteel__Remove;
struct buf;
struct driver_client;
struct migration;
struct executor_transfer;
struct security;
struct remote_output;
struct shuffle_output;
struct shuffle_output_id;
struct stage_module;

struct executor_transfer_options {
        const struct fst_conf *conf;
        const struct security *security; /* NULL: connections are not encrypted */
        const char *bind;                /* listen address */
        const char *hostname;            /* of this executor and its shuffle service */
        const char *driver_host;         /* host of the driver's transfer server */
        int driver_port;                 /* 0: the driver has none */
        int cores;
        struct driver_client *asks;
        struct lost_executors *lost; /* executors that are not tried again */
        /* Called when block updates can be sent: executor_transfer_take_updates. Any thread. */
        void (*updated)(void *owner);
        void *owner;
};

/* Completes @env. Borrows @env and everything in @options. Returns negative with @error. */
int executor_transfer_new(struct exec_env *env, const struct executor_transfer_options *options,
                          struct executor_transfer **data, struct fst_error *error);

/* Closes the server and its streams. Tasks here can still fetch through the client. */
/* Handles BlockNames: copies each of these partitions, which lost a replica, to another executor. */
void executor_transfer_replicate(struct executor_transfer *data, const uint8_t *body, size_t len);

/* Stops the copying. Call it while the driver still replies. */
void executor_transfer_stop_copying(struct executor_transfer *data);

void executor_transfer_close(struct executor_transfer *data);

/* Removes all files when the process is about to end, even if tasks are running. */
void executor_transfer_leave_files(struct executor_transfer *data);

/* Call it after the last slot is freed and before the env is. NULL is allowed. */
void executor_transfer_free(struct executor_transfer *data);

int executor_transfer_port(const struct executor_transfer *data);

/* Appends BlockUpdates with the changes since the last call to @out. Any thread. */
void executor_transfer_take_updates(struct executor_transfer *data, struct buf *out);

/* From now on, the driver's transfer server is at @host:@port. On the loop's thread. */
void executor_transfer_set_driver(struct executor_transfer *data, const char *host, int port);

/* The map outputs that are here, in an array of *@n that the caller frees; none if they live elsewhere. */
struct shuffle_output_id *executor_transfer_list_outputs(struct executor_transfer *data, size_t *n);

/* Loads the module and fetches its file from the driver if needed. Blocks; any thread except the loop's. */
int executor_transfer_load_module(struct executor_transfer *data, const struct stage_module *module,
                                  struct fst_error *error);

/* Makes threads that wait for a module return -ECANCELED, because the executor ends. Any thread. */
void executor_transfer_stop_loading(struct executor_transfer *data);

/* Adds files of the application. On the loop's thread. */
void executor_transfer_add_files(struct executor_transfer *data, const struct Firesteel__Files *files);

/* Keeps a large result until the driver fetches it: 0, or negative with @error. Any thread. */
int executor_transfer_keep_result(struct executor_transfer *data, int64_t task_id, const void *bytes, size_t len,
                                  struct fst_error *error);

/* True if results wait for the driver. */
bool executor_transfer_keeps_results(struct executor_transfer *data);

/*
 * Starts to move partitions and map outputs to other executors. The caller owns *@migration and frees it before @data.
 * It is NULL if nothing is to be moved. @round_over runs on the migration's thread. Returns negative with @error.
 */
int executor_transfer_migrate(struct executor_transfer *data, void (*round_over)(void *owner), void *owner,
                              struct migration **migration, struct fst_error *error);

/*
 * Returns the port of the shuffle service that serves this executor's map outputs; 0: the executor serves them itself.
 */
int executor_transfer_service_port(const struct executor_transfer *data);

/*
 * Makes Celeborn the place of map outputs if spark.shuffle.manager says so; else the directory of the configuration, if
 * it names one, the place of map outputs, or of those that are left at the end of a decommissioned executor. No other
 * executor of the application, whichever driver had it, has the number @writer. Call it once, before the first task.
 * Returns 0, or negative with @error.
 */
int executor_transfer_use_store(struct executor_transfer *data, int32_t writer, int (*running)(void *owner),
                                void *owner, struct fst_error *error);

/*
 * True if the configuration puts all map outputs outside of executors: executor_transfer_publish takes them, once
 * executor_transfer_use_store has been called. Any thread.
 */
bool executor_transfer_publishes(const struct executor_transfer *data);

/*
 * Stores the outputs of tasks of one shuffle outside of executors, and sets the place of each. Borrows the outputs. All
 * or none are stored. Blocks. Any thread.
 */
int executor_transfer_publish(struct executor_transfer *data, int shuffle, struct remote_output *outputs, int n,
                              struct fst_error *error);

/* Keeps a stored output in memory, as long as nobody needs it, for tasks of this executor. Steals it. Any thread. */
void executor_transfer_keep_copy(struct executor_transfer *data, int shuffle, const struct remote_output *stored);

/*
 * Publishes a map output. With a shuffle service the output is first written to files. Returns negative with @error if
 * they have no room. Steals @output. Any thread.
 */
int executor_transfer_put_output(struct executor_transfer *data, int shuffle, int map_partition, int64_t task_id,
                                 struct shuffle_output *output, struct fst_error *error);

/* Removes one map output. On the loop's thread. */
void executor_transfer_remove_output(struct executor_transfer *data, int shuffle, int map_partition, int64_t task_id);

/* Removes everything that Remove names except stages and held runs. On the loop's thread. */
void executor_transfer_remove(struct executor_transfer *data, const struct Firesteel__Remove *remove);
