/*
 * The executors that have registered with a cluster backend (Spark: executorDataMap): identity, address, running tasks,
 * and collected messages. Indexes are the scheduler's. Entries are never removed, so an index always means the same
 * executor.
 */
#pragma once

#include "base/buf.h"
#include "base/hash_table.h"
#include "exec/slot.h"
#include "rpc/control.pb-c.h"

#include <uv.h>

struct cluster_backend;
struct rpc_ref;

enum remote_executor_state { EXECUTOR_ALIVE, EXECUTOR_PENDING_LOSS, EXECUTOR_GONE };

struct remote_executor {
        struct cluster_backend *backend;
        int index; /* the scheduler's */
        char *id, *host;
        int cores, transfer_port, service_port; /* service_port: of the shuffle service with its map outputs; 0: none */
        int slots;                              /* at least `cores` */
        int computed; /* batches that gave their core back and keep a slot: at most slots - cores */
        enum remote_executor_state state;
        struct rpc_ref *ref;         /* its endpoint; NULL once gone */
        struct task_batch **running; /* by slot; NULL: idle */
        struct buf launches;         /* collected LaunchTasks */
        struct buf removals;         /* collected Remove messages */
        bool decommissioned;         /* its end is expected, and no task is blamed */
        char *decommission_reason;
        bool killed; /* the manager has been asked to end it */
        bool adopted; /* an earlier driver had it */
        VEC(int64_t) held; /* first tasks of batches that an earlier driver launched, that run and are not adopted */
        VEC(int) stale_rdds; /* of blocks that they have cached, and nobody wants */
        bool dirty;  /* in the list of executors to flush */
        struct remote_executor *next_dirty;
        int64_t heartbeat_ms, resident_bytes, memory, off_heap_memory;
        double disk_usage; /* of its fullest local directory, 0 to 1; 0: not reported */
        int64_t pid;
        uv_timer_t timeout; /* runs while it is decommissioned, if there is a time limit */
        uv_timer_t loss;    /* runs while the manager's reason is pending */
        struct strmap log_urls, attributes;
};

struct executor_table {
        struct remote_executor **at;
        int n, cap;
        struct object_table by_id; /* the latest executor with each id */
        int32_t *location_of; /* by index; see executor_table_locate */
        struct remote_executor *dirty;
};

/* Returns NULL for an invalid index. */
struct remote_executor *executor_table_at(struct executor_table *table, int index);

/* Returns the latest executor with this id, or NULL. */
struct remote_executor *executor_table_find(const struct executor_table *table, const char *id);

/*
 * Check a registration. Returns 0, or a negative status with @error for the executor and the log: -EEXIST for a
 * duplicate id, -EINVAL without cores, -ENOEXEC for another ABI, machine, or a libc too old for the modules.
 */
int executor_table_check(struct executor_table *table, const Firesteel__RegisterExecutor *r, struct fst_error *error);

/* Add an entry for a checked registration. */
struct remote_executor *executor_table_add(struct executor_table *table, const Firesteel__RegisterExecutor *r);

/* Mark an executor with collected messages. Take the next marked one, or NULL. */
void executor_table_mark_dirty(struct executor_table *table, struct remote_executor *x);
struct remote_executor *executor_table_take_dirty(struct executor_table *table);

/*
 * List the locations of map outputs: those of executors that are not gone, or whose outputs a shuffle service has.
 * table->location_of maps an executor's index to its location, or -1.
 */
void executor_table_locate(struct executor_table *table, struct shuffle_location **locations, int *n);

/* Put @run into a free slot. The caller knows that one is free. */
void executor_take_slot(struct remote_executor *x, struct task_batch *run);

/* Put @run, which the executor runs or has run, into its slot, or if that is taken into another. False: all are taken. */
bool executor_restore_slot(struct remote_executor *x, struct task_batch *run);

/* The batch of a status: in @slot, or one of an earlier driver in another. NULL: there is none. */
struct task_batch *executor_find_batch(const struct remote_executor *x, int slot, int64_t first_id);

/* Take @run out of its slot, if it is there. */
void executor_free_slot(struct remote_executor *x, const struct task_batch *run);

/* Note that the batch that begins with @task_id has given its core back. Returns false if it had or may not. */
bool executor_batch_computed(struct remote_executor *x, int64_t task_id);

/* Drop the connections, before the rpc env is closed. */
void executor_table_drop_refs(struct executor_table *table);
void executor_table_deinit(struct executor_table *table);
