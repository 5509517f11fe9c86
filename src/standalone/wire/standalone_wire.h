/* Messages of a standalone cluster (standalone.proto): their endpoints, their protocol version, and decoding with
 * bounded cost for untrusted senders.
 */
#pragma once

#include "standalone/wire/standalone.pb-c.h"
#include "rpc/wire_memory.h"

struct fst_error;
struct rpc_ref;

/* Endpoints, and the names of the processes' envs in log lines; Spark's. */
#define STANDALONE_MASTER_ENDPOINT "Master"
#define STANDALONE_WORKER_ENDPOINT "Worker"
#define STANDALONE_APP_ENDPOINT "AppClient"
#define STANDALONE_MASTER_ENV "sparkMaster"
#define STANDALONE_WORKER_ENV "sparkWorker"

/* The protocol version: a minor version adds to messages, a major one changes them. */
#define STANDALONE_MAJOR 1
#define STANDALONE_MINOR 0

/* Main classes of commands. */
#define STANDALONE_EXECUTOR_CLASS "org.apache.spark.executor.CoarseGrainedExecutorBackend"
#define STANDALONE_DRIVER_CLASS "org.apache.spark.deploy.worker.DriverWrapper"

/* This program's version. Its strings are static. */
Firesteel__Standalone__Version standalone_version(void);

/* Checks whether a peer with @version (NULL: none sent) may register. @who ("this worker") and @host ("the master")
 * appear in the error, which names both programs and versions. Returns 0, or -EPROTO with @error.
 */
int standalone_version_check(const Firesteel__Standalone__Version *version, const char *who, const char *host,
                             struct fst_error *error);

/* Decodes @len bytes as a message of @descriptor, allocated in @memory, which the caller deinitialises in every case.
 * Returns NULL with @error naming the message if they are invalid.
 *
 *      _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(m->len);
 *      const Firesteel__Standalone__WorkerId *id =
 *              standalone_decode(m->body, m->len, &firesteel__standalone__worker_id__descriptor, &memory, &error);
 */
void *standalone_decode(const void *body, size_t len, const ProtobufCMessageDescriptor *descriptor,
                        struct wire_memory *memory, struct fst_error *error);
void standalone_memory_deinit(struct wire_memory *memory);

/* Returns the packed message, owned by the caller. */
void *standalone_pack(const ProtobufCMessage *message, size_t *size);

/* Sends a packed message followed by further packed fields. The receiver's parser merges them. */
void standalone_send_joined(struct rpc_ref *to, uint16_t type, const void *first, size_t first_size,
                            const ProtobufCMessage *more);
