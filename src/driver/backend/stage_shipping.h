/*
 * Sending stages to executors: each stage attempt is encoded once (exec/task/stage_wire.h), and sent to an executor
 * once, before the first of its tasks there. On the scheduler's thread.
 */
#pragma once

#include "exec/actions/stage_context.h"

struct driver_transfer;
struct remote_executor;
struct stage_shipping;

/* Never NULL. @data serves the modules' files. */
struct stage_shipping *stage_shipping_new(struct driver_transfer *data);
void stage_shipping_free(struct stage_shipping *shipping);

/* Make sure that @x was sent the stage: 0, or negative with @error for a stage that cannot travel. */
int stage_shipping_send(struct stage_shipping *shipping, struct stage_context *work, struct remote_executor *x,
                        struct fst_error *error);

/* Whether @x was sent it. */
bool stage_shipping_has(const struct stage_shipping *shipping, const struct stage_context *work,
                        const struct remote_executor *x);

/* Nothing more is launched of it. */
void stage_shipping_forget(struct stage_shipping *shipping, const struct stage_context *work);
