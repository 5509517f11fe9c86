/*
 * A standalone master as a process has it: the pure core (master_core.h) with connections, a clock, and records that
 * are kept.
 *
 *      master_server_new(loop, &conf, ended, owner, &server, &error);
 *      uv_run(loop, UV_RUN_DEFAULT);                      → workers and applications come and go
 *      master_server_close(server);                       → once the loop has turned, everything is freed
 *
 * Whatever arrives in one turn of the loop is told to the core first; then it places once; then what it says leaves.
 * What it says after a record was stored leaves when that record is durable.
 *
 * Pages, the REST server and whoever else lives in this process use the functions below, on the loop's thread. They
 * check no rights: that is their callers' part.
 */
#pragma once

#include "standalone/master/master_conf.h"
#include "standalone/wire/standalone_wire.h"

#include <stdbool.h>
#include <uv.h>

struct fst_error;
struct master_server;

/*
 * Listen and stand for election. @conf stays while the server does. @ended is called at most once, from the loop: this
 * master is to end with @status: it does not lead any more (0), or never will (1). 0, or negative with @error: the port
 * is taken, spark.authenticate without a secret, a recovery directory that cannot be written, …
 */
int master_server_new(uv_loop_t *loop, const struct master_conf *conf, void (*ended)(void *owner, int status),
                      void *owner, struct master_server **out, struct fst_error *error);

/* What was said is still sent, for a moment. Frees it when the loop has turned until nothing is left of it. */
void master_server_close(struct master_server *s);

/* ------------------------------------------------------------------------------------------- for who looks */

/* Everything that it knows (master_state.h); valid until the loop turns. */
const struct master *master_server_state(const struct master_server *s);
const char *master_server_url(const struct master_server *s); /* "spark://host:7077" */

/* The time as the core counts it (last_heartbeat), in ms. */
int64_t master_server_now(void);

/* ------------------------------------------------------------------------------------- for who wants something */

/* What became of a request; @reply is valid during the call. Never called from within the request. */
typedef void master_replied(void *owner, const struct master_reply *reply);

/*
 * The reply comes once what it says is durable; not at all if this master ends before. Refused (reply.success false)
 * unless the master is ALIVE. The caller has found that the driver can run here (driver_check).
 */
void master_server_submit(struct master_server *s, const struct driver_spec *driver, master_replied *replied,
                          void *owner);
void master_server_kill(struct master_server *s, const char *driver_id, master_replied *replied, void *owner);
void master_server_kill_all(struct master_server *s, master_replied *replied, void *owner);
void master_server_clear(struct master_server *s, master_replied *replied, void *owner);

/* The kill button of an application. False: there is no such application. */
bool master_server_kill_app(struct master_server *s, const char *app_id);

/* All workers on these hosts take nothing new; how many that are. 0 if this master does not lead. */
int master_server_decommission(struct master_server *s, const char *const *hosts, int n);
