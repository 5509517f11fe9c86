/*
 * Messages of Mesos as bytes: calls that this process sends, events that it receives. The schema is mesos.proto.
 *
 *
 * All that belongs to one event lies in one `struct wire_memory` (rpc/wire_memory.h), which its reader creates and
 * releases with arena_deinit: nothing of an event is freed singly, and nothing points into it afterwards.
 */
#pragma once

#include "mesos/protocol/mesos.pb-c.h"

#include <stddef.h>
#include <stdint.h>

struct buf;
struct fst_error;
struct wire_memory;

/* The paths of both APIs, and the media type of their bodies. */
#define MESOS_SCHEDULER_PATH "/api/v1/scheduler"
#define MESOS_EXECUTOR_PATH "/api/v1/executor"
#define MESOS_MEDIA_TYPE "application/x-protobuf"

typedef Firesteel__Mesos__SchedulerCall mesos_scheduler_call;
typedef Firesteel__Mesos__SchedulerEvent mesos_scheduler_event;
typedef Firesteel__Mesos__ExecutorCall mesos_executor_call;
typedef Firesteel__Mesos__ExecutorEvent mesos_executor_event;

/*
 * Decodes an event into @memory, which the caller has made with wire_memory_for(@len). The members that its type
 * promises are there: `subscribed` with SUBSCRIBED, and so on, and the fields that mesos.proto calls required. Types
 * that mesos.proto does not have become UNKNOWN: ignore them. Returns 0 with *@out in @memory, or -EPROTO with @error.
 */
int mesos_scheduler_event_read(struct wire_memory *memory, const uint8_t *record, size_t len,
                               const mesos_scheduler_event **out, struct fst_error *error);
int mesos_executor_event_read(struct wire_memory *memory, const uint8_t *record, size_t len,
                              const mesos_executor_event **out, struct fst_error *error);

/* Makes a message of protobuf-c in @arena_, initialised. */
#define mesos_message_new(arena_, type_, init_)                                                                        \
        ({                                                                                                             \
                type_ *message_ = arena_alloc(arena_, sizeof(*message_));                                              \
                init_(message_);                                                                                       \
                message_;                                                                                              \
        })

/* Appends the bytes of any message of mesos.proto to @out. */
void mesos_message_write(const ProtobufCMessage *message, struct buf *out);

/* "REASON_EXECUTOR_TERMINATED"; "unknown" for others. Static text. */
const char *mesos_reason_name(Firesteel__Mesos__TaskStatus__Reason reason);
