/*
 * One connection of Hadoop's RPC, version 9, as a client: authentication, calls, answers. It opens no socket: bytes go
 * in and come out, so that a loop, a blocking caller, tests and fuzzers drive it alike.
 *
 *      r = hadoop_rpc_session_new(&options, &session, error);
 *      hadoop_rpc_session_call(session, id, 0, "getNewApplication", request.data, request.len);
 *      send hadoop_rpc_session_output(session); hadoop_rpc_session_input(session, bytes, n);
 *      while (hadoop_rpc_session_next(session, &event)) …
 *
 * Calls may be made at once; they are sent when the server has accepted the client. Several calls may be outstanding;
 * answers come in any order. After HADOOP_RPC_BROKEN the session takes nothing more.
 *
 * The wire: "hrpc", version, service class, authentication; then frames of a 32-bit length, a delimited header and a
 * delimited body. With SASL that protects (auth-int, auth-conf), frames travel inside SASL frames.
 */
#pragma once

#include "base/buf.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct fst_error;
struct hadoop_rpc_session;
struct hadoop_token;

/* A longer frame from the server breaks the session, as ipc.maximum.response.length does by default. */
#define HADOOP_RPC_MAX_FRAME ((size_t)128 << 20)
#define HADOOP_RPC_CLIENT_ID 16

enum hadoop_rpc_auth {
        HADOOP_RPC_SIMPLE,   /* the server believes `user` */
        HADOOP_RPC_TOKEN,    /* `token` */
        HADOOP_RPC_KERBEROS, /* the ticket of the calling thread's cache */
};

struct hadoop_rpc_options {
        const char *protocol; /* "org.apache.hadoop.yarn.api.ApplicationClientProtocolPB" */
        enum hadoop_rpc_auth auth;
        const char *user;      /* SIMPLE: who calls. KERBEROS: whom the caller acts for, or NULL for itself */
        const char *real_user; /* SIMPLE with a proxy user: who really calls; else NULL */
        /* KERBEROS: the server must have this principal: "rm/_HOST@REALM", where _HOST is
         * hadoop_rpc_session_set_host's, or a pattern of the shell. NULL: the server is refused with the name of the
         * missing key @principal_key. */
        const char *server_principal, *principal_key;
        const struct hadoop_token *token; /* borrowed until hadoop_rpc_session_new returns */
        /* A server that offers SIMPLE to a client with TOKEN or KERBEROS is refused unless
         * ipc.client.fallback-to-simple-auth-allowed is true. */
        bool allow_fallback;
        unsigned char client_id[HADOOP_RPC_CLIENT_ID]; /* random; servers recognise repeated calls by it */
};

enum hadoop_rpc_event_type {
        HADOOP_RPC_READY,  /* authenticated */
        HADOOP_RPC_ANSWER, /* `body` answers `call_id` */
        HADOOP_RPC_ERROR,  /* the call failed; the session goes on */
        HADOOP_RPC_BROKEN, /* the session is over; `exception` is "" when another attempt may succeed */
};

/* Strings and bytes are borrowed until the next call of hadoop_rpc_session_next or _input. */
struct hadoop_rpc_event {
        enum hadoop_rpc_event_type type;
        int32_t call_id;
        const void *body;
        size_t len;
        const char *exception; /* Java's class */
        const char *message;   /* the first line; without Java's stack */
};

/* Returns 0 and *@out; -ENOENT or -ELIBBAD with @error without the SASL module. */
int hadoop_rpc_session_new(const struct hadoop_rpc_options *options, struct hadoop_rpc_session **out,
                           struct fst_error *error);
void hadoop_rpc_session_free(struct hadoop_rpc_session *s);

/* Names the server for _HOST in its principal, before its first bytes are taken. Borrowed for the call. */
void hadoop_rpc_session_set_host(struct hadoop_rpc_session *s, const char *host);

/*
 * Sends a call, once the session is ready. @call_id is not negative and not in use. @retry counts the attempts before
 * this one with the same id and client id. @request is a packed message of @len bytes.
 */
void hadoop_rpc_session_call(struct hadoop_rpc_session *s, int32_t call_id, int32_t retry, const char *method,
                             const void *request, size_t len);

/* Appends the packed @message. */
void hadoop_message_pack(const ProtobufCMessage *message, struct buf *out);

/* Bytes that came from the server. */
void hadoop_rpc_session_input(struct hadoop_rpc_session *s, const void *data, size_t len);

/* Takes the next event. False: there is none until more input. */
bool hadoop_rpc_session_next(struct hadoop_rpc_session *s, struct hadoop_rpc_event *out);

/* Bytes to send. The caller empties the buffer as it sends them. */
struct buf *hadoop_rpc_session_output(struct hadoop_rpc_session *s);
