/* See celeborn_message.h. */
#include "celeborn/protocol/celeborn_message.h"

#include "base/error.h"
#include "base/mem.h"
#include "celeborn/protocol/celeborn.pb-c.h"
#include "celeborn/protocol/celeborn_frame.h"
#include "rpc/wire_memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#define V2 0xff
#define CLASS "org.apache.celeborn.common.network.protocol.TransportMessage"
#define CLASS_AT 8 /* behind the stream's magic, version, two codes and the length of the name */

/* The serialized object up to the type: the stream's magic and version, the class with two fields. */
static const char java_begin[] = "\xac\xed\x00\x05sr\x00\x3c" CLASS "\xd2\xc5\xb3\xed\xf7\x07\x0f\x33\x02\x00\x02"
                                 "I\x00\x10"
                                 "messageTypeValue"
                                 "[\x00\x07payloadt\x00\x02[Bxp";

/* Between type and length: the class of byte arrays. It is also in answers, whose object has one more field. */
static const char java_bytes[] = "ur\x00\x02[B\xac\xf3\x17\xf8\x06\x08\x54\xe0\x02\x00\x00xp";

static const struct {
        int status;
        const char *name;
} statuses[] = {
        {CELEBORN_SUCCESS, "SUCCESS"},
        {CELEBORN_PARTIAL_SUCCESS, "PARTIAL_SUCCESS"},
        {CELEBORN_REQUEST_FAILED, "REQUEST_FAILED"},
        {CELEBORN_SHUFFLE_UNREGISTERED, "SHUFFLE_UNREGISTERED"},
        {CELEBORN_RESERVE_SLOTS_FAILED, "RESERVE_SLOTS_FAILED"},
        {CELEBORN_SLOT_NOT_AVAILABLE, "SLOT_NOT_AVAILABLE"},
        {CELEBORN_REVIVE_FAILED, "REVIVE_FAILED"},
        {CELEBORN_MAP_ENDED, "MAP_ENDED"},
        {CELEBORN_STAGE_ENDED, "STAGE_ENDED"},
        {CELEBORN_PUSH_FAIL_PRIMARY, "PUSH_DATA_FAIL_NON_CRITICAL_CAUSE_PRIMARY"},
        {CELEBORN_PUSH_WRITE_FAIL_REPLICA, "PUSH_DATA_WRITE_FAIL_REPLICA"},
        {CELEBORN_PUSH_WRITE_FAIL_PRIMARY, "PUSH_DATA_WRITE_FAIL_PRIMARY"},
        {CELEBORN_PUSH_PARTITION_NOT_FOUND, "PUSH_DATA_FAIL_PARTITION_NOT_FOUND"},
        {CELEBORN_HARD_SPLIT, "HARD_SPLIT"},
        {CELEBORN_SOFT_SPLIT, "SOFT_SPLIT"},
        {CELEBORN_SHUFFLE_DATA_LOST, "SHUFFLE_DATA_LOST"},
        {CELEBORN_WORKER_EXCLUDED, "WORKER_EXCLUDED"},
        {CELEBORN_CONGESTED_PRIMARY, "PUSH_DATA_SUCCESS_PRIMARY_CONGESTED"},
        {CELEBORN_CONGESTED_REPLICA, "PUSH_DATA_SUCCESS_REPLICA_CONGESTED"},
        {CELEBORN_PUSH_CREATE_CONNECTION_FAIL_PRIMARY, "PUSH_DATA_CREATE_CONNECTION_FAIL_PRIMARY"},
        {CELEBORN_PUSH_CREATE_CONNECTION_FAIL_REPLICA, "PUSH_DATA_CREATE_CONNECTION_FAIL_REPLICA"},
        {CELEBORN_PUSH_CONNECTION_EXCEPTION_PRIMARY, "PUSH_DATA_CONNECTION_EXCEPTION_PRIMARY"},
        {CELEBORN_PUSH_CONNECTION_EXCEPTION_REPLICA, "PUSH_DATA_CONNECTION_EXCEPTION_REPLICA"},
        {CELEBORN_PUSH_TIMEOUT_PRIMARY, "PUSH_DATA_TIMEOUT_PRIMARY"},
        {CELEBORN_PUSH_TIMEOUT_REPLICA, "PUSH_DATA_TIMEOUT_REPLICA"},
        {CELEBORN_PUSH_PRIMARY_WORKER_EXCLUDED, "PUSH_DATA_PRIMARY_WORKER_EXCLUDED"},
        {CELEBORN_PUSH_REPLICA_WORKER_EXCLUDED, "PUSH_DATA_REPLICA_WORKER_EXCLUDED"},
        {CELEBORN_PUSH_FAIL_REPLICA, "PUSH_DATA_FAIL_NON_CRITICAL_CAUSE_REPLICA"},
};

