/*
 * The server that R's SparkR calls instead of a JVM's: on the loopback interface, each connection with the secret
 * first. A thread for each connection reads a request, carries it out (r_calls.h) and answers. While a call runs, a
 * sign of life goes to R every spark.r.heartBeatInterval seconds.
 */
#pragma once

#include "sparkr/r_calls.h"

struct r_backend;

/*
 * Listens and starts to serve @world, which is borrowed. @heartbeat is in seconds. Returns 0, or negative with @error.
 */
int r_backend_start(struct r_world *world, int heartbeat, struct r_backend **backend, struct fst_error *error);

int r_backend_port(const struct r_backend *backend);
const char *r_backend_secret(const struct r_backend *backend);

/*
 * Listens for the connection whose end means that R has ended. Returns 0 with the port. After @timeout seconds without
 * it, R counts as ended.
 */
int r_backend_watch_r(struct r_backend *backend, int timeout, int *port, struct fst_error *error);

/* Waits until R stops the backend or has ended. Any thread. */
void r_backend_wait(struct r_backend *backend);

/* Ends all threads and frees the backend. Calls that run are cancelled with their jobs. NULL is allowed. */
void r_backend_stop(struct r_backend *backend);
