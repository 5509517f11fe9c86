/* See status_text.h. Walks the descriptors of protobuf-c. */
#include "mesos/dispatcher/status_text.h"

#include "base/buf.h"
#include "base/mem.h"
#include "mesos/protocol/mesos.pb-c.h"
#include "rpc/wire_memory.h"
#include "text/number_format.h"

#include <inttypes.h>

#define MAX_DEPTH 16

static void status_text_put_message(struct buf *out, const ProtobufCMessage *message, int depth);

/* The older API calls agents slaves. */
static void status_text_put_name(struct buf *out, const char *name)
{
        static const char old[] = "SLAVE", old_small[] = "slave";
        const char *agent = strstr(name, "AGENT"), *agent_small = strstr(name, "agent");
        const char *at = agent ? agent : agent_small;
        if (!at) {
                buf_puts(out, name);
                return;
        }
        buf_append(out, name, (size_t)(at - name));
        buf_puts(out, agent ? old : old_small);
        buf_puts(out, at + strlen(old));
}

static void status_text_put_bytes(struct buf *out, const uint8_t *data, size_t n)
{
        buf_putc(out, '"');
        for (size_t i = 0; i < n; i++) {
                const char c = (char)data[i];
                if (c == '\n' || c == '\r' || c == '\t')
                        buf_puts(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
                else if (data[i] < ' ' || data[i] >= 127)
                        buf_printf(out, "\\%03o", data[i]);
                else
                        buf_printf(out, c == '"' || c == '\'' || c == '\\' ? "\\%c" : "%c", c);
        }
        buf_putc(out, '"');
}

/* A scalar at @member. */
static void status_text_put_value(struct buf *out, const ProtobufCFieldDescriptor *f, const void *member)
{
        char number[NUMBER_F64_SIZE];
        switch (f->type) {
        case PROTOBUF_C_TYPE_STRING: {
                const char *text = *(char *const *)member;
                status_text_put_bytes(out, (const uint8_t *)text, strlen(text));
                break;
        }
        case PROTOBUF_C_TYPE_BYTES: {
                const ProtobufCBinaryData *bytes = member;
                status_text_put_bytes(out, bytes->data, bytes->len);
                break;
        }
        case PROTOBUF_C_TYPE_ENUM: {
                const ProtobufCEnumValue *value =
                        protobuf_c_enum_descriptor_get_value(f->descriptor, *(const int32_t *)member);
                if (value)
                        status_text_put_name(out, value->name);
                else
                        buf_printf(out, "%" PRId32, *(const int32_t *)member);
                break;
        }
        case PROTOBUF_C_TYPE_BOOL:
                buf_puts(out, *(const protobuf_c_boolean *)member ? "true" : "false");
                break;
        case PROTOBUF_C_TYPE_DOUBLE:
                buf_append(out, number, number_format_f64(number, *(const double *)member));
                break;
        case PROTOBUF_C_TYPE_INT64:
        case PROTOBUF_C_TYPE_UINT64:
                buf_printf(out, "%" PRId64, *(const int64_t *)member);
                break;
        default:
                buf_printf(out, "%" PRId32, *(const int32_t *)member);
        }
}

static void status_text_put_field(struct buf *out, const ProtobufCFieldDescriptor *f, const void *member, int depth)
{
        for (int i = 0; i < depth; i++)
                buf_puts(out, "  ");
        status_text_put_name(out, f->name);
        if (f->type != PROTOBUF_C_TYPE_MESSAGE) {
                buf_puts(out, ": ");
                status_text_put_value(out, f, member);
        } else {
                buf_puts(out, " {\n");
                status_text_put_message(out, *(ProtobufCMessage *const *)member, depth + 1);
                for (int i = 0; i < depth; i++)
                        buf_puts(out, "  ");
                buf_putc(out, '}');
        }
        buf_putc(out, '\n');
}

/* Whether the optional field is set: messages, texts by their pointers, others by their flag. */
static bool status_text_has(const ProtobufCMessage *message, const ProtobufCFieldDescriptor *f)
{
        const char *base = (const char *)message;
        if (f->label == PROTOBUF_C_LABEL_REQUIRED)
                return true;
        if (f->type == PROTOBUF_C_TYPE_MESSAGE || f->type == PROTOBUF_C_TYPE_STRING)
                return *(void *const *)(base + f->offset) != NULL;
        return *(const protobuf_c_boolean *)(base + f->quantifier_offset);
}

static size_t status_text_element_size(const ProtobufCFieldDescriptor *f)
{
        switch (f->type) {
        case PROTOBUF_C_TYPE_BYTES:
                return sizeof(ProtobufCBinaryData);
        case PROTOBUF_C_TYPE_INT64:
        case PROTOBUF_C_TYPE_UINT64:
        case PROTOBUF_C_TYPE_DOUBLE:
        case PROTOBUF_C_TYPE_MESSAGE:
        case PROTOBUF_C_TYPE_STRING:
                return 8;
        default:
                return 4;
        }
}

static void status_text_put_message(struct buf *out, const ProtobufCMessage *message, int depth)
{
        const char *base = (const char *)message;
        for (unsigned i = 0; i < message->descriptor->n_fields && depth < MAX_DEPTH; i++) {
                const ProtobufCFieldDescriptor *f = &message->descriptor->fields[i];
                if (f->label == PROTOBUF_C_LABEL_REPEATED) {
                        const size_t n = *(const size_t *)(base + f->quantifier_offset);
                        const char *elements = *(char *const *)(base + f->offset);
                        for (size_t e = 0; e < n; e++)
                                status_text_put_field(out, f, elements + e * status_text_element_size(f), depth);
                } else if (status_text_has(message, f)) {
                        status_text_put_field(out, f, base + f->offset, depth);
                }
        }
}

void status_text_put(struct buf *out, const ProtobufCMessage *message)
{
        status_text_put_message(out, message, 0);
}

char *status_text_of(const void *data, size_t size)
{
        struct wire_memory memory = wire_memory_for(size);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        const Firesteel__Mesos__TaskStatus *status = firesteel__mesos__task_status__unpack(&allocator, size, data);
        struct buf out = BUF_INIT;
        if (status)
                status_text_put(&out, &status->base);
        arena_deinit(&memory.arena);
        return status ? buf_steal(&out) : NULL;
}
