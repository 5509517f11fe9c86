/* The cleaning of a worker's work directory (spark.worker.cleanup.*), on a thread of the loop's pool. */
#pragma once

#include "deploy/standalone/worker_conf.h"
#include "deploy/standalone/worker_state.h"

#include <uv.h>

/* Remove what applications and drivers left that do not run in @view, and that is old enough. Returns at once. */
void worker_cleanup_start(uv_loop_t *loop, const struct worker_conf *conf, const struct worker_view *view);
