/*
 * The records of a stream of map outputs (rpc/transfer/transfer.proto, FetchShuffle):
 *
 *      kind u32 | index of the map in the request u32 | reduce partition u32 | length u32 | length bytes
 */
#pragma once

#include <stdint.h>

#define SHUFFLE_RECORD 16
#define SHUFFLE_SENTENCE 512 /* maximum of a GONE record */

enum shuffle_record_kind { SHUFFLE_PAGE = 1, SHUFFLE_END, SHUFFLE_GONE, SHUFFLE_SEALED };

/* Bytes in front of the frame in a SEALED record: the file's initial value, and the frame's offset. */
#define SHUFFLE_SEAL 24

struct shuffle_record {
        uint32_t kind, map, partition, length;
};

static inline void shuffle_put_u32(unsigned char *p, uint32_t x)
{
        p[0] = (unsigned char)x;
        p[1] = (unsigned char)(x >> 8);
        p[2] = (unsigned char)(x >> 16);
        p[3] = (unsigned char)(x >> 24);
}

static inline uint32_t shuffle_get_u32(const unsigned char *p)
{
        return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline void shuffle_record_put(unsigned char *p, struct shuffle_record r)
{
        shuffle_put_u32(p, r.kind);
        shuffle_put_u32(p + 4, r.map);
        shuffle_put_u32(p + 8, r.partition);
        shuffle_put_u32(p + 12, r.length);
}

static inline struct shuffle_record shuffle_record_get(const unsigned char *p)
{
        return (struct shuffle_record){shuffle_get_u32(p), shuffle_get_u32(p + 4), shuffle_get_u32(p + 8),
                                       shuffle_get_u32(p + 12)};
}
