/* The cleaning of a worker's work directory (spark.worker.cleanup.*), on a thread of the loop's pool. */
#pragma once

#include "standalone/worker/worker_conf.h"
#include "standalone/worker/worker_state.h"

#include <uv.h>

/* Remove what applications and drivers left that do not run in @view, and that is old enough. Returns at once. */
void worker_cleanup_start(uv_loop_t *loop, const struct worker_conf *conf, const struct worker_view *view);
