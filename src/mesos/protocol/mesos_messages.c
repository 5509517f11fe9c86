/* See mesos_messages.h. */
#include "mesos/protocol/mesos_messages.h"
#include "mesos/protocol/task_state.h"

#include "base/buf.h"
#include "base/error.h"
#include "rpc/wire_memory.h"

void mesos_message_write(const ProtobufCMessage *message, struct buf *out)
{
        size_t len = protobuf_c_message_get_packed_size(message);

        buf_reserve(out, len);
        protobuf_c_message_pack(message, (uint8_t *)out->data + out->len);
        out->len += len;
        out->data[out->len] = '\0';
}

/* Whether the union member @field of @message, of which there must be one for its type, is there. */
static int message_require(const void *field, const char *type, struct fst_error *error)
{
        return field ? 0 : error_set(error, -EPROTO, "an event of Mesos of the type %s lacks its content", type);
}

static int message_unpack(struct wire_memory *memory, const ProtobufCMessageDescriptor *descriptor,
                          const uint8_t *record, size_t len, ProtobufCMessage **out, struct fst_error *error)
{
        ProtobufCAllocator allocator = wire_memory_allocator(memory);

        *out = protobuf_c_message_unpack(descriptor, &allocator, len, record);
        return *out ? 0
                    : error_set(error, -EPROTO, "an event of %zu bytes is not a message of Mesos's API (%s)", len,
                                descriptor->short_name);
}

int mesos_scheduler_event_read(struct wire_memory *memory, const uint8_t *record, size_t len,
                               const mesos_scheduler_event **out, struct fst_error *error)
{
        ProtobufCMessage *message;
        int r = message_unpack(memory, &firesteel__mesos__scheduler_event__descriptor, record, len, &message, error);

        if (r < 0)
                return r;
        mesos_scheduler_event *event = (mesos_scheduler_event *)message;
        switch (event->type) {
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__SUBSCRIBED:
                r = message_require(event->subscribed, "SUBSCRIBED", error);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__OFFERS:
                r = message_require(event->offers, "OFFERS", error);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__RESCIND:
                r = message_require(event->rescind, "RESCIND", error);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__UPDATE:
                r = message_require(event->update, "UPDATE", error);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__MESSAGE:
                r = message_require(event->message, "MESSAGE", error);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__FAILURE:
                r = message_require(event->failure, "FAILURE", error);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__ERROR:
                r = message_require(event->error, "ERROR", error);
                break;
        case FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__HEARTBEAT:
                break;
        default:
                event->type = FIRESTEEL__MESOS__SCHEDULER_EVENT__TYPE__UNKNOWN;
        }
        if (r == 0)
                *out = event;
        return r;
}

int mesos_executor_event_read(struct wire_memory *memory, const uint8_t *record, size_t len,
                              const mesos_executor_event **out, struct fst_error *error)
{
        ProtobufCMessage *message;
        int r = message_unpack(memory, &firesteel__mesos__executor_event__descriptor, record, len, &message, error);

        if (r < 0)
                return r;
        mesos_executor_event *event = (mesos_executor_event *)message;
        switch (event->type) {
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__SUBSCRIBED:
                r = message_require(event->subscribed, "SUBSCRIBED", error);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__LAUNCH:
                r = message_require(event->launch, "LAUNCH", error);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__LAUNCH_GROUP:
                r = message_require(event->launch_group, "LAUNCH_GROUP", error);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__KILL:
                r = message_require(event->kill, "KILL", error);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__ACKNOWLEDGED:
                r = message_require(event->acknowledged, "ACKNOWLEDGED", error);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__MESSAGE:
                r = message_require(event->message, "MESSAGE", error);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__ERROR:
                r = message_require(event->error, "ERROR", error);
                break;
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__SHUTDOWN:
        case FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__HEARTBEAT:
                break;
        default:
                event->type = FIRESTEEL__MESOS__EXECUTOR_EVENT__TYPE__UNKNOWN;
        }
        if (r == 0)
                *out = event;
        return r;
}

const char *mesos_state_name(mesos_task_state state)
{
        const ProtobufCEnumValue *found =
                protobuf_c_enum_descriptor_get_value(&firesteel__mesos__task_state__descriptor, (int)state);

        return found ? found->name : "TASK_UNKNOWN";
}

const char *mesos_reason_name(Firesteel__Mesos__TaskStatus__Reason reason)
{
        const ProtobufCEnumValue *found =
                protobuf_c_enum_descriptor_get_value(&firesteel__mesos__task_status__reason__descriptor, (int)reason);

        return found ? found->name : "unknown";
}
