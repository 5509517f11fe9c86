/* Cleans a worker's work directory (spark.worker.cleanup.*) on a thread of the loop's pool. */
#pragma once

#include "standalone/worker/worker_conf.h"
#include "standalone/worker/worker_state.h"

#include <uv.h>

/* Removes old directories of applications and drivers that are not running in @view. Returns at once. */
void worker_cleanup_start(uv_loop_t *loop, const struct worker_conf *conf, const struct worker_view *view);
