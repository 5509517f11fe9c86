/*
 * The Py4J server: listens on the loopback address and serves each connection on a thread of its own, so that what a
 * thread of the program sets (local properties, a job group) belongs to the thread of its connection.
 *
 * A connection must first prove the secret. Before that it can send PY4J_MAX_GREETING bytes within 15 seconds.
 *
 * A program that is interrupted while it waits for an answer sends its next command at once, to cancel the jobs. The
 * server then executes that command although the earlier one still runs, and answers it first. Python refuses to read
 * that answer inside the interrupted read: the program then closes the connection, before its second command (sc(),
 * then cancelAllJobs()) and without a retry. The server tells the gateway of such a close,
 * py4j_gateway_options.interrupted.
 */
#pragma once

#include <stddef.h>

struct fst_error;
struct py4j_gateway;
struct py4j_server;

#define PY4J_MAX_GREETING 512

/* A command has at most as many bytes: more than the largest function that Python sends by Py4J. */
#define PY4J_MAX_COMMAND ((size_t)1 << 30)

/*
 * Starts the threads. @secret is copied. Returns 0 with the port in *@port, or negative with @error. The server runs
 * until the process ends, or py4j_server_stop. @gateway must live as long.
 */
int py4j_server_start(struct py4j_gateway *gateway, const char *secret, struct py4j_server **out, int *port,
                      struct fst_error *error);

/* Closes all connections, waits for the commands that run, and frees the server. For tests. */
void py4j_server_stop(struct py4j_server *server);
