/*
 * A standalone worker as a process has it: it offers its cores and memory to the master that leads, and starts, watches
 * and ends the executors and drivers that this one wants.
 *
 *      worker_server_new(loop, &conf, ended, owner, &server, &error);
 *      worker_server_start(server, "http://host:8081");
 *      uv_run(loop, UV_RUN_DEFAULT);
 *
 * Nothing here waits: not for a child, not for a master, not for a download. A master that is gone leaves what runs
 * alone; a worker that is gone takes what it started with it: its children watch their connection to it.
 *
 * On the loop's thread, all of it.
 */
#pragma once

#include "standalone/worker/worker_conf.h"
#include "standalone/worker/worker_state.h"

#include <uv.h>

struct fst_error;
struct worker_server;

/*
 * Make the work directory, find the custom resources (spark.worker.resource.*, whose scripts are run) and listen. @conf
 * stays while the server does. @ended is called once, from the loop, after worker_server_stop or when it cannot go on
 * (no master, refused): everything that it started has ended, and this process is to exit with @status. 0, or negative
 * with @error.
 */
int worker_server_new(uv_loop_t *loop, const struct worker_conf *conf, void (*ended)(void *owner, int status),
                      void *owner, struct worker_server **out, struct fst_error *error);

/* Register with the masters. @web_ui is where its pages are, "" without pages. */
void worker_server_start(struct worker_server *s, const char *web_ui);

/* End in order: executors and drivers are ended, by force after 10 s; then `ended` with @status. */
void worker_server_stop(struct worker_server *s, int status);

/* After `ended`, once the loop has run until nothing is left; or at once after a worker_server_new that went well. */
void worker_server_free(struct worker_server *s);

/*
 * Take nothing new from now on, tell the master and the executors. Refused with a warning unless
 * spark.decommission.enabled.
 */
void worker_server_decommission(struct worker_server *s);

/* ------------------------------------------------------------------------------------------- for who looks */

/* Everything that it has (worker_state.h); valid until the loop turns. */
const struct worker_view *worker_server_view(struct worker_server *s);
const char *worker_server_url(const struct worker_server *s); /* "spark://Worker@host:40112" */
