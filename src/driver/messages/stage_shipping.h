/*
 * Sends stages to executors: encodes each stage attempt once (exec/task/stage_wire.h) and sends it to an executor once,
 * before the first of its tasks there. On the scheduler's thread.
 *
 * The outboxes of all executors share the bytes of a stage. A stage that is large for the number of executors is
 * broadcast instead: its message has the id of a broadcast value, whose pieces executors fetch from each other. So
 * neither the memory nor the traffic of the driver grows with executors times bytes (Spark broadcasts the binary of each
 * stage's tasks, and lists of map outputs of at least spark.shuffle.mapOutput.minSizeForBroadcast).
 */
#pragma once

#include "exec/actions/stage_context.h"
#include "exec/task/stage_wire.h"
#include "rpc/control.pb-c.h"
#include "rpc/rpc.h"

struct stage_shipping;

/*
 * With fewer bytes for all executors together than MIN_BROADCAST_TRAFFIC, or for each than MIN_BROADCAST_STAGE, a stage
 * is sent directly: asking the driver for the places of a broadcast costs about as much as the bytes do.
 */
#define MIN_BROADCAST_STAGE ((size_t)32 << 10)
#define MIN_BROADCAST_TRAFFIC ((size_t)8 << 20)

/* The ids of these broadcasts have this bit, unlike those of broadcast variables. */
#define STAGE_BROADCAST ((int64_t)1 << 62)

struct stage_shipping_options {
        struct stage_modules_source modules; /* serves the modules' files */
        size_t broadcast_from; /* bytes: a larger stage is broadcast, however few the executors are */
        /* Stores the value of a broadcast (copied). Negative with @error: the stage is sent directly. */
        int (*broadcast)(void *owner, int64_t id, const void *data, size_t len, struct fst_error *error);
        /* Removes it here. Executors remove it with the stage. */
        void (*remove_broadcast)(void *owner, int64_t id);
        void *owner;
};

/* Never NULL. @options is copied. */
struct stage_shipping *stage_shipping_new(const struct stage_shipping_options *options);

/* NULL is allowed. Messages that are queued keep their bytes. */
void stage_shipping_free(struct stage_shipping *shipping);

/*
 * Send @executor, whose endpoint is @to and which is one of @executors, the stage if it has not been sent. Returns 0, or
 * a negative status with @error for a stage that cannot be encoded or is too large.
 */
int stage_shipping_send(struct stage_shipping *shipping, const struct stage_context *work, int executor,
                        struct rpc_ref *to, int executors, struct fst_error *error);

/*
 * The message for @executor, one of @executors: 1, or 0 if it has the stage; negative as stage_shipping_send. The caller
 * sends it as a STAGE and then calls stage_shipping_sent. @bytes has a reference, which sending releases.
 */
int stage_shipping_message(struct stage_shipping *shipping, const struct stage_context *work, int executor,
                           int executors, Firesteel__StageHeader *header, struct rpc_attachment *bytes,
                           struct fst_error *error);
void stage_shipping_sent(struct stage_shipping *shipping, const struct stage_context *work, int executor);

/* Whether the executor with this index was sent the stage. */
bool stage_shipping_has(const struct stage_shipping *shipping, const struct stage_context *work, int executor);

/* No more tasks of the stage will be launched. */
void stage_shipping_forget(struct stage_shipping *shipping, const struct stage_context *work);
