/*
 * Sends stages to executors: encodes each stage attempt once (exec/task/stage_wire.h) and sends it to an executor once,
 * before the first of its tasks there. On the scheduler's thread.
 */
#pragma once

#include "exec/actions/stage_context.h"

struct driver_transfer;
struct remote_executor;
struct stage_shipping;

/* Never NULL. @data serves the modules' files. */
struct stage_shipping *stage_shipping_new(struct driver_transfer *data);
void stage_shipping_free(struct stage_shipping *shipping);

/*
 * Send @x the stage if it has not been sent. Returns 0, or a negative status with @error for a stage that cannot be
 * encoded.
 */
int stage_shipping_send(struct stage_shipping *shipping, struct stage_context *work, struct remote_executor *x,
                        struct fst_error *error);

/* Whether @x was sent the stage. */
bool stage_shipping_has(const struct stage_shipping *shipping, const struct stage_context *work,
                        const struct remote_executor *x);

/* No more tasks of the stage will be launched. */
void stage_shipping_forget(struct stage_shipping *shipping, const struct stage_context *work);
