/* A standalone worker process: it offers its cores and memory to the leading master, and starts, watches and ends
 * executors and drivers on the master's command.
 *
 *      worker_server_new(loop, &conf, ended, owner, &server, &error);
 *      worker_server_start(server, "http://host:8081");
 *      uv_run(loop, UV_RUN_DEFAULT);
 *
 * Nothing here blocks: no child, master or download is waited for. When a master is lost, executors and drivers go
 * on. When the worker is lost, they exit, because they watch their connection to it.
 *
 * All functions run on the loop's thread.
 */
#pragma once

#include "standalone/worker/worker_conf.h"
#include "standalone/worker/worker_state.h"

#include <uv.h>

struct fst_error;
struct worker_server;

/* Creates the work directory, discovers custom resources (spark.worker.resource.*, running their scripts) and
 * listens. @conf must outlive the server. @ended is called once, from the loop, after worker_server_stop or a fatal
 * problem (no master, refused): all children have ended; exit with @status. Returns 0, or negative with @error.
 */
int worker_server_new(uv_loop_t *loop, const struct worker_conf *conf, void (*ended)(void *owner, int status),
                      void *owner, struct worker_server **out, struct fst_error *error);

/* Registers with the masters. @web_ui is the URL of its pages, "" without pages. */
void worker_server_start(struct worker_server *s, const char *web_ui);

/* Shuts down: ends executors and drivers, by force after 10 s, then calls `ended` with @status. */
void worker_server_stop(struct worker_server *s, int status);

/* Call it after `ended`, once the loop has run until no handle is left; or directly after a successful
 * worker_server_new.
 */
void worker_server_free(struct worker_server *s);

/* Accepts nothing new from now on, and notifies the master and the executors. Refused with a warning unless
 * spark.decommission.enabled.
 */
void worker_server_decommission(struct worker_server *s);

/* ----------------------------------------------------------------------------------------------- queries */

/* The worker's state (worker_state.h). Valid until the next loop iteration. */
const struct worker_view *worker_server_view(struct worker_server *s);
const char *worker_server_url(const struct worker_server *s); /* "spark://Worker@host:40112", for tests */
