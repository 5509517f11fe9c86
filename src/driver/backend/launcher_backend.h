/*
 * The application's side of Spark's launcher socket: tells whoever launched this process (SparkLauncher in a JVM, Livy,
 * a program that uses firesteel/submit.h) which application it became and what became of it, and takes its Stop.
 *
 * A launcher puts a port of this host's loopback and a secret into the environment (_SPARK_LAUNCHER_PORT,
 * _SPARK_LAUNCHER_SECRET); spark.launcher.port and spark.launcher.secret go before them. What is said and when is
 * Spark's: a local master says RUNNING, one with executors SUBMITTED before it, and both FINISHED when the context
 * stops or a signal ends the process, however its jobs ended: a launcher looks at the exit status as well, and makes
 * FAILED of it.
 *
 * A launcher that is gone is nothing to the application: what it would be told is dropped.
 */
#pragma once

#include "rpc/launcher_wire.h"

struct fst_error;
struct launcher_backend;
struct strmap;

/*
 * Connect and say Hello. *@backend is NULL, and 0 is returned, if neither @conf (may be NULL) nor the environment names
 * a launcher. Negative with @error when it is named and cannot be reached, or its port is none.
 *
 * @stop (backend, @context) is called, once, on the backend's own thread when the launcher says Stop, maybe before this
 * function has returned. It may call launcher_backend_set_state, never launcher_backend_close.
 */
typedef void launcher_stop_fn(struct launcher_backend *b, void *context);
int launcher_backend_connect(const struct strmap *conf, launcher_stop_fn *stop, void *context,
                             struct launcher_backend **backend, struct fst_error *error);

/*
 * Say it, unless it was the last that was said; nothing follows a final state. From any thread. NULL is no launcher.
 */
void launcher_backend_set_app_id(struct launcher_backend *b, const char *id);
void launcher_backend_set_state(struct launcher_backend *b, enum launcher_state state);

/* Whether the launcher is still there. */
bool launcher_backend_is_connected(struct launcher_backend *b);

/*
 * End the connection and release, after a call of `stop` that is underway. Waits at most a second for the launcher to
 * have heard everything. NULL is allowed.
 */
void launcher_backend_close(struct launcher_backend *b);
