/*
 * The header of a frame. Invalid headers are refused before any memory is allocated. The error names a recognized other
 * protocol (TLS, HTTP, Spark's own RPC), because such bytes usually come from a user's mistake.
 */
#include "rpc/frame.h"

#include "base/error.h"
#include "base/mem.h"
#include "net/byte_order.h"
#include "net/crc32c.h"

#include <stdbool.h>

/* Offsets of the checksums. */
#define CHECKSUM 32
#define HEADER_CHECKSUM 36

static void frame_put16(uint8_t *p, uint16_t v)
{
        p[0] = (uint8_t)v;
        p[1] = (uint8_t)(v >> 8);
}

static uint16_t frame_get16(const uint8_t *p)
{
        return (uint16_t)(p[0] | p[1] << 8);
}

static const uint8_t magic[4] = {'F', 'S', 'R', 'P'};

void frame_header_put(uint8_t *out, const struct frame_header *h)
{
        memcpy(out, magic, sizeof(magic));
        out[4] = FRAME_VERSION;
        out[5] = h->kind;
        frame_put16(out + 6, h->type);
        put_le64(out + 8, h->id);
        put_le32(out + 16, h->endpoint);
        put_le32(out + 20, h->body_len);
        put_le64(out + 24, h->attachment_len);
        if (frame_header_size(h->kind) == FRAME_HELLO_HEADER_SIZE)
                return;
        put_le32(out + CHECKSUM, h->checksum);
        put_le32(out + HEADER_CHECKSUM, crc32c(out, HEADER_CHECKSUM));
}

uint32_t frame_checksum(const void *body, size_t len, const void *attachment, size_t attachment_len)
{
        const uint32_t sum = len ? crc32c(body, len) : 0;
        return attachment_len ? crc32c_extend(sum, attachment, attachment_len) : sum;
}

static int not_ours(const uint8_t *in, struct fst_error *error)
{
        if (in[0] == 0x16 && in[1] == 3)
                return error_set(error, -EPROTO,
                                 "it speaks TLS, but this side does not encrypt: set spark.authenticate or "
                                 "spark.ssl.rpc.enabled alike on both sides");
        static const char *const http[] = {"GET ", "POST", "PUT ", "HEAD", "DELE", "OPTI", "HTTP"};
        for (size_t i = 0; i < ARRAY_SIZE(http); i++)
                if (memcmp(in, http[i], 4) == 0)
                        return error_set(error, -EPROTONOSUPPORT, "it speaks HTTP");
        if (in[0] == 0 && in[8] >= 3 && in[8] <= 9) /* length of 8 bytes, then the type of a message */
                return error_set(error, -EPROTO, "it may be a process of Apache Spark, whose messages are Java's");
        return error_set(error, -EPROTO, "it does not speak firesteel's RPC: the first bytes are %02x %02x %02x %02x",
                         in[0], in[1], in[2], in[3]);
}

/* The fields of a kind. Unused fields must be zero. */
static int check_kind(const struct frame_header *h, struct fst_error *error)
{
        bool message = h->kind == FRAME_SEND || h->kind == FRAME_ASK;
        bool answer = h->kind == FRAME_REPLY || h->kind == FRAME_FAIL;
        bool words = h->kind == FRAME_HELLO || h->kind == FRAME_REFUSED;
        if (h->kind < FRAME_HELLO || h->kind > FRAME_PONG)
                return error_set(error, -EPROTO, "a frame of an unknown kind %u", h->kind);
        if ((message || answer) != (h->id != 0) || (!message && h->endpoint != 0) ||
            (!message && !answer && h->type != 0))
                return error_set(error, -EPROTO, "a frame of kind %u with invalid fields", h->kind);
        if ((!message && h->kind != FRAME_REPLY && h->attachment_len != 0) ||
            (!message && !answer && !words && h->body_len != 0))
                return error_set(error, -EPROTO, "a frame of kind %u with an unexpected body", h->kind);
        if (words && h->body_len > MAX_FRAME_HELLO)
                return error_set(error, -EMSGSIZE, "a handshake of %u bytes", h->body_len);
        return 0;
}

int frame_header_get(const uint8_t *in, size_t len, size_t max_bytes, struct frame_header *h, struct fst_error *error)
{
        if (len < FRAME_HELLO_HEADER_SIZE)
                return 0;
        if (memcmp(in, magic, sizeof(magic)) != 0)
                return not_ours(in, error);
        struct frame_header got = {
                .version = in[4],
                .kind = in[5],
                .type = frame_get16(in + 6),
                .id = get_le64(in + 8),
                .endpoint = get_le32(in + 16),
                .body_len = get_le32(in + 20),
                .attachment_len = get_le64(in + 24),
        };
        if (got.version != FRAME_VERSION && got.kind != FRAME_HELLO && got.kind != FRAME_REFUSED)
                return error_set(error, -EPROTO, "a frame of version %u", got.version);
        const size_t size = frame_header_size(got.kind);
        if (size == FRAME_HEADER_SIZE) {
                if (len < size)
                        return 0;
                got.checksum = get_le32(in + CHECKSUM);
                if (get_le32(in + HEADER_CHECKSUM) != crc32c(in, HEADER_CHECKSUM))
                        return error_set(error, -EBADMSG, "a frame whose header has a wrong checksum: bytes were damaged on the way");
        }
        int r = check_kind(&got, error);
        if (r < 0)
                return r;
        if (got.body_len > max_bytes || got.attachment_len > max_bytes - got.body_len)
                return error_set(error, -EMSGSIZE,
                                 "a message of %u and %llu bytes, more than the %zu that spark.rpc.message.maxSize "
                                 "allows",
                                 got.body_len, (unsigned long long)got.attachment_len, max_bytes);
        *h = got;
        return (int)size;
}

uint32_t frame_endpoint(const char *name)
{
        uint32_t hash = 2166136261u;
        for (const uint8_t *p = (const uint8_t *)name; *p; p++)
                hash = (hash ^ *p) * 16777619u;
        return hash;
}
