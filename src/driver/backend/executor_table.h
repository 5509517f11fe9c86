/*
 * The executors that have registered with a cluster backend (Spark's executorDataMap): who and where they are, what
 * runs on them, and what is waiting to be sent to them. Numbered as the scheduler numbers them; entries stay to the
 * end, so that a number always says who it was.
 */
#pragma once

#include "base/buf.h"
#include "exec/slot.h"
#include "rpc/control.pb-c.h"

#include <uv.h>

struct cluster_backend;
struct rpc_ref;

enum executor_state { EXECUTOR_ALIVE, EXECUTOR_PENDING_LOSS, EXECUTOR_GONE };

struct remote_executor {
        struct cluster_backend *backend;
        int index; /* the scheduler's */
        char *id, *host;
        int cores, transfer_port, service_port; /* the last: of the service that has its map outputs; 0: none */
        enum executor_state state;
        struct rpc_ref *ref;         /* its endpoint; NULL once it is gone */
        struct task_batch **running; /* by slot; NULL: idle */
        struct buf launches;         /* LaunchTasks to be sent */
        struct buf removals;         /* Remove to be sent */
        bool decommissioned;         /* told to end: its end is nobody's fault */
        char *decommission_reason;
        bool killed; /* its manager was told to end it */
        bool dirty;  /* it is on the list of those to be flushed */
        struct remote_executor *next_dirty;
        int64_t heartbeat_ms, resident_bytes, memory, off_heap_memory;
        int64_t pid;
        uv_timer_t timeout; /* runs while it is decommissioned, if that is to take only so long */
        uv_timer_t loss;    /* runs while the reason of its loss is awaited */
        struct strmap log_urls, attributes;
};

struct executor_table {
        struct remote_executor **at;
        int n, cap;
        int32_t *location_of; /* by number: see executor_table_locate */
        struct remote_executor *dirty;
};

/* NULL for a number that there is not. */
struct remote_executor *executor_table_at(struct executor_table *table, int index);

/* The latest with this id; NULL if there is none. */
struct remote_executor *executor_table_find(struct executor_table *table, const char *id);

/*
 * Whether a registration is acceptable: 0, or -EEXIST, -EINVAL, -ENOEXEC with @error, which the executor and the log
 * are told: the id is taken, no cores, another ABI, machine, or an older libc than the modules may need.
 */
int executor_table_check(struct executor_table *table, const Firesteel__RegisterExecutor *r, struct fst_error *error);

/* A new entry for a registration that was checked. */
struct remote_executor *executor_table_add(struct executor_table *table, const Firesteel__RegisterExecutor *r);

/* Something was appended to what is to be sent; and the next executor of which that is so, or NULL. */
void executor_table_mark_dirty(struct executor_table *table, struct remote_executor *x);
struct remote_executor *executor_table_take_dirty(struct executor_table *table);

/* The places of map outputs: those of executors that are not gone, or whose outputs a service has; table->location_of
 * gives the number's index, or -1.
 */
void executor_table_locate(struct executor_table *table, struct shuffle_location **locations, int *n);

/* Take a free slot for @run, of which there is one. */
void executor_take_slot(struct remote_executor *x, struct task_batch *run);

/* Give up the connections, before the rpc env is closed. */
void executor_table_drop_refs(struct executor_table *table);
void executor_table_deinit(struct executor_table *table);
