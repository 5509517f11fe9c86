/*
 * Bulk data of a driver with remote executors. Its transfer server serves files, modules, slices of parallelize and
 * pieces of broadcast variables. Its block master knows the locations of blocks. Its client fetches large results.
 *
 * Other threads queue work (a result has arrived, an RDD was unpersisted) and wake the scheduler's thread, which calls
 * driver_transfer_take.
 */
#pragma once

#include "exec/task/stage_wire.h"
#include "rpc/control.pb-c.h"

#include <uv.h>

struct driver_transfer;
struct fst_context;
struct remote_executor;
struct rpc_message;
struct security;
struct stage_shipping;

struct unpersist_wait;

struct driver_transfer_ops {
        void (*wake)(void *owner); /* any thread */

        /* Send an executor that has a part of it (@executor) the Remove. From driver_transfer_take. */
        void (*remove)(void *owner, int executor, const Firesteel__Remove *removal);
        /*
         * Make all executors remove the RDD, because they may have parts that are not known yet. With @wait, expect
         * each of them and answer once it has replied or never will (driver/backend/unpersist_wait.h).
         */
        void (*remove_rdd)(void *owner, int rdd, struct unpersist_wait *wait);
        /* Ask an executor to copy partitions to others. From driver_transfer_remove_executor. */
        void (*replicate)(void *owner, int executor, const Firesteel__BlockNames *names);
        /*
         * A large result has arrived: @bytes, which the callee owns, or NULL with @status and @message. @cookie is that
         * of driver_transfer_fetch_result.
         */
        void (*result)(void *owner, void *cookie, void *bytes, size_t len, int status, const char *message);
        /* Files were added: send them to executors. */
        void (*files)(void *owner, const Firesteel__Files *files);
        /* The executor has a partition of a persisted RDD, or (neither) has lost it. The RDD is no longer persisted. */
        void (*rdd_block)(void *owner, int executor, int rdd, int partition, bool in_memory, bool on_disk);
        void (*rdd_unpersisted)(void *owner, int rdd);
};

/* Returns 0, or a negative status with @error: no free port, no crypto module, or an unreadable file of spark.files. */
int driver_transfer_new(struct fst_context *sc, const struct security *security, const struct driver_transfer_ops *ops,
                        void *owner, struct driver_transfer **data, struct fst_error *error);

/* Returns the port of its transfer server. */
int driver_transfer_port(const struct driver_transfer *data);

/* Called after all executors are gone. May call `wake` until it returns. NULL is allowed. */
void driver_transfer_free(struct driver_transfer *data);

/*
 * Do the queued work of other threads through the operations. Returns false if there was none. This and all functions
 * below run on the scheduler's thread.
 */
bool driver_transfer_take(struct driver_transfer *data);

/* Fill in the transfer part of the executors' configuration, borrowed from @data. */
const Firesteel__Files *driver_transfer_files(struct driver_transfer *data); /* valid until the next call */
void driver_transfer_describe(struct driver_transfer *data, Firesteel__AppConfig *config);

void driver_transfer_add_executor(struct driver_transfer *data, const struct remote_executor *x);
/* The executor will stop: it receives no more replicas. */
void driver_transfer_decommission(struct driver_transfer *data, const struct remote_executor *x);
void driver_transfer_remove_executor(struct driver_transfer *data, const struct remote_executor *x);

/* Handle BLOCK_UPDATES, BLOCK_LOCATIONS and GET_PEERS of an executor. */
void driver_transfer_updates(struct driver_transfer *data, const struct remote_executor *x,
                             const struct rpc_message *m);
void driver_transfer_locations(struct driver_transfer *data, const struct remote_executor *x, struct rpc_message *m);
void driver_transfer_peers(struct driver_transfer *data, const struct remote_executor *x, struct rpc_message *m);

/* Takes one update. Returns the RDD of a cached partition that is stored, or -1. */
int driver_transfer_update(struct driver_transfer *data, const struct remote_executor *x,
                           const Firesteel__BlockUpdate *update);

/* Forgets where partitions of an RDD are. */
void driver_transfer_forget_rdd(struct driver_transfer *data, int rdd);

/* Find at most @max executors that have cached a partition, by the scheduler's index. Returns their number. */
int driver_transfer_cached_on(struct driver_transfer *data, int rdd, int partition, int *executors, int max);

/* Serve a module's file. As struct stage_modules_source.identify. */
int driver_transfer_identify(void *data, const struct module *module, struct stage_module *file,
                             struct fst_error *error);

/*
 * Makes the object that sends stages, whose modules and broadcasts @data serves. Free it before @data. @loop, the
 * scheduler's, runs timers of @data, and once more after driver_transfer_free.
 */
struct stage_shipping *driver_transfer_ship_stages(struct driver_transfer *data, uv_loop_t *loop);

/* Fetch a result from @x. `result` is called later. If the driver ends first, @cookie is only freed. */
void driver_transfer_fetch_result(struct driver_transfer *data, const struct remote_executor *x, int64_t task_id,
                                  size_t size, void *cookie);
