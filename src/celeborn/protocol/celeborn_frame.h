/*
 * The frames of Apache Celeborn's connections: to masters, and to the three ports of workers.
 *
 *      length of head i32 | type u8 | length of body i32 | head | body
 *
 * All integers are big-endian, except those of a batch's header. The caller owns all bytes: parsers return pointers
 * into its data, and writers append to a buffer.
 */
#pragma once

#include "base/buf.h"
#include "net/byte_order.h"

#include <stdbool.h>
#include <stdint.h>

struct fst_error;

enum celeborn_frame_type {
        CELEBORN_CHUNK_FETCH_SUCCESS = 1, /* head: slice; body: the chunk */
        CELEBORN_CHUNK_FETCH_FAILURE = 2, /* head: slice, text */
        CELEBORN_RPC_REQUEST = 3,         /* head: request id */
        CELEBORN_RPC_RESPONSE = 4,        /* head: request id; also answers pushes */
        CELEBORN_RPC_FAILURE = 5,         /* head: request id, text */
        CELEBORN_ONE_WAY_MESSAGE = 9,
        CELEBORN_PUSH_DATA = 11,
        CELEBORN_PUSH_MERGED_DATA = 12,
        CELEBORN_HEARTBEAT = 22, /* may come at any time; ignore it */
};

#define CELEBORN_FRAME_HEADER 9

/* Borrows the caller's bytes. */
struct celeborn_frame {
        uint8_t type; /* enum celeborn_frame_type, or a type that only others use */
        const uint8_t *head, *body;
        uint32_t head_len, body_len;
};

/* Status of celeborn_frame_parse: the frame is longer than the data. */
#define FST_CELEBORN_E_PARTIAL 1

/*
 * Parses the frame at the beginning of @data. Returns 0 with *@size, the bytes of the frame; FST_CELEBORN_E_PARTIAL
 * with *@size, the bytes that are needed to go on (at least @len + 1); or -EPROTO with @error for a length that is
 * negative or a frame longer than @max bytes. Call it again with the same data from the beginning.
 */
int celeborn_frame_parse(const uint8_t *data, size_t len, size_t max, struct celeborn_frame *frame, size_t *size,
                         struct fst_error *error);

/* Gets the request id of an RPC_REQUEST, RPC_RESPONSE or RPC_FAILURE. Returns false for other and short heads. */
bool celeborn_frame_request_id(const struct celeborn_frame *frame, int64_t *id);

/* Which part of a stream a chunk is. */
struct celeborn_slice {
        int64_t stream_id;
        int32_t chunk;
};

/* Gets the slice of a CHUNK_FETCH_SUCCESS or CHUNK_FETCH_FAILURE. Returns false for other and short heads. */
bool celeborn_frame_slice(const struct celeborn_frame *frame, struct celeborn_slice *slice);

/* Gets the text of an RPC_FAILURE or CHUNK_FETCH_FAILURE, which is not terminated. Returns false as above. */
bool celeborn_frame_failure(const struct celeborn_frame *frame, const char **text, size_t *len);

/* Appends a frame of RPC_REQUEST up to its body, of which the caller appends @body_len bytes. */
void celeborn_put_request(struct buf *out, int64_t request_id, size_t body_len);

/*
 * The same for a PUSH_DATA: one batch for the partition with the unique id @partition ("partition-epoch"). @shuffle_key
 * is "application-shuffle". The mode is that of the primary copy.
 */
void celeborn_put_push(struct buf *out, int64_t request_id, const char *shuffle_key, const char *partition,
                       size_t body_len);

/* The same for a PUSH_MERGED_DATA: @n batches, that of partitions[i] at @offsets[i] of the body. */
void celeborn_put_push_merged(struct buf *out, int64_t request_id, const char *shuffle_key,
                              const char *const *partitions, const uint32_t *offsets, int n, size_t body_len);

/* The header of a batch, which @size bytes follow. */
#define CELEBORN_BATCH_HEADER 16

struct celeborn_batch {
        int32_t map, attempt, batch, size;
};

static inline void celeborn_batch_put(unsigned char *at, struct celeborn_batch batch)
{
        put_le32(at, (uint32_t)batch.map);
        put_le32(at + 4, (uint32_t)batch.attempt);
        put_le32(at + 8, (uint32_t)batch.batch);
        put_le32(at + 12, (uint32_t)batch.size);
}

static inline struct celeborn_batch celeborn_batch_get(const unsigned char *at)
{
        return (struct celeborn_batch){(int32_t)get_le32(at), (int32_t)get_le32(at + 4), (int32_t)get_le32(at + 8),
                                       (int32_t)get_le32(at + 12)};
}
