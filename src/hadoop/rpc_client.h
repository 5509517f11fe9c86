/*
 * A client of one Hadoop service on a loop: connects when it is needed, sends calls, and goes on with the next address
 * when one is gone or on standby.
 *
 *      r = hadoop_rpc_client_new(loop, &options, &client, error);
 *      hadoop_rpc_client_call(client, &call, &request.base);              → call.done(call.owner, &result)
 *      r = hadoop_rpc_client_wait(client, &call, &request.base, &answer, error);     blocks: runs the loop
 *      hadoop_rpc_client_free(client);
 *
 * A call that was sent when its connection broke is sent again with the same id, so a service that has carried it out
 * recognises it; at once and to the same address if the connection was idle before. An answer that is an exception ends
 * the call, except for standby services (next address) and RetriableException (again). All functions run on the loop's
 * thread; `done` never runs inside hadoop_rpc_client_call.
 */
#pragma once

#include "hadoop/rpc_session.h"

#include <uv.h>

struct fst_error;
struct hadoop_rpc_client;

struct hadoop_rpc_client_options {
        struct hadoop_rpc_options session; /* `client_id` is drawn by hadoop_rpc_client_new */
        const char *const *addresses;      /* "host:port"; several are equal services of which one is active */
        size_t n_addresses;
        const char *service; /* "ResourceManager": for messages and the log */
        /* A time that is 0 or negative has its default. */
        int64_t connect_timeout_ms; /* of one attempt (ipc.client.connect.timeout); 20 s */
        int64_t answer_timeout_ms;  /* without an answer, the connection is given up (ipc.client.rpc-timeout.ms); 120 s
                                     */
        int64_t retry_ms;           /* between rounds over all addresses; 1 s */
        int64_t max_wait_ms; /* of a call: after it no further attempt begins; 0: one round; negative: no limit */
};

/* How a call ended. Borrowed for the callback; `answer` belongs to the callback. */
struct hadoop_rpc_result {
        int status; /* 0; -EREMOTEIO: the service threw `exception`; -ECONNREFUSED, -ETIMEDOUT, …: not reached;
                     * -EACCES: it refuses the client; -EBADMSG: a damaged answer */
        ProtobufCMessage *answer; /* with status 0; free with protobuf_c_message_free_unpacked */
        const char *exception;    /* Java's class, or "" */
        const char *message;      /* a sentence, or "" */
};

typedef void (*hadoop_rpc_done)(void *owner, struct hadoop_rpc_result *result);

struct hadoop_rpc_call {
        const char *method; /* "getNewApplication" */
        const ProtobufCMessageDescriptor *answer;
        hadoop_rpc_done done; /* hadoop_rpc_client_wait does not use it */
        void *owner;
};

/* All options are copied. 0, or -EINVAL with @error: no address, a malformed one, no token for HADOOP_RPC_TOKEN.
 */
int hadoop_rpc_client_new(uv_loop_t *loop, const struct hadoop_rpc_client_options *options,
                          struct hadoop_rpc_client **out, struct fst_error *error);

/* Pending calls are dropped: `done` is not called. The memory is released when the loop has run. NULL is allowed. */
void hadoop_rpc_client_free(struct hadoop_rpc_client *client);

/* Replaces the token: the next connection uses it; the open one stays. */
void hadoop_rpc_client_set_token(struct hadoop_rpc_client *client, const struct hadoop_token *token);

/* @request is packed before the function returns. @call is copied. */
void hadoop_rpc_client_call(struct hadoop_rpc_client *client, const struct hadoop_rpc_call *call,
                            const ProtobufCMessage *request);

/* The same with the packed @request, which the client takes over. */
void hadoop_rpc_client_call_packed(struct hadoop_rpc_client *client, const struct hadoop_rpc_call *call,
                                   struct buf *request);

/*
 * Calls and runs the loop until the answer is there. Returns 0 and *@answer, which the caller frees, or
 * hadoop_rpc_result's status with @error: "EXCEPTION: message" for a service's exception; its class without package
 * stands first.
 */
int hadoop_rpc_client_wait(struct hadoop_rpc_client *client, const struct hadoop_rpc_call *call,
                           const ProtobufCMessage *request, ProtobufCMessage **answer, struct fst_error *error);

/* Ends the present calls with -ECANCELED. */
void hadoop_rpc_client_cancel(struct hadoop_rpc_client *client);

/* Once the atomic @stopped is nonzero, hadoop_rpc_client_wait ends with -EINTR. Borrowed. */
void hadoop_rpc_client_set_stopped(struct hadoop_rpc_client *client, const int *stopped);

/* Replaces max_wait_ms for later calls. */
void hadoop_rpc_client_limit_wait(struct hadoop_rpc_client *client, int64_t max_wait_ms);

/* The address in use, or the one that is tried next: "rm1.example.com:8032". */
const char *hadoop_rpc_client_address(const struct hadoop_rpc_client *client);

/* The status of @result; a negative one with @error as hadoop_rpc_client_wait describes it. */
int hadoop_rpc_result_error(const struct hadoop_rpc_result *result, struct fst_error *error);

/* The class of an exception without its package, and whether it has this name. */
const char *hadoop_exception_name(const char *exception);
bool hadoop_exception_is(const char *exception, const char *name);

/* A copy of @message, which the caller frees with protobuf_c_message_free_unpacked. */
ProtobufCMessage *hadoop_message_copy(const ProtobufCMessage *message);
