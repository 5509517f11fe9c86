/*
 * The application's side of Spark's launcher socket: reports the application's id and state to the process that
 * launched it (SparkLauncher in a JVM, Livy, a program that uses firesteel/submit.h), and receives its Stop.
 *
 * A launcher puts a loopback port and a secret into the environment (_SPARK_LAUNCHER_PORT, _SPARK_LAUNCHER_SECRET).
 * spark.launcher.port and spark.launcher.secret take precedence. The messages and their order are Spark's: a local
 * master reports RUNNING, one with executors SUBMITTED first. Both report FINISHED when the context stops or a signal
 * ends the process, even if jobs failed: the launcher derives FAILED from the exit status.
 *
 * If the launcher is gone, reports are dropped and the application continues.
 */
#pragma once

#include "rpc/launcher_wire.h"

struct fst_error;
struct launcher_backend;
struct strmap;

/*
 * Connect and send Hello. Returns 0, with *@backend NULL if neither @conf (may be NULL) nor the environment names a
 * launcher. Returns a negative status with @error for an invalid port or an unreachable launcher.
 *
 * @stop (backend, @context) is called once, on the backend's own thread, when the launcher sends Stop, maybe before
 * this function returns. It may call launcher_backend_set_state, but not launcher_backend_close.
 */
typedef void launcher_stop_fn(struct launcher_backend *b, void *context);
int launcher_backend_connect(const struct strmap *conf, launcher_stop_fn *stop, void *context,
                             struct launcher_backend **backend, struct fst_error *error);

/*
 * Report an id or a state, unless it was the last one reported. Nothing is sent after a final state. Any thread. NULL:
 * no launcher.
 */
void launcher_backend_set_app_id(struct launcher_backend *b, const char *id);
void launcher_backend_set_state(struct launcher_backend *b, enum launcher_state state);

/* Whether the launcher is still connected. */
bool launcher_backend_is_connected(struct launcher_backend *b);

/*
 * Close the connection, after a running call of `stop`. Waits at most a second until the launcher has read everything.
 * NULL is allowed.
 */
void launcher_backend_close(struct launcher_backend *b);