const char *celeborn_status_name(int status)
{
        static _Thread_local char other[32];
        for (size_t i = 0; i < ARRAY_SIZE(statuses); i++)
                if (statuses[i].status == status)
                        return statuses[i].name;
        snprintf(other, sizeof(other), "status %d", status);
        return other;
}

int celeborn_status_of_failure(const char *text, size_t len)
{
        for (size_t i = 0; i < ARRAY_SIZE(statuses); i++) {
                const size_t n = strlen(statuses[i].name);
                if (len >= n && memcmp(text, statuses[i].name, n) == 0 &&
                    (len == n || (!isalnum((unsigned char)text[n]) && text[n] != '_')))
                        return statuses[i].status;
        }
        return CELEBORN_REQUEST_FAILED;
}

/* -------------------------------------------------------------------------------------------------------- writing */

static void celeborn_put_short_string(struct buf *out, const char *text)
{
        const size_t len = MIN(strlen(text), (size_t)UINT16_MAX);
        buf_putc(out, (char)(len >> 8));
        buf_putc(out, (char)len);
        buf_append(out, text, len);
}

void celeborn_put_endpoint_message(struct buf *out, const char *host, int port, const char *endpoint, int type,
                                   const uint8_t *body, size_t len)
{
        buf_putc(out, 0); /* the sender has no address */
        buf_putc(out, 1);
        celeborn_put_short_string(out, host);
        buf_put_be32(out, (uint32_t)port);
        celeborn_put_short_string(out, endpoint);
        buf_append(out, java_begin, sizeof(java_begin) - 1);
        buf_put_be32(out, (uint32_t)type);
        buf_append(out, java_bytes, sizeof(java_bytes) - 1);
        buf_put_be32(out, (uint32_t)len);
        buf_append(out, body, len);
}

void celeborn_put_endpoint_request(struct buf *out, int64_t request_id, const char *host, int port,
                                   const char *endpoint, int type, const uint8_t *body, size_t len)
{
        const size_t envelope = 2 + 2 + MIN(strlen(host), (size_t)UINT16_MAX) + 4 + 2 + strlen(endpoint);
        const size_t object = sizeof(java_begin) - 1 + 4 + sizeof(java_bytes) - 1 + 4 + len;
        celeborn_put_request(out, request_id, envelope + object);
        celeborn_put_endpoint_message(out, host, port, endpoint, type, body, len);
}

void celeborn_put_data_request(struct buf *out, int64_t request_id, int type, const ProtobufCMessage *message)
{
        const size_t len = protobuf_c_message_get_packed_size(message);
        celeborn_put_request(out, request_id, 8 + len);
        buf_put_be32(out, (uint32_t)type);
        buf_put_be32(out, (uint32_t)len);
        buf_reserve(out, len);
        protobuf_c_message_pack(message, (uint8_t *)out->data + out->len);
        out->len += len;
}

/* -------------------------------------------------------------------------------------------------------- parsing */

/* type i32 | length i32 | protobuf. @exact: nothing may follow. */
static int celeborn_message_parse(const uint8_t *data, size_t len, bool exact, struct celeborn_message *message,
                                  struct fst_error *error)
{
        if (len < 8)
                return error_set(error, -EPROTO, "a message of Celeborn ends in its header");
        const uint32_t size = get_be32(data + 4);
        if (size > len - 8 || (exact && size != len - 8))
                return error_set(error, -EPROTO, "a message of Celeborn has %zu bytes and claims %" PRIu32, len - 8,
                                 size);
        *message = (struct celeborn_message){.type = (int)get_be32(data), .body = data + 8, .len = size};
        return 0;
}

int celeborn_data_message_parse(const uint8_t *data, size_t len, struct celeborn_message *message,
                                struct fst_error *error)
{
        return celeborn_message_parse(data, len, true, message, error);
}

/*
 * The text of an exception as it is serialized: its sentences, which have spaces as no name of a class or field has. An
 * exception without a sentence is described by the name of its class.
 */
static int celeborn_exception_text(const uint8_t *data, size_t len, struct fst_error *error)
{
        _cleanup_(buf_deinit) struct buf text = BUF_INIT;
        const uint8_t *name = data + CLASS_AT;
        size_t name_len = 0;
        for (size_t begin = 0, end; begin < len && text.len < 1000; begin = end + 1) {
                for (end = begin; end < len && isprint(data[end]);)
                        end++;
                const size_t n = MIN(end - begin, (size_t)1000);
                if (n < 8 || !memchr(data + begin, ' ', n))
                        continue;
                if (text.len)
                        buf_putc(&text, ' ');
                buf_append(&text, data + begin, n);
        }
        while (CLASS_AT + name_len < len && name_len < 200 && isprint(name[name_len]))
                name_len++;
        return error_set(error, FST_CELEBORN_E_EXCEPTION, "%.*s", text.len ? (int)text.len : (int)name_len,
                         text.len ? buf_text(&text) : (const char *)name);
}

