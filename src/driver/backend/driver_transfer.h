/*
 * The wide side of a driver whose executors are processes: its transfer server gives them files, modules, slices of
 * parallelize and pieces of broadcast variables; its table says which executor has which block; through its client,
 * large results are fetched.
 *
 * What other threads cause (a result has come, an RDD was unpersisted) is kept until the scheduler's thread, which is
 * woken, asks: driver_transfer_take.
 */
#pragma once

#include "exec/task/stage_wire.h"
#include "rpc/control.pb-c.h"

struct driver_transfer;
struct fst_context;
struct remote_executor;
struct rpc_message;
struct security;

struct unpersist_wait;

struct driver_transfer_ops {
        void (*wake)(void *owner); /* any thread */

        /* From driver_transfer_take: executors that have something of it (@executor) are to forget it. */
        void (*remove)(void *owner, int executor, const Firesteel__Remove *removal);
        /*
         * All executors are to forget the RDD, as they may have parts of it that are not known yet. With @wait each of
         * those that are asked is expected, and has answered (driver/backend/unpersist_wait.h) when it did or never
         * will.
         */
        void (*remove_rdd)(void *owner, int rdd, struct unpersist_wait *wait);
        /* From driver_transfer_remove_executor: that executor is to copy partitions to others. */
        void (*replicate)(void *owner, int executor, const Firesteel__BlockNames *names);
        /* A large result: bytes to be taken, or NULL and why. @cookie is that of driver_transfer_fetch_result. */
        void (*result)(void *owner, void *cookie, void *bytes, size_t len, int status, const char *message);
        /* Files were added: executors are to know. */
        void (*files)(void *owner, const Firesteel__Files *files);
        /* A partition of a persisted RDD lies there, or (neither) no more; the RDD is persisted nowhere any more. */
        void (*rdd_block)(void *owner, int executor, int rdd, int partition, bool in_memory, bool on_disk);
        void (*rdd_unpersisted)(void *owner, int rdd);
};

/* Negative with @error: no port, the crypto module is missing, a file of spark.files cannot be read. */
int driver_transfer_new(struct fst_context *sc, const struct security *security, const struct driver_transfer_ops *ops,
                        void *owner, struct driver_transfer **data, struct fst_error *error);

/* Executors are gone; `wake` may be called until it returns. NULL is allowed. */
void driver_transfer_free(struct driver_transfer *data);

/*
 * Do what other threads have left, by the operations; false if there was nothing. The scheduler's thread, as all below.
 */
bool driver_transfer_take(struct driver_transfer *data);

/* What executors are told with the configuration: borrowed from @data. */
const Firesteel__Files *driver_transfer_files(struct driver_transfer *data); /* borrowed until the next call */
void driver_transfer_describe(struct driver_transfer *data, Firesteel__AppConfig *config);

void driver_transfer_add_executor(struct driver_transfer *data, const struct remote_executor *x);
/* It goes: it takes no replicas any more. */
void driver_transfer_decommission(struct driver_transfer *data, const struct remote_executor *x);
void driver_transfer_remove_executor(struct driver_transfer *data, const struct remote_executor *x);

/* BLOCK_UPDATES, BLOCK_LOCATIONS and GET_PEERS of an executor. */
void driver_transfer_updates(struct driver_transfer *data, const struct remote_executor *x,
                             const struct rpc_message *m);
void driver_transfer_locations(struct driver_transfer *data, const struct remote_executor *x, struct rpc_message *m);
void driver_transfer_peers(struct driver_transfer *data, const struct remote_executor *x, struct rpc_message *m);

/* Where a partition is cached: at most @max of the scheduler's numbers; returns how many. */
int driver_transfer_cached_on(struct driver_transfer *data, int rdd, int partition, int *executors, int max);

/* As struct stage_modules_source.identify: serve the module's file. */
int driver_transfer_identify(void *data, const struct module *module, struct stage_module *file,
                             struct fst_error *error);

/* Fetch a result that waits in @x; told by `result`, later, unless the driver ends: then @cookie is only freed. */
void driver_transfer_fetch_result(struct driver_transfer *data, const struct remote_executor *x, int64_t task_id,
                                  size_t size, void *cookie);
