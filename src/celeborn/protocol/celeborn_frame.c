/* See celeborn_frame.h. */
#include "celeborn/protocol/celeborn_frame.h"

#include "base/error.h"

#define SLICE 20 /* stream i64 | chunk i32 | offset i32 | length i32 */
#define MODE_PRIMARY 0

static bool celeborn_frame_is_rpc(const struct celeborn_frame *frame)
{
        return frame->type == CELEBORN_RPC_REQUEST || frame->type == CELEBORN_RPC_RESPONSE ||
               frame->type == CELEBORN_RPC_FAILURE;
}

int celeborn_frame_parse(const uint8_t *data, size_t len, size_t max, struct celeborn_frame *frame, size_t *size,
                         struct fst_error *error)
{
        if (len < CELEBORN_FRAME_HEADER) {
                *size = CELEBORN_FRAME_HEADER;
                return FST_CELEBORN_E_PARTIAL;
        }
        const uint32_t head_len = get_be32(data), body_len = get_be32(data + 5);
        if (head_len > INT32_MAX || body_len > INT32_MAX)
                return error_set(error, -EPROTO,
                                 "a frame of Celeborn has a negative length: it is not a Celeborn port");
        const size_t whole = (size_t)CELEBORN_FRAME_HEADER + head_len + body_len;
        if (whole > max)
                return error_set(error, -EPROTO, "a frame of Celeborn has %zu bytes, more than %zu", whole, max);
        *size = whole;
        if (len < whole)
                return FST_CELEBORN_E_PARTIAL;
        *frame = (struct celeborn_frame){.type = data[4],
                                         .head = data + CELEBORN_FRAME_HEADER,
                                         .head_len = head_len,
                                         .body = data + CELEBORN_FRAME_HEADER + head_len,
                                         .body_len = body_len};
        return 0;
}

bool celeborn_frame_request_id(const struct celeborn_frame *frame, int64_t *id)
{
        if (!celeborn_frame_is_rpc(frame) || frame->head_len < 8)
                return false;
        *id = (int64_t)get_be64(frame->head);
        return true;
}

bool celeborn_frame_slice(const struct celeborn_frame *frame, struct celeborn_slice *slice)
{
        if ((frame->type != CELEBORN_CHUNK_FETCH_SUCCESS && frame->type != CELEBORN_CHUNK_FETCH_FAILURE) ||
            frame->head_len < SLICE)
                return false;
        *slice = (struct celeborn_slice){.stream_id = (int64_t)get_be64(frame->head),
                                         .chunk = (int32_t)get_be32(frame->head + 8)};
        return true;
}

bool celeborn_frame_failure(const struct celeborn_frame *frame, const char **text, size_t *len)
{
        const uint32_t before = frame->type == CELEBORN_RPC_FAILURE           ? 8
                                : frame->type == CELEBORN_CHUNK_FETCH_FAILURE ? SLICE
                                                                              : UINT32_MAX - 4;
        if (frame->head_len < before + 4 || get_be32(frame->head + before) > frame->head_len - before - 4)
                return false;
        *text = (const char *)frame->head + before + 4;
        *len = get_be32(frame->head + before);
        return true;
}

static void celeborn_put_header(struct buf *out, uint8_t type, size_t head_len, size_t body_len)
{
        buf_put_be32(out, (uint32_t)head_len);
        buf_putc(out, (char)type);
        buf_put_be32(out, (uint32_t)body_len);
}

void celeborn_put_request(struct buf *out, int64_t request_id, size_t body_len)
{
        celeborn_put_header(out, CELEBORN_RPC_REQUEST, 12, body_len);
        buf_put_be64(out, (uint64_t)request_id);
        buf_put_be32(out, (uint32_t)body_len); /* again; servers ignore it */
}

static void celeborn_put_string(struct buf *out, const char *text)
{
        const size_t len = strlen(text);
        buf_put_be32(out, (uint32_t)len);
        buf_append(out, text, len);
}

void celeborn_put_push(struct buf *out, int64_t request_id, const char *shuffle_key, const char *partition,
                       size_t body_len)
{
        celeborn_put_header(out, CELEBORN_PUSH_DATA, 9 + 4 + strlen(shuffle_key) + 4 + strlen(partition), body_len);
        buf_put_be64(out, (uint64_t)request_id);
        buf_putc(out, MODE_PRIMARY);
        celeborn_put_string(out, shuffle_key);
        celeborn_put_string(out, partition);
}

void celeborn_put_push_merged(struct buf *out, int64_t request_id, const char *shuffle_key,
                              const char *const *partitions, const uint32_t *offsets, int n, size_t body_len)
{
        size_t head = 9 + 4 + strlen(shuffle_key) + 8;
        for (int i = 0; i < n; i++)
                head += 4 + strlen(partitions[i]) + 4;
        celeborn_put_header(out, CELEBORN_PUSH_MERGED_DATA, head, body_len);
        buf_put_be64(out, (uint64_t)request_id);
        buf_putc(out, MODE_PRIMARY);
        celeborn_put_string(out, shuffle_key);
        buf_put_be32(out, (uint32_t)n);
        for (int i = 0; i < n; i++)
                celeborn_put_string(out, partitions[i]);
        buf_put_be32(out, (uint32_t)n);
        for (int i = 0; i < n; i++)
                buf_put_be32(out, offsets[i]);
}