int celeborn_endpoint_message_parse(const uint8_t *data, size_t len, struct celeborn_message *message,
                                    struct fst_error *error)
{
        if (len && data[0] == V2)
                return celeborn_message_parse(data + 1, len - 1, true, message, error);
        if (!data || len < CLASS_AT + sizeof(CLASS) - 1 || memcmp(data, java_begin, 4) != 0)
                return error_set(error, -EPROTO, "an answer of Celeborn is neither a message nor a Java object");
        if (memcmp(data + CLASS_AT, CLASS, sizeof(CLASS) - 1) != 0)
                return celeborn_exception_text(data, len, error);
        const uint8_t *bytes = memmem(data, len, java_bytes, sizeof(java_bytes) - 1);
        if (!bytes) { /* a message without fields may have null: the type is behind the class */
                const uint8_t *end = memmem(data, len, "xp", 2);
                if (!end || (size_t)(data + len - end) < 7 || end[6] != 'p')
                        return error_set(error, -EPROTO, "an answer of Celeborn has no type");
                *message = (struct celeborn_message){.type = (int)get_be32(end + 2), .body = end, .len = 0};
                return 0;
        }
        const uint8_t *length = bytes + sizeof(java_bytes) - 1;
        const size_t left = (size_t)(data + len - length);
        if (bytes - data < 4 || left < 4 || get_be32(length) > left - 4)
                return error_set(error, -EPROTO, "an answer of Celeborn is cut off");
        *message = (struct celeborn_message){
                .type = (int)get_be32(bytes - 4), .body = length + 4, .len = get_be32(length)};
        return 0;
}

bool celeborn_leader_of_exception(const char *text, char **host, int *port)
{
        /* "Suggested leader is Master:(10.0.0.2:9097,host2:9097) (…)": address and name of one master */
        static const char hint[] = "Suggested leader is Master:";
        const char *name = strstr(text, hint);
        if (!name)
                return false;
        name += sizeof(hint) - 1;
        name += *name == '(';
        const size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_");
        char *end;
        if (n == 0 || name[n] != ':')
                return false;
        const long number = strtol(name + n + 1, &end, 10);
        if (end == name + n + 1 || number < 1 || number > 65535)
                return false;
        *host = mem_strndup(name, n);
        *port = (int)number;
        return true;
}

int celeborn_push_answer_parse(const uint8_t *body, size_t len, int batches, struct celeborn_push_answer *answer,
                               struct fst_error *error)
{
        struct celeborn_push_answer read = {.status = len ? body[0] : CELEBORN_SUCCESS};
        struct celeborn_message message;
        if (len <= 1) {
                *answer = read;
                return 0;
        }
        int r = celeborn_message_parse(body + 1, len - 1, true, &message, error);
        if (r)
                return r;
        if (message.type != CELEBORN_SPLIT_PARTITION_INFO)
                return error_set(error, -EPROTO, "the answer to a push has a message of type %d", message.type);
        struct wire_memory memory = wire_memory_for(message.len);
        ProtobufCAllocator allocator = wire_memory_allocator(&memory);
        Celeborn__PushMergedDataSplitPartitionInfo *info =
                celeborn__push_merged_data_split_partition_info__unpack(&allocator, message.len, message.body);
        if (!info || info->n_split_partition_indexes != info->n_status_codes ||
            info->n_status_codes > (size_t)MAX(batches, 0))
                r = error_set(error, -EPROTO, "the answer to a push has invalid splits");
        for (size_t i = 0; r == 0 && i < info->n_status_codes; i++)
                if (info->split_partition_indexes[i] < 0 || info->split_partition_indexes[i] >= batches)
                        r = error_set(error, -EPROTO, "the answer to a push of %d batches names batch %d", batches,
                                      info->split_partition_indexes[i]);
        if (r == 0 && info->n_status_codes) {
                read.n = (int)info->n_status_codes;
                read.indexes = new_array(int32_t, (size_t)read.n);
                read.statuses = new_array(int32_t, (size_t)read.n);
                memcpy(read.indexes, info->split_partition_indexes, sizeof(int32_t) * (size_t)read.n);
                memcpy(read.statuses, info->status_codes, sizeof(int32_t) * (size_t)read.n);
        }
        arena_deinit(&memory.arena);
        if (r == 0)
                *answer = read;
        return r;
}

void celeborn_push_answer_deinit(struct celeborn_push_answer *answer)
{
        free(answer->indexes);
        free(answer->statuses);
        *answer = (struct celeborn_push_answer){0};
}
