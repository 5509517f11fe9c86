/* See standalone_wire.h. */
#include "standalone/wire/standalone_wire.h"

#include "base/buf.h"
#include "base/error.h"
#include "base/mem.h"
#include "rpc/rpc.h"

#include <errno.h>

Firesteel__Standalone__Version standalone_version(void)
{
        Firesteel__Standalone__Version version = FIRESTEEL__STANDALONE__VERSION__INIT;
        version.major = STANDALONE_MAJOR;
        version.minor = STANDALONE_MINOR;
        version.software = (char *)"firesteel " FIRESTEEL_VERSION;
        return version;
}

int standalone_version_check(const Firesteel__Standalone__Version *version, const char *who, const char *host,
                             struct fst_error *error)
{
        if (!version || version->major == 0)
                return error_set(error, -EPROTO, "%s sent no version; %s is firesteel " FIRESTEEL_VERSION, who, host);
        uint32_t apart = version->minor > STANDALONE_MINOR ? version->minor - STANDALONE_MINOR
                                                           : STANDALONE_MINOR - version->minor;
        if (version->major == STANDALONE_MAJOR && apart <= 1)
                return 0;
        return error_set(error, -EPROTO,
                         "%s is %.60s with version %u.%u of the cluster's messages, %s is firesteel " FIRESTEEL_VERSION
                         " with version %d.%d: they may be one minor version apart, upgrade the older one",
                         who, *version->software ? version->software : "a program", version->major, version->minor,
                         host, STANDALONE_MAJOR, STANDALONE_MINOR);
}

void *standalone_decode(const void *body, size_t len, const ProtobufCMessageDescriptor *descriptor,
                        struct wire_memory *memory, struct fst_error *error)
{
        ProtobufCAllocator allocator = wire_memory_allocator(memory);
        void *message = protobuf_c_message_unpack(descriptor, &allocator, len, body);
        if (!message)
                error_set(error, -EPROTO, "%zu bytes are not a valid %s", len, descriptor->short_name);
        return message;
}

void standalone_memory_deinit(struct wire_memory *memory)
{
        arena_deinit(&memory->arena);
}

void *standalone_pack(const ProtobufCMessage *message, size_t *size)
{
        *size = protobuf_c_message_get_packed_size(message);
        void *data = mem_alloc(MAX(*size, (size_t)1));
        protobuf_c_message_pack(message, data);
        return data;
}

void standalone_send_joined(struct rpc_ref *to, uint16_t type, const void *first, size_t first_size,
                            const ProtobufCMessage *more)
{
        _cleanup_(buf_deinit) struct buf joined = BUF_INIT;
        _cleanup_free_ void *rest = NULL;
        size_t rest_size;
        buf_append(&joined, first, first_size);
        rest = standalone_pack(more, &rest_size);
        buf_append(&joined, rest, rest_size);
        rpc_send(to, type, joined.data, joined.len, NULL);
}
