/*
 * The messages in Celeborn's frames: a type and a protobuf message of celeborn.proto, in three encodings.
 *
 *      Java     RPC of masters and workers: a serialized object of TransportMessage, behind an address and the name of
 *               an endpoint. The form of Celeborn 0.5, which 0.6 understands too. Answers have two forms of it.
 *      V2       0xff | type i32 | length i32 | protobuf: an answer may have it.
 *      data     type i32 | length i32 | protobuf: push and fetch ports, both ways.
 */
#pragma once

#include "base/buf.h"

#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stdint.h>

struct celeborn_frame;
struct fst_error;

enum celeborn_message_type {
        CELEBORN_REQUEST_SLOTS = 6,
        CELEBORN_REQUEST_SLOTS_RESPONSE = 9,
        CELEBORN_UNREGISTER_SHUFFLE = 16,
        CELEBORN_UNREGISTER_SHUFFLE_RESPONSE = 17,
        CELEBORN_APPLICATION_LOST = 18,
        CELEBORN_APPLICATION_LOST_RESPONSE = 19,
        CELEBORN_HEARTBEAT_FROM_APPLICATION = 20,
        CELEBORN_REPORT_WORKER_UNAVAILABLE = 25,
        CELEBORN_RESERVE_SLOTS = 28,
        CELEBORN_RESERVE_SLOTS_RESPONSE = 29,
        CELEBORN_COMMIT_FILES = 30,
        CELEBORN_COMMIT_FILES_RESPONSE = 31,
        CELEBORN_DESTROY_WORKER_SLOTS = 32,
        CELEBORN_DESTROY_WORKER_SLOTS_RESPONSE = 33,
        CELEBORN_ONE_WAY_RESPONSE = 40,
        CELEBORN_HEARTBEAT_RESPONSE = 49, /* HeartbeatFromApplicationResponse */
        CELEBORN_OPEN_STREAM = 51,
        CELEBORN_STREAM_HANDLER = 52,
        CELEBORN_BUFFER_STREAM_END = 60,
        CELEBORN_CHUNK_FETCH_REQUEST = 63,
        CELEBORN_SASL_REQUEST = 71,
        CELEBORN_AUTHENTICATION_INITIATION = 72,
        CELEBORN_AUTHENTICATION_INITIATION_RESPONSE = 73,
        CELEBORN_REGISTER_APPLICATION = 74,
        CELEBORN_REGISTER_APPLICATION_RESPONSE = 75,
        CELEBORN_OPEN_STREAM_LIST = 80,
        CELEBORN_OPEN_STREAM_LIST_RESPONSE = 81,
        CELEBORN_REVISE_LOST_SHUFFLES = 89,
        CELEBORN_REVISE_LOST_SHUFFLES_RESPONSE = 90,
        CELEBORN_SPLIT_PARTITION_INFO = 91, /* PushMergedDataSplitPartitionInfo */
};

/* StatusCode: one byte in answers to pushes, a field in messages, a name in the text of failures. */
enum celeborn_status {
        CELEBORN_SUCCESS = 0,
        CELEBORN_PARTIAL_SUCCESS = 1,
        CELEBORN_REQUEST_FAILED = 2,
        CELEBORN_SHUFFLE_UNREGISTERED = 4,
        CELEBORN_RESERVE_SLOTS_FAILED = 5,
        CELEBORN_SLOT_NOT_AVAILABLE = 6,
        CELEBORN_REVIVE_FAILED = 12,
        CELEBORN_MAP_ENDED = 15,
        CELEBORN_STAGE_ENDED = 16,
        CELEBORN_PUSH_FAIL_PRIMARY = 17,       /* PUSH_DATA_FAIL_NON_CRITICAL_CAUSE_PRIMARY */
        CELEBORN_PUSH_WRITE_FAIL_REPLICA = 18, /* PUSH_DATA_WRITE_FAIL_REPLICA, and so on */
        CELEBORN_PUSH_WRITE_FAIL_PRIMARY = 19,
        CELEBORN_PUSH_PARTITION_NOT_FOUND = 20,
        CELEBORN_HARD_SPLIT = 21, /* not stored */
        CELEBORN_SOFT_SPLIT = 22, /* stored, but the file is large */
        CELEBORN_SHUFFLE_DATA_LOST = 24,
        CELEBORN_WORKER_EXCLUDED = 27,
        CELEBORN_CONGESTED_PRIMARY = 30, /* stored */
        CELEBORN_CONGESTED_REPLICA = 31,
        CELEBORN_PUSH_CREATE_CONNECTION_FAIL_PRIMARY = 38,
        CELEBORN_PUSH_CREATE_CONNECTION_FAIL_REPLICA = 39,
        CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY = 40,
        CELEBORN_PUSH_CONNECTION_EXCEPTION_REPLICA = 41,
        CELEBORN_PUSH_TIMEOUT_PRIMARY = 42,
        CELEBORN_PUSH_TIMEOUT_REPLICA = 43,
        CELEBORN_PUSH_PRIMARY_WORKER_EXCLUDED = 44,
        CELEBORN_PUSH_REPLICA_WORKER_EXCLUDED = 45,
        CELEBORN_PUSH_FAIL_REPLICA = 50, /* PUSH_DATA_FAIL_NON_CRITICAL_CAUSE_REPLICA */
};

