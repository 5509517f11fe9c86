/* A standalone master process: the pure core (master_core.h) with connections, a clock and durable records.
 *
 *      master_server_new(loop, &conf, ended, owner, &server, &error);
 *      uv_run(loop, UV_RUN_DEFAULT);                      → workers and applications come and go
 *      master_server_close(server);                       → everything is freed after the loop has run on
 *
 * In each loop iteration the core first gets all events, then places once, then its messages leave. Messages after a
 * stored record leave when that record is durable.
 *
 * Pages, the REST server and other users in this process call the functions below on the loop's thread. The functions
 * check no permissions: callers must.
 */
#pragma once

#include "standalone/master/master_conf.h"
#include "standalone/wire/standalone_wire.h"

#include <stdbool.h>
#include <uv.h>

struct fst_error;
struct master_server;

/* Listens and stands for election. @conf must outlive the server. @ended is called at most once, from the loop: exit
 * with @status, because this master no longer leads (0) or can never lead (1). Returns 0, or negative with @error:
 * the port is in use, spark.authenticate has no secret, the recovery directory is not writable, …
 */
int master_server_new(uv_loop_t *loop, const struct master_conf *conf, void (*ended)(void *owner, int status),
                      void *owner, struct master_server **out, struct fst_error *error);

/* Flushes messages for a moment, then closes. The loop must run until everything is closed and freed. */
void master_server_close(struct master_server *s);

/* ----------------------------------------------------------------------------------------------- queries */

/* The core's state (master_state.h). Valid until the next loop iteration. */
const struct master *master_server_state(const struct master_server *s);
const char *master_server_url(const struct master_server *s); /* "spark://host:7077", for tests */

/* The core's time (last_heartbeat), in ms. */
int64_t master_server_now(void);

/* ----------------------------------------------------------------------------------------------- requests */

/* Receives the result of a request; @reply is valid during the call. Never called from within the request. */
typedef void master_replied(void *owner, const struct master_reply *reply);

/* The reply comes once its records are durable. Never if this master ends before. Refused (reply.success false)
 * unless the master is ALIVE. The caller has checked that the driver can run here (driver_validation).
 */
void master_server_submit(struct master_server *s, const struct driver_spec *driver, master_replied *replied,
                          void *owner);
void master_server_kill(struct master_server *s, const char *driver_id, master_replied *replied, void *owner);
void master_server_kill_all(struct master_server *s, master_replied *replied, void *owner);
void master_server_clear(struct master_server *s, master_replied *replied, void *owner);

/* The kill button of an application. Returns false for an unknown application. */
bool master_server_kill_app(struct master_server *s, const char *app_id);

/* Decommissions all workers on these hosts and returns their number; 0 if this master does not lead. */
int master_server_decommission(struct master_server *s, const char *const *hosts, int n);
