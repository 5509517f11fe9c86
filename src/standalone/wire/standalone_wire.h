/*
 * The messages of a standalone cluster (standalone.proto): the endpoints that take them, the version that is said with
 * the first of them, and decoding that a hostile sender cannot make expensive.
 */
#pragma once

#include "standalone/wire/standalone.pb-c.h"
#include "rpc/wire_memory.h"

struct fst_error;
struct rpc_ref;

/* Endpoints, and the names that the processes' envs have in log lines; Spark's. */
#define STANDALONE_MASTER_ENDPOINT "Master"
#define STANDALONE_WORKER_ENDPOINT "Worker"
#define STANDALONE_APP_ENDPOINT "AppClient"
#define STANDALONE_MASTER_ENV "sparkMaster"
#define STANDALONE_WORKER_ENV "sparkWorker"

/* Of the messages: a minor version adds to them, a major one changes them. */
#define STANDALONE_MAJOR 1
#define STANDALONE_MINOR 0

/* The main classes of commands. */
#define STANDALONE_EXECUTOR_CLASS "org.apache.spark.executor.CoarseGrainedExecutorBackend"
#define STANDALONE_DRIVER_CLASS "org.apache.spark.deploy.worker.DriverWrapper"

/* This program's version; its texts are static. */
Firesteel__Standalone__Version standalone_version(void);

/*
 * Whether @version (NULL: none was said) may join. @who it is ("this worker") and @host ("the master") are for the
 * sentence: both programs and both versions are named in it. 0, or -EPROTO with @error.
 */
int standalone_version_check(const Firesteel__Standalone__Version *version, const char *who, const char *host,
                             struct fst_error *error);

/*
 * @len bytes as a message of @descriptor, allocated in @memory, which is deinitialised by the caller in any case. NULL
 * with @error naming the message if they are none.
 *
 *      _cleanup_(standalone_memory_deinit) struct wire_memory memory = wire_memory_for(m->len);
 *      const Firesteel__Standalone__WorkerId *id =
 *              standalone_decode(m->body, m->len, &firesteel__standalone__worker_id__descriptor, &memory, &error);
 */
void *standalone_decode(const void *body, size_t len, const ProtobufCMessageDescriptor *descriptor,
                        struct wire_memory *memory, struct fst_error *error);
void standalone_memory_deinit(struct wire_memory *memory);

/* The packed bytes of a message, owned by the caller. */
void *standalone_pack(const ProtobufCMessage *message, size_t *size);

/* Send a packed message with further fields of it behind: the parser makes one of both. */
void standalone_send_joined(struct rpc_ref *to, uint16_t type, const void *first, size_t first_size,
                            const ProtobufCMessage *more);
