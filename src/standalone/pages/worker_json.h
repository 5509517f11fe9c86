/* The worker's state as JSON, with the field names of Spark 4.3's JsonProtocol. */
#pragma once

#include "base/buf.h"
#include "standalone/worker/worker_state.h"

void worker_json_put(const struct worker_view *v, struct buf *out);
