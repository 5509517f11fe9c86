/*
 * One connection of a Hadoop RPC client on a loop: resolves a host, tries its addresses one after another, and carries
 * the bytes of a session (hadoop/rpc_session.h).
 *
 *      r = hadoop_connection_new(loop, "host:8032", &options, &class, owner, &c, error);
 *      hadoop_connection_start(c);                                        → class.event, class.unreachable, …
 *      hadoop_rpc_session_call(hadoop_connection_session(c), …); hadoop_connection_flush(c);
 *      hadoop_connection_close(c);
 *
 * All functions run on the loop's thread. A callback may close the connection; none comes after that.
 */
#pragma once

#include "hadoop/rpc_session.h"

#include <uv.h>

struct fst_error;
struct hadoop_connection;

struct hadoop_connection_class {
        void (*event)(void *owner, const struct hadoop_rpc_event *event);
        /* No address of the host can be reached. @status is negative. The connection does nothing more: close it. */
        void (*unreachable)(void *owner, int status, const char *reason);
        /* A connection that worked has ended, or a write failed. The connection does nothing more: close it. */
        void (*broken)(void *owner, int status, const char *reason);
        /* After events, and when hadoop_connection_since_ms has changed. */
        void (*changed)(void *owner);
};

/*
 * @address ("host:port"), @options and @class are borrowed until hadoop_connection_close. Returns 0 and *@out; a
 * negative status with @error for a malformed address, or as hadoop_rpc_session_new.
 */
int hadoop_connection_new(uv_loop_t *loop, const char *address, const struct hadoop_rpc_options *options,
                          const struct hadoop_connection_class *class, void *owner, struct hadoop_connection **out,
                          struct fst_error *error);

/* Begins to connect. It may call unreachable before it returns. */
void hadoop_connection_start(struct hadoop_connection *c);

/* Parts from the owner. The memory goes when libuv has let go of it. NULL is allowed. */
void hadoop_connection_close(struct hadoop_connection *c);

/* Calls may be given to the session at once; hadoop_connection_flush sends them as soon as it is connected. */
struct hadoop_rpc_session *hadoop_connection_session(const struct hadoop_connection *c);
void hadoop_connection_flush(struct hadoop_connection *c); /* may call broken */

bool hadoop_connection_is_connected(const struct hadoop_connection *c);

/* Returns the time (now_ms) at which it began to connect to the present address. */
int64_t hadoop_connection_since_ms(const struct hadoop_connection *c);

/*
 * Gives up the present address of the host for the next one, which has the whole time to connect. Returns false if
 * there is none.
 */
bool hadoop_connection_try_next(struct hadoop_connection *c);
