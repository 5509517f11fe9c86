/*
 * A client of one Hadoop service on a thread of its own. Any thread may call, and no call waits for the answer of
 * another: all travel over one connection, several in one packet if they come together.
 *
 *      r = hadoop_rpc_thread_new(connect, owner, &thread, error);
 *      hadoop_rpc_thread_call(thread, &call, &request);                    → call.done(call.owner, &result)
 *      hadoop_rpc_thread_free(thread);
 */
#pragma once

#include "hadoop/rpc_client.h"

struct hadoop_rpc_thread;

/* Makes the client on @loop: 0, or negative with @error. */
typedef int (*hadoop_rpc_connect)(void *owner, uv_loop_t *loop, struct hadoop_rpc_client **out,
                                  struct fst_error *error);

/* Calls @connect before it returns. The thread logs if the caller does. Returns 0, or negative with @error. */
int hadoop_rpc_thread_new(hadoop_rpc_connect connect, void *owner, struct hadoop_rpc_thread **out,
                          struct fst_error *error);

/* Takes the packed @request over. `done` runs exactly once, on the thread, and may call again, but not free. */
void hadoop_rpc_thread_call(struct hadoop_rpc_thread *t, const struct hadoop_rpc_call *call, struct buf *request);

/* Ends the calls without an answer with -ECANCELED, and returns when all have ended. NULL is allowed. */
void hadoop_rpc_thread_free(struct hadoop_rpc_thread *t);
