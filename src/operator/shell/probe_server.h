/*
 * The small HTTP servers of the operator: /healthz and /readyz, and the metrics.
 *
 * Addresses are those of the flags: ":8081", "127.0.0.1:8081", "[::1]:8081"; "0" and "" listen nowhere.
 */
#pragma once

#include "base/buf.h"

#include <stdbool.h>
#include <uv.h>

struct fst_error;
struct probe_server;

struct probe_server_ops {
        bool (*ready)(void *owner); /* for /readyz */
        void (*metrics)(void *owner, struct buf *out);
};

/*
 * @metrics_path NULL: serve the probes, else the metrics at that path. Returns 0 with *@out NULL if @address listens
 * nowhere, or negative with @error: an invalid address, a port that is taken.
 */
int probe_server_new(uv_loop_t *loop, const char *address, const char *metrics_path, const struct probe_server_ops *ops,
                     void *owner, struct probe_server **out, struct fst_error *error);
void probe_server_free(struct probe_server *s); /* NULL is allowed */
