/*
 * The records of a stream of map outputs (rpc/transfer/transfer.proto, FetchShuffle):
 *
 *      kind u32 | index of the map in the request u32 | reduce partition u32 | length u32 | length bytes
 */
#pragma once

#include "net/byte_order.h"

#include <stdint.h>

#define SHUFFLE_RECORD 16
#define SHUFFLE_SENTENCE 512 /* maximum of a GONE record */

enum shuffle_record_kind { SHUFFLE_PAGE = 1, SHUFFLE_END, SHUFFLE_GONE, SHUFFLE_SEALED };

/* Bytes in front of the frame in a SEALED record: the file's initial value, and the frame's offset. */
#define SHUFFLE_SEAL 24

struct shuffle_record {
        uint32_t kind, map, partition, length;
};

static inline void shuffle_record_put(unsigned char *p, struct shuffle_record r)
{
        put_le32(p, r.kind);
        put_le32(p + 4, r.map);
        put_le32(p + 8, r.partition);
        put_le32(p + 12, r.length);
}

static inline struct shuffle_record shuffle_record_get(const unsigned char *p)
{
        return (struct shuffle_record){get_le32(p), get_le32(p + 4), get_le32(p + 8), get_le32(p + 12)};
}