/* Celeborn's name of a status, or "status 99" in a static buffer of the thread. */
const char *celeborn_status_name(int status);

/* The status whose name begins the text of a failure; CELEBORN_REQUEST_FAILED if there is none. */
int celeborn_status_of_failure(const char *text, size_t len);

enum celeborn_mode { CELEBORN_PRIMARY = 0, CELEBORN_REPLICA = 1 };
enum celeborn_split_mode { CELEBORN_SPLIT_SOFT = 0, CELEBORN_SPLIT_HARD = 1 };

/* Bits of sets of storages. Files in others (HDFS, OSS, S3) are not read through workers. */
#define CELEBORN_STORAGE_MEMORY 1
#define CELEBORN_STORAGE_DISKS 2 /* of the workers */

/* Storages of files. */
enum celeborn_storage { CELEBORN_MEMORY, CELEBORN_HDD, CELEBORN_SSD, CELEBORN_HDFS, CELEBORN_OSS, CELEBORN_S3 };

/* A message as received. Borrows the caller's bytes. */
struct celeborn_message {
        int type; /* enum celeborn_message_type */
        const uint8_t *body;
        size_t len;
};

/* Appends the body of an RPC for @endpoint ("MasterEndpoint", "WorkerEndpoint") of the server at @host and @port. */
void celeborn_put_endpoint_message(struct buf *out, const char *host, int port, const char *endpoint, int type,
                                   const uint8_t *body, size_t len);

/* Appends the same as a complete frame. */
void celeborn_put_endpoint_request(struct buf *out, int64_t request_id, const char *host, int port,
                                   const char *endpoint, int type, const uint8_t *body, size_t len);

/* Appends a complete RPC_REQUEST for a push or fetch port. */
void celeborn_put_data_request(struct buf *out, int64_t request_id, int type, const ProtobufCMessage *message);

/* Status of celeborn_endpoint_message_parse: the server answered with an exception. */
#define FST_CELEBORN_E_EXCEPTION 2

/*
 * Parses the body of an answer of a master or worker, in Java's forms or V2. Returns 0; FST_CELEBORN_E_EXCEPTION with
 * @error, the printable text of the exception; or -EPROTO with @error.
 */
int celeborn_endpoint_message_parse(const uint8_t *data, size_t len, struct celeborn_message *message,
                                    struct fst_error *error);

/*
 * Finds the leader that a master named in the text of an exception, "host:port". Returns false if there is none. The
 * caller frees *@host.
 */
bool celeborn_leader_of_exception(const char *text, char **host, int *port);

/* Parses a message of a push or fetch port. Returns 0, or -EPROTO with @error. */
int celeborn_data_message_parse(const uint8_t *data, size_t len, struct celeborn_message *message,
                                struct fst_error *error);

/* The answer to a push. `n` parts have split: batch indexes[i] of the request has statuses[i]. */
struct celeborn_push_answer {
        int status; /* enum celeborn_status */
        int n;
        int32_t *indexes, *statuses; /* owned */
};

/*
 * Parses the body of an RPC_RESPONSE to a push of @batches batches. Returns 0; the caller calls
 * celeborn_push_answer_deinit. Or -EPROTO with @error, also for an index that the request does not have.
 */
int celeborn_push_answer_parse(const uint8_t *body, size_t len, int batches, struct celeborn_push_answer *answer,
                               struct fst_error *error);
void celeborn_push_answer_deinit(struct celeborn_push_answer *answer);
